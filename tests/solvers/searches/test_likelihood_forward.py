"""Forward selection with exchanges against all subsets, plain fits and the described case."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

from sparsieve.design import as_design
from sparsieve.solvers.losses.cox import Cox, Survival
from sparsieve.solvers.losses.multinomial import Multinomial
from sparsieve.solvers.losses.separable import Logistic, NegativeBinomial, Poisson
from sparsieve.solvers.searches.likelihood_forward import LikelihoodForward, null_curvature
from sparsieve.solvers.searches.likelihood_neighbours import Neighbours, RidgeLikelihood
from sparsieve.solvers.searches.ridge_fit import ridge_fit


def losses(n: int, rng: np.random.Generator, f: np.ndarray):
    w = rng.uniform(0.5, 2.0, n)
    survival = Survival(
        rng.integers(1, 8, n) + np.round(np.exp(-f), 1), rng.random(n) < 0.7, None, np.arange(n) % 2
    )
    return {
        "logistic": Logistic(f > 0.3, w),
        "multinomial": Multinomial(np.digitize(f, [-0.5, 0.5]), 3, w),
        "poisson": Poisson(rng.poisson(np.exp(f)), w),
        "negative-binomial": NegativeBinomial(rng.poisson(np.exp(f)), 2.0, w),
        "cox": Cox(survival, w),
    }


def problem(name: str, n: int = 40, d: int = 8, ridge: float = 1.0, seed: int = 0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[:, 4] = X[:, 0] + X[:, 1] + 0.3 * rng.standard_normal(n)  # fools a forward search
    loss = losses(n, rng, X[:, 0] + X[:, 1] - 0.5 * X[:, 2] + 0.5 * rng.standard_normal(n))[name]
    free = np.ones((n, int(loss.has_intercept)))
    return RidgeLikelihood(as_design(X), loss, free, ridge, np.ones(d, dtype=bool)), X


NAMES = ["logistic", "multinomial", "poisson", "negative-binomial", "cox"]
each = pytest.mark.parametrize("name", NAMES)


@each
def test_fit_is_the_minimum(name):
    """By a general minimiser without second derivatives."""
    one, _ = problem(name)
    A, penalty = one.columns([1, 5]), one.penalty(2)
    shape = (A.shape[1], one.loss.n_outputs)

    def value(w):
        W = w.reshape(shape)
        return one.loss.value(A @ W) + 0.5 * float(penalty @ (W**2).sum(axis=1))

    found = minimize(value, np.zeros(shape).ravel(), method="BFGS", options={"gtol": 1e-7})
    fit = ridge_fit(one.loss, A, penalty, scale=1.0)
    assert fit.objective == pytest.approx(found.fun, rel=1e-9)
    assert value(fit.W.ravel()) == pytest.approx(fit.objective, rel=1e-12)


@each
def test_best_of_all_subsets(name):
    one, X = problem(name)
    found = LikelihoodForward(3).solve(one).solution.by_size
    for k in (1, 2, 3):
        best = min(
            ridge_fit(one.loss, one.columns(S), one.penalty(k), scale=1.0).objective
            for S in itertools.combinations(range(X.shape[1]), k)
        )
        assert found[k].objective == pytest.approx(best, rel=1e-9)
        again = ridge_fit(one.loss, one.columns(found[k].order), one.penalty(k), scale=1.0)
        assert found[k].objective == pytest.approx(again.objective, rel=1e-10)


@each
def test_exchanges_never_hurt(name):
    one, _ = problem(name, n=60, d=30, ridge=0.3, seed=3)
    plain = LikelihoodForward(8, n_swaps=0).solve(one).solution.path.objective
    searched = LikelihoodForward(8, n_swaps=5).solve(one).solution.path.objective
    assert (searched <= plain + 1e-9).all()
    assert (np.diff(plain) < 0).all()


@pytest.mark.parametrize("name", ["logistic", "poisson", "negative-binomial", "cox"])
def test_predicted_changes_are_those_of_the_quadratic_model(name):
    """Gains, costs and exchanges, by minimising the quadratic model on every set itself."""
    one, X = problem(name)
    S = [0, 2, 3]
    A, q0 = one.columns(S), one.free.shape[1]
    fit = ridge_fit(one.loss, A, one.penalty(3), scale=1.0)
    around = Neighbours(one, A, S, fit)
    every = np.hstack([one.free, X])
    H, g = one.loss.hessian(fit.F, every), every.T @ one.loss.gradient(fit.F)[:, 0]
    w = np.zeros(every.shape[1])
    w[[*range(q0), *(q0 + j for j in S)]] = fit.W[:, 0]

    def lowest(columns):
        """The model's minimum with these columns, compared with where the fit is."""
        chosen = [*range(q0), *(q0 + j for j in columns)]
        K = H + np.diag(np.repeat([0.0, one.ridge], [q0, X.shape[1]]))
        b = H @ w - g  # the minimum over v of 1/2 v'Kv - b'v
        part = np.linalg.solve(K[np.ix_(chosen, chosen)], b[chosen])
        return -0.5 * b[chosen] @ part

    here = lowest(S)
    for j in set(range(8)) - set(S):
        assert around.gains[j] == pytest.approx(here - lowest([*S, j]), rel=1e-6, abs=1e-9)
    for place, j in enumerate(S):
        rest = [i for i in S if i != j]
        assert around.costs[place] == pytest.approx(lowest(rest) - here, rel=1e-6, abs=1e-9)
    for decrease, place, i in around.exchanges(100):
        rest = [j for j in S if j != S[place]]
        assert decrease == pytest.approx(here - lowest([*rest, i]), rel=1e-6, abs=1e-8)
    assert len(around.exchanges(100)) == 15


def test_the_described_case():
    i, j = np.arange(1, 25), np.arange(1, 9)
    X = np.round(np.sin(1.3 * i[:, None] * j) + 0.5 * np.cos(0.7 * i[:, None] + j**2), 6)
    loss = Logistic((7 * i) % 5 < 2)
    one = RidgeLikelihood(as_design(X), loss, np.ones((24, 1)), 0.6, np.ones(8, dtype=bool))
    found = LikelihoodForward(3, n_swaps=0).solve(one).solution.path
    assert found.features.tolist() == [1, 2, 3]
    np.testing.assert_allclose(
        found.objective, [15.877517716, 10.650992054, 8.367896689, 7.947121154], atol=1e-8
    )


def test_ridge_is_relative_to_what_the_null_model_knows():
    y = np.zeros(100, dtype=bool)
    y[:4] = True
    assert null_curvature(Logistic(y)) == pytest.approx(100 * 0.04 * 0.96)
    # As two outputs, each has half of the coefficient and sees twice the curvature.
    assert null_curvature(Multinomial(y.astype(int), 2)) == pytest.approx(2 * 100 * 0.04 * 0.96)
    assert null_curvature(Poisson(np.arange(5))) == pytest.approx(10)
    survival = Survival(np.arange(1.0, 6.0), np.array([1, 0, 1, 0, 1], dtype=bool))
    assert null_curvature(Cox(survival)) == pytest.approx(3)


def test_two_classes_as_logistic_or_multinomial():
    one, _ = problem("logistic")
    codes = one.loss.y.astype(int)
    both = [Logistic(codes), Multinomial(codes, 2)]
    found = [
        LikelihoodForward(4).solve(
            RidgeLikelihood(
                one.design, loss, one.free, 0.2 * null_curvature(loss), np.ones(8, dtype=bool)
            )
        )
        for loss in both
    ]
    for a, b in zip(*(result.solution.by_size for result in found), strict=True):
        assert a.order.tolist() == b.order.tolist()
        assert a.objective == pytest.approx(b.objective, rel=1e-9)
        np.testing.assert_allclose(a.costs, b.costs, rtol=1e-6)


def test_many_outputs_by_conjugate_gradients(monkeypatch):
    one, _ = problem("multinomial", n=60)
    A, penalty = one.columns([0, 1, 2]), one.penalty(3)
    dense = ridge_fit(one.loss, A, penalty, scale=1.0)
    monkeypatch.setattr("sparsieve.solvers.searches.ridge_fit.MAX_DENSE", 0)
    monkeypatch.setattr("sparsieve.solvers.searches.likelihood_neighbours.MAX_SEPARATE", 0)
    iterated = ridge_fit(one.loss, A, penalty, scale=1.0)
    assert iterated.objective == pytest.approx(dense.objective, rel=1e-9)
    found = LikelihoodForward(3).solve(one).solution.by_size
    again = ridge_fit(one.loss, one.columns(found[3].order), penalty, scale=1.0)
    assert found[3].objective == pytest.approx(again.objective, rel=1e-9)


def test_separable_data_need_a_ridge():
    X = np.random.default_rng(0).standard_normal((30, 5))
    for loss in (Logistic(X[:, 2] > 0), Multinomial(np.digitize(X[:, 2], [-1, 1]), 3)):
        one = RidgeLikelihood(as_design(X), loss, np.ones((30, 1)), 0.0, np.ones(5, dtype=bool))
        with pytest.raises(ValueError, match="pass ridge > 0"):
            LikelihoodForward(2).solve(one)
