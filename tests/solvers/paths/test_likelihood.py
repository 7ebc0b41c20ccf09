"""The l2,1 path of every loss: published cases, cone programs, and odd data."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse

from sparsieve.design import as_design
from sparsieve.solvers.base import Result
from sparsieve.solvers.losses.base import Loss
from sparsieve.solvers.losses.cox import Cox, Survival
from sparsieve.solvers.losses.multinomial import Multinomial
from sparsieve.solvers.losses.separable import Huber, Logistic, NegativeBinomial, Poisson
from sparsieve.solvers.paths.newton_set import LikelihoodL21, PenalisedLikelihood


def case(n, d):
    i, j = np.arange(1, n + 1)[:, None], np.arange(1, d + 1)[None]
    return np.round(np.sin(1.3 * i * j) + 0.5 * np.cos(0.7 * i + j**2), 6), i[:, 0]


def problem(X, loss, groups=None, weights=None, covariates=None):
    d = X.shape[1]
    groups = [np.array([j]) for j in range(d)] if groups is None else groups
    weights = np.ones(len(groups)) if weights is None else weights
    ones = np.ones((X.shape[0], int(loss.has_intercept)))
    free = ones if covariates is None else np.hstack((ones, covariates))
    return PenalisedLikelihood(as_design(X), loss, groups, weights, free)


def solved(some: PenalisedLikelihood, alpha, tol=1e-10) -> Result:
    (found,) = LikelihoodL21(tol=tol).path(some, [alpha])
    assert found.converged
    assert 0.0 <= found.optimality <= tol
    return found


def test_logistic_case():
    X, i = case(24, 8)
    found = solved(problem(X, Logistic((7 * i) % 5 < 2, 1 + i % 3)), 2.435)
    assert found.objective == pytest.approx(20.905246790231, rel=1e-10)


def test_multinomial_case():
    X, i = case(24, 6)
    found = solved(problem(X, Multinomial((i**2 + i // 4) % 3, 3)), 1.803)
    assert found.objective == pytest.approx(19.721571312301, rel=1e-10)


def test_cox_case():
    X, i = case(30, 6)
    time = 1.0 + (7 * i) % 9
    survival = Survival(time, i % 4 != 0, np.where(i % 5 == 0, time - 2.5, -1.0), i % 2)
    found = solved(problem(X, Cox(survival, 1 + i % 3)), 1.514)
    assert found.objective == pytest.approx(110.286427923159, rel=1e-10)


# -- against cone programs ---------------------------------------------------------------------


def cone_loss(loss: Loss, F):
    """The loss of cvxpy predictors of shape (n, m), by its formula."""
    s = loss.weights
    if isinstance(loss, Logistic):
        return s @ (cp.logistic(F[:, 0]) - cp.multiply(loss.y, F[:, 0]))
    if isinstance(loss, Multinomial):
        own = np.eye(loss.n_outputs)[loss.codes]
        return s @ (cp.log_sum_exp(F, axis=1) - cp.sum(cp.multiply(own, F), axis=1))
    if isinstance(loss, Poisson):
        return s @ (cp.exp(F[:, 0]) - cp.multiply(loss.y, F[:, 0]))
    if isinstance(loss, NegativeBinomial):
        log_r = np.log(loss.size)
        trials = loss.y + loss.size
        z = F[:, 0] - log_r
        return s @ (cp.multiply(trials, cp.logistic(z)) - cp.multiply(loss.y, z))
    if isinstance(loss, Huber):
        return s @ (0.5 * cp.huber(F[:, 0] - loss.y, loss.scale))
    assert isinstance(loss, Cox)  # Breslow, no strata
    time, event = loss.survival.time, loss.survival.event
    terms = [
        s[i] * (cp.log_sum_exp(F[time >= time[i], 0] + np.log(s[time >= time[i]])) - F[i, 0])
        for i in np.flatnonzero(event)
    ]
    return cp.sum(cp.hstack(terms))


def reference(some: PenalisedLikelihood, X, alpha):
    m = some.loss.n_outputs
    blocks = [cp.Variable((len(columns), m)) for columns in some.groups]
    F = sum(X[:, columns] @ W for columns, W in zip(some.groups, blocks, strict=True))
    if some.free.shape[1]:
        F = F + some.free @ cp.Variable((some.free.shape[1], m))
    norms = sum(c * cp.norm(W, "fro") for c, W in zip(some.weights, blocks, strict=True))
    return cp.Problem(cp.Minimize(cone_loss(some.loss, F) + alpha * norms)).solve(
        solver=cp.CLARABEL
    )


RNG = np.random.default_rng(5)
N, D = 30, 9
X = RNG.standard_normal((N, D))
SIGNAL = X[:, 0] - X[:, 4] + RNG.standard_normal(N)
S = 0.5 + RNG.random(N)
COUNTS = RNG.poisson(np.exp(0.7 * SIGNAL))
LOSSES = {
    "logistic": Logistic(SIGNAL > 0.5, S),
    "multinomial": Multinomial(np.digitize(SIGNAL, [-0.5, 0.5]), 3, S),
    "poisson": Poisson(COUNTS, S),
    "negative-binomial": NegativeBinomial(COUNTS, 2.5, S),
    "huber": Huber(np.where(X[:, 6] > 1.0, 30.0, SIGNAL), 1.0, S),
    "cox": Cox(Survival(np.round(np.exp(-SIGNAL) + 1.0, 1), X[:, 8] > -0.5), S, "breslow"),
}
GROUPS = {
    "single": None,
    "groups": np.split(np.arange(D), [2, 3, 7]),
    "overlap": [np.arange(4), np.arange(2, 7), np.arange(6, 9)],
}


@pytest.mark.thinned(3)
@pytest.mark.parametrize("grouped", GROUPS)
@pytest.mark.parametrize("name", LOSSES)
def test_against_a_cone_solver(name, grouped):
    loss, groups = LOSSES[name], GROUPS[grouped]
    weights = None if groups is None else np.sqrt([len(some) for some in groups])
    some = problem(X, loss, groups, weights, X[:, [1]] ** 2 if grouped == "groups" else None)
    largest = LikelihoodL21().null(some).correlation.max()
    alphas = largest * np.array([1.001, 0.4, 0.05])
    for alpha, found in zip(alphas, LikelihoodL21(tol=1e-9).path(some, alphas), strict=True):
        assert found.converged
        assert found.objective == pytest.approx(reference(some, X, alpha), rel=1e-6)
        # The objective from the coefficients alone, and the gap by the definition of the dual.
        solution = found.solution
        F = X[:, solution.features] @ solution.W + some.free @ solution.B
        pieces = np.split(
            solution.blocks, np.cumsum([len(some.groups[g]) for g in solution.groups])
        )
        norms = [np.linalg.norm(one) for one in pieces[:-1]]
        again = loss.value(F) + alpha * some.weights[solution.groups] @ norms
        assert found.objective == pytest.approx(again, rel=1e-12)
        gradient = loss.gradient(F)
        np.testing.assert_allclose(some.free.T @ gradient, 0.0, atol=1e-8)
        sizes = [np.linalg.norm(X[:, cs].T @ gradient) for cs in some.groups] / some.weights
        np.testing.assert_allclose(solution.correlation, sizes, rtol=1e-10)
    assert len(found.solution.groups) > 1


def test_every_strength_starts_from_the_last_and_from_a_result():
    some = problem(X, LOSSES["multinomial"])
    largest = LikelihoodL21().null(some).correlation.max()
    first, second = LikelihoodL21(tol=1e-9).path(some, [0.3 * largest, 0.2 * largest])
    alone = solved(some, 0.2 * largest, 1e-9)
    assert second.objective == pytest.approx(alone.objective, rel=1e-9)
    again = next(LikelihoodL21(tol=1e-9).path(some, [0.3 * largest], first))
    assert again.n_iter == 0  # nothing was left to do
    assert again.objective == pytest.approx(first.objective, rel=1e-12)


def test_sparse_and_single_precision_give_the_same():
    holes = np.where(np.abs(X) > 0.7, X, 0.0)
    loss = LOSSES["logistic"]
    dense = solved(problem(holes, loss), 1.0, 1e-9)
    thin = PenalisedLikelihood(
        as_design(sparse.csc_matrix(holes)), loss, *list(vars(problem(holes, loss)).values())[2:5]
    )
    assert solved(thin, 1.0, 1e-9).objective == pytest.approx(dense.objective, rel=1e-10)
    short = solved(problem(holes.astype(np.float32), loss), 1.0, 1e-5)
    assert short.objective == pytest.approx(dense.objective, rel=1e-5)


def test_copies_constant_columns_and_many_more_features_than_samples():
    wide = np.random.default_rng(0).standard_normal((N, 300))
    wide[:, 10], wide[:, 11], wide[:, 12] = wide[:, 9], -wide[:, 9], 0.0
    found = solved(problem(wide, LOSSES["logistic"]), 0.5, 1e-9)
    assert 12 not in found.solution.features
    path = list(LikelihoodL21(tol=1e-6).path(problem(wide, LOSSES["cox"]), [3.0, 1.0, 0.1, 0.01]))
    assert all(one.converged for one in path)


def test_a_class_of_one_sample_and_separable_data():
    codes = np.zeros(N, dtype=int)
    codes[3], codes[4:10] = 2, 1
    assert solved(problem(X, Multinomial(codes, 3)), 0.1, 1e-8).solution.groups.size
    strong = list(LikelihoodL21().path(problem(X, Logistic(X[:, 0] > 0)), [5.0, 0.5, 0.05, 1e-3]))
    assert all(one.converged for one in strong)


def test_covariates_that_predict_perfectly_are_refused():
    some = problem(X[:, 1:], Logistic(X[:, 0] > 0), covariates=X[:, [0]])
    with pytest.raises(ValueError, match="always_keep predict the target perfectly"):
        LikelihoodL21().null(some)


def test_a_callback_stops_the_solver():
    some = problem(X, LOSSES["poisson"])
    events = []
    (found,) = LikelihoodL21(tol=1e-15).path(
        some, [0.01], callback=lambda event: events.append(event) or True
    )
    assert len(events) == 1
    assert found.trace == [events[0].objective]


@pytest.mark.parametrize("grouped", ["single", "groups"])
def test_steps_without_the_hessian_find_the_same(grouped, monkeypatch):
    some = problem(X, LOSSES["multinomial"], GROUPS[grouped])
    alphas = LikelihoodL21().null(some).correlation.max() * np.array([0.5, 0.1, 0.02])
    usual = list(LikelihoodL21(tol=1e-9).path(some, alphas))
    monkeypatch.setattr("sparsieve.solvers.paths.proximal_newton.MAX_DENSE", 0)
    monkeypatch.setattr("sparsieve.solvers.paths.free.MAX_DENSE", 0)
    for one, other in zip(usual, LikelihoodL21(tol=1e-9).path(some, alphas), strict=True):
        assert other.converged
        assert other.objective == pytest.approx(one.objective, rel=1e-9)


def test_many_classes():
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(150), 2)
    centres = rng.standard_normal((150, 8)) * (np.arange(8) < 3)
    some = problem(centres[codes] + 0.3 * rng.standard_normal((300, 8)), Multinomial(codes, 150))
    largest = LikelihoodL21().null(some).correlation.max()
    (found,) = LikelihoodL21(tol=1e-5).path(some, [0.3 * largest])
    assert found.converged
    assert sorted(found.solution.groups) == [0, 1, 2]
