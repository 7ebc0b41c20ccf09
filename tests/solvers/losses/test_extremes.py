"""Losses and their minimisers where probabilities are next to 0 and 1, against exact arithmetic."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy.special import logsumexp

from sparsieve.design import as_design
from sparsieve.solvers.losses.cox import Cox, Survival
from sparsieve.solvers.losses.multinomial import Multinomial
from sparsieve.solvers.losses.separable import Logistic, NegativeBinomial
from sparsieve.solvers.paths.free import check_bounds
from sparsieve.solvers.paths.newton_set import LikelihoodL21, PenalisedLikelihood
from sparsieve.solvers.paths.quadratic_model import block_spectra, minimise
from sparsieve.solvers.searches.likelihood_neighbours import RidgeLikelihood
from sparsieve.solvers.searches.ridge_fit import ridge_fit


@pytest.fixture(autouse=True)
def digits():
    """As many as 1 - p has for the smallest p below."""
    with localcontext() as context:
        context.prec = 160
        yield


def exact(values) -> list[Decimal]:
    return [Decimal(float(value)) for value in values]


def exact_softmax(logs: list[Decimal]) -> list[Decimal]:
    top = max(logs)
    parts = [(one - top).exp() for one in logs]
    return [part / sum(parts) for part in parts]


# -- values and gradients ----------------------------------------------------------------------

F = np.array([-320.0, -100.0, -45.0, -38.0, -3.0, 2.0, 37.0, 41.0, 180.0, 300.0])
S = np.linspace(0.5, 2.0, len(F))


@pytest.mark.parametrize("certain", [True, False])
def test_logistic(certain):
    y = (F > 0) if certain else (F < 0)
    loss, value, slopes = Logistic(y, S), Decimal(0), []
    for f, own, s in zip(exact(F), y, exact(S), strict=True):
        other = 1 / (1 + (f if own else -f).exp())  # the probability of the other class
        value -= s * (1 - other).ln()
        slopes.append(float(s * other * (-1 if own else 1)))
    assert loss.value(F[:, None]) == pytest.approx(float(value), rel=1e-14)
    np.testing.assert_allclose(loss.gradient(F[:, None])[:, 0], slopes, rtol=1e-13)


@pytest.mark.parametrize("scale", [1.0, 40.0, 80.0])
def test_multinomial(scale):
    rng = np.random.default_rng(0)
    F, codes = scale * rng.standard_normal((12, 4)), np.arange(12) % 4
    codes[:6] = F[:6].argmax(axis=1)  # the others are mostly wrong
    loss, value = Multinomial(codes, 4, S.repeat(2)[:12]), Decimal(0)
    V = rng.standard_normal((12, 4))
    gradient, product = np.empty((2, 12, 4))
    bends = np.empty((12, 4))
    for i in range(12):
        P, s, v = exact_softmax(exact(F[i])), Decimal(loss.weights[i]), exact(V[i])
        value -= s * P[codes[i]].ln()
        mean = sum(p * one for p, one in zip(P, v, strict=True))
        for k in range(4):
            gradient[i, k] = s * (P[k] - (k == codes[i]))
            product[i, k] = s * P[k] * (v[k] - mean)
            bends[i, k] = s * P[k] * (1 - P[k])
    assert loss.value(F) == pytest.approx(float(value), rel=1e-13)
    relative = {"rtol": 1e-11, "atol": 1e-300}
    np.testing.assert_allclose(loss.gradient(F), gradient, **relative)
    np.testing.assert_allclose(loss.hessian_product(F, V), product, **relative)
    np.testing.assert_allclose(loss.diagonal(F), bends, **relative)
    H = loss.hessian(F, np.ones((12, 1)))
    np.testing.assert_allclose(np.diag(H), bends.sum(axis=0), **relative)


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_negative_binomial_of_large_counts(size):
    y = np.array([0.0, 1.0, 7.0, 3e5, 2e12, 5e14])
    f = np.log(np.maximum(y, 0.3)) + np.array([0.3, -1.0, 0.1, 1e-3, 1e-6, -1e-8])
    loss, value, slopes = NegativeBinomial(y, size), Decimal(0), []
    for one, count in zip(exact(f), exact(y), strict=True):
        z = one - Decimal(loss._shift)
        value += count * (1 + (-z).exp()).ln() + Decimal(size) * (1 + z.exp()).ln()
        slopes.append(float((Decimal(size) - count * (-z).exp()) / (1 + (-z).exp())))
    assert loss.value(f[:, None]) == pytest.approx(float(value), rel=1e-14)
    np.testing.assert_allclose(loss.gradient(f[:, None])[:, 0], slopes, rtol=1e-4)
    # Its dual at the same point meets it, up to the rounding of the product of both.
    G = loss.gradient(f[:, None])
    found = loss.dual_value(f[:, None], 1.0) + float(np.vdot(G, f))
    assert found == pytest.approx(float(value), rel=1e-11)


# -- Cox ---------------------------------------------------------------------------------------


def plain_cox(survival: Survival, f, w, ties):
    """Value, gradient and Hessian from logarithms of sums over risk sets, one after the other."""
    n = len(f)
    entry = np.full(n, -np.inf) if survival.entry is None else survival.entry
    strata = np.zeros(n) if survival.strata is None else survival.strata
    value, gradient, H = 0.0, -w * survival.event, np.zeros((n, n))
    for s in np.unique(strata):
        for t in np.unique(survival.time[survival.event & (strata == s)]):
            risk = (strata == s) & (entry < t) & (survival.time >= t)
            deaths = (strata == s) & survival.event & (survival.time == t)
            m = int(deaths.sum())
            for number, i in enumerate(np.flatnonzero(deaths)):
                shares = np.where(deaths, 1.0 - number / m * (ties == "efron"), 1.0) * w
                tw = w[deaths].mean() if ties == "efron" else w[i]
                logs = np.where(risk, f + np.log(shares), -np.inf)
                p = np.exp(logs - logsumexp(logs))
                value += tw * logsumexp(logs) - w[i] * f[i]
                gradient = gradient + tw * p
                H += tw * (np.diag(p) - np.outer(p, p))
    return value, gradient, H


@pytest.mark.parametrize("ties", ["efron", "breslow"])
@pytest.mark.parametrize("scale", [30.0, 3e3, 1e5])
def test_cox_with_risks_beyond_floating_point_numbers(scale, ties):
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n = 25
        time = rng.integers(1, 9, n).astype(float) if seed % 2 else rng.exponential(size=n) + 0.1
        event = rng.random(n) < 0.7
        event[0] = True
        late = np.where(rng.random(n) < 0.5, time * rng.random(n), -1.0)
        strata = rng.integers(0, 2, n) if seed % 4 < 2 else None
        survival = Survival(time, event, late if seed % 3 else None, strata)
        w = 10.0 ** rng.uniform(-2, 2, n)
        f = scale * (rng.standard_normal(n) if seed % 5 else -time)
        value, gradient, H = plain_cox(survival, f, w, ties)
        loss, G = Cox(survival, w, ties), f[:, None]
        assert loss.value(G) == pytest.approx(value, rel=1e-9, abs=1e-9)
        size = {"rtol": 1e-7, "atol": 1e-9 * w.max()}
        np.testing.assert_allclose(loss.gradient(G)[:, 0], gradient, **size)
        np.testing.assert_allclose(loss.hessian_product(G, np.eye(n)[:, None])[:, 0], H, **size)
        X = rng.standard_normal((n, 3))
        forms = np.einsum("ij,ik,kj->j", X, H, X)
        np.testing.assert_allclose(loss.quadratic_forms(G, X), forms, **size)
        bound = loss.dual_value(G, 1.0) + float(np.vdot(loss.gradient(G), G))
        assert bound == pytest.approx(value, rel=1e-9, abs=1e-9 * scale)


def test_those_who_enter_late_do_not_cancel():
    """A sample of huge risk leaves the risk sets; what is left of the sums is exact."""
    time = np.array([9.0, 8.0, 7.0, 2.0, 1.5])
    survival = Survival(time, np.ones(5, dtype=bool), np.array([5.0, 0.0, 0.0, 0.0, 0.0]))
    f = np.array([40.0, 0.0, 0.3, -0.2, 0.1])
    loss = Cox(survival)
    value, gradient, H = plain_cox(survival, f, np.ones(5), "efron")
    assert loss.value(f[:, None]) == pytest.approx(value, rel=1e-14)
    np.testing.assert_allclose(loss.gradient(f[:, None])[:, 0], gradient, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(
        loss.hessian_product(f[:, None], np.eye(5)[:, None])[:, 0], H, atol=1e-14
    )


def test_the_value_of_an_ordered_sample_is_exact():
    """Where every death is all but certain the value is a sum of tiny numbers."""
    time = np.arange(1.0, 9.0)
    f = -37.0 * time
    sums = [1 + sum(Decimal(float(b - a)).exp() for b in f[k + 1 :]) for k, a in enumerate(f[:-1])]
    expected = float(sum(one.ln() for one in sums))
    loss = Cox(Survival(time, np.ones(8, dtype=bool)))
    assert loss.value(f[:, None]) == pytest.approx(expected, rel=1e-12)


def test_the_baseline_where_hazards_overflow():
    time = np.arange(1.0, 6.0)
    f = -900.0 * time
    times, logs, strata = Cox(Survival(time, np.ones(5, dtype=bool))).log_baseline_hazard(
        f[:, None]
    )
    assert times.tolist() == time.tolist()
    assert strata.tolist() == [0] * 5
    jumps = [-logsumexp(f[k:]) for k in range(5)]
    np.testing.assert_allclose(logs, [logsumexp(jumps[: k + 1]) for k in range(5)], rtol=1e-14)


# -- minimisers --------------------------------------------------------------------------------

RNG = np.random.default_rng(0)
N, D = 40, 6
X = RNG.standard_normal((N, D))
X = (X - X.mean(axis=0)) / X.std(axis=0)
SEPARABLE = {
    "logistic": lambda: Logistic(X[:, 0] > 0),
    "multinomial": lambda: Multinomial(np.digitize(X[:, 0], [-0.5, 0.5]), 3),
    "cox": lambda: Cox(Survival(10.0 - X[:, 0], np.ones(N, dtype=bool))),
}


def plain_gradient(loss, F):
    """The gradient by formulas that share nothing with the losses."""
    if isinstance(loss, Cox):
        return plain_cox(loss.survival, F[:, 0], loss.weights, loss.ties)[1][:, None]
    if isinstance(loss, Logistic):
        F = np.hstack([np.zeros_like(F), F])
        codes = loss.y.astype(int)
    else:
        codes = loss.codes
    G = np.empty_like(F)
    for i, f in enumerate(F):
        P = exact_softmax(exact(f))
        G[i] = [float(p - (k == codes[i])) for k, p in enumerate(P)]
    return G[:, 1:] if isinstance(loss, Logistic) else G


def penalised(loss, copies=0):
    columns = np.hstack([X, X[:, :copies]])
    groups = [np.array([j]) for j in range(columns.shape[1])]
    free = np.ones((N, int(loss.has_intercept)))
    return PenalisedLikelihood(as_design(columns), loss, groups, np.ones(len(groups)), free)


@pytest.mark.parametrize("alpha", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("name", SEPARABLE)
@pytest.mark.filterwarnings("error")
def test_the_penalty_alone_holds_separable_data(name, alpha):
    loss = SEPARABLE[name]()
    some = penalised(loss)
    (found,) = LikelihoodL21(tol=1e-6).path(some, [alpha])
    assert found.converged
    assert found.n_iter <= 40
    one = found.solution
    W = np.zeros((D, loss.n_outputs))
    W[one.features] = one.W
    G = plain_gradient(loss, X @ W + some.free @ one.B)
    # The conditions of the optimum, which is unique for the predictors.
    slopes, norms = X.T @ G, np.linalg.norm(W, axis=1)
    assert (np.linalg.norm(slopes, axis=1) <= alpha * (1 + 1e-3)).all()
    inside = norms > 0
    np.testing.assert_allclose(
        slopes[inside], -alpha * W[inside] / norms[inside, None], atol=1e-3 * alpha
    )
    np.testing.assert_allclose(some.free.T @ G, 0.0, atol=1e-9 * alpha + 1e-6 * np.abs(G).sum())


class Counting(Multinomial):
    """Counts how often its gradient is asked for."""

    n_gradients = 0

    def gradient(self, F):
        self.n_gradients += 1
        return super().gradient(F)


@pytest.mark.parametrize("copies", [0, 1])
def test_separable_classes_take_few_steps(copies):
    loss = Counting(np.digitize(X[:, 0], [-0.5, 0.5]), 3)
    (found,) = LikelihoodL21().path(penalised(loss, copies), [1e-4])
    assert found.converged
    assert found.n_iter <= 25
    assert loss.n_gradients <= 150


@pytest.mark.parametrize("ridge", [1e-2, 1e-6, 1e-10])
@pytest.mark.parametrize("name", SEPARABLE)
@pytest.mark.filterwarnings("error")
def test_a_ridge_alone_holds_separable_data(name, ridge):
    loss = SEPARABLE[name]()
    some = RidgeLikelihood(
        as_design(X), loss, np.ones((N, int(loss.has_intercept))), ridge, np.ones(D, dtype=bool)
    )
    A = some.columns([0, 3])
    start = np.vstack([loss.null_coefficients(some.free), np.zeros((2, loss.n_outputs))])
    fit = ridge_fit(loss, A, some.penalty(2), start, scale=20.0)
    assert fit.optimality <= 1e-10
    G = A.T @ plain_gradient(loss, A @ fit.W) + some.penalty(2)[:, None] * fit.W
    # Half of the squared slope over the ridge is the most that is left to gain.
    assert (G[-2:] ** 2).sum() / (2 * ridge) <= 1e-6 * max(fit.objective, 1e-6)


def test_copies_of_groups_do_not_stall_the_quadratic_model():
    """Two copies of a block leave a flat direction, along which Newton's step leads nowhere."""
    rng = np.random.default_rng(3)
    M = rng.standard_normal((30, 3)) * [1.0, 1e-2, 1e-4]
    A = np.tile(M.T @ M, (2, 2))
    gradient = np.tile(M.T @ rng.standard_normal(30), 2)
    sizes, costs = np.array([3, 3]), np.full(2, 1e-5)
    w0 = np.array([1.0, 2.0, -1.0, -1.0, 0.5, 3.0])
    w = w0.copy()
    parts = np.append(0, np.cumsum(sizes)), *block_spectra(A, sizes), costs
    minimise(A, np.ones(1), w[None], gradient.copy()[None], *parts, 1.0, 1e-8)
    slopes = (gradient + A @ (w - w0)).reshape(2, 3)
    norms = np.linalg.norm(w.reshape(2, 3), axis=1)
    for g, block, norm in zip(slopes, w.reshape(2, 3), norms, strict=True):
        expected = -costs[0] * block / norm if norm > 0 else g
        np.testing.assert_allclose(g, expected, atol=1e-7 * costs[0])
        assert np.linalg.norm(g) <= costs[0] * (1 + 1e-7)


def test_what_cannot_be_fitted_is_named():
    ones, uneven = np.ones((4, 1)), np.array([[1.0], [1.0], [1.0], [0.0]])
    with pytest.raises(ValueError, match="the model without features cannot be fitted, because"):
        check_bounds(ones, uneven)
    with pytest.raises(ValueError, match="the columns of always_keep predict the target perfectly"):
        check_bounds(np.hstack([ones, uneven]), uneven)
