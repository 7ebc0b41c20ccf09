"""The bounds of likelihood selectors, below what every set of features reaches.

Losses are written out in plain NumPy, and every set is fitted by a general minimiser.
"""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize

from sparsieve import LikelihoodForwardSelector, LikelihoodL21Selector

# Small ones of every loss, with covariates, weights, strata and without.
SEEDS = [2, 11, 48, 49, 58]

pytestmark = pytest.mark.filterwarnings("ignore")


class Draw:
    """Random data and settings."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(20, 32)), int(rng.integers(2, 6))
        X = rng.standard_normal((n, d))
        if rng.random() < 0.3:
            X = np.round(X)
        if rng.random() < 0.2:
            X[:, rng.integers(d)] = X[:, rng.integers(d)] * rng.choice([1.0, -2.0])
        if rng.random() < 0.15:
            X[:, rng.integers(d)] = 3.0
        self.seed, self.X, self.strata = seed, X, None
        self.weights = rng.integers(1, 4, n) * 1.0 if rng.random() < 0.3 else None
        self.always = [int(rng.integers(d))] if rng.random() < 0.3 else []
        if self.always and np.ptp(X[:, self.always]) == 0.0:
            self.always = []
        self.ridge = float(rng.choice([0.1, 0.3, 1.0, 3.0]))
        self.standardize = bool(rng.random() < 0.8)
        self.kind = str(rng.choice(["logistic", "multinomial", "poisson", "efron", "breslow"]))
        f = rng.choice([0.0, 0.7]) * X[:, 0] / max(float(X[:, 0].std()), 1.0)
        self.options = {}
        if self.kind in ("efron", "breslow"):
            self.y = np.empty(n, dtype=[("event", "?"), ("time", "f8")])
            self.y["time"] = rng.exponential(np.exp(-f)) + 0.01
            if rng.random() < 0.5:
                self.y["time"] = np.ceil(4.0 * self.y["time"])  # ties
            self.y["event"] = rng.random(n) < 0.7
            self.y["event"][:2] = True
            if rng.random() < 0.3:
                self.strata = rng.integers(0, 2, n)
            if self.kind == "efron":
                self.weights = None  # one way of many to weigh ties
            self.options = {"ties": self.kind}
        elif self.kind == "poisson":
            self.y = rng.poisson(np.exp(f))
            self.y[0] = 1
            self.options = {"task": "counts"}
        else:
            self.y = (f + rng.logistic(size=n) > 0).astype(int)
            if self.kind == "multinomial":
                self.y = rng.integers(0, 3, n)
            self.y[:6] = [0, 1, 2, 0, 1, 2] if self.kind == "multinomial" else [0, 1, 0, 1, 0, 1]
            self.options = {"loss": self.kind}

    def fit_options(self):
        found = {"sample_weight": self.weights}
        if self.strata is not None:
            found["strata"] = self.strata
        return found

    def __str__(self):
        said = {k: v for k, v in vars(self).items() if k not in ("X", "y", "weights", "strata")}
        return f"{said} {self.X.shape}"


class AllSets:
    """-log likelihood + rho / 2 ||W||^2 of every set, as the documentation has it."""

    def __init__(self, draw):
        X, w = draw.X, np.ones(len(draw.X)) if draw.weights is None else draw.weights
        mean = np.average(X, axis=0, weights=w)
        spread = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=w))
        constant = spread <= 1e-12
        X = X - mean
        if draw.standardize:
            X = X / np.where(constant, 1.0, spread)
        self.loss, self.n_outputs, curvature, has_intercept = losses(draw, w)
        self.rho = draw.ridge * curvature
        free = [np.ones((len(X), int(has_intercept))), X[:, draw.always]]
        self.free, self.X = np.hstack(free), X
        self.open = [j for j in range(X.shape[1]) if j not in draw.always and not constant[j]]
        self.values = {
            some: self.value(some)
            for k in range(len(self.open) + 1)
            for some in combinations(self.open, k)
        }

    def value(self, some):
        A = np.hstack([self.free, self.X[:, list(some)]])
        rho = np.repeat([0.0, self.rho], [self.free.shape[1], len(some)])[:, None]
        shape = A.shape[1], self.n_outputs
        if A.shape[1] == 0:
            return self.loss(np.zeros((len(A), self.n_outputs)))[0]

        def objective(w):
            W = w.reshape(shape)
            value, slope = self.loss(A @ W)
            return value + 0.5 * float((rho * W**2).sum()), (A.T @ slope + rho * W).ravel()

        options = {"gtol": 1e-9, "maxiter": 1000}
        return minimize(
            objective,
            np.zeros(A.shape[1] * self.n_outputs),
            jac=True,
            method="BFGS",
            options=options,
        ).fun


def losses(draw, w):
    """Value and gradient in the predictors, outputs, n p (1 - p) or the like, and an intercept."""
    y, total = draw.y, w.sum()
    if draw.kind == "poisson":

        def poisson(F):
            mu = np.exp(F[:, 0])
            return float(w @ (mu - y * F[:, 0])), (w * (mu - y))[:, None]

        return poisson, 1, float(w @ y), True
    if draw.kind in ("logistic", "multinomial"):
        Y = (y[:, None] == np.unique(y)).astype(float)
        shares = w @ Y / total
        two = draw.kind == "logistic"

        def classes(F):
            G = np.hstack([np.zeros_like(F), F]) if two else F
            P = np.exp(G - G.max(axis=1, keepdims=True))
            P /= P.sum(axis=1, keepdims=True)
            slope = w[:, None] * (P - Y)
            return -float(w @ np.log((P * Y).sum(axis=1))), slope[:, 1:] if two else slope

        spread = shares[0] * shares[1] if two else (1.0 - shares @ shares) / (Y.shape[1] - 1)
        return classes, 1 if two else Y.shape[1], total * spread, True

    strata = np.zeros(len(y), dtype=int) if draw.strata is None else draw.strata

    def cox(F):
        f, e = F[:, 0], np.exp(F[:, 0])
        value, slope = 0.0, np.zeros(len(f))
        for stratum in np.unique(strata):
            for time in np.unique(y["time"][y["event"] & (strata == stratum)]):
                here = (strata == stratum) & (y["time"] >= time)
                dying = here & y["event"] & (y["time"] == time)
                value -= float(w[dying] @ f[dying])
                slope[dying] -= w[dying]
                count = int(dying.sum())
                for place in range(count):
                    left = place / count if draw.kind == "efron" else 0.0
                    at_risk = (w * e) * (here - left * dying)
                    each = w[dying].sum() / count
                    value += each * np.log(at_risk.sum())
                    slope += each * at_risk / at_risk.sum()
        return value, slope[:, None]

    return cox, 1, float(w @ y["event"]), False


def check(draw, selector, certify=()):
    """No set of a size goes below the bound for it; how many sizes were looked at."""
    selector.fit(draw.X, draw.y, **draw.fit_options())
    certificate = selector.certify(draw.X, draw.y, **draw.fit_options(), **dict(certify))
    if len(certificate.n_features) == 0:
        return 0
    sets, n_always = AllSets(draw), len(draw.always)
    scale = max(abs(sets.values[()]), 1.0)
    perfect = None
    for place, count in enumerate(certificate.n_features):
        found, bound = certificate.objective[place], certificate.lower_bound[place]
        size = min(count - n_always, len(sets.open))  # further ones are constant
        best = min(value for some, value in sets.values.items() if len(some) == size)
        chosen = np.argsort(selector.ranking_)[:count]
        if isinstance(selector, LikelihoodForwardSelector):
            chosen = selector.path_.supports[size]
        reached = sets.values[tuple(sorted(j for j in chosen.tolist() if j in sets.open))]
        # Certificates count from a perfect fit, formulas from zero.
        perfect = reached - found if perfect is None else perfect
        words = f"{count}: {found} with a bound of {bound} but {best - perfect}, {draw}"
        assert reached - found == pytest.approx(perfect, abs=1e-6 * scale), words
        assert bound <= best - perfect + 1e-7 * scale, words
        assert bound <= found + 1e-9 * scale, words
        assert certificate.gap[place] >= 0.0, words
        assert 0.0 <= certificate.share[place] <= 1.0, words
        if isinstance(selector, LikelihoodForwardSelector):
            at = selector.at(int(count))
            assert at.objective_ == pytest.approx(reached, abs=1e-6 * scale), words
    return len(certificate.n_features)


def check_both(seed):
    draw = Draw(seed)
    rng, d = np.random.default_rng(seed), draw.X.shape[1]
    k = int(rng.integers(max(1, len(draw.always)), d + 1))
    settings = {"standardize": draw.standardize, "always_keep": draw.always or None, **draw.options}
    forward = LikelihoodForwardSelector(k, ridge=draw.ridge, swaps=seed % 3, **settings)
    count = check(draw, forward)
    if not seed % 3:
        check(draw, LikelihoodL21Selector(k, **settings), {"ridge": draw.ridge})
    return count


@pytest.mark.long("every set of five small problems is fitted")
def test_some_problems():
    assert sum(check_both(seed) for seed in SEEDS) >= 5


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(10))
def test_many_problems(chunk):
    assert sum(check_both(seed) for seed in range(1000 + chunk, 1500, 10)) >= 50
