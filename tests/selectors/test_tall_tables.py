"""Least squares on tall tables in memory: by inner products, with the answer of the samples."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sparsieve import L20Selector, L21Selector, RidgeForwardSelector
from sparsieve.design import DenseDesign, to_condense
from sparsieve.design.blocks import lazy_gram
from sparsieve.design.blocks.lazy_gram import DenseBlocks
from sparsieve.selectors import preparation

N, D = 400, 24
GROUPS = np.arange(D) // 3
SELECTORS = {
    "ridge forward": RidgeForwardSelector(8),
    "no clipping": RidgeForwardSelector(8, clip=None),
    "no intercept": RidgeForwardSelector(8, fit_intercept=False, clip=None),
    "units": RidgeForwardSelector(8, standardize=False, clip=None),
    "its own number": RidgeForwardSelector(),
    "kept and left": RidgeForwardSelector(8, always_keep=[3, 5], never_keep=[0]),
    "distinct": RidgeForwardSelector(8, max_correlation=0.8),
    "groups": RidgeForwardSelector(3, feature_groups=GROUPS),
    "greedy": L20Selector(6),
    "price": L20Selector(lam=4.0),
    "groups by a convex penalty": L21Selector(3, feature_groups=GROUPS),
}


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = 50.0 + rng.standard_normal((N, D)) * rng.uniform(0.1, 9.0, D)
    X[:, 7] = X[:, 6] + 0.1 * X[:, 8]
    X[::50] *= 3.0  # what is clipped
    y = X[:, [2, 9, 11]] @ [1.0, -2.0, 0.5] + rng.standard_normal(N)
    return X, y, rng.integers(1, 4, N).astype(float)


def both(selector, monkeypatch, *given, **weights):
    """Fitted by inner products, and on the samples."""
    monkeypatch.setattr(lazy_gram, "MIN_NUMBERS", 0)
    condensed, seen = selector.fit(*given, **weights), []
    monkeypatch.setattr(preparation, "to_condense", lambda design, *_: seen.append(1) or design)
    usual = type(selector)(**selector.get_params()).fit(*given, **weights)
    assert seen
    return condensed, usual


@pytest.mark.parametrize("name", SELECTORS)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_answer_is_that_of_the_samples(name, weighted, data, monkeypatch):
    X, y, weights = data
    given = {"sample_weight": weights} if weighted else {}
    found, usual = both(SELECTORS[name], monkeypatch, X, y, **given)
    assert_array_equal(found.support_, usual.support_)
    assert_array_equal(found.ranking_, usual.ranking_)
    assert_allclose(found.coef_, usual.coef_, rtol=1e-7, atol=1e-9)
    assert_allclose(found.intercept_, usual.intercept_, rtol=1e-7)
    assert_allclose(found.objective_, usual.objective_, rtol=1e-8)
    assert_allclose(found.scores_, usual.scores_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_classes_and_several_outputs(dtype, data, monkeypatch):
    X, y, _ = data
    X = X.astype(dtype)
    for target in (np.digitize(y, np.quantile(y, [0.3, 0.6])), np.column_stack([y, X[:, 4]])):
        found, usual = both(RidgeForwardSelector(6, task="auto"), monkeypatch, X, target)
        monkeypatch.undo()
        assert_array_equal(found.ranking_, usual.ranking_)
        assert found.coef_.dtype == usual.coef_.dtype == dtype
        tol = 1e-8 if dtype == np.float64 else 1e-3
        assert_allclose(found.coef_, usual.coef_, rtol=tol, atol=tol)


def test_a_proof_sees_the_same(data, monkeypatch):
    X, y, _ = data
    found, usual = both(L20Selector(4), monkeypatch, X, y)
    first = found.certify(X, y).gap
    monkeypatch.undo()
    assert_allclose(first, usual.certify(X, y).gap, atol=1e-6)


def test_only_where_it_is_less_than_the_products():
    tall, wide = DenseDesign(np.ones((6000, 50))), DenseDesign(np.ones((600, 500)))
    assert isinstance(to_condense(tall, 1, 5.0), DenseBlocks)
    assert to_condense(tall, 1, 4.0) is tall
    assert to_condense(wide, 1, 500.0) is wide
    few = DenseDesign(np.ones((600, 50)))
    assert to_condense(few, 1, 50.0) is few


def test_without_a_ridge_the_samples_are_taken(data, monkeypatch):
    X, y, _ = data
    monkeypatch.setattr(lazy_gram, "MIN_NUMBERS", 0)
    asked = []
    monkeypatch.setattr(
        preparation, "to_condense", lambda design, outputs, times: asked.append(times) or design
    )
    RidgeForwardSelector(8, ridge=0.0).fit(X, y)
    L20Selector(4, ridge=0.0).fit(X, y)
    assert set(asked) == {0}
