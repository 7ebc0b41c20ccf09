"""RobustL20Selector: exact limits, quality against exhaustive search, the published solver."""

from itertools import combinations

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from sparsieve import RFSSelector, RobustL20Selector
from sparsieve.design import as_design
from sparsieve.solvers import IRLS, NmAPG, RobustGreedySearch
from sparsieve.solvers.robust.problem import RobustRegression
from sparsieve.solvers.robust.working_set import RobustRefit


@pytest.mark.thinned(3)
def problem(seed):
    """A small random problem of the kind the search must solve well."""
    rng = np.random.default_rng(seed)
    n, d, c = int(rng.integers(12, 41)), int(rng.integers(5, 15)), int(rng.integers(2, 5))
    k = int(rng.integers(1, min(5, d - 1) + 1))
    y = np.concatenate([np.arange(c), np.arange(c), rng.integers(0, c, n - 2 * c)])
    X = rng.standard_normal((n, d))
    if rng.random() < 0.5:
        X[:, :3] += np.outer(y, rng.standard_normal(3))
    if rng.random() < 0.3:
        X = X @ (np.eye(d) + 0.5 * rng.standard_normal((d, d)))
    return X, y, k, 10.0 ** rng.uniform(-2, 0.5)


def exhaustive(X, y, k, alpha):
    """The best objective over all supports: to three digits for all, exactly for the best few."""
    Y = np.eye(y.max() + 1)[y]
    design = as_design(X)
    problem = RobustRegression(design, Y - Y.mean(axis=0), np.ones(len(y)), True, alpha=alpha)
    parts = [problem.restrict(list(s)) for s in combinations(range(X.shape[1]), k)]
    values = [RobustRefit(1e-3).solve(part).objective for part in parts]
    return min(RobustRefit().solve(parts[place]).objective for place in np.argsort(values)[:6])


def quality(seeds):
    close, worse = 0, []
    for seed in seeds:
        X, y, k, alpha = problem(seed)
        fitted = RobustL20Selector(k, alpha=alpha, standardize=False).fit(X, y)
        close += fitted.objective_ <= exhaustive(X, y, k, alpha) * (1 + 1e-3)
        for rho in ("auto", 1.0):
            published = RobustL20Selector(
                k, alpha=alpha, standardize=False, solver=NmAPG(rho=rho, limits=[]), tol=1e-6
            ).fit(X, y)
            if fitted.objective_ > published.objective_ * (1 + 1e-6):
                worse.append((seed, rho))
    return close / len(seeds), worse


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_near_the_exhaustive_optimum_and_never_above_the_published_solver():
    share, worse = quality(range(8))
    assert share >= 0.9
    assert not worse


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_near_the_exhaustive_optimum_on_two_hundred_problems():
    share, worse = quality(range(200))
    assert share >= 0.9
    assert not worse


def data(seed=0, n=50, d=30, c=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, c, n)
    X = rng.standard_normal((n, d)) + 0.3
    X[:, :4] += y[:, None] * rng.uniform(0.5, 1.5, 4)
    return X, y


SETTINGS = [
    {},
    {"solver": "irls"},
    {"solver": IRLS(rho=0.5)},
    {"solver": NmAPG(rho="auto", limits=[])},
    {"solver": NmAPG(rho=0.5, mu=0.05, step_constant="spectral"), "max_iter": 3000},
    {"solver": RobustGreedySearch(compare=NmAPG())},
    {"solver": RobustGreedySearch(compare=IRLS())},
]


@pytest.mark.thinned(3)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_at_most_k_rows_and_optimal_on_them(settings, intercept):
    X, y = data()
    selector = RobustL20Selector(
        4, alpha=1.0, standardize=False, fit_intercept=intercept, **settings
    ).fit(X, y)
    kept = selector.support_
    assert kept.sum() == 4
    assert not selector.coef_[:, ~kept].any()
    residual = np.eye(3)[y] - X @ selector.coef_.T - selector.intercept_
    value = np.linalg.norm(residual, axis=1).sum() + np.linalg.norm(selector.coef_, axis=0).sum()
    assert selector.objective_ == pytest.approx(value, rel=1e-9)
    assert selector.optimality_ <= 1e-6
    alone = RFSSelector(alpha=1.0, standardize=False, fit_intercept=intercept).fit(X[:, kept], y)
    assert selector.objective_ == pytest.approx(alone.objective_, rel=2e-6)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_comparing_is_never_worse_than_the_published_solver():
    for seed in range(4):
        X, y = data(seed, n=30, d=60)
        rival = NmAPG(rho=0.3)
        published = RobustL20Selector(5, alpha=0.5, solver=rival).fit(X, y)
        search = RobustGreedySearch(compare=rival)
        compared = RobustL20Selector(5, alpha=0.5, solver=search).fit(X, y)
        assert compared.objective_ <= published.objective_ * (1 + 1e-6)
        assert compared.penalised_objective_ == pytest.approx(published.penalised_objective_)


def test_every_number_of_features_from_one_run():
    X, y = data(1)
    selector = RobustL20Selector(6, alpha=0.5).fit(X, y)
    assert len(selector.path_) == 6
    smaller = selector.at(3)
    assert smaller.support_.sum() == 3
    assert set(np.flatnonzero(smaller.support_)) == set(selector.path_.supports[3])
    assert sorted(smaller.ranking_) == list(range(1, 31))
    assert (smaller.ranking_[smaller.support_] <= 3).all()
    assert smaller.objective_ >= selector.objective_
    assert smaller.objective_ == pytest.approx(selector.path_.objective[3], rel=1e-3)
    assert selector.support_.sum() == 6  # the original is untouched
    with pytest.raises(ValueError, match="fit with n_features_to_select >= 10"):
        selector.at(10)


def test_where_the_limit_does_not_bind_it_is_the_convex_optimum():
    X, y = data(2)
    convex = RFSSelector(alpha=14.0).fit(X, y)
    rows = int((convex.scores_ > 0).sum())
    limited = RobustL20Selector(rows + 3, alpha=14.0).fit(X, y)
    assert limited.objective_ == pytest.approx(convex.objective_, rel=1e-5)


def test_weight_two_is_the_row_twice():
    X, y = data(3)
    weights = np.random.default_rng(0).integers(0, 3, 50)
    for settings in ({}, {"solver": "irls"}, {"solver": NmAPG(mu=0.1, limits=[]), "tol": 1e-5}):
        weighted = RobustL20Selector(4, alpha=1.0, **settings).fit(X, y, sample_weight=weights)
        repeated = RobustL20Selector(4, alpha=1.0, **settings).fit(
            np.repeat(X, weights, axis=0), np.repeat(y, weights)
        )
        assert (weighted.support_ == repeated.support_).all()
        assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-5)


@pytest.mark.thinned(2)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", ["greedy", "irls", NmAPG(mu=0.1, limits=[])])
@pytest.mark.long("many fits to full accuracy")
def test_sparse_float32_and_regression(solver):
    rng = np.random.default_rng(4)
    X = rng.random((60, 40)) * (rng.random((60, 40)) < 0.4)
    Y = X[:, [2, 5, 9]] @ (3 * rng.standard_normal((3, 2))) + 0.05 * rng.standard_normal((60, 2))
    Y[:9] += 20 * rng.standard_normal((9, 2))
    dense = RobustL20Selector(3, solver=solver).fit(X, Y)
    thin = RobustL20Selector(3, solver=solver).fit(sparse.csr_array(X), Y)
    single = RobustL20Selector(3, solver=solver).fit(X.astype(np.float32), Y)
    assert thin.objective_ == pytest.approx(dense.objective_, rel=1e-5)
    assert single.objective_ == pytest.approx(dense.objective_, rel=1e-4)
    assert single.coef_.dtype == np.float32
    if solver == "greedy":
        assert dense.get_support(indices=True).tolist() == [2, 5, 9]


@pytest.mark.long("many fits to full accuracy")
def test_fitting_again_forgets_the_first_data():
    X, y = data(7)
    selector = RobustL20Selector(3).fit(X, y)
    again = selector.fit(X[:, :12], y)
    fresh = RobustL20Selector(3).fit(X[:, :12], y)
    assert (again.ranking_ == fresh.ranking_).all()
    assert again.coef_.shape == (3, 12)


def test_history_and_warning_of_the_published_solver():
    X, y = data(5)
    with pytest.warns(ConvergenceWarning, match="after 30 iterations"):
        selector = RobustL20Selector(3, solver="published", max_iter=30).fit(X, y)
    assert selector.n_iter_ == len(selector.history_) == 30
    assert selector.history_[-1] == selector.penalised_objective_
    assert not selector.converged_
    assert selector.optimality_ > selector.tol


def test_automatic_rho_is_the_tight_bound():
    X, y = data(6)
    selector = RobustL20Selector(3, alpha=1.0, solver="irls", standardize=False).fit(X, y)
    centred = X - X.mean(axis=0)
    assert selector.rho_ == pytest.approx(np.abs(centred).sum(axis=0).max() - 1.0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"solver": NmAPG(rho=-1.0)}, "rho must be positive"),
        ({"solver": IRLS(rho="large")}, "rho must be a real number"),
        ({"solver": "fast"}, "solver must be one of 'greedy', 'irls', 'published'"),
        ({"solver": NmAPG(rho_share=0.0)}, "rho_share must be positive"),
        ({"solver": NmAPG(sigma=1.0)}, "sigma must be less than 1"),
        ({"solver": NmAPG(limits=[0])}, "limits must be at least 1"),
        ({"solver": NmAPG(mu=0)}, "mu must be positive"),
        ({"solver": NmAPG(step_constant="short")}, "step_constant must be one of"),
        ({"solver": RobustGreedySearch(compare=True)}, "compare must be NmAPG"),
        ({"solver": RobustGreedySearch(compare=NmAPG(rho=0))}, "rho must be positive"),
        ({"alpha": -1.0}, "alpha must be at least 0"),
        ({"lam": 1.0}, "both say how many"),
        ({"lam": 1.0, "n_features_to_select": None, "solver": "irls"}, 'lam needs solver="greedy"'),
        ({"lam": 0.0, "n_features_to_select": None}, "lam must be positive"),
        ({"max_iter": 0}, "max_iter must be at least 1"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    X, y = data()
    selector = RobustL20Selector(**{"n_features_to_select": 3, **settings})
    with pytest.raises(ValueError, match=message):
        selector.fit(X, y)


def test_settings_of_a_solver_are_parameters():
    selector = RobustL20Selector(3, solver=NmAPG(rho=0.5))
    assert selector.get_params()["solver__rho"] == 0.5
    copy = clone(selector).set_params(solver__mu=0.1)
    assert (copy.solver.mu, selector.solver.mu) == (0.1, None)
    assert "NmAPG(rho=0.5)" in repr(selector)
    with pytest.raises(ValueError, match=r"solver=IRLS\(\)"):
        RobustL20Selector(solver="irls").set_params(solver__rho=1.0)


def test_there_are_thirteen_parameters():
    assert set(RobustL20Selector().get_params()) == {
        "n_features_to_select",
        "max_correlation",
        "alpha",
        "lam",
        "solver",
        "max_iter",
        "tol",
        "fit_intercept",
        "standardize",
        "always_keep",
        "never_keep",
        "task",
        "class_weight",
    }


# -- without the row penalty, and with a price ---------------------------------------------


def robust_value(X, Y, support):
    W, b = cp.Variable((len(support), Y.shape[1])), cp.Variable((1, Y.shape[1]))
    fitted = X[:, support] @ W + np.ones((len(X), 1)) @ b
    program = cp.Problem(cp.Minimize(cp.sum(cp.norm(Y - fitted, 2, axis=1))))
    return program.solve(solver=cp.CLARABEL)


def test_without_the_penalty_it_finds_the_best_support():
    rng = np.random.default_rng(6)
    X, Y = rng.standard_normal((25, 7)), rng.standard_normal((25, 2))
    Y += 1.5 * X[:, [1]] - X[:, [4]]
    Y[:3] += 20.0
    selector = RobustL20Selector(2, alpha=0).fit(X, Y)
    best = min(robust_value(X, Y, list(support)) for support in combinations(range(7), 2))
    assert selector.objective_ == pytest.approx(best, rel=1e-5)
    assert selector.optimality_ <= 1e-6
    R = Y - X @ selector.coef_.T - selector.intercept_
    assert np.linalg.norm(R, axis=1).sum() == pytest.approx(best, rel=1e-5)
    np.testing.assert_array_equal(selector.get_support(indices=True), [1, 4])


def test_features_are_priced():
    rng = np.random.default_rng(7)
    X = rng.standard_normal((80, 40))
    Y = X[:, :3] @ np.array([[2.0], [-2.0], [1.5]]) + 0.1 * rng.standard_normal((80, 1))
    Y[:8] += 60.0 * rng.standard_normal((8, 1))
    priced = RobustL20Selector(alpha=0, lam=20.0).fit(X, Y[:, 0])
    np.testing.assert_array_equal(priced.get_support(indices=True), [0, 1, 2])
    bare = np.abs(Y[:, 0] - X @ priced.coef_[0] - priced.intercept_[0]).sum()
    assert priced.objective_ == pytest.approx(bare + 60.0, rel=1e-6)
    assert priced.lam_ == 20.0
    assert int(np.argmin(priced.path_.objective)) == 3
    two = priced.at(2)
    assert two.support_.sum() == 2
    assert two.objective_ > priced.objective_
    shrunk = RobustL20Selector(alpha=1.0, lam=20.0).fit(X, Y[:, 0])
    rows = np.abs(shrunk.coef_[0] * X.std(axis=0)).sum()
    bare = np.abs(Y[:, 0] - X @ shrunk.coef_[0] - shrunk.intercept_[0]).sum()
    assert shrunk.objective_ == pytest.approx(bare + rows + 20.0 * shrunk.support_.sum(), rel=1e-6)


@pytest.mark.slow
def test_a_low_price_keeps_many_and_a_high_one_the_best():
    X, y = data(8)
    many = RobustL20Selector(alpha=0, lam=0.05).fit(X, y)
    assert many.support_.sum() > 16  # the first path tried is not the last
    dear = RobustL20Selector(alpha=0, lam=1e9).fit(X, y)
    assert dear.support_.sum() == 1
    assert dear.get_support(indices=True)[0] == dear.path_.features[0]


# -- units and scores -------------------------------------------------------------------------


def regression(seed):
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(30, 50)), int(rng.integers(31, 45)), int(rng.integers(2, 5))
    X = rng.standard_normal((n, d)) @ (np.eye(d) + 0.3 * rng.standard_normal((d, d)))
    y = X[:, :k] @ rng.standard_normal(k) + rng.standard_normal(n)
    y[: n // 6] += 10 * rng.standard_normal(n // 6)
    return X, y, k


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["greedy", "irls"])
def test_the_units_of_the_target_do_not_matter(solver):
    for seed in range(30):
        X, y, k = regression(seed)
        alpha = 0 if seed % 2 else None
        once = RobustL20Selector(k, alpha=alpha, solver=solver, task="regression").fit(X, y)
        for factor in (1e-4, 1e3, 1e6):
            again = clone(once).fit(X, factor * y)
            np.testing.assert_array_equal(again.support_, once.support_)
            assert again.scores_ == pytest.approx(once.scores_, abs=1e-3)


def test_noise_scores_like_noise():
    rng = np.random.default_rng(9)
    X = rng.standard_normal((100, 40))
    signal = RobustL20Selector(5).fit(X, 3.0 * X[:, 0] + 0.1 * rng.standard_normal(100))
    noise = RobustL20Selector(5).fit(X, 3.0 * rng.standard_normal(100))
    assert signal.ranking_[0] == 1
    assert signal.scores_[0] > 0.5
    assert np.delete(signal.scores_, 0).max() < 0.1
    assert noise.scores_.max() < 0.2
    assert (noise.scores_[~noise.support_] == 0).all()
