"""``L0MPMSelector(solver="exact")``."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.exceptions import ConvergenceWarning

from mpm_reference import mpm, random_problem
from sparsieve import L0MPMSelector
from sparsieve.solvers import ExactMinimax


def reaches(X, y, support, level, ridge):
    kappa = 1.0 / mpm(X[:, list(support)], y, ridge)
    return kappa**2 / (1.0 + kappa**2) >= level * (1 - 1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_no_smaller_support_reaches_the_level(seed):
    X, y = random_problem(seed, 70, 6)
    level, ridge = [0.2, 0.25, 0.15][seed], 0.1
    selector = L0MPMSelector(delta=level, ridge=ridge, standardize=False, solver="exact")
    selector.fit(X, y)
    support = selector.get_support(indices=True)
    assert selector.converged_
    assert selector.optimality_ == 0.0
    assert selector.objective_ == len(support) == np.count_nonzero(selector.coef_)
    assert selector.worst_case_accuracy_ >= level * (1 - 1e-9)
    assert reaches(X, y, support, level, ridge)
    for smaller in combinations(range(6), len(support) - 1):
        assert not smaller or not reaches(X, y, smaller, level, ridge)


def test_never_more_than_the_surrogate_and_sometimes_fewer():
    X, y = load_wine(return_X_y=True)
    exact = L0MPMSelector(delta=0.75, solver="exact").fit(X, y)
    usual = L0MPMSelector(delta=0.75).fit(X, y)
    per_class = [np.count_nonzero(selector.coef_, axis=1) for selector in (exact, usual)]
    assert (per_class[0] <= per_class[1]).all()
    assert per_class[0].sum() < per_class[1].sum()
    assert exact.objective_ == per_class[0].sum()
    assert exact.worst_case_accuracy_ >= 0.75 * (1 - 1e-9)


def test_columns_kept_by_request_are_not_counted():
    X, y = load_wine(return_X_y=True)
    selector = L0MPMSelector(delta=0.8, solver="exact", always_keep=[4], never_keep=[12])
    selector.fit(X, y == 0)
    assert selector.support_[4]
    assert not selector.support_[12]
    assert selector.objective_ == selector.support_.sum() - 1
    alone = L0MPMSelector(delta=0.05, solver="exact", always_keep=[0]).fit(X, y == 0)
    assert alone.objective_ == 0.0
    assert alone.converged_


@pytest.mark.long("many fits to full accuracy")
def test_at_the_largest_level_features_without_use_are_left_out():
    X, y = load_wine(return_X_y=True)
    X = np.column_stack([X, X[:, 0]])
    best = 1.0 - 1e-12
    with pytest.raises(ValueError, match="largest feasible level is"):
        L0MPMSelector(delta=best, solver="exact").fit(X, y == 0)
    # More features than samples and no ridge: all is separable, and few features do.
    few = np.r_[0:5, 60:65]
    selector = L0MPMSelector(delta=0.99, ridge=0.0, solver="exact").fit(X[few][:, 3:], y[few])
    assert selector.converged_
    assert selector.worst_case_accuracy_ >= 0.99 * (1 - 1e-9)


def test_the_limit_is_said_and_leaves_a_proven_gap(clock):
    X, y = load_breast_cancer(return_X_y=True)
    selector = L0MPMSelector(delta=0.75, solver=ExactMinimax(time_limit=1000))
    with pytest.warns(ConvergenceWarning, match="a proven gap of .*time_limit"):
        selector.fit(X, y)
    assert not selector.converged_
    size = selector.objective_
    assert size == selector.support_.sum()
    bound = size * (1 - selector.optimality_)
    assert 1 <= round(bound) < size
    assert bound == pytest.approx(round(bound))


def test_settings_and_refusals():
    X, y = random_problem(0, 60, 31)
    with pytest.raises(ValueError, match="up to 30 features, but X has 31"):
        L0MPMSelector(solver="exact").fit(X, y)
    L0MPMSelector(solver="exact", delta=0.1, never_keep=[0]).fit(X, y)
    with pytest.raises(ValueError, match="time_limit must be positive"):
        L0MPMSelector(solver=ExactMinimax(time_limit=0)).fit(X, y)
    with pytest.raises(ValueError, match="solver must be one of 'surrogate', 'published', 'exact'"):
        L0MPMSelector(solver="fast").fit(X, y)
    assert clone(L0MPMSelector(solver=ExactMinimax(time_limit=3))).solver.time_limit == 3
