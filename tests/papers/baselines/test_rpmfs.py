"""RPMFSSelector: exactly k rows, optimal on them, robust."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from sparsieve import RFSSelector, RobustL20Selector, RPMFSSelector
from sparsieve.design import as_design
from sparsieve.papers.baselines.solvers.top_k_alm import TopKLagrangian
from sparsieve.solvers.robust.problem import RobustRegression
from sparsieve.solvers.robust.working_set import RobustRefit


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
    whole = RobustRegression(as_design(X), Y, np.ones(n), intercept, eligible=selector.support_)
    best = RobustRefit(1e-8).solve(whole)
    assert selector.objective_ <= best.objective * (1 + 1e-6)


def test_finds_the_features_behind_outliers():
    X, Y = data(1)
    selector = RPMFSSelector(3).fit(X, Y)
    assert selector.get_support(indices=True).tolist() == [1, 4, 8]
    assert len(selector.history_) == selector.n_iter_


@pytest.mark.long("thousands of published iterations")
def test_weight_two_is_the_row_twice():
    X, Y = data(2)
    weights = np.random.default_rng(0).integers(0, 3, len(X))
    weighted = RPMFSSelector(4).fit(X, Y, sample_weight=weights)
    repeated = RPMFSSelector(4).fit(np.repeat(X, weights, axis=0), np.repeat(Y, weights, axis=0))
    assert (weighted.support_ == repeated.support_).all()
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-5)


@pytest.mark.long("thousands of published iterations")
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


@pytest.mark.long("thousands of published iterations")
def test_fewer_features_are_fitted_again():
    X, Y = data(4)
    selector = RPMFSSelector(5).fit(X, Y)
    smaller = selector.at(2)
    assert (smaller.coef_ != 0).any(axis=0).sum() == 2
    assert smaller.objective_ > selector.objective_
    with pytest.raises(ValueError, match="fit with n_features_to_select >= 6"):
        selector.at(6)


def test_the_copies_agree_and_the_loss_is_that_of_the_sparse_one():
    X, Y = data(5)
    centred = X - X.mean(axis=0)
    design, Y = as_design(centred), Y - Y.mean(axis=0)
    problem = RobustRegression(design, Y, np.ones(len(Y)), True, k=3)
    fit = TopKLagrangian(tol=1e-5).solve(problem)
    again = TopKLagrangian(tol=1e-5).solve(problem, fit)
    assert set(again.solution.features) == set(fit.solution.features)
    assert fit.converged
    assert fit.optimality <= 1e-5
    norms = np.linalg.norm(fit.solution.W, axis=1)
    assert set(np.flatnonzero(norms > 1e-4 * norms.max())) == set(fit.solution.features)
    best = RobustRefit().solve(problem.restrict(fit.solution.features))
    assert fit.objective == fit.trace[-1]
    assert best.objective <= fit.objective <= 1.2 * best.objective


def everyday(kind, rng):
    """Data on which the copies did not come to agree within the default number of iterations."""
    X = rng.standard_normal((400, 30))
    scores = X[:, :3].sum(axis=1) + 0.5 * rng.standard_normal(400)
    if kind == "four per cent":
        y = scores > np.quantile(scores, 0.96)
    elif kind == "wide noise":
        X, y = rng.standard_normal((60, 1000)), rng.random(60) < 0.5
    elif kind == "few levels":
        X = rng.integers(0, 3, (600, 40)).astype(float)
        y = X[:, :3].sum(axis=1) + rng.standard_normal(600) > 3
    else:
        X = rng.poisson(3, (500, 200)).astype(float)
        y = rng.random(500) < 0.5
        X[:, :5] += rng.poisson(2, (500, 5)) * y[:, None]
    return X, np.where(y, "yes", "no")


@pytest.mark.thinned(2)
@pytest.mark.parametrize("kind", ["four per cent", "wide noise", "few levels", "counts"])
@pytest.mark.long("thousands of published iterations")
def test_the_copies_agree_on_everyday_data(rng, kind):
    X, y = everyday(kind, rng)
    found = RPMFSSelector(10).fit(X, y)
    assert found.converged_
    assert found.optimality_ <= 1e-6
    # The columns may come in any order: no place is left to the last iteration or to rounding.
    order = rng.permutation(X.shape[1])
    again = RPMFSSelector(10).fit(X[:, order], y)
    assert again.objective_ == pytest.approx(found.objective_, rel=1e-6)
    if kind != "wide noise":
        assert (again.support_ == found.support_[order]).all()


def test_where_no_feature_helps_the_best_ones_on_their_own_are_kept(rng):
    # With so few positives the loss is lowest without any feature, as linear programming agrees.
    X, y = everyday("four per cent", rng)
    positive = y == "yes"
    found = RPMFSSelector(3).fit(X, y)
    assert found.objective_ == pytest.approx(np.sqrt(2) * positive.sum(), rel=1e-6)
    n, d = X.shape
    cost = np.concatenate([np.zeros(2 * d + 2), np.ones(2 * n)])
    columns = np.hstack([X, np.ones((n, 1))])
    equations = np.hstack([columns, -columns, np.eye(n), -np.eye(n)])
    lowest = linprog(cost, A_eq=equations, b_eq=positive.astype(float)).fun
    assert lowest == pytest.approx(positive.sum(), rel=1e-6)
    assert found.get_support(indices=True).tolist() == [0, 1, 2]


def test_too_few_iterations_are_reported():
    X, Y = data(6)
    with pytest.warns(ConvergenceWarning, match="copies of W"):
        RPMFSSelector(3, max_iter=3).fit(X, Y)


# -- units, and the published method ---------------------------------------------------------


def regression(seed):
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(30, 60)), int(rng.integers(10, 50)), int(rng.integers(2, 7))
    X = rng.standard_normal((n, d)) @ (np.eye(d) + 0.2 * rng.standard_normal((d, d)))
    y = X[:, :k] @ rng.standard_normal(k) + rng.standard_normal(n)
    y[: n // 6] += 10 * rng.standard_normal(n // 6)
    return X, y, k


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_units_of_the_target_do_not_matter():
    for seed in range(30):
        X, y, k = regression(seed)
        once = RPMFSSelector(k, task="regression", max_iter=400).fit(X, y)
        for factor in (1e-4, 1e3, 1e6):
            again = clone(once).fit(X, factor * y)
            np.testing.assert_array_equal(again.support_, once.support_)
            assert again.scores_ == pytest.approx(once.scores_, rel=1e-3, abs=1e-6)


def plain_loop(X, Y, k, n_iter, intercept):
    """The published iteration written out, with multipliers and (X, 1) as they are.

    Returns the rows of the last V, and the last W.
    """
    n, d = X.shape
    A = np.hstack([X, np.ones((n, 1))]) if intercept else X
    ridge = np.diag([1.0] * d + [0.0] * (A.shape[1] - d))
    system = np.linalg.inv(A.T @ A + ridge)
    full = system @ A.T @ Y  # W, then b
    first, second = np.zeros_like(Y), np.zeros((d, Y.shape[1]))
    mu = 0.1
    for _ in range(n_iter):
        R = Y - A @ full - first / mu
        length = np.maximum(np.linalg.norm(R, axis=1, keepdims=True), 1e-300)
        E = np.maximum(1 - 1 / (mu * length), 0) * R
        G = full[:d] + second / mu
        kept = np.sort(np.argsort(-np.linalg.norm(G, axis=1), kind="stable")[:k])
        V = np.zeros_like(G)
        V[kept] = G[kept]
        right = A.T @ (Y - E - first / mu)
        right[:d] += V - second / mu
        full = system @ right
        first = first + mu * (E - (Y - A @ full))
        second = second + mu * (full[:d] - V)
        mu *= 1.02
    return kept, full[:d]


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(("n", "d"), [(60, 25), (30, 70)])
def test_the_published_method_is_the_plain_loop(n, d, intercept):
    for seed in range(3):
        X, Y = data(seed, n=n, d=d)
        for n_iter in (1, 7, 60):
            selector = RPMFSSelector(
                5,
                solver="published",
                max_iter=n_iter,
                standardize=False,
                fit_intercept=intercept,
            )
            with pytest.warns(ConvergenceWarning, match=f"after {n_iter} iteration"):
                selector.fit(X, Y)
            kept, W = plain_loop(X, Y, 5, n_iter, intercept)
            assert selector.get_support(indices=True).tolist() == kept.tolist()
            centre = X.mean(axis=0) if intercept else 0.0
            problem = RobustRegression(as_design(X - centre), Y, np.ones(n), intercept, k=5)
            fit = TopKLagrangian.published(max_iter=n_iter).solve(problem)
            assert pytest.approx(W, abs=1e-7) == fit.solution.W


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_published_method_depends_on_units():
    changed = 0
    for seed in range(10):
        X, y, k = regression(seed)
        once = RPMFSSelector(k, solver="published", task="regression").fit(X, y)
        again = clone(once).fit(X, 1000.0 * y)
        changed += (once.support_ != again.support_).any()
    assert changed > 0


@pytest.mark.long("thousands of published iterations")
def test_noise_scores_like_noise():
    rng = np.random.default_rng(9)
    X = rng.standard_normal((100, 40))
    signal = RPMFSSelector(5).fit(X, 3.0 * X[:, 0] + 0.1 * rng.standard_normal(100))
    noise = RPMFSSelector(5).fit(X, 3.0 * rng.standard_normal(100))
    assert signal.scores_[0] > 0.9
    assert np.delete(signal.scores_, 0).max() < 0.1
    assert noise.scores_.max() < 0.4


def test_an_unknown_solver_is_refused():
    X, Y = data()
    with pytest.raises(ValueError, match="solver must be one of 'scaled', 'published'"):
        RPMFSSelector(3, solver="fast").fit(X, Y)


@pytest.mark.slow
def test_the_copies_agree_on_many_samples(rng):
    X = rng.standard_normal((20_000, 10))
    y = (X[:, 0] + X[:, 1] + rng.standard_normal(20_000) > 0).astype(int)
    found = RPMFSSelector(3).fit(X, y)
    assert found.converged_
    assert found.support_[:2].all()


@pytest.mark.parametrize("kind", [RFSSelector, RobustL20Selector, RPMFSSelector])
def test_very_many_classes_are_announced(kind, rng, monkeypatch):
    class Begun(Exception):
        pass

    def begin(*_):
        raise Begun

    monkeypatch.setattr(kind, "_robust_problem", begin)  # the work would be long
    X, y = rng.standard_normal((10_000, 3)), np.arange(10_000) % 5_000
    with pytest.warns(UserWarning, match=f"{kind.__name__} will take about"), pytest.raises(Begun):
        kind(2).fit(X, [f"class {label}" for label in y])
