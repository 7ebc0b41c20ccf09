"""RPMFSSelector: exactly k rows, optimal on them, robust."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from sparsieve import RPMFSSelector
from sparsieve.design import as_design
from sparsieve.solvers.row_norms.greedy import exact_fit
from sparsieve.solvers.row_norms.lagrangian import TopKLagrangian
from sparsieve.solvers.row_norms.problem import RobustData


@parametrize_with_checks([RPMFSSelector()])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def data(seed=0, n=60, d=25):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 0.4
    Y = X[:, [1, 4, 8]] @ rng.standard_normal((3, 2)) + 0.1 * rng.standard_normal((n, 2))
    Y[: n // 5] += 20 * rng.standard_normal((n // 5, 2))
    return X, Y


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(("n", "d"), [(60, 25), (40, 90)])
def test_exactly_k_rows_optimal_on_them(n, d, intercept):
    X, Y = data(n=n, d=d)
    selector = RPMFSSelector(3, standardize=False, fit_intercept=intercept).fit(X, Y)
    assert (selector.coef_ != 0).any(axis=0).sum() == selector.support_.sum() == 3
    residual = Y - X @ selector.coef_.T - selector.intercept_
    assert selector.objective_ == pytest.approx(np.linalg.norm(residual, axis=1).sum(), rel=1e-6)
    assert selector.optimality_ <= 1e-6
    whole = RobustData(as_design(X), Y, np.ones(n), intercept)
    best = exact_fit(whole, np.flatnonzero(selector.support_), 0.0, tol=1e-8)
    assert selector.objective_ <= best.objective * (1 + 1e-6)


def test_finds_the_features_behind_outliers():
    X, Y = data(1)
    selector = RPMFSSelector(3).fit(X, Y)
    assert selector.get_support(indices=True).tolist() == [1, 4, 8]
    assert len(selector.history_) == selector.n_iter_


def test_weight_two_is_the_row_twice():
    X, Y = data(2)
    weights = np.random.default_rng(0).integers(0, 3, len(X))
    weighted = RPMFSSelector(4).fit(X, Y, sample_weight=weights)
    repeated = RPMFSSelector(4).fit(np.repeat(X, weights, axis=0), np.repeat(Y, weights, axis=0))
    assert (weighted.support_ == repeated.support_).all()
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-5)


def test_sparse_and_float32():
    rng = np.random.default_rng(3)
    X, Y = data(3)
    X = X * (rng.random(X.shape) < 0.5)
    dense = RPMFSSelector(4).fit(X, Y)
    thin = RPMFSSelector(4).fit(sparse.csr_array(X), Y)
    single = RPMFSSelector(4).fit(X.astype(np.float32), Y)
    assert (thin.support_ == dense.support_).all()
    assert (single.support_ == dense.support_).all()
    assert single.coef_.dtype == np.float32
    assert single.objective_ == pytest.approx(dense.objective_, rel=1e-4)


def test_fewer_features_are_fitted_again():
    X, Y = data(4)
    selector = RPMFSSelector(5).fit(X, Y)
    smaller = selector.at(2)
    assert (smaller.coef_ != 0).any(axis=0).sum() == 2
    assert smaller.objective_ > selector.objective_


def test_the_copies_agree_and_the_loss_is_that_of_the_sparse_one():
    X, Y = data(5)
    centred = X - X.mean(axis=0)
    problem = RobustData(as_design(centred), Y - Y.mean(axis=0), np.ones(len(Y)), True)
    fit = TopKLagrangian(tol=1e-5).solve(problem, 3, np.ones(25, dtype=bool))
    assert fit.converged
    assert fit.disagreement <= 1e-5
    norms = np.linalg.norm(fit.smooth, axis=1)
    assert set(np.flatnonzero(norms > 1e-4 * norms.max())) == set(fit.features)
    best = exact_fit(problem, fit.features, 0.0)
    assert best.objective <= fit.history[-1] <= 1.2 * best.objective


def test_too_few_iterations_are_reported():
    X, Y = data(6)
    with pytest.warns(ConvergenceWarning, match="copies of W"):
        RPMFSSelector(3, max_iter=3).fit(X, Y)
