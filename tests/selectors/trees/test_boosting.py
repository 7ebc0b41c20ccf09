"""Codes of columns, and gains of boosted trees against scikit-learn's own boosting."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from sparsieve.selectors.trees.boosting import (
    MAX_CODES,
    Boosting,
    Squares,
    choose_loss,
    code_columns,
)
from sparsieve.validation.target import Target


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, 6))
    X[:, 4] = rng.random(1500) < 0.004  # rare
    X[:, 5] = rng.random(1500) > 0.004
    X[rng.random(1500) < 0.3, 2] = np.nan
    return X


def test_codes_keep_the_order_and_mark_gaps(table):
    found = code_columns(table)
    for j, codes in enumerate(found.codes.T):
        known = ~np.isnan(table[:, j])
        assert (np.diff(codes[known][np.argsort(table[known, j])].astype(int)) >= 0).all()
        assert codes[known].max() < found.n_codes[j] <= MAX_CODES
        assert (codes[~known] == MAX_CODES).all()
    assert found.has_gaps.tolist() == [False, False, True, False, False, False]
    assert found.n_codes[4:].tolist() == [2, 2]
    assert_array_equal(found.codes[:, 4], table[:, 4])
    assert np.bincount(found.codes[:, 0], minlength=MAX_CODES).min() > 15


def test_units_and_other_monotone_changes_make_no_difference(table):
    assert_array_equal(code_columns(np.exp(3 * table)).codes, code_columns(table).codes)


def test_columns_without_information_are_constant():
    X = np.array([[1.0, np.nan, 2.0, np.nan]] * 20)
    X[:10, 3], X[0, 2] = 5.0, 3.0
    assert code_columns(X).constant.tolist() == [True, True, False, False]


def test_gains_are_those_of_the_boosting_of_scikit_learn(table):
    """With all columns and no price: the same trees, so that splits gain the same."""
    X = code_columns(table).codes.astype(float)
    X[np.isnan(table[:, 2]), 2] = np.nan
    rng = np.random.default_rng(1)
    f = np.nan_to_num(table[:, 2]) + table[:, 0] ** 2
    how = {"max_leaf_nodes": 8, "max_bins": MAX_CODES, "early_stopping": False}
    ours = Boosting(n_trees=5, n_leaves=8, rate=0.2, price=0.0, l2=0.0, columns=1.0)
    y = f + 0.3 * rng.standard_normal(len(f))
    target = Target("regression", y[:, None])
    gains, F = ours.fit(code_columns(table), choose_loss(target, None), rng)
    model = HistGradientBoostingRegressor(max_iter=5, learning_rate=0.2, **how).fit(X, y)
    assert_allclose(F[:, 0] * y.std() + y.mean(), model.predict(X), atol=1e-4)
    nodes = np.concatenate([one[0].nodes for one in model._predictors])
    splits = nodes[nodes["is_leaf"] == 0]
    theirs = np.bincount(splits["feature_idx"], splits["gain"], 6)
    assert_allclose(gains / gains.sum(), theirs / theirs.sum(), atol=1e-4)
    explained = 1 - ((y - model.predict(X)) ** 2).sum() / ((y - y.mean()) ** 2).sum()
    assert_allclose(gains.sum(), explained, rtol=1e-4)

    codes = (f > 0.8).astype(int)
    target = Target("classification", np.eye(2)[codes], np.arange(2), codes)
    _, F = ours.fit(code_columns(table), choose_loss(target, None), rng)
    model = HistGradientBoostingClassifier(max_iter=5, learning_rate=0.2, **how).fit(X, codes)
    assert_allclose(F[:, 0], model.decision_function(X), atol=1e-4)


def test_weights_count_like_copies_of_leaves_that_are_large_enough(table):
    rng = np.random.default_rng(2)
    y, weights = table[:, :2] @ [1.0, 2.0], rng.integers(1, 4, len(table)).astype(float)
    weighted = Squares(y[:, None], weights)
    repeated = Squares(np.repeat(y, weights.astype(int))[:, None])
    zero = np.zeros((len(y), 1))
    assert_allclose(
        weighted.gradient(zero)[:, 0], weights * repeated.gradient(0 * repeated.Y)[
            np.append(0, np.cumsum(weights)[:-1]).astype(int), 0
        ]
    )  # fmt: skip
    assert_allclose(weighted.diagonal(zero)[:, 0], weights)


def test_nothing_is_gained_where_nothing_varies():
    table = code_columns(np.random.default_rng(0).standard_normal((50, 3)))
    gains, F = Boosting().fit(table, Squares(np.ones((50, 1))), np.random.default_rng(0))
    assert not gains.any()
    assert not F.any()
