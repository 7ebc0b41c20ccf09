"""The weight step against cvxpy, and the alternation as a whole."""

import numpy as np
import pytest

from sparsieve.kernels import KernelBank, RBFKernel, SigmoidKernel
from sparsieve.penalties import surrogate
from sparsieve.solvers.mkl.model import AlternatingMKL, MKLModel
from sparsieve.solvers.mkl.published import PaperMKLModel
from sparsieve.solvers.mkl.weights import KernelWeights, UnboundedObjectiveError, solve_weights

cvxpy = pytest.importorskip("cvxpy")


def model(kernel=None, name="capped_l1", d_max=1.0, seed=0, n_samples=40, n_features=60, **options):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n_features, n_samples))
    y = np.where(values[3] ** 2 + values[7] + 0.3 * rng.normal(size=n_samples) > 1, 1.0, -1.0)
    bank = KernelBank(values, kernel or SigmoidKernel(0.5, -0.3), options.pop("weights", None))
    return MKLModel(bank, y, 0.5, 0.1, surrogate(name, 5.0), d_max)


def weights_by_cvxpy(P, linear, bound, border, s):
    d, b = cvxpy.Variable(len(P)), cvxpy.Variable()
    limits = [d >= 0] + ([d <= bound] if np.isfinite(bound) else [])
    loss = cvxpy.sum_squares(cvxpy.pos(s - P.T @ d - border * b))
    return cvxpy.Problem(cvxpy.Minimize(linear @ d + loss), limits).solve(solver=cvxpy.CLARABEL)


@pytest.mark.parametrize("bound", [0.05, 1.0, np.inf])
@pytest.mark.parametrize("n_rows", [8, 60])
def test_restricted_weights_agree_with_cvxpy(bound, n_rows):
    rng = np.random.default_rng(n_rows)
    P = rng.normal(size=(n_rows, 30)) + 0.5 * rng.normal(size=30)
    s, y = np.sqrt(rng.uniform(0.5, 2.0, size=30)), rng.choice([-1.0, 1.0], size=30)
    linear = rng.uniform(0.1, 5.0, size=n_rows)
    d, _, residual = solve_weights(P, linear, bound, s * y, s, np.zeros(n_rows), 0.0, tol=1e-9)
    value = linear @ d + np.sum(np.maximum(0.0, residual) ** 2)
    assert value == pytest.approx(weights_by_cvxpy(P, linear, bound, s * y, s), rel=1e-6)
    assert (d >= 0).all()
    assert (d <= bound).all()


@pytest.mark.parametrize("kernel", [SigmoidKernel(0.5, -0.3), RBFKernel(1.0)])
def test_convex_weight_step_over_all_features_agrees_with_cvxpy(kernel):
    problem = model(kernel)
    machine = problem.first_coefficients()
    program = problem.weight_program(machine.u)
    costs = program.linearise(KernelWeights.none())
    found = program.solve_convex(costs, KernelWeights.none(machine.bias))
    full = found.dense(60)
    every = np.arange(60)
    linear = program.charge(every) + costs
    residual = np.maximum(0.0, program.residual(found))
    value = linear @ full + residual @ residual
    best = weights_by_cvxpy(program.P, linear, 1.0, program.border, program.s)
    assert value == pytest.approx(best, rel=1e-6)


def test_shifts_are_computed_for_few_features():
    problem = model(SigmoidKernel(0.1, -0.01), n_features=1000)
    AlternatingMKL().solve(problem)
    assert np.isnan(problem.bank._shifts).sum() > 100


@pytest.mark.parametrize("name", ["capped_l1", "exp", "log", "scad", "l1"])
@pytest.mark.parametrize("kernel", [SigmoidKernel(0.5, -0.3), RBFKernel(1.0)])
def test_objective_never_rises_and_ends_stationary(name, kernel):
    problem = model(kernel, name, np.inf if name == "l1" else 1.0)
    result = AlternatingMKL(tol=1e-4).solve(problem)
    assert result.converged
    history = np.array(result.history)
    assert (np.diff(history) <= 1e-9 * history[:-1]).all()
    # The objective from its definition, with matrices written down.
    K = [problem.bank.combine(np.array([m]), np.ones(1)) for m in result.weights.features]
    tau = [max(0.0, -np.linalg.eigvalsh(A)[0]) for A in K]
    u, d = result.machine.u, result.weights.d
    quadratic = sum(w * u @ (A + t * np.eye(40)) @ u for w, A, t in zip(d, K, tau, strict=True))
    fitted = sum(w * A @ u for w, A in zip(d, K, strict=True)) + result.machine.bias
    loss = np.sum(np.maximum(0.0, 1.0 - problem.y * fitted) ** 2)
    value = 0.5 * quadratic + 0.1 * surrogate(name, 5.0).total(d) + loss
    assert result.objective == pytest.approx(value, rel=1e-8)
    # Neither block can be improved alone.
    program = problem.weight_program(u)
    assert program.stationarity(result.weights) <= 1e-4
    step = program.solve_convex(program.linearise(result.weights), result.weights)
    assert program.value(step) >= program.value(result.weights) * (1 - 1e-4)


def test_stationarity_is_the_gradient():
    problem = model(RBFKernel(1.0), "exp")
    result = AlternatingMKL(max_iter=3, tol=1e-12).solve(problem)
    program = problem.weight_program(result.machine.u)
    assert program.stationarity(result.weights) > 1e-6
    j, h = 0, 1e-6
    d = result.weights.d
    up, down = d.copy(), d.copy()
    up[j] += h
    down[j] -= h
    at = lambda d: program.value(KernelWeights(result.weights.features, d, result.weights.bias))  # noqa: E731
    slope = (at(up) - at(down)) / (2 * h)
    weights = result.weights
    pull = 2.0 * program.P[weights.features[j]] @ np.maximum(0.0, program.residual(weights))
    exact = program.charge(weights.features)[j] + program.linearise(weights)[weights.features[j]]
    assert slope == pytest.approx(exact - pull, rel=1e-4, abs=1e-6)


def test_l1_on_semidefinite_kernels_does_not_depend_on_the_start():
    problem = model(RBFKernel(1.0), "l1", np.inf)
    solver = AlternatingMKL(tol=1e-5, max_iter=2000)
    first = solver.solve(problem)
    start = np.random.default_rng(0).uniform(size=60)
    assert solver.solve(problem, start).objective == pytest.approx(first.objective, rel=1e-5)


def paper(kernel, seed=0):
    shifted = model(kernel, seed=seed)
    bank = KernelBank(shifted.bank.values, kernel, centred=False)
    return PaperMKLModel(bank, shifted.y, 0.5, 0.1, surrogate("log", 5.0), np.inf)


def test_published_objective_with_a_semidefinite_kernel():
    problem = paper(RBFKernel(1.0))
    result = AlternatingMKL(max_iter=500).solve(problem)
    assert result.converged
    assert (np.diff(result.history) <= 1e-9).all()
    K = problem.bank.combine(result.weights.features, result.weights.d)
    u, d = result.machine.u, result.weights.d
    loss = np.sum(np.maximum(0.0, 1.0 - problem.y * (K @ u + result.machine.bias)) ** 2)
    value = 0.5 * u @ K @ u + 0.1 * surrogate("log", 5.0).total(d) + loss
    assert result.objective == pytest.approx(value, rel=1e-8)


def test_published_objective_is_unbounded_with_an_indefinite_kernel():
    with pytest.raises(UnboundedObjectiveError, match="unbounded below"):
        AlternatingMKL().solve(paper(SigmoidKernel(0.01, -1.0)))


def test_scaling_argument_of_unboundedness():
    # Where the quadratic term is negative, (t d, beta / t) has no lower bound as t falls.
    problem = paper(SigmoidKernel(0.01, -1.0))
    K = problem.bank.combine(np.arange(60), np.full(60, 1 / 60))
    u = np.linalg.eigh(K)[1][:, 0]
    values = [
        0.5 * (u / t) @ (t * K) @ (u / t)
        + np.sum(np.maximum(0.0, 1.0 - problem.y * (t * K) @ (u / t)) ** 2)
        + 0.1 * surrogate("log", 5.0).total(np.full(60, t / 60))
        for t in (1.0, 0.1, 0.01, 0.001)
    ]
    assert (np.diff(values) < 0).all()
    assert values[-1] < -100
