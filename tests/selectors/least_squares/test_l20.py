"""L20Selector: the model, its solvers, and what a fitted selector can do."""

import itertools
import os
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from sparsieve import L20Selector, RidgeForwardSelector

DATA = Path(os.environ.get("SPARSIEVE_DATA", Path(__file__).parents[4] / "shared" / "data"))


@parametrize_with_checks(
    [
        L20Selector(),
        L20Selector(lam=0.5),
        L20Selector(loss="l21"),
        L20Selector(solver="hiht"),
        L20Selector(solver="ahiht"),
    ]
)
def test_is_a_scikit_learn_selector(estimator, check):
    check(estimator)


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 50)) + rng.standard_normal((60, 1))
    y = rng.integers(0, 3, 60)
    X[np.arange(60), y] += 2.0
    return X, y


def residual(X, Y, support):
    A = np.hstack([np.ones((len(X), 1)), X[:, support]])
    R = Y - A @ np.linalg.lstsq(A, Y, rcond=None)[0]
    return float((R**2).sum())


def test_objective_belongs_to_the_coefficients(problem):
    X, y = problem
    Y = np.eye(3)[y]
    options = {"fit_intercept": False, "standardize": False}
    selector = L20Selector(lam=0.5, ridge=0.2, **options).fit(X, y)
    for fitted in (selector, selector.at(7)):
        W = fitted.coef_.T
        value = 0.5 * ((X @ W - Y) ** 2).sum() + 0.5 * 0.2 * 60 * (W**2).sum()
        assert fitted.objective_ == pytest.approx(value + 0.5 * W.any(axis=1).sum())
        assert (W.any(axis=1) == fitted.support_).all()


def test_ridge_zero_is_the_exact_problem(problem):
    X, y = problem
    selector = L20Selector(n_features_to_select=6, ridge=0).fit(X, y)
    for k in (1, 3, 6):
        other = selector.at(k)
        support = other.get_support(indices=True)
        assert len(support) == k
        expected = 0.5 * residual(X, np.eye(3)[y], support)
        assert other.objective_ == pytest.approx(expected)
        assert other.path_.objective[k] == pytest.approx(expected)
        prediction = X @ other.coef_.T + other.intercept_
        assert 0.5 * ((prediction - np.eye(3)[y]) ** 2).sum() == pytest.approx(expected)


def test_lam_picks_the_best_size_of_the_path(problem):
    X, y = problem
    whole = L20Selector(n_features_to_select=40, ridge=0).fit(X, y)
    for lam in (0.05, 0.2, 1.0, 100.0):
        priced = whole.path_.objective + lam * np.arange(41)
        selector = L20Selector(lam=lam, ridge=0).fit(X, y)
        kept = int(selector.support_.sum())
        assert kept == max(1, int(np.argmin(priced)))
        if lam < 100:
            assert selector.objective_ == pytest.approx(priced.min(), rel=0.02)


def test_without_swaps_it_is_forward_selection(problem):
    X, y = problem
    plain = L20Selector(n_features_to_select=10, swaps=0).fit(X, y)
    forward = RidgeForwardSelector(10, clip=None, class_balance=0).fit(X, y)
    np.testing.assert_array_equal(plain.path_.features, forward.path_.features)
    np.testing.assert_allclose(plain.coef_, forward.coef_, atol=1e-10)
    swapped = L20Selector(n_features_to_select=10).fit(X, y)
    assert (swapped.path_.objective <= plain.path_.objective + 1e-12).all()


def test_supports_of_all_sizes_come_from_one_fit(problem):
    X, y = problem
    selector = L20Selector(n_features_to_select=20, ridge=0).fit(X, y)
    for k in range(1, 21):
        other = selector.at(k)
        np.testing.assert_array_equal(
            other.get_support(indices=True), np.sort(other.path_.support(k))
        )
        assert sorted(other.ranking_) == list(range(1, 51))
        assert (other.ranking_[other.support_] <= k).all()
        assert (np.diff(other.scores_[np.argsort(other.ranking_)][:k]) <= 1e-12).all()
    assert selector.at(30).support_.sum() == 30


def test_interpolation_ends_the_path_and_ranks_the_rest():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((12, 60)), rng.integers(0, 2, 12)
    selector = L20Selector(n_features_to_select=40, ridge=0).fit(X, y)
    assert len(selector.path_) <= 11
    assert selector.support_.sum() == 40
    assert selector.objective_ == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("solver", ["greedy", "hiht", "ahiht"])
def test_weights_repeat_rows_and_sparse_matches_dense(problem, solver):
    X, y = problem
    weights = np.random.default_rng(2).integers(0, 3, 60).astype(float)
    repeated = np.repeat(np.arange(60), weights.astype(int))
    selector = L20Selector(lam=0.3, solver=solver)
    weighted = selector.fit(X, y, sample_weight=weights).coef_
    np.testing.assert_allclose(weighted, selector.fit(X[repeated], y[repeated]).coef_, atol=1e-6)
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    dense = selector.fit(X, y).coef_
    np.testing.assert_allclose(selector.fit(sparse.csr_matrix(X), y).coef_, dense, atol=1e-8)


@pytest.mark.parametrize("solver", ["greedy", "hiht", "ahiht"])
def test_single_precision_and_several_outputs(problem, solver):
    X, _ = problem
    rng = np.random.default_rng(3)
    Y = X[:, :3] @ rng.standard_normal((3, 2)) + 0.1 * rng.standard_normal((60, 2))
    selector = L20Selector(n_features_to_select=3, solver=solver, ridge=0).fit(X, Y)
    if solver != "ahiht":  # one step per price is a ranking, not a solution
        np.testing.assert_array_equal(selector.get_support(indices=True), [0, 1, 2])
    single = L20Selector(n_features_to_select=3, solver=solver, ridge=0, tol=1e-4)
    single.fit(X.astype(np.float32), Y.astype(np.float32))
    np.testing.assert_array_equal(single.support_, selector.support_)
    assert single.coef_.dtype == np.float32


# -- l2,1 loss ---------------------------------------------------------------------------


def robust_value(X, Y, support):
    """Least sum of residual norms on a support, by an independent solver."""
    W, b = cp.Variable((len(support), Y.shape[1])), cp.Variable((1, Y.shape[1]))
    fitted = X[:, support] @ W + np.ones((len(X), 1)) @ b
    problem = cp.Problem(cp.Minimize(cp.sum(cp.norm(Y - fitted, 2, axis=1))))
    return problem.solve(solver=cp.CLARABEL)


def test_l21_loss_finds_the_best_support():
    rng = np.random.default_rng(6)
    X, Y = rng.standard_normal((25, 7)), rng.standard_normal((25, 2))
    Y += 1.5 * X[:, [1]] - X[:, [4]]
    Y[:3] += 20.0
    selector = L20Selector(n_features_to_select=2, loss="l21").fit(X, Y)
    supports = itertools.combinations(range(7), 2)
    best = min(robust_value(X, Y, list(support)) for support in supports)
    assert selector.objective_ == pytest.approx(best, rel=1e-5)
    assert selector.optimality_ <= 1e-6
    R = Y - X @ selector.coef_.T - selector.intercept_
    assert np.linalg.norm(R, axis=1).sum() == pytest.approx(best, rel=1e-5)
    np.testing.assert_array_equal(selector.get_support(indices=True), [1, 4])


def test_l21_loss_shrugs_off_outliers_and_prices_features():
    rng = np.random.default_rng(7)
    X = rng.standard_normal((80, 40))
    Y = X[:, :3] @ np.array([[2.0], [-2.0], [1.5]]) + 0.1 * rng.standard_normal((80, 1))
    Y[:8] += 60.0 * rng.standard_normal((8, 1))
    priced = L20Selector(lam=20.0, loss="l21").fit(X, Y[:, 0])
    np.testing.assert_array_equal(priced.get_support(indices=True), [0, 1, 2])
    bare = np.abs(Y[:, 0] - X @ priced.coef_[0] - priced.intercept_[0]).sum()
    assert priced.objective_ == pytest.approx(bare + 60.0, rel=1e-6)
    squared = L20Selector(n_features_to_select=3, ridge=0).fit(X, Y[:, 0])
    assert not np.array_equal(squared.get_support(indices=True), [0, 1, 2])
    two = priced.at(2)
    assert two.support_.sum() == 2
    assert two.objective_ > priced.objective_


# -- homotopy ----------------------------------------------------------------------------


def plain_homotopy(X, Y, lam, *, L, eta, growth, rho, tol, accelerated):
    """The published pseudo-code, line by line, with its line 14 corrected."""
    W = np.zeros((X.shape[1], Y.shape[1]))
    step_lam = max(lam, (np.linalg.norm(X.T @ Y, axis=1) ** 2).max() / (2 * L))

    def phi(W, price):
        return 0.5 * ((X @ W - Y) ** 2).sum() + price * W.any(axis=1).sum()

    while True:
        while True:
            G = X.T @ (X @ W - Y)
            while True:
                V = W - G / L
                keep = (V**2).sum(axis=1) > 2 * step_lam / L
                new = V * keep[:, None]
                moved = ((new - W) ** 2).sum()
                if phi(W, step_lam) - phi(new, step_lam) >= 0.5 * eta * moved - 1e-14 * phi(
                    W, step_lam
                ):
                    break
                L *= growth
            W = new
            if accelerated or L * moved <= tol * phi(W, step_lam):
                break
        if step_lam <= lam:
            return W, phi(W, lam)
        step_lam = max(rho * step_lam, lam)


@pytest.mark.parametrize("solver", ["hiht", "ahiht"])
def test_homotopy_follows_the_published_steps(problem, solver):
    X, y = problem
    selector = L20Selector(
        lam=0.2, solver=solver, L_0=5.0, fit_intercept=False, standardize=False, tol=1e-8
    ).fit(X, y)
    W, value = plain_homotopy(
        X,
        np.eye(3)[y],
        0.2,
        L=5.0,
        eta=1e-3,
        growth=2.0,
        rho=0.9,
        tol=1e-8,
        accelerated=solver == "ahiht",
    )
    np.testing.assert_allclose(selector.coef_.T, W, atol=1e-8)
    assert selector.objective_ == pytest.approx(value)
    np.testing.assert_array_equal(selector.support_, W.any(axis=1))
    assert selector.history_[-1] == pytest.approx(value)
    order = np.argsort(-np.linalg.norm(W, axis=1), kind="stable")
    np.testing.assert_array_equal(selector.path_.features, order[: W.any(axis=1).sum()])
    assert (selector.path_.strength >= 0.2).all()


def test_random_starts_need_a_seed_and_keep_it(problem):
    X, y = problem
    fits = [
        L20Selector(lam=0.2, solver="hiht", init=init, random_state=0, **options).fit(X, y).coef_
        for init in ("zero", "gaussian", "gaussian", "uniform")
        for options in ({}, {"lambda_0": 0.2})
    ]
    # The first price drops every row, so a homotopy from the top forgets where it started ...
    for other in fits[2::2]:
        np.testing.assert_array_equal(other, fits[0])
    # ... while one that starts at its final price does not.
    np.testing.assert_array_equal(fits[3], fits[5])
    assert not np.array_equal(fits[3], fits[7])
    assert not np.array_equal(fits[1], fits[3])


def test_homotopy_says_when_it_ran_out_of_steps(problem):
    X, y = problem
    with pytest.warns(ConvergenceWarning, match="max_iter=3"):
        L20Selector(lam=1e-3, solver="hiht", max_iter=3).fit(X, y)


def test_homotopy_reaches_the_number_asked_for(problem):
    X, y = problem
    selector = L20Selector(n_features_to_select=25, solver="hiht").fit(X, y)
    assert len(selector.path_) >= 25


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lam": -1.0}, "lam must be positive"),
        ({"lam": 1.0, "n_features_to_select": 2}, "both say how many"),
        ({"solver": "magic"}, "solver must be one of"),
        ({"init": "gaussian"}, "greedy solver starts"),
        ({"loss": "hinge"}, "loss must be one of"),
        ({"loss": "l21", "solver": "hiht"}, 'needs solver="greedy"'),
        ({"loss": "l21", "ridge": 1.0}, "RobustL20Selector"),
        ({"loss": "l21", "swaps": 2}, "exchanges of its own"),
        ({"swaps": -1}, "swaps must be at least 0"),
        ({"ridge": -0.1}, "ridge must be at least 0"),
        ({"rho": 1.0}, "rho must be less than 1"),
        ({"growth": 1.0}, "growth must be greater than 1"),
    ],
)
def test_bad_parameters_are_named(problem, options, message):
    with pytest.raises(ValueError, match=message):
        L20Selector(**options).fit(*problem)


def real(name):
    path = DATA / f"{name}.npz"
    if not path.exists():
        pytest.skip(f"{name} is not at hand")
    with np.load(path) as file:
        X, y = file["X"].astype(float), file["y"]
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), y


@pytest.mark.parametrize(
    "name",
    [
        "allaml",
        pytest.param("glioma", marks=pytest.mark.slow),
        pytest.param("isolet", marks=pytest.mark.slow),
        pytest.param("coil20", marks=pytest.mark.slow),
    ],
)
def test_greedy_is_never_above_the_homotopy_on_real_data(name):
    X, y = real(name)
    Y = np.eye(y.max() + 1)[y]
    greedy = L20Selector(n_features_to_select=50, ridge=0).fit(X, y)
    homotopy = L20Selector(n_features_to_select=50, solver="hiht").fit(X, y)
    for k in (5, 10, 20, 50):
        ours, theirs = (
            residual(X, Y, s.at(k).get_support(indices=True)) for s in (greedy, homotopy)
        )
        assert ours <= theirs + 1e-9 * len(y)
