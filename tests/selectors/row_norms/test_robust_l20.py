"""RobustL20Selector: exact limits, quality against exhaustive search, the published solver."""

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from sparsieve import RFSSelector, RobustL20Selector
from sparsieve.design import as_design
from sparsieve.solvers.row_norms.greedy import RobustGreedy, exact_fit
from sparsieve.solvers.row_norms.problem import RobustData


@parametrize_with_checks([RobustL20Selector(n_features_to_select=1)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


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


def exhaustive(X, y, k, gamma):
    """The best objective over all supports: roughly for all, exactly for the best few."""
    Y = np.eye(y.max() + 1)[y]
    data = RobustData(as_design(X), Y - Y.mean(axis=0), np.ones(len(y)), True)
    rough = RobustGreedy(data, gamma, np.ones(X.shape[1], dtype=bool))
    supports = [np.array(s) for s in combinations(range(X.shape[1]), k)]
    values = [rough.fit(support, steps=8).objective for support in supports]
    best = [supports[place] for place in np.argsort(values)[:6]]
    return min(exact_fit(data, support, gamma).objective for support in best)


def quality(seeds):
    close, worse = 0, []
    for seed in seeds:
        X, y, k, gamma = problem(seed)
        fitted = RobustL20Selector(k, gamma=gamma, standardize=False).fit(X, y)
        close += fitted.objective_ <= exhaustive(X, y, k, gamma) * (1 + 1e-3)
        for rho in ("auto", 1.0):
            published = RobustL20Selector(
                k, gamma=gamma, standardize=False, solver="nmapg", rho=rho, tol=1e-5
            ).fit(X, y)
            if fitted.objective_ > published.objective_ * (1 + 1e-6):
                worse.append((seed, rho))
    return close / len(seeds), worse


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
    {"solver": "irls", "rho": 0.5},
    {"solver": "nmapg"},
    {"solver": "nmapg", "rho": 0.5, "mu": 0.05, "step_constant": "spectral", "max_iter": 3000},
    {"compare": True},
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_at_most_k_rows_and_optimal_on_them(settings, intercept):
    X, y = data()
    selector = RobustL20Selector(
        4, gamma=1.0, standardize=False, fit_intercept=intercept, **settings
    ).fit(X, y)
    kept = selector.support_
    assert kept.sum() == 4
    assert not selector.coef_[:, ~kept].any()
    residual = np.eye(3)[y] - X @ selector.coef_.T - selector.intercept_
    value = np.linalg.norm(residual, axis=1).sum() + np.linalg.norm(selector.coef_, axis=0).sum()
    assert selector.objective_ == pytest.approx(value, rel=1e-9)
    assert selector.optimality_ <= 1e-6
    alone = RFSSelector(gamma=1.0, standardize=False, fit_intercept=intercept).fit(X[:, kept], y)
    assert selector.objective_ == pytest.approx(alone.objective_, rel=2e-6)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_comparing_is_never_worse_than_the_published_solver():
    for seed in range(4):
        X, y = data(seed, n=30, d=60)
        settings = {"gamma": 0.5, "rho": 0.3}
        published = RobustL20Selector(5, solver="nmapg", **settings).fit(X, y)
        compared = RobustL20Selector(5, compare=True, **settings).fit(X, y)
        assert compared.objective_ <= published.objective_ * (1 + 1e-6)
        assert compared.penalised_objective_ == pytest.approx(published.penalised_objective_)


def test_every_number_of_features_from_one_run():
    X, y = data(1)
    selector = RobustL20Selector(6, gamma=0.5).fit(X, y)
    assert len(selector.path_) == 6
    smaller = selector.at(3)
    assert smaller.support_.sum() == 3
    assert set(np.flatnonzero(smaller.support_)) == set(selector.path_.supports[2])
    assert sorted(smaller.ranking_) == list(range(1, 31))
    assert (smaller.ranking_[smaller.support_] <= 3).all()
    assert smaller.objective_ >= selector.objective_
    assert smaller.objective_ == pytest.approx(selector.path_.objective[2], rel=1e-3)
    assert selector.support_.sum() == 6  # the original is untouched
    assert selector.at(10).support_.sum() == 10


def test_where_the_limit_does_not_bind_it_is_the_convex_optimum():
    X, y = data(2)
    convex = RFSSelector(gamma=14.0).fit(X, y)
    rows = int((convex.scores_ > 0).sum())
    limited = RobustL20Selector(rows + 3, gamma=14.0).fit(X, y)
    assert limited.objective_ == pytest.approx(convex.objective_, rel=1e-5)


def test_weight_two_is_the_row_twice():
    X, y = data(3)
    weights = np.random.default_rng(0).integers(0, 3, 50)
    for settings in ({}, {"solver": "irls"}, {"solver": "nmapg", "mu": 0.1, "tol": 1e-4}):
        weighted = RobustL20Selector(4, gamma=1.0, **settings).fit(X, y, sample_weight=weights)
        repeated = RobustL20Selector(4, gamma=1.0, **settings).fit(
            np.repeat(X, weights, axis=0), np.repeat(y, weights)
        )
        assert (weighted.support_ == repeated.support_).all()
        assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-5)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", ["greedy", "irls", "nmapg"])
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
        selector = RobustL20Selector(3, solver="nmapg", max_iter=30).fit(X, y)
    assert selector.n_iter_ == len(selector.history_) == 30
    assert selector.history_[-1] == selector.penalised_objective_


def test_automatic_rho_is_the_tight_bound():
    X, y = data(6)
    selector = RobustL20Selector(3, gamma=1.0, solver="irls", standardize=False).fit(X, y)
    centred = X - X.mean(axis=0)
    assert selector.rho_ == pytest.approx(np.abs(centred).sum(axis=0).max() - 1.0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rho": 1.0}, "has no use for rho"),
        ({"rho": "auto"}, "has no use for rho"),
        ({"solver": "nmapg", "rho": -1.0}, "rho must be positive"),
        ({"solver": "fast"}, "solver must be one of"),
        ({"solver": "irls", "mu": 0.1}, "mu smooths"),
        ({"solver": "irls", "step_constant": "spectral"}, "step_constant belongs"),
        ({"solver": "irls", "compare": True}, "compare=True adds"),
        ({"solver": "nmapg", "mu": 0}, "mu must be positive"),
        ({"gamma": 0.0}, "gamma must be positive"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    X, y = data()
    with pytest.raises(ValueError, match=message):
        RobustL20Selector(3, **settings).fit(X, y)
