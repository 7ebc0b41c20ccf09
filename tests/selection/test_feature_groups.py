"""``select`` with groups of features: a data frame with text and gaps in one line."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import sparsieve
from sparsieve.preprocessing.encoding import encode_frame


@pytest.fixture
def frame():
    """The target depends on the city, and on whether the income is known."""
    rng = np.random.default_rng(0)
    n = 200
    made = pd.DataFrame(
        {
            "city": rng.choice(list("abcde"), n),
            "job=title": rng.choice(["x=1", "x=2", "y"], n),
            "age": rng.normal(40, 10, n),
            "income": rng.normal(size=n),
            "when": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
        }
    )
    gap = rng.random(n) < 0.3
    made["target"] = made["city"].isin(["a", "b"]) * 2.0 + gap * 1.5 + rng.normal(size=n) * 0.7
    made.loc[gap, "income"] = np.nan
    made.loc[rng.random(n) < 0.05, "job=title"] = None
    return made


@pytest.mark.parametrize(
    "library",
    [
        "pandas",
        pytest.param(
            "polars",
            marks=pytest.mark.needs_sklearn(
                "1.7", "scikit-learn 1.6 reads polars by a protocol that polars dropped"
            ),
        ),
    ],
)
@pytest.mark.parametrize("k", [2, "auto"])
def test_a_table_with_text_and_gaps_in_one_line(frame, library, k):
    given = frame
    if library == "polars":
        given = pytest.importorskip("polars").from_pandas(frame)
    how = {"k": k} if k == 2 else {"k": k, "rule": "one_se"}
    selected = sparsieve.select(given, "target", feature_groups="categories", **how)
    assert selected.feature_groups == ["city", "income"]
    assert selected.features[-2:] == ["income", "income=(missing)"]
    assert set(selected.table["group"]) == {"city", "income"}
    assert selected.accuracy > 0.5
    new = given.drop(columns="target") if library == "pandas" else given.drop("target")
    made = np.asarray(selected.transform(new), dtype=float)
    assert made.shape == (200, 7)
    assert_array_equal(made[:, -1], frame["income"].isna())
    assert_allclose(made[frame["income"].isna(), -2], frame["income"].median())
    assert "2 of 5 feature groups (7 of 13 columns) by RidgeForward" in str(selected)


def test_groups_come_from_the_encoder_and_not_from_names(frame):
    found = encode_frame(frame.drop(columns="target"), "categories")
    groups, names = found.feature_groups, found.encode.get_feature_names_out()
    assert names[groups["job=title"]].tolist() == [
        "job=title=x=1",
        "job=title=x=2",
        "job=title=y",
        "job=title=(missing)",
    ]


def test_gaps_are_filled_in_the_folds(frame):
    found = sparsieve.select(frame, "target", k=2, feature_groups="categories")
    assert np.isnan(np.asarray(found.X, dtype=float)).any()  # until the preparation
    assert not np.isnan(np.asarray(found.prepared_X, dtype=float)).any()
    mean = sparsieve.select(
        frame, "target", k=2, feature_groups="categories", prepare="impute-mean"
    )
    gaps = frame["income"].isna().to_numpy()
    assert_allclose(mean.prepared_X["income"][gaps], frame["income"].mean())


def test_numbers_alone_are_left_as_they_are():
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(60, 4)), columns=["a=1", "a=2", "b", "c"])
    y = X["a=1"] + X["a=2"] + 0.1 * rng.normal(size=60)
    found = sparsieve.select(X, y, k=1, feature_groups="categories", method="f-statistic")
    assert found.feature_groups == ["a"]
    assert found.inputs.encode is None


def test_a_selection_of_single_features_has_no_groups():
    X, y = np.random.default_rng(2).normal(size=(40, 5)), np.arange(40) % 2
    assert sparsieve.select(X, y, k=2, check=False).feature_groups == []
