"""Comparisons of methods that keep groups of features."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sparsieve import RidgeForwardSelector, compare

LABELS = np.repeat(["a", "b", "c", "d", "e"], [1, 4, 3, 2, 5])


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, len(LABELS)))
    return X, np.where(X[:, 1:5].sum(axis=1) + X[:, 8:10].sum(axis=1) > 0, "x", "y")


def test_numbers_and_names_are_those_of_groups(problem, tmp_path):
    X, y = problem
    found = compare(X, y, ["ridge-forward", "f-statistic"], feature_groups=LABELS, n_repeats=1)
    assert found.ks == [1, 2, 3, 4]
    assert found.k == 2
    assert set(found.consensus["feature"][:2]) == {"b", "d"}
    assert found.consensus["methods"].tolist()[:2] == [2, 2]
    own = RidgeForwardSelector(found.k, feature_groups=LABELS, task="classification").fit(X, y)
    assert set(found.chosen["ridge-forward"]) == set(np.flatnonzero(own.group_support_))
    assert "feature groups" in found.recommendation
    found.report(tmp_path / "compared.html")
    page = (tmp_path / "compared.html").read_text(encoding="utf-8")
    assert "over the number of feature groups" in page
    assert "Which feature groups they agree on" in page


def test_only_methods_that_keep_groups_are_compared(problem):
    X, y = problem
    found = compare(X, y, feature_groups=LABELS, ks=[1], cv=2, n_repeats=1)
    assert {"ridge-forward", "l21", "f-statistic"} <= set(found.methods)
    assert not found.left_out
    with pytest.raises(ValueError, match="ReliefFSelector selects single columns"):
        compare(X, y, ["relieff"], feature_groups=LABELS)


def test_a_data_frame_with_text_and_gaps(problem):
    rng = np.random.default_rng(1)
    city = rng.choice(list("uvw"), 80)
    frame = pd.DataFrame({"city": city, "age": rng.normal(size=80)})
    frame["label"] = np.where(city == "u", "yes", "no")
    frame.loc[::7, "age"] = np.nan
    found = compare(
        frame, "label", ["ridge-forward", "f-statistic"], feature_groups="categories", ks=[1]
    )
    assert found.consensus["feature"].tolist() == ["city"]
    assert found.data.unit_names.tolist() == ["city", "age"]  # as in the table
