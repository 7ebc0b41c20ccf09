"""Substitutes of feature groups: groups whose columns explain a selected one."""

from __future__ import annotations

import numpy as np
import pytest

from sparsieve import FStatisticSelector, RidgeForwardSelector


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    base = rng.normal(size=(100, 3))
    X = np.c_[
        base,  # selected
        base @ rng.normal(size=(3, 3)) + 0.05 * rng.normal(size=(100, 3)),  # spans the same
        base[:, :1],  # one column of it
        rng.normal(size=(100, 60)),  # noise, but many columns
        rng.normal(size=(100, 1)),
    ]
    labels = ["true"] * 3 + ["mixed"] * 3 + ["part"] + ["noise"] * 60 + ["one"]
    return X, base.sum(axis=1) + 0.1 * rng.normal(size=100), labels


def explained(X, Y):
    """Multiple correlation by least squares, one column at a time."""
    n, p = X.shape
    Y = (Y - Y.mean(axis=0)) / Y.std(axis=0)
    A = np.c_[np.ones(n), X]
    rest = Y - A @ np.linalg.lstsq(A, Y, rcond=None)[0]
    left = (rest**2).sum() / (Y**2).sum() * (n - 2) / (n - 1 - p)
    return np.sqrt(max(1.0 - left, 0.0))


def test_groups_that_explain_a_selected_one(problem):
    X, y, labels = problem
    selector = FStatisticSelector(1, feature_groups=labels).fit(X, y)
    assert selector.group_names_[selector.group_support_].tolist() == ["true"]
    found = dict(selector.find_substitutes(X, threshold=0.3)["true"])
    places = {name: [j for j, label in enumerate(labels) if label == name] for name in set(labels)}
    for name in ("mixed", "part"):
        expected = explained(X[:, places[name]], X[:, places["true"]])
        assert found[name] == pytest.approx(expected, rel=1e-9)
    assert list(found) == ["mixed", "part"]  # and sixty columns of noise are none
    assert selector.find_substitutes(X) == {"true": [("mixed", found["mixed"])]}
    table = selector.to_frame()
    assert table["substitutes"].tolist() == [f"mixed ({found['mixed']:.2f})"] * 3


def test_single_columns_are_correlated():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 4))
    X[:, 1] = -X[:, 0] + 0.2 * rng.normal(size=50)
    y = X[:, 0] + 0.01 * rng.normal(size=50)
    selector = RidgeForwardSelector(1, feature_groups=["a", "b", "c", "c"]).fit(X, y)
    found = selector.find_substitutes(X)
    expected = abs(np.corrcoef(X[:, 0], X[:, 1])[0, 1])
    assert found == {"a": [("b", pytest.approx(expected))]}
