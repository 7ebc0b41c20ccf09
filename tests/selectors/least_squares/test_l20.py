"""L20Selector: the model, its solvers, and what a fitted selector can do."""

import os
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from sparsieve import L20Selector, RidgeForwardSelector
from sparsieve.design import as_design
from sparsieve.papers.l20.published import HomotopyIHT, entry_price
from sparsieve.solvers import AHIHT, HIHT, Greedy
from sparsieve.solvers.base import LeastSquares

DATA = Path(os.environ.get("SPARSIEVE_DATA", Path(__file__).parents[4] / "shared" / "data"))


@pytest.mark.thinned(4)
@parametrize_with_checks(
    [
        L20Selector(),
        L20Selector(lam=0.5),
        L20Selector(solver=Greedy(swaps=2)),
        L20Selector(solver="hiht"),
        L20Selector(solver="published"),
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


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("n_samples", [6, 50, 3000])
def test_copies_without_a_ridge_explain_no_more(n_samples):
    """What rounding leaves of a copy is no direction to fit."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        X = np.round(2.0 * rng.standard_normal((n_samples, 4)))
        X[:, 2], X[:, 3] = X[:, 0] - X[:, 1], X[:, 1]
        y = rng.standard_normal(n_samples)
        fitted = L20Selector(4, ridge=0, solver="exact", task="regression").fit(X, y)
        A = np.column_stack([np.ones(n_samples), X])
        rest = y - A @ np.linalg.lstsq(A, y, rcond=None)[0]
        assert fitted.objective_ == pytest.approx(0.5 * rest @ rest, rel=1e-9)
        assert np.abs(fitted.coef_).max() < 10.0


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
    plain = L20Selector(n_features_to_select=10, solver=Greedy(swaps=0)).fit(X, y)
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
            other.get_support(indices=True), np.sort(other.path_.supports[k])
        )
        assert sorted(other.ranking_) == list(range(1, 51))
        assert (other.ranking_[other.support_] <= k).all()
    with pytest.raises(ValueError, match="fit with n_features_to_select >= 30"):
        selector.at(30)


def test_interpolation_ends_the_path_and_ranks_the_rest():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((12, 60)), rng.integers(0, 2, 12)
    selector = L20Selector(n_features_to_select=40, ridge=0).fit(X, y)
    assert len(selector.path_) <= 11
    assert selector.support_.sum() == 40
    assert selector.objective_ == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("solver", ["greedy", "hiht", "published"])
def test_weights_repeat_rows_and_sparse_matches_dense(problem, solver):
    X, y = problem
    weights = np.random.default_rng(2).integers(0, 3, 60).astype(float)
    repeated = np.repeat(np.arange(60), weights.astype(int))
    selector = L20Selector(lam=0.02 if solver == "published" else 0.3, solver=solver)
    weighted = selector.fit(X, y, sample_weight=weights).coef_
    np.testing.assert_allclose(weighted, selector.fit(X[repeated], y[repeated]).coef_, atol=1e-6)
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    dense = selector.fit(X, y).coef_
    np.testing.assert_allclose(selector.fit(sparse.csr_matrix(X), y).coef_, dense, atol=1e-8)


@pytest.mark.parametrize("solver", ["greedy", "hiht", "published"])
def test_single_precision_and_several_outputs(problem, solver):
    X, _ = problem
    rng = np.random.default_rng(3)
    Y = X[:, :3] @ rng.standard_normal((3, 2)) + 0.1 * rng.standard_normal((60, 2))
    selector = L20Selector(n_features_to_select=3, solver=solver, ridge=0).fit(X, Y)
    if solver != "published":  # one step per price is a ranking, not a solution
        np.testing.assert_array_equal(selector.get_support(indices=True), [0, 1, 2])
    single = L20Selector(n_features_to_select=3, solver=solver, ridge=0, tol=1e-4)
    single.fit(X.astype(np.float32), Y.astype(np.float32))
    np.testing.assert_array_equal(single.support_, selector.support_)
    assert single.coef_.dtype == np.float32


# -- scores ------------------------------------------------------------------------------


def share_explained(X, Y, support, ridge):
    """Of ||Y||^2, without the part that a ridge relative to n holds back."""
    A = X[:, support]
    W = np.linalg.solve(A.T @ A + ridge * len(X) * np.eye(len(support)), A.T @ Y)
    left = ((Y - A @ W) ** 2).sum() + ridge * len(X) * (W**2).sum()
    return (1 + ridge) * (1 - left / (Y**2).sum())


@pytest.mark.parametrize("ridge", [0.0, 1.0])
def test_scores_are_shares_of_the_target_at_entry(problem, ridge):
    X, y = problem
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    Y = np.eye(3)[y] - np.eye(3)[y].mean(axis=0)
    selector = L20Selector(8, ridge=ridge).fit(X, y)
    for fitted in (selector, selector.at(5)):
        k = int(fitted.support_.sum())
        order = np.argsort(fitted.ranking_)
        kept = order[:k]
        np.testing.assert_array_equal(np.sort(kept), np.sort(fitted.path_.supports[k]))
        explained = [0.0]
        for t in range(k):  # each is the best of those kept
            shares = {j: share_explained(Z, Y, [*kept[:t], j], ridge) for j in kept[t:]}
            assert max(shares, key=shares.get) == kept[t]
            explained.append(shares[kept[t]])
        np.testing.assert_allclose(fitted.scores_[kept], np.diff(explained), rtol=1e-8)
    kept = np.argsort(selector.ranking_)[:8]
    np.testing.assert_array_equal(kept, selector.path_.features)
    for j in np.flatnonzero(~selector.support_):
        gain = share_explained(Z, Y, [*kept, j], ridge) - share_explained(Z, Y, kept, ridge)
        assert selector.scores_[j] == pytest.approx(gain, rel=1e-6)
    assert (np.diff(selector.scores_[np.argsort(selector.ranking_)][8:]) <= 0).all()


def test_scores_do_not_depend_on_k_or_units_and_noise_scores_like_noise():
    rng = np.random.default_rng(8)
    X = rng.standard_normal((200, 40))
    y = X[:, :6] @ np.array([6.0, 5.0, 4.0, 3.0, 2.0, 1.0]) + rng.standard_normal(200)
    few, more = L20Selector(3).fit(X, y), L20Selector(6).fit(X, y)
    np.testing.assert_allclose(few.scores_[[0, 1, 2]], more.scores_[[0, 1, 2]], rtol=1e-9)
    np.testing.assert_array_equal(few.ranking_[:3], more.ranking_[:3])
    scaled = L20Selector(3).fit(X * rng.uniform(1e-3, 1e3, 40), 1e4 * y)
    np.testing.assert_allclose(scaled.scores_, few.scores_, rtol=1e-9)
    X[:, 30] = y
    assert L20Selector(1).fit(X, y).scores_.max() == pytest.approx(1.0)
    noise = L20Selector(6).fit(X[:, :30], rng.standard_normal(200))
    assert noise.scores_.max() < 0.1


@pytest.mark.parametrize("solver", [HIHT(fill=False), AHIHT(fill=False)], ids=repr)
def test_homotopy_scores_are_standardised_coefficients(problem, solver):
    X, y = problem
    selector = L20Selector(lam=0.02, solver=solver).fit(X, y)
    assert 1 < len(selector.path_) < 50
    size = np.sqrt(((np.eye(3)[y] - np.eye(3)[y].mean(axis=0)) ** 2).sum() / len(y))
    norms = np.linalg.norm(selector.coef_ * X.std(axis=0), axis=0)
    np.testing.assert_allclose(selector.scores_, norms / size, rtol=1e-8)
    numbers = X[:, 0] - X[:, 1]
    one, other = (
        L20Selector(5, solver=solver).fit(X * unit, numbers * unit) for unit in (1.0, 8.0)
    )
    np.testing.assert_allclose(one.scores_, other.scores_, rtol=1e-6)
    with pytest.raises(ValueError, match="fit with n_features_to_select >="):
        selector.at(int(selector.support_.sum()) + 1)


def test_features_without_a_row_follow_by_their_gradient(problem):
    X, y = problem
    selector = L20Selector(lam=0.02, solver="published").fit(X, y)
    rows, filled = len(selector.path_), selector.at(30)
    assert rows < 30
    assert filled.support_.sum() == 30
    Z, Y = (X - X.mean(axis=0)) / X.std(axis=0), np.eye(3)[y]
    residual = Y - X @ selector.coef_.T - selector.intercept_
    gradients = np.where(selector.coef_.any(axis=0), -1.0, np.linalg.norm(Z.T @ residual, axis=1))
    behind = np.argsort(-gradients)[: 30 - rows]
    assert set(behind) == set(np.flatnonzero(filled.support_)) - set(selector.path_.features)


# -- homotopy ----------------------------------------------------------------------------


def plain_homotopy(X, Y, lam, *, L, eta, growth, decay, tol, accelerated):
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
        step_lam = max(decay * step_lam, lam)


@pytest.mark.parametrize("solver", [HIHT, AHIHT])
def test_homotopy_follows_the_published_steps(problem, solver):
    X, y = problem
    selector = L20Selector(
        lam=0.2, solver=solver(L_0=5.0), fit_intercept=False, standardize=False, tol=1e-8
    ).fit(X, y)
    W, value = plain_homotopy(
        X,
        np.eye(3)[y],
        0.2,
        L=5.0,
        eta=1e-3,
        growth=2.0,
        decay=0.9,
        tol=1e-8,
        accelerated=solver is AHIHT,
    )
    np.testing.assert_allclose(selector.coef_.T, W, atol=1e-8)
    assert selector.objective_ == pytest.approx(value)
    np.testing.assert_array_equal(selector.support_, W.any(axis=1))
    assert selector.history_[-1] == pytest.approx(value)
    order = np.argsort(-np.linalg.norm(W, axis=1), kind="stable")
    np.testing.assert_array_equal(selector.path_.features, order[: W.any(axis=1).sum()])
    assert (selector.path_.strength >= 0.2).all()


STARTS = ("zero", "gaussian", "uniform")


def from_all_starts(X, y, kind, **options):
    return [
        L20Selector(solver=kind(init=init, **options), random_state=0).fit(X, y) for init in STARTS
    ]


@pytest.mark.parametrize("kind", [HIHT, AHIHT])
@pytest.mark.parametrize("options", [{}, {"L_0": 1.0}, {"decay": 0.8}])
def test_all_starts_end_in_the_same_support(problem, kind, options):
    X, y = problem
    wide = np.hstack([X, np.random.default_rng(1).standard_normal((60, 150))])
    for data in (X, wide):
        zero, *random = from_all_starts(data, y, kind, **options)
        assert len(zero.path_) > 0
        for other in random:
            np.testing.assert_array_equal(other.support_, zero.support_)
            np.testing.assert_allclose(other.coef_, zero.coef_, atol=1e-9)
            assert other.lam_ == zero.lam_
            # The first step removes what it was given.
            assert other.history_[0] == pytest.approx(zero.history_[0])
            assert other.n_iter_ >= zero.n_iter_


@pytest.mark.parametrize("name", ["leukemia_38", pytest.param("breast3", marks=pytest.mark.slow)])
def test_all_starts_end_in_the_same_support_on_real_data(name):
    X, y = real(name)
    zero, *random = from_all_starts(X, y, HIHT)
    for other in random:
        np.testing.assert_array_equal(other.support_, zero.support_)


def test_the_first_price_is_the_smallest_on_the_grid_that_removes_the_start():
    rng = np.random.default_rng(5)
    X, Y = rng.standard_normal((30, 60)), rng.standard_normal((30, 2))
    W0 = rng.standard_normal((60, 2)) / np.sqrt(60)
    prices = []
    solver = HomotopyIHT(lam=1e-3, first_constant=1.0, decay=0.9)
    problem = LeastSquares(as_design(X), Y)
    watch = lambda event: prices.append(float(event.note.split()[1]))  # noqa: E731
    solver.solve(problem, problem.make_result(W0), watch)
    entry = entry_price(X.T @ Y, 1.0)
    steps = np.log(prices[0] / entry) / -np.log(0.9)
    assert steps == pytest.approx(round(steps), abs=1e-2)
    assert steps > 0

    def accepted(lam):
        """Constant of the first step from W0 and the price at which it removes every row."""
        G, L = X.T @ (X @ W0 - Y), 1.0
        before = 0.5 * ((X @ W0 - Y) ** 2).sum() + 60 * lam
        while True:
            V = W0 - G / L
            W = np.where((V**2).sum(axis=1, keepdims=True) > 2 * lam / L, V, 0.0)
            after = 0.5 * ((X @ W - Y) ** 2).sum() + lam * W.any(axis=1).sum()
            if before - after >= 0.5e-3 * ((W - W0) ** 2).sum():
                return L / 2 * (V**2).sum(axis=1).max()
            L *= 2.0

    lam = entry / 0.9 ** round(steps)
    assert lam >= accepted(lam)
    assert all(entry / 0.9**m < accepted(entry / 0.9**m) for m in range(round(steps)))


def test_a_start_below_the_price_that_removes_it_is_kept_and_needs_a_seed(problem):
    X, y = problem
    fits = [
        L20Selector(lam=0.2, solver=HIHT(init=init, lambda_0=0.2), random_state=0).fit(X, y).coef_
        for init in ("zero", "gaussian", "gaussian", "uniform")
    ]
    np.testing.assert_array_equal(fits[1], fits[2])
    assert not np.array_equal(fits[1], fits[3])
    assert not np.array_equal(fits[0], fits[1])


def test_homotopy_says_when_it_ran_out_of_steps(problem):
    X, y = problem
    with pytest.warns(ConvergenceWarning, match="stopped after 3 iterations"):
        selector = L20Selector(lam=1e-3, solver="hiht", max_iter=3).fit(X, y)
    assert not selector.converged_
    assert selector.optimality_ > selector.tol


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
        ({"solver": HIHT(init="magic")}, "init must be one of"),
        ({"solver": HIHT}, "solver must be one of"),
        ({"solver": Greedy(swaps=-1)}, "swaps must be at least 0"),
        ({"ridge": -0.1}, "ridge must be at least 0"),
        ({"solver": AHIHT(decay=1.0)}, "decay must be less than 1"),
        ({"solver": HIHT(growth=1.0)}, "growth must be greater than 1"),
        ({"solver": HIHT(L_0=0)}, "L_0 must be positive"),
    ],
)
def test_bad_parameters_are_named(problem, options, message):
    with pytest.raises(ValueError, match=message):
        L20Selector(**options).fit(*problem)


def test_the_constructor_holds_the_model_and_solver_objects_the_rest(problem):
    assert set(L20Selector().get_params(deep=False)) == {
        *("n_features_to_select", "lam", "ridge", "solver", "max_iter", "tol", "fit_intercept"),
        *("standardize", "always_keep", "never_keep", "task", "class_weight", "random_state"),
        *("verbose", "feature_groups", "group_costs", "max_correlation"),
        "nonnegative",
    }
    with pytest.raises(ValueError, match=r"pass solver=HIHT\(\) first"):
        L20Selector(solver="hiht").set_params(solver__decay=0.8)
    search = GridSearchCV(
        make_pipeline(L20Selector(solver=HIHT()), LogisticRegression()),
        {"l20selector__solver__decay": [0.5, 0.9]},
        cv=2,
    ).fit(*problem)
    assert search.best_estimator_[0].solver.decay in (0.5, 0.9)
    assert repr(AHIHT(decay=0.8)) == "AHIHT(decay=0.8)"
    assert clone(Greedy(swaps=3)).swaps == 3


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


def test_an_empty_model_is_no_answer_where_a_feature_is_worth_its_price(problem):
    """The steps are short: features enter far below the price that they are worth."""
    X, y = problem
    with pytest.warns(ConvergenceWarning, match="an empty model, whose objective one feature"):
        fitted = L20Selector(lam=0.3, ridge=0, solver="published").fit(X, y)
    assert not fitted.coef_.any()
    assert not fitted.converged_
    assert fitted.support_.sum() == 1
    Y = np.eye(3)[y] - np.eye(3)[y].mean(axis=0)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    gained = 0.5 * ((Z.T @ Y) ** 2).sum(axis=1).max() / len(X) - 0.3
    assert fitted.optimality_ == pytest.approx(gained / (0.5 * (Y**2).sum()), rel=1e-9)
    with pytest.warns(UserWarning, match="too large for any feature") as seen:
        empty = L20Selector(lam=100.0, ridge=0, solver="published").fit(X, y)
    assert len(seen) == 1
    assert (empty.converged_, empty.optimality_) == (True, 0.0)  # no feature is worth as much
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert L20Selector(lam=0.02, ridge=0, solver="published").fit(X, y).coef_.any()
