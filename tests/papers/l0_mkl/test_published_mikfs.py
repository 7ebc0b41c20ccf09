"""The printed algorithms against the same loops written out with a general convex solver."""

from dataclasses import replace

import numpy as np
import pytest

from sparsieve.papers.l0_mkl.bank import KernelBank
from sparsieve.papers.l0_mkl.kernel_weights import (
    KernelWeights,
    UnboundedObjectiveError,
    WeightProgram,
)
from sparsieve.papers.l0_mkl.kernels import RBFKernel, SigmoidKernel
from sparsieve.papers.l0_mkl.published import UNBOUNDED_PER_SAMPLE, PublishedMKL, PublishedMKLModel
from sparsieve.penalties.concave import surrogate

cvxpy = pytest.importorskip("cvxpy")

LAMBDA1, LAMBDA2 = 0.5, 0.2


def data(seed=0, n_samples=24, n_features=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    y = np.where(X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=n_samples) > 0.7, 1.0, -1.0)
    return X, y


def model(X, y, kernel, name, theta):
    bank = KernelBank(X.T, kernel, centred=False)
    return PublishedMKLModel(bank, y, LAMBDA1, LAMBDA2, surrogate(name, theta), np.inf)


# -- the paper, line by line -----------------------------------------------------------------


def argmin(objective, *variables, constraints=()):
    problem = cvxpy.Problem(cvxpy.Minimize(objective), list(constraints))
    problem.solve(solver=cvxpy.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return [variable.value for variable in variables]


def algorithm_3(K, y, beta, b, eps, T):
    eta = np.linalg.eigvalsh(K).max()
    rho = eta + 1e-5
    for _ in range(T):
        slope = LAMBDA1 * (rho * np.eye(len(y)) - K) @ beta
        new, offset = cvxpy.Variable(len(y)), cvxpy.Variable()
        loss = cvxpy.sum_squares(cvxpy.pos(1 - cvxpy.multiply(y, K @ new + offset)))
        g = LAMBDA1 * rho * cvxpy.sum_squares(new) + loss
        found, shift = argmin(g - slope @ new, new, offset)
        length = np.sum((found - beta) ** 2) + (float(shift) - b) ** 2
        beta, b = found, float(shift)
        if length <= eps:
            break
    return beta, b


def table_2(d, name, theta):
    """(slope of the first part, gradient of the second) of every row of the paper's table."""
    if name == "exp":
        return theta, theta * (1 - np.exp(-theta * d))
    if name == "log":
        return theta / np.log(1 + theta), theta**2 * d / (np.log(1 + theta) * (1 + theta * d))
    return theta, np.where(d <= 1 / theta, 0.0, theta)


def algorithm_4(kernels, y, beta, b, d, name, theta, eps, T):
    gamma = np.array([LAMBDA1 * beta @ K @ beta for K in kernels])
    columns = np.column_stack([K @ beta for K in kernels])
    for _ in range(T):
        first, second = table_2(d, name, theta)
        new = cvxpy.Variable(len(kernels))
        loss = cvxpy.sum_squares(cvxpy.pos(1 - cvxpy.multiply(y, columns @ new + b)))
        g = gamma @ new + loss + LAMBDA2 * first * cvxpy.sum(new)
        (found,) = argmin(g - LAMBDA2 * second @ new, new, constraints=[new >= 0])
        length = np.sum((found - d) ** 2)
        d = found
        if length <= eps:
            break
    return d


def algorithm_1(kernels, y, name, theta, rounds, eps, T):
    d, beta, b = np.full(len(kernels), 1 / len(kernels)), np.zeros(len(y)), 0.0
    for _ in range(rounds):
        K = np.tensordot(d, kernels, axes=1)
        beta, b = algorithm_3(K, y, beta, b, eps, T)
        d = algorithm_4(kernels, y, beta, b, d, name, theta, eps, T)
        yield beta, b, d


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    ("kernel", "name", "theta"),
    [
        (RBFKernel(1.0), "log", 5.0),
        (RBFKernel(0.3), "capped_l1", 2.0),
        (SigmoidKernel(0.3, 0.5), "exp", 2.0),
        (SigmoidKernel(1.0, 0.1), "capped_l1", 1.0),
    ],
    ids=lambda value: str(value),
)
def test_every_iterate_is_that_of_the_printed_algorithms(kernel, name, theta):
    X, y = data()
    kernels = np.array([kernel(x[:, None], x[None, :]) for x in X.T])
    seen: list = []
    solver = PublishedMKL(max_iter=3, tol=1e-12, inner_max_iter=6, inner_tol=1e-5)
    solver.solve(model(X, y, kernel, name, theta), callback=seen.append)
    plain = list(algorithm_1(kernels, y, name, theta, rounds=3, eps=1e-5, T=6))
    assert len(seen) == len(plain)
    for event, (beta, b, d) in zip(seen, plain, strict=True):
        machine, weights = event.solution
        size = np.abs(beta).max()
        np.testing.assert_allclose(machine.u, beta, atol=2e-4 * size)
        assert machine.bias == pytest.approx(b, abs=2e-4)
        np.testing.assert_allclose(weights.dense(5), d, atol=2e-4 * d.max())
        K = np.tensordot(d, kernels, axes=1)
        loss = np.sum(np.maximum(0.0, 1 - y * (K @ beta + b)) ** 2)
        value = LAMBDA1 * beta @ K @ beta + LAMBDA2 * surrogate(name, theta).total(d) + loss
        assert event.objective == pytest.approx(value, rel=1e-3)


# -- how it ends -----------------------------------------------------------------------------


def test_ends_with_a_semidefinite_kernel():
    X, y = data(n_features=20)
    result = PublishedMKL(max_iter=500).solve(model(X, y, RBFKernel(1.0), "log", 5.0))
    assert result.converged
    assert result.optimality <= 1e-3
    assert len(result.trace) == result.n_iter
    assert (result.solution.weights.d >= 1e-5).all(), "smaller weights are discarded"


def test_falls_without_bound_with_an_indefinite_kernel():
    X, y = data(n_features=20)
    problem = model(X, y, SigmoidKernel(0.01, -1.0), "capped_l1", 1.0)
    with pytest.raises(UnboundedObjectiveError, match="published algorithm diverges") as error:
        PublishedMKL().solve(problem)
    trace = error.value.trace
    assert trace[-1] < -UNBOUNDED_PER_SAMPLE * len(y)
    assert trace[-1] < trace[-2] < trace[-3] < 1e3


def test_a_weight_step_without_a_minimum():
    X, y = data(n_features=3)
    problem = model(X, y, SigmoidKernel(0.01, -1.0), "capped_l1", 1.0)
    program = WeightProgram(problem, np.full(24, 0.5), bias=0.0)
    program.P[0] = np.abs(program.P[0])
    program.energy[0] = -10.0
    with pytest.raises(UnboundedObjectiveError, match="grows without limit"):
        PublishedMKL().weights(program, KernelWeights(np.arange(3), np.full(3, 1 / 3), 0.0))


def test_scaling_argument_of_unboundedness():
    # Where the quadratic term is negative, (t d, beta / t) has no lower bound as t falls.
    X, y = data(n_features=60)
    problem = model(X, y, SigmoidKernel(0.01, -1.0), "log", 5.0)
    K = problem.bank.combine(np.arange(60), np.full(60, 1 / 60))
    u = np.linalg.eigh(K)[1][:, 0]
    values = [
        0.5 * (u / t) @ (t * K) @ (u / t)
        + np.sum(np.maximum(0.0, 1.0 - y * (t * K) @ (u / t)) ** 2)
        + 0.1 * surrogate("log", 5.0).total(np.full(60, t / 60))
        for t in (1.0, 0.1, 0.01, 0.001)
    ]
    assert (np.diff(values) < 0).all()
    assert values[-1] < -100


def test_no_number_keeps_it_from_ending():
    X, y = data()
    problem = replace(model(X, y, RBFKernel(1.0), "log", 5.0), lambda2=np.nan)
    with pytest.raises(UnboundedObjectiveError):
        PublishedMKL().solve(problem)
