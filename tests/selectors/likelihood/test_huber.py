"""Huber's loss in the selectors with a likelihood."""

from itertools import combinations

import cvxpy as cp
import numpy as np
import pytest
from sklearn.metrics import r2_score

from sparsieve import LikelihoodForwardSelector, LikelihoodL21Selector, load, save
from sparsieve.solvers.losses.separable import spread

BOTH = pytest.mark.parametrize("kind", [LikelihoodForwardSelector, LikelihoodL21Selector])


@pytest.fixture
def spoilt():
    """Two features, and a tenth of the targets far off."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((80, 12))
    y = 2.0 * X[:, 1] - X[:, 6] + 0.2 * rng.standard_normal(80)
    y[:8] += 60.0 * X[:8, 3]
    return X, y


@BOTH
def test_outliers_do_not_decide(kind, spoilt):
    X, y = spoilt
    selector = kind(2, loss="huber").fit(X, y)
    assert selector.get_support(indices=True).tolist() == [1, 6]
    assert selector.converged_
    good = np.arange(80) >= 8
    assert np.abs(selector.predict(X) - y)[good].mean() < 1.0
    assert not hasattr(selector, "classes_")


@BOTH
def test_the_unit_of_the_target_makes_no_difference(kind, spoilt):
    X, y = spoilt
    one, other = kind(loss="huber").fit(X, y), kind(loss="huber").fit(X, 1e3 * y)
    np.testing.assert_array_equal(one.support_, other.support_)
    np.testing.assert_allclose(other.coef_, 1e3 * one.coef_, rtol=1e-4, atol=1e-3)


def cone_value(X, y, unit, penalty):
    """The least objective on standardised columns, by a cone solver."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    loss = 0.5 * cp.sum(cp.huber(Z @ w + b - y, 1.35 * unit)) / unit**2
    return cp.Problem(cp.Minimize(loss + penalty(w))).solve(solver=cp.CLARABEL)


def test_the_objective_of_a_penalised_fit(spoilt):
    X, y = spoilt
    unit = spread(y, np.ones(80))
    found = LikelihoodL21Selector(loss="huber", alpha=2.0 / unit, tol=1e-10).fit(X, y)
    value = cone_value(X, y, unit, lambda w: 2.0 / unit * cp.norm(w, 1))
    assert found.objective_ == pytest.approx(value, rel=1e-7)


@pytest.mark.long("a cone program for every pair of features")
def test_forward_selection_finds_the_best_pair(spoilt):
    X, y = spoilt[0][:, [1, 3, 6, 7]], spoilt[1]
    unit = spread(y, np.ones(80))
    ridge = 0.5 * 0.1
    found = LikelihoodForwardSelector(2, loss="huber", ridge=0.1).fit(X, y)
    null = np.array([found.path_.intercepts[0][0]])
    away = np.abs(null - y) / (1.35 * unit)
    rho = ridge * float((1.0 / np.maximum(away, 1.0)).sum()) / unit**2
    values = {
        pair: cone_value(X[:, pair], y, unit, lambda w: rho * cp.sum_squares(w))
        for pair in combinations(range(4), 2)
    }
    best = min(values, key=values.get)
    assert found.get_support(indices=True).tolist() == list(best)
    assert found.objective_ == pytest.approx(values[best], rel=1e-6)
    certificate = found.certify(X, y, n_features=2)
    assert certificate.lower_bound[-1] <= min(values.values()) * (1 + 1e-7)


@BOTH
def test_a_task_is_enough_and_is_saved(kind, spoilt, tmp_path):
    X, y = spoilt
    selector = kind(2, task="regression").fit(X, y)
    np.testing.assert_array_equal(selector.support_, kind(2, loss="huber").fit(X, y).support_)
    save(selector, tmp_path / "selector")
    np.testing.assert_array_equal(load(tmp_path / "selector").predict(X), selector.predict(X))


@BOTH
def test_numbers_are_scored_by_the_share_explained(kind, spoilt):
    X, y = spoilt[:2]
    selector = kind(3, task="regression").fit(X, y)
    assert selector.score(X, y) == r2_score(y, selector.predict(X))
    assert not hasattr(kind(task="survival"), "score")


@BOTH
def test_what_is_refused(kind, spoilt):
    X, y = spoilt
    with pytest.raises(ValueError, match="this loss takes one column of numbers, but y has 2"):
        kind(loss="huber").fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="epsilon must be positive"):
        kind(loss="huber", epsilon=0).fit(X, y)
    with pytest.raises(ValueError, match='loss="huber" needs task="regression"'):
        kind(loss="huber", task="counts").fit(X, y)
    with pytest.raises(ValueError, match="Unknown label type"):
        kind().fit(X, y)
