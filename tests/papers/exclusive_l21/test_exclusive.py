"""Exclusive selectors against certified optima, the paper's illustration, and known truth."""

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from sparsieve import ExclusiveL21Selector, ExclusiveLassoSelector, L21Selector
from sparsieve.datasets.synthetic.classes import make_class_exclusive
from sparsieve.design import as_design
from sparsieve.papers.exclusive_l21.published import ExclusiveALM
from sparsieve.penalties import ExclusiveL21
from sparsieve.solvers import ALM
from sparsieve.solvers.base import LeastSquares
from sparsieve_experiments.papers.exclusive_l21.solutions import X as ILLUSTRATION_X
from sparsieve_experiments.papers.exclusive_l21.solutions import Y as ILLUSTRATION_Y

PLAIN = {"fit_intercept": False, "standardize": False, "task": "regression"}


def certified(X, Y, alpha, beta):
    W = cp.Variable((X.shape[1], Y.shape[1]))
    rows = cp.norm(W, 2, axis=1)
    squares = sum(cp.square(cp.norm1(W[j])) for j in range(X.shape[1]))
    problem = cp.Problem(
        cp.Minimize(cp.sum_squares(X @ W - Y) + alpha * cp.sum(rows) + beta * squares)
    )
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    return problem.value


def random_problem(n, d, c=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 0.5 * rng.standard_normal((n, 1))
    Y = X[:, :4] @ rng.standard_normal((4, c)) * (rng.random((4, c)) > 0.5).max(0)
    return X, Y + 0.5 * rng.standard_normal((n, c))


@pytest.mark.parametrize("shape", [(40, 15), (15, 40)])
@pytest.mark.parametrize(("alpha", "beta"), [(20.0, 1.0), (3.0, 10.0), (0.3, 0.01), (30.0, 0.0)])
def test_exclusive_l21_reaches_the_certified_optimum(shape, alpha, beta):
    X, Y = random_problem(*shape)
    selector = ExclusiveL21Selector(alpha=alpha, beta=beta, **PLAIN).fit(X, Y)
    assert selector.objective_ == pytest.approx(certified(X, Y, alpha, beta), rel=1e-6)
    W = selector.coef_.T
    lengths = np.abs(W).sum(axis=1)
    value = ((X @ W - Y) ** 2).sum() + alpha * np.linalg.norm(W, axis=1).sum()
    assert selector.objective_ == pytest.approx(value + beta * lengths @ lengths, rel=1e-10)
    assert 0 <= selector.optimality_ <= 1e-6
    np.testing.assert_array_equal(selector.support_per_class_, selector.coef_ != 0)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("shape", [(40, 15), (15, 40), (20, 120)])
@pytest.mark.parametrize("beta", [1e-3, 0.1, 10.0])
def test_exclusive_lasso_reaches_the_certified_optimum(shape, beta):
    X, Y = random_problem(*shape, seed=1)
    selector = ExclusiveLassoSelector(beta=beta, **PLAIN).fit(X, Y)
    assert selector.objective_ == pytest.approx(certified(X, Y, 0.0, beta), rel=2e-6)
    assert 0 <= selector.optimality_ <= 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("share", [1e-3, 1e-2, 0.1])
def test_exclusive_lasso_where_coordinate_descent_stalls(real_data, share):
    X, y = real_data("glioma")
    X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1)
    Y = np.eye(4)[y]
    largest = 2 * np.linalg.norm(X.T @ (Y - Y.mean(axis=0)), axis=1).max()
    selector = ExclusiveLassoSelector(beta=share * largest).fit(X, y)
    assert selector.optimality_ <= 1e-6


def test_published_solver_stays_above_and_says_so():
    X, Y = random_problem(15, 60, seed=2)
    best = ExclusiveL21Selector(alpha=0.1, beta=0.1, **PLAIN).fit(X, Y)
    with pytest.warns(ConvergenceWarning, match="duality gap"):
        published = ExclusiveL21Selector(alpha=0.1, beta=0.1, solver="published", **PLAIN).fit(X, Y)
    assert published.objective_ >= best.objective_ * (1 - 1e-9)
    assert published.optimality_ * published.objective_ >= published.objective_ - best.objective_
    strengths = {"alpha": 20.0, "beta": 1.0, **PLAIN}
    easy = ExclusiveL21Selector(solver="published", tol=1e-4, **strengths).fit(X, Y)
    exact = ExclusiveL21Selector(**strengths).fit(X, Y)
    assert easy.objective_ == pytest.approx(exact.objective_, rel=1e-5)


def test_illustration_of_the_paper():
    """W21 and W12 come out with their 12 nonzeros; Wex21 as printed is not a minimiser."""
    shared = L21Selector(alpha=1.6, **PLAIN).fit(ILLUSTRATION_X, ILLUSTRATION_Y)
    assert np.count_nonzero(shared.coef_) == 12
    exclusive = ExclusiveLassoSelector(beta=0.9, **PLAIN).fit(ILLUSTRATION_X, ILLUSTRATION_Y)
    assert np.count_nonzero(exclusive.coef_) == 12
    assert exclusive.coef_.any(axis=0).all()  # no feature is dropped
    printed = [[0.336, 0.352, 0], [0.287, 0, 0.358], [0, 0.070, 0.758]]
    np.testing.assert_allclose(exclusive.coef_.T[:3], printed, atol=0.005)
    both = ExclusiveL21Selector(alpha=1.0, beta=1.9, **PLAIN).fit(ILLUSTRATION_X, ILLUSTRATION_Y)
    printed = [[0.192, 0.114, 0], [0.132, 0.014, 0.090], [0, 0.041, 0.358], [0, 0, 0]]
    np.testing.assert_allclose(both.coef_.T[:4], printed, atol=0.031)
    # At this ratio of the strengths no scale gives 12 nonzeros; 11 is the nearest.
    wanted = ExclusiveL21Selector(alpha=1.0, beta=1.9, target_sparsity=12, **PLAIN)
    assert abs(np.count_nonzero(wanted.fit(ILLUSTRATION_X, ILLUSTRATION_Y).coef_) - 12) <= 1


def test_finds_which_feature_belongs_to_which_class():
    data = make_class_exclusive(
        n_samples=600, n_features=300, n_relevant_per_class=4, random_state=0
    )
    truth = np.zeros((4, 300), dtype=bool)
    for k, features in enumerate(data.relevant_per_class):
        truth[k, features] = True
    exclusive = ExclusiveL21Selector(alpha=120.0, beta=10_000.0).fit(data.X, data.y)
    np.testing.assert_array_equal(exclusive.support_per_class_, truth)
    # The l2,1 model finds the features, but gives every one of them to all classes.
    shared = L21Selector(alpha=120.0).fit(data.X, data.y)
    np.testing.assert_array_equal(shared.support_, truth.any(axis=0))
    assert (shared.coef_[:, shared.support_] != 0).all()
    # Ranked per class the weaker penalty tells them apart as well.
    weak = ExclusiveL21Selector(beta=50.0).fit(data.X, data.y).at(4, per_class=True)
    np.testing.assert_array_equal(weak.support_per_class_, truth)


def test_selections_per_class(rng):
    X, y = rng.standard_normal((50, 20)), rng.integers(0, 3, 50)
    selector = ExclusiveL21Selector(beta=1.0, alpha=1.0, n_features_to_select=8).fit(X, y)
    assert selector.support_per_class_.shape == (3, 20)
    assert not selector.support_per_class_[:, ~selector.support_].any()
    two = selector.at(2, per_class=True)
    assert (two.support_per_class_.sum(axis=1) <= 2).all()
    np.testing.assert_array_equal(two.support_, two.support_per_class_.any(axis=0))
    assert selector.at(5).support_.sum() == 5
    heat = two.heatmap_
    assert heat.values.shape == (3, two.support_.sum())
    assert sorted(heat.features) == sorted(np.flatnonzero(two.support_))
    np.testing.assert_array_equal(heat.values != 0, two.support_per_class_[:, heat.features])
    assert list(heat.classes) == [0, 1, 2]


@pytest.mark.parametrize("wanted", [10, 40, 0.5])
def test_target_sparsity(rng, wanted):
    X, y = rng.standard_normal((40, 30)), rng.integers(0, 3, 40)
    selector = ExclusiveL21Selector(alpha=1.0, beta=0.2, target_sparsity=wanted).fit(X, y)
    count = wanted if isinstance(wanted, int) else round(wanted * 90)
    assert abs(np.count_nonzero(selector.coef_) - count) <= 2
    assert selector.alpha_ / selector.beta_ == pytest.approx(5.0)


@pytest.mark.parametrize(
    "make",
    [
        lambda **k: ExclusiveL21Selector(alpha=5.0, beta=1.0, **k),
        lambda **k: ExclusiveLassoSelector(beta=1.0, **k),
    ],
)
@pytest.mark.parametrize("shape", [(60, 20), (30, 50)])
def test_weights_sparse_single_precision_and_regression(rng, make, shape):
    X, y = rng.standard_normal(shape), rng.integers(0, 3, shape[0])
    X[np.arange(shape[0]), y] += 2
    weights = rng.integers(0, 3, shape[0]).astype(float)
    repeated = np.repeat(np.arange(shape[0]), weights.astype(int))
    fit = make(tol=1e-8).fit(X, y, sample_weight=weights)
    again = make(tol=1e-8).fit(X[repeated], y[repeated])
    assert fit.objective_ == pytest.approx(again.objective_, rel=1e-7)
    np.testing.assert_allclose(fit.coef_, again.coef_, atol=1e-3 * np.abs(fit.coef_).max())
    X = np.where(np.abs(X) < 0.4, 0.0, X)
    dense = make().fit(X, y)
    thin = make().fit(sparse.csr_matrix(X), y)
    assert thin.objective_ == pytest.approx(dense.objective_, rel=1e-6)
    single = make(tol=1e-4).fit(X.astype(np.float32), y)
    assert single.coef_.dtype == np.float32
    assert single.objective_ == pytest.approx(dense.objective_, rel=1e-3)
    Y = X[:, :2] @ rng.standard_normal((2, 4))
    assert make().fit(X, Y).coef_.shape == (4, shape[1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 0.0}, "alpha must be positive"),
        ({"beta": -1.0}, "beta must be at least 0"),
        ({"solver": "newton"}, "solver must be one of"),
        ({"target_sparsity": 1.5}, "fraction must be at most 1"),
        ({"target_sparsity": 0}, "target_sparsity must be at least 1"),
        ({"target_sparsity": 10**6}, "more than the"),
    ],
)
def test_bad_parameters_are_named(rng, options, message):
    with pytest.raises(ValueError, match=message):
        ExclusiveL21Selector(**options).fit(rng.standard_normal((20, 5)), np.arange(20) % 2)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_published_method_takes_the_letters_of_the_paper():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((30, 12)), rng.standard_normal((30, 3))
    strengths = {"alpha": 0.1, "beta": 0.1, **PLAIN}
    problem = LeastSquares(as_design(X), Y, ExclusiveL21(0.1, 0.1))
    start = problem.make_result(np.random.default_rng(3).standard_normal((12, 3)))
    for settings, solver, W in (
        (ALM(), ExclusiveALM(), None),
        (ALM(nu=0.5, rho=1.3, epsilon_1=1e-4), ExclusiveALM(1.3, 1e-4, first=0.5), None),
        (ALM(init="gaussian", random_state=3), ExclusiveALM(), start),
    ):
        selector = ExclusiveL21Selector(solver=settings, **strengths).fit(X, Y)
        assert selector.objective_ == pytest.approx(solver.solve(problem, W).objective, rel=1e-9)
    assert selector.objective_ > ExclusiveL21Selector(**strengths).fit(X, Y).objective_
    with pytest.raises(ValueError, match="rho must be greater than 1"):
        ExclusiveL21Selector(solver=ALM(rho=1)).fit(X, Y)
