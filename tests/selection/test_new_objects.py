"""New data of the dtype object, and frames of narwhals, are read as the training data were."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import sparsieve
from sparsieve import FisherSelector

N = 80


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    day = rng.integers(0, 900, N)
    made = pd.DataFrame(
        {
            "a": rng.normal(size=N),
            "when": pd.Timestamp("2020-01-01") + pd.to_timedelta(day, "D"),
            "flag": rng.random(N) < 0.5,
            "sex": rng.choice(["m", "f"], N),
        }
    )
    score = made["a"] + day / 450 + made["flag"] + (made["sex"] == "m")
    made["ill"] = np.where(score + 0.2 * rng.normal(size=N) > 2, "yes", "no")
    made.loc[::9, "a"] = np.nan
    return made


@pytest.fixture(scope="module")
def selected(frame):
    return sparsieve.select(frame, "ill", k=4, check=False)


CHANGES = {
    "objects": lambda new: new.astype(object),
    "pandas' NA": lambda new: new.astype(object).where(new.notna(), pd.NA),
    "dates of Python": lambda new: new.assign(
        when=pd.Series([one.to_pydatetime() for one in new["when"]], dtype=object)
    ),
    "days of Python": lambda new: new.assign(when=[one.date() for one in new["when"]]),
    "dates with a zone": lambda new: new.assign(
        when=pd.Series([one.tz_localize("UTC") for one in new["when"]], dtype=object)
    ),
    "truth values as text": lambda new: new.assign(flag=new["flag"].astype(str)),
    "numbers of NumPy": lambda new: new.assign(
        flag=pd.Series([*new["flag"].to_numpy()], dtype=object)
    ),
    "nullable": lambda new: new.convert_dtypes(),
}


@pytest.mark.parametrize("change", CHANGES)
def test_new_objects_are_read_as_the_training_data(frame, selected, change):
    new = CHANGES[change](frame)
    np.testing.assert_array_equal(selected.predict(new), selected.predict(frame))
    assert selected.transform(new).shape == (N, 4)
    step = sparsieve.make_preprocessor(frame).fit(frame)
    np.testing.assert_array_equal(step.transform(new), step.transform(frame))


def test_a_gap_among_objects_is_one(frame, selected):
    new = frame.astype(object)
    new.loc[2, "when"] = pd.NaT
    wanted = selected.predict(frame.assign(when=frame["when"].mask(frame.index == 2)))
    np.testing.assert_array_equal(selected.predict(new), wanted)
    numbers = frame[["a", "flag"]].fillna(0.0)
    plain = sparsieve.select(numbers, frame["ill"], k=2, check=False)
    wanted = plain.predict(numbers)
    for other in (numbers.astype(object), numbers.assign(flag=numbers["flag"].astype(str))):
        np.testing.assert_array_equal(plain.predict(other), wanted)
    gap = numbers.astype(object)
    gap.loc[3, "a"] = pd.NA
    for use in (plain.predict, plain.transform):
        with pytest.raises(ValueError, match="contains NaN"):
            use(gap)
    fisher = FisherSelector(1).fit(numbers, frame["ill"])
    assert np.isnan(np.asarray(fisher.transform(gap), dtype=float)).sum() == 1  # it only picks
    with pytest.raises(ValueError, match="column 'a' holds 'x', but the model was trained on"):
        plain.predict(numbers.assign(a="x"))
    with pytest.raises(ValueError, match=r"NaN values: 1 value in 1 column \('a'\)"):
        FisherSelector(1).fit(gap, frame["ill"])


def test_training_data_may_be_objects(frame, selected):
    found = sparsieve.select(frame.astype(object), "ill", k=4, check=False)
    assert found.features == selected.features
    np.testing.assert_array_equal(found.predict(frame), selected.predict(frame))


def test_frames_of_narwhals_keep_their_names(frame, selected):
    nw = pytest.importorskip("narwhals")
    numbers = frame[["a", "flag"]].fillna(0.0)
    fitted = FisherSelector(1).fit(nw.from_native(numbers), frame["ill"])
    assert fitted.feature_names_in_.tolist() == ["a", "flag"]
    assert fitted.transform(nw.from_native(numbers)).shape == (N, 1)
    polars = pytest.importorskip("polars")
    for native in (frame, polars.from_pandas(frame)):
        given = nw.from_native(native)
        found = sparsieve.select(given, "ill", k=4, check=False)
        assert found.features == selected.features
        np.testing.assert_array_equal(found.predict(given), selected.predict(frame))
