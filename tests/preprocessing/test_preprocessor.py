"""Data frames of both libraries to numbers, with names that say where they come from."""

import datetime as dt
import pickle
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import sparsieve
from sparsieve import FisherSelector, make_preprocessor

N = 12
PLAIN = {
    "age": [40.0, None, *[50.0 + i for i in range(10)]],
    "count": list(range(N)),
    "ok": [True, False] * 6,
    "sex": ["m", "f", None] * 4,
    "when": [*[dt.datetime(2020, 1, 1) + i * dt.timedelta(hours=12) for i in range(11)], None],
    "took": [dt.timedelta(days=i) for i in range(N)],
}
GROUPS = {
    "age": ["age", "age=(missing)"],
    "count": ["count"],
    "ok": ["ok"],
    "sex": ["sex=f", "sex=m", "sex=(missing)"],
    "when": ["when", "when=(missing)"],
    "took": ["took"],
}


POLARS = pytest.param(
    "polars",
    marks=pytest.mark.needs_sklearn(
        "1.7", "scikit-learn 1.6 reads polars by a protocol that new versions of polars dropped"
    ),
)


@pytest.fixture(params=["pandas", POLARS])
def library(request):
    return pytest.importorskip(request.param)


def test_every_kind_of_column(library):
    frame = library.DataFrame(PLAIN)
    made = make_preprocessor(frame).fit(frame)
    out = made.transform(frame)
    assert isinstance(out, library.DataFrame)
    names = [str(name) for name in made.get_feature_names_out()]
    assert list(out.columns) == names
    assert {source: [names[j] for j in js] for source, js in made.groups_.items()} == GROUPS
    column = {name: np.asarray(out[name], dtype=float) for name in names}
    median = np.median([value for value in PLAIN["age"] if value is not None])
    np.testing.assert_array_equal(column["age"][:3], [40, median, 50])
    np.testing.assert_array_equal(np.flatnonzero(column["age=(missing)"]), [1])
    np.testing.assert_array_equal(column["ok"][:2], [1, 0])
    np.testing.assert_array_equal(column["sex=f"][:3], [0, 1, 0])
    np.testing.assert_array_equal(column["sex=(missing)"][:3], [0, 0, 1])
    np.testing.assert_array_equal(column["when"][:3], [18262, 18262.5, 18263])
    np.testing.assert_array_equal(column["took"], np.arange(N))
    assert np.isfinite(np.asarray(out, dtype=float)).all()


def test_the_sentence_of_a_selector_leads_to_a_pipeline_that_works(library):
    frame, y = library.DataFrame(PLAIN), np.arange(N) % 2
    with pytest.raises(TypeError, match=r"text columns: 'sex'.*date or time columns: 'when'") as no:
        FisherSelector(2).fit(frame, y)
    assert "columns with missing values: 'age'" in str(no.value)
    assert "sparsieve.make_preprocessor(X)" in str(no.value)
    model = make_pipeline(make_preprocessor(frame), FisherSelector(2), LogisticRegression())
    model.fit(frame, y)
    assert "ok" in model[1].get_feature_names_out()
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(frame), model.predict(frame))
    assert clone(model[0]).fit(frame).groups_ == model[0].groups_


def test_a_frame_with_gaps_only(library):
    frame = library.DataFrame({"a": [1.0, None, 2.0, 4.0], "b": [1.0, 3.0, 2.0, 4.0]})
    with pytest.raises(ValueError, match=r"NaN.*'a'.*sparsieve\.make_preprocessor\(X\)"):
        FisherSelector(1).fit(frame, [0, 1, 0, 1])


def test_many_odd_columns_are_not_all_listed(library):
    frame = library.DataFrame({f"t{j}": ["a", "b"] for j in range(17)})
    with pytest.raises(ValueError, match="'t0', 't1', 't2', 't3', 't4' and 12 more"):
        FisherSelector(1).fit(frame, [0, 1])


def test_names_of_columns_that_are_no_text():
    numbers = np.random.default_rng(0).normal(size=(4, 3))
    for names in ([2, 1, 0], pd.MultiIndex.from_tuples([("a", "x"), ("a", "y"), ("b", "x")])):
        frame = pd.DataFrame(numbers, columns=names).astype(object)
        frame[names[0]] = ["u", "v", "u", "v"]
        with pytest.raises(ValueError, match=re.escape(f"text columns: {names[0]!r};")):
            FisherSelector(1).fit(frame, [0, 1, 0, 1])
    with pytest.raises(ValueError, match="0 features"):
        FisherSelector(1).fit(pd.DataFrame(index=range(4)), [0, 1, 0, 1])


def test_new_values_and_new_gaps_are_no_error(library):
    frame = library.DataFrame(PLAIN)
    made = make_preprocessor(frame).fit(frame)
    other = library.DataFrame({**PLAIN, "sex": ["x"] * N, "count": [None, *range(1, N)]})
    out = made.transform(other)
    assert np.asarray(out["sex=f"]).sum() == np.asarray(out["sex=m"]).sum() == 0
    assert out["count"][0] == 5.5  # the median of what it was fitted on


def test_kinds_that_only_pandas_has():
    frame = pd.DataFrame(
        {
            "grade": pd.Categorical(["low", "high", "low"]),
            "whole": pd.array([1, None, 3], dtype="Int64"),
            "zone": pd.to_datetime(["2020-01-01"] * 3).tz_localize("Europe/Berlin"),
            "month": pd.period_range("1970-01", periods=3, freq="M"),
            "mixed": pd.Series([True, None, False], dtype=object),
        }
    )
    out = make_preprocessor(frame).fit_transform(frame)
    assert out["grade=low"].tolist() == [1, 0, 1]
    assert out["whole"].tolist() == [1, 2, 3]
    np.testing.assert_allclose(out["zone"], 18262 - 1 / 24)
    assert out["month"].tolist() == [0, 31, 59]
    assert out["mixed=(missing)"].tolist() == [0, 1, 0]


@pytest.mark.needs_sklearn(
    "1.7", "scikit-learn 1.6 reads polars by a protocol that new versions of polars dropped"
)
def test_kinds_that_only_polars_has():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(
        {
            "level": polars.Series(["a", "b"], dtype=polars.Enum(["a", "b"])),
            "day": [dt.date(1970, 1, 2), dt.date(1971, 1, 1)],
            "clock": [dt.time(6), dt.time(18)],
        }
    )
    out = make_preprocessor(frame).fit_transform(frame)
    assert out["level=b"].to_list() == [0, 1]
    assert out["day"].to_list() == [1, 365]
    assert out["clock"].to_list() == [0.25, 0.75]


@pytest.mark.parametrize(
    ("frame", "error", "said"),
    [
        (np.zeros((3, 2)), TypeError, "takes a data frame, got ndarray"),
        (pd.DataFrame({"id": [f"p{i}" for i in range(30)]}), ValueError, "'id' have more than 20"),
        (pd.DataFrame({"z": [1j, 2.0]}), TypeError, "columns 'z' hold neither"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), ValueError, "duplicate column names: 'a'"),
    ],
)
def test_what_cannot_be_done_is_said(frame, error, said):
    with pytest.raises(error, match=re.escape(said)):
        make_preprocessor(frame)
    assert sparsieve.make_preprocessor is make_preprocessor
