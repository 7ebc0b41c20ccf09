"""Lower bounds on the best k features: below all subsets, and as high as the relaxation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from sparsieve.design import as_design
from sparsieve.solvers.exact.likelihood_bounds import LikelihoodBounds
from sparsieve.solvers.losses.cox import Cox, Survival
from sparsieve.solvers.losses.multinomial import Multinomial
from sparsieve.solvers.losses.separable import Logistic, NegativeBinomial, Poisson
from sparsieve.solvers.searches.likelihood_forward import explainable
from sparsieve.solvers.searches.likelihood_neighbours import RidgeLikelihood
from sparsieve.solvers.searches.ridge_fit import ridge_fit

n, d = 24, 7


def problems():
    rng = np.random.default_rng(0)
    X, w = rng.standard_normal((n, d)), rng.uniform(0.5, 2.0, n)
    f = X[:, 0] - X[:, 1] + 0.5 * rng.standard_normal(n)
    time, event = rng.integers(1, 8, n) + np.round(np.exp(-f), 1), rng.random(n) < 0.7
    for loss in (
        Logistic(f > 0.2, w),
        Multinomial(np.digitize(f, [-0.6, 0.6]), 3, w),
        Poisson(rng.poisson(np.exp(0.5 * f)), w),
        NegativeBinomial(rng.poisson(np.exp(f)), 2.0, w),
        Cox(Survival(time, event, None, np.arange(n) % 2), w),
    ):
        free = np.hstack([np.ones((n, int(loss.has_intercept))), rng.standard_normal((n, 1))])
        yield RidgeLikelihood(as_design(X), loss, free, 4.0, np.ones(d, dtype=bool))


@pytest.mark.parametrize("one", list(problems()), ids=lambda one: type(one.loss).__name__)
def test_no_subset_is_below(one):
    found = LikelihoodBounds(one, 3)
    for k in (1, 2, 3):
        values = {
            S: ridge_fit(one.loss, one.columns(S), one.penalty(k), scale=1.0).objective
            for S in itertools.combinations(range(d), k)
        }
        best = min(values, key=values.get)
        assert found.bound(k, np.array(best)) <= values[best]
        assert values[best] - found.best[k] <= 0.15 * explainable(one.loss)
    assert found.best[0] == pytest.approx(
        ridge_fit(one.loss, one.free, one.penalty(0), scale=1.0).objective
    )


def test_as_high_as_the_relaxation():
    cp = pytest.importorskip("cvxpy")
    one, several, counts, *_ = problems()
    for problem in (one, several, counts):
        loss, m = problem.loss, problem.loss.n_outputs
        X = problem.design.dense_columns(np.arange(d))
        W, B, z = cp.Variable((d, m)), cp.Variable((problem.free.shape[1], m)), cp.Variable(d)
        F = X @ W + problem.free @ B
        if isinstance(loss, Logistic):
            value = loss.weights @ (cp.logistic(F[:, 0]) - cp.multiply(loss.y, F[:, 0]))
        elif isinstance(loss, Poisson):
            value = loss.weights @ (cp.exp(F[:, 0]) - cp.multiply(loss.y, F[:, 0]))
        else:
            own = np.eye(m)[loss.codes]
            value = loss.weights @ (cp.log_sum_exp(F, axis=1) - cp.sum(cp.multiply(own, F), axis=1))
        for k in (1, 2):
            ridge = sum(cp.quad_over_lin(W[j], z[j]) for j in range(d))
            relaxed = cp.Problem(
                cp.Minimize(value + 0.5 * problem.ridge * ridge), [z >= 0, z <= 1, cp.sum(z) <= k]
            )
            relaxed.solve(solver="CLARABEL")
            scale = explainable(loss)
            bound = LikelihoodBounds(problem, k).bound(k, np.array([0]), tol=1e-5)
            assert bound <= relaxed.value + 1e-6 * scale
            assert bound >= relaxed.value - 1e-4 * scale


def test_no_features_at_all():
    for problem in problems():
        bounds = LikelihoodBounds(problem, 0)
        assert bounds.best.shape == (1,)
        assert bounds.bound(0, np.arange(0)) == bounds.best[0]
