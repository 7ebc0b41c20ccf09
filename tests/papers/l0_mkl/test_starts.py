"""The starts against a plain alternation written here, with matrices and solvers of its own."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.optimize import minimize

from sparsieve import L0MKLSelector
from sparsieve.papers.l0_mkl.alternating_dca import AlternatingMKL, MKLModel
from sparsieve.papers.l0_mkl.bank import KernelBank
from sparsieve.papers.l0_mkl.kernels import SigmoidKernel
from sparsieve.papers.l0_mkl.starts import PlainAlternation, equal_weights, fixed_starts
from sparsieve.penalties.concave import surrogate

GAMMA, COEF0, LAMBDA1, LAMBDA2 = 0.1, -0.01, 1.0, 0.1  # the selector's defaults


def narrow_problem(seed):
    """5 to 24 features, three of them relevant, one through its square."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(int(rng.integers(30, 80)), int(rng.integers(5, 25))))
    f = X[:, 0] + X[:, 1] ** 2 - 1 + 0.5 * X[:, 2] + 0.5 * rng.normal(size=len(X))
    return X, (f > np.median(f)).astype(int)


@dataclass
class Plainly:
    """min over u, b, 0 <= d <= 1 of the shifted objective with the capped l1 penalty."""

    K: np.ndarray
    shift: np.ndarray
    y: np.ndarray
    theta: float

    @classmethod
    def of(cls, X, y, theta):
        Z = (X - X.mean(axis=0)) / X.std(axis=0)
        H = np.eye(len(Z)) - 1.0 / len(Z)
        K = np.array([H @ np.tanh(GAMMA * np.outer(z, z) + COEF0) @ H for z in Z.T])
        return cls(K, np.maximum(0.0, -np.linalg.eigvalsh(K)[:, 0]), 2.0 * y - 1.0, theta)

    def objective(self, d, u, b):
        A = np.tensordot(d, self.K, 1)
        hinge = np.maximum(0.0, 1.0 - self.y * (A @ u + b))
        penalty = np.minimum(1.0, self.theta * d).sum()
        return LAMBDA1 * (u @ A @ u + d @ self.shift * (u @ u)) + LAMBDA2 * penalty + hinge @ hinge

    def coefficients(self, d, u, b):
        """Newton's method with a line search."""
        A, n = np.tensordot(d, self.K, 1), len(self.y)
        R = A + d @ self.shift * np.eye(n)

        def evaluate(p):
            hinge = np.maximum(0.0, 1.0 - self.y * (A @ p[:-1] + p[-1]))
            down = -2.0 * A @ (self.y * hinge)
            slope = np.append(2.0 * LAMBDA1 * R @ p[:-1] + down, -2.0 * self.y @ hinge)
            return LAMBDA1 * p[:-1] @ R @ p[:-1] + hinge @ hinge, slope, hinge > 0

        p = np.append(u, b)
        value, slope, active = evaluate(p)
        for _ in range(50):
            rows = np.hstack([A[active], np.ones((active.sum(), 1))])
            hessian = 2.0 * rows.T @ rows
            hessian[:n, :n] += 2.0 * LAMBDA1 * R
            hessian += 1e-12 * np.trace(hessian) * np.eye(n + 1)
            step, length = -np.linalg.solve(hessian, slope), 1.0
            while length > 1e-12:
                trial = evaluate(p + length * step)
                if trial[0] <= value + 1e-4 * length * (slope @ step):
                    break
                length *= 0.5
            p, before = p + length * step, value
            value, slope, active = trial
            if before - value < 1e-13 * value:
                break
        return p[:-1], p[-1]

    def weights(self, d, u, b):
        """The penalty by its tangent until the weights stand still, each time by L-BFGS-B."""
        T = self.y * (self.K @ u)
        charge = LAMBDA1 * (self.K @ u @ u + self.shift * (u @ u))
        for _ in range(20):
            cost = charge + LAMBDA2 * self.theta * (self.theta * d <= 1.0)

            def evaluate(p, cost=cost):
                hinge = np.maximum(0.0, 1.0 - p[:-1] @ T - self.y * p[-1])
                slope = np.append(cost - 2.0 * T @ hinge, -2.0 * self.y @ hinge)
                return cost @ p[:-1] + hinge @ hinge, slope

            bounds = [(0.0, 1.0)] * len(d) + [(None, None)]
            options = {"ftol": 1e-14, "gtol": 1e-9, "maxiter": 500}
            found = minimize(evaluate, np.append(d, b), jac=True, bounds=bounds, options=options)
            moved = np.abs(found.x[:-1] - d).max()
            d, b = found.x[:-1], found.x[-1]
            if moved < 1e-7:
                break
        return d, b

    def solve(self):
        """Alternate from equal weights."""
        d = np.full(len(self.K), 1.0 / len(self.K))
        u, b, value = np.zeros(len(self.y)), 0.0, np.inf
        for _ in range(100):
            u, b = self.coefficients(d, u, b)
            d, b = self.weights(d, u, b)
            before, value = value, self.objective(d, u, b)
            if before - value < 1e-5 * value:
                break
        return d, *self.coefficients(d, u, b)


def compare(seed, theta):
    X, y = narrow_problem(seed)
    plain = Plainly.of(X, y, theta)
    selector = L0MKLSelector(theta=theta).fit(X, y)
    # Its objective is the documented one.
    beta, d = selector.dual_coef_[0], selector.kernel_weights_[0]
    bias = selector.intercept_[0] + np.tensordot(d, kernels_of(X), 1).mean(axis=0) @ beta
    assert plain.objective(d, beta, bias) == pytest.approx(selector.objective_, rel=1e-6)
    assert selector.objective_ <= plain.objective(*plain.solve()) * (1.0 + 1e-5)


def kernels_of(X):
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    return np.array([np.tanh(GAMMA * np.outer(z, z) + COEF0) for z in Z.T])


@pytest.mark.parametrize("theta", [5.0, 10.0, 100.0])
@pytest.mark.parametrize("seed", [0, 1, 4])
def test_never_above_a_plain_alternation(seed, theta):
    compare(seed, theta)


@pytest.mark.slow
@pytest.mark.parametrize("theta", [5.0, 10.0, 100.0])
def test_never_above_a_plain_alternation_on_fifty_problems(theta):
    for seed in range(50):
        compare(seed, theta)


def small_model(name="capped_l1", d_max=1.0, theta=5.0):
    X, y = narrow_problem(3)
    bank = KernelBank(np.ascontiguousarray(X.T), SigmoidKernel(GAMMA, COEF0))
    return MKLModel(bank, 2.0 * y - 1.0, LAMBDA1, LAMBDA2, surrogate(name, theta), d_max)


def test_the_plain_alternation_is_continued():
    model = small_model()
    plain = PlainAlternation(10).solve(model, equal_weights(model, 0.1))
    assert (np.diff(plain.trace) <= 1e-9 * plain.trace[0]).all()
    result = AlternatingMKL().solve(model, plain)
    assert result.trace[: plain.n_iter] == plain.trace
    assert (np.diff(result.trace) <= 1e-9 * plain.trace[0]).all()
    assert result.n_iter == len(result.trace) > plain.n_iter


@pytest.mark.parametrize(
    ("name", "theta", "d_max", "largest"),
    [
        ("capped_l1", 5.0, 1.0, 1.0),
        ("capped_l1", 5.0, 0.5, 0.5),
        ("capped_l1", 0.1, np.inf, 16.0),  # the first power of two beyond 1 / theta
        ("capped_l1", 0.1, 1.0, None),  # the l1 norm below the limit
        ("l1", 5.0, np.inf, None),
        ("exp", 5.0, 1.0, 1.0),
        ("scad", 5.0, 1.0, 1.0),
        ("log", 5.0, 2.0, 2.0),
    ],
)
def test_starts_where_the_surrogate_is_flat(name, theta, d_max, largest):
    starts = list(fixed_starts(small_model(name, d_max, theta), 5))
    assert starts[0] is None
    assert len(starts) == (1 if largest is None else 3)
    if largest is not None:
        assert (starts[2].solution.weights.d == largest).all()
