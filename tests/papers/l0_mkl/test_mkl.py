"""The weight step against cvxpy, and the alternation as a whole."""

import contextlib

import numpy as np
import pytest

from sparsieve.papers.l0_mkl.alternating_dca import AlternatingMKL, MKLModel, SparseKernelMachine
from sparsieve.papers.l0_mkl.bank import KernelBank
from sparsieve.papers.l0_mkl.kernel_weights import (
    KernelWeights,
    UnboundedObjectiveError,
    WeightProgram,
    solve_weights,
)
from sparsieve.papers.l0_mkl.kernels import RBFKernel, SigmoidKernel
from sparsieve.papers.l0_mkl.published import PublishedMKLModel
from sparsieve.penalties.concave import surrogate

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
    machine = problem.first_coefficients().solution
    program = WeightProgram(problem, machine.u)
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
    assert result.optimality <= 1e-4
    trace = np.array(result.trace)
    assert len(trace) == result.n_iter
    assert (np.diff(trace) <= 1e-9 * trace[:-1]).all()
    # The objective from its definition, with matrices written down.
    weights, u = result.solution.weights, result.solution.u
    K = [problem.bank.combine(np.array([m]), np.ones(1)) for m in weights.features]
    tau = [max(0.0, -np.linalg.eigvalsh(A)[0]) for A in K]
    d = weights.d
    quadratic = sum(w * u @ (A + t * np.eye(40)) @ u for w, A, t in zip(d, K, tau, strict=True))
    fitted = sum(w * A @ u for w, A in zip(d, K, strict=True)) + weights.bias
    loss = np.sum(np.maximum(0.0, 1.0 - problem.y * fitted) ** 2)
    value = 0.5 * quadratic + 0.1 * surrogate(name, 5.0).total(d) + loss
    assert result.objective == pytest.approx(value, rel=1e-8)
    # Neither block can be improved alone.
    program = WeightProgram(problem, u)
    assert program.stationarity(weights) <= 1e-4
    step = program.solve_convex(program.linearise(weights), weights)
    assert program.value(step) >= program.value(weights) * (1 - 1e-4)
    added, positive = np.array([w * A @ u for w, A in zip(d, K, strict=True)]), problem.y > 0
    apart = added[:, positive].mean(axis=1) - added[:, ~positive].mean(axis=1)
    contributions = result.solution.contributions
    np.testing.assert_allclose(contributions[weights.features], apart / 2, atol=1e-9)
    assert np.count_nonzero(contributions) == len(d)


def test_stationarity_is_the_gradient():
    problem = model(RBFKernel(1.0), "exp")
    result = AlternatingMKL(max_iter=3, tol=1e-12).solve(problem)
    assert not result.converged
    weights = result.solution.weights
    program = WeightProgram(problem, result.solution.u)
    assert program.stationarity(weights) > 1e-6
    j, h = 0, 1e-6
    d = weights.d
    up, down = d.copy(), d.copy()
    up[j] += h
    down[j] -= h
    at = lambda d: program.value(KernelWeights(weights.features, d, weights.bias))  # noqa: E731
    slope = (at(up) - at(down)) / (2 * h)
    pull = 2.0 * program.P[weights.features[j]] @ np.maximum(0.0, program.residual(weights))
    exact = program.charge(weights.features)[j] + program.linearise(weights)[weights.features[j]]
    assert slope == pytest.approx(exact - pull, rel=1e-4, abs=1e-6)


def test_l1_on_semidefinite_kernels_does_not_depend_on_the_start():
    problem = model(RBFKernel(1.0), "l1", np.inf)
    solver = AlternatingMKL(tol=1e-5, max_iter=2000)
    first = solver.solve(problem)
    start = np.random.default_rng(0).uniform(size=60)
    again = solver.solve(problem, SparseKernelMachine.from_weights(start))
    assert again.objective == pytest.approx(first.objective, rel=1e-5)


def test_events_and_the_way_out():
    problem, seen = model(), []
    AlternatingMKL(tol=1e-12).solve(problem, callback=seen.append)
    assert [event.n_iter for event in seen] == list(range(1, len(seen) + 1))
    assert all(event.n_features > 0 and event.optimality >= 0 for event in seen)
    stopped = AlternatingMKL(tol=1e-12).solve(problem, callback=lambda event: event.n_iter == 2)
    assert stopped.n_iter == 2
    assert stopped.trace == [event.objective for event in seen[:2]]


def test_a_bias_can_be_held_fixed():
    problem = model(RBFKernel(1.0), n_features=8)
    u = problem.first_coefficients().solution.u
    model_ = PublishedMKLModel(problem.bank, problem.y, 0.5, 0.1, surrogate("l1"), np.inf)
    program = WeightProgram(model_, u, bias=0.3)
    found = program.solve_convex(program.linearise(KernelWeights.none()), KernelWeights.none(0.3))
    assert found.bias == 0.3
    d = cvxpy.Variable(8)
    margins = cvxpy.multiply(problem.y, problem.bank.apply(u).T @ d + 0.3)
    loss = cvxpy.sum_squares(cvxpy.pos(1.0 - margins))
    linear = 0.5 * problem.bank.apply(u) @ u + 0.1
    best = cvxpy.Problem(cvxpy.Minimize(linear @ d + loss), [d >= 0]).solve(cvxpy.CLARABEL)
    assert program.value(found) == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_no_number_keeps_the_weights_from_ending(bad):
    rng = np.random.default_rng(0)
    P, s = rng.normal(size=(5, 30)), np.ones(30)
    border = rng.choice([-1.0, 1.0], size=30)
    broken = P.copy()
    broken[2, 3] = bad
    with np.errstate(all="ignore"), contextlib.suppress(UnboundedObjectiveError):
        solve_weights(broken, np.ones(5), 1.0, border, s, np.zeros(5), 0.0, tol=1e-9)
        solve_weights(P, np.full(5, bad), np.inf, border, s, np.zeros(5), 0.0, tol=1e-9)
    program = WeightProgram(model(), rng.normal(size=40))
    program.energy[:] = bad
    with np.errstate(all="ignore"):
        assert program.stationarity(KernelWeights(np.array([1]), np.ones(1), 0.0)) == np.inf


def test_no_number_keeps_the_alternation_from_ending():
    class Broken(MKLModel):
        def objective(self, machine, weights):
            return np.nan

    problem = Broken(**vars(model()))
    result = AlternatingMKL(max_iter=50, tol=1e-12).solve(problem)
    assert result.n_iter <= 2
    assert not result.converged


@pytest.mark.parametrize(("rounds", "count"), [(1, 8), (3, 60)])
def test_asking_only_promising_features_certifies_itself_over_all(monkeypatch, rounds, count):
    full = AlternatingMKL(200, 1e-4).solve(model(n_features=200))
    monkeypatch.setattr("sparsieve.papers.l0_mkl.alternating_dca.SCREENED_FEATURES", count)
    monkeypatch.setattr("sparsieve.papers.l0_mkl.alternating_dca.UNSCREENED_ROUNDS", rounds)
    problem = model(n_features=200)
    found = AlternatingMKL(200, 1e-4).solve(problem)
    assert found.converged
    assert (np.diff(found.trace) <= 1e-12 * found.objective).all()
    program = WeightProgram(problem, found.solution.u)
    assert program.stationarity(found.solution.weights) <= 1e-4
    assert len(found.solution.gains) == 200
    # With few to ask, another stationary point may be reached; with enough it is the same.
    if count == 60:
        assert found.objective == pytest.approx(full.objective, rel=1e-6)


@pytest.mark.parametrize("kernel", [SigmoidKernel(0.1, -0.01), RBFKernel(0.3)])
def test_a_basis_of_few_directions_changes_nothing(kernel):
    problem = model(kernel, n_samples=400, n_features=8, weights=np.linspace(0.5, 2.0, 400))
    found = AlternatingMKL(tol=1e-5, max_iter=500).solve(problem)
    assert problem.bank.combine_directions(np.arange(2), np.ones(2)).basis is not None
    dense = model(kernel, n_samples=400, n_features=8, weights=np.linspace(0.5, 2.0, 400))
    dense.bank.ranks[:] = 400
    assert dense.bank.combine_directions(np.arange(2), np.ones(2)).basis is None
    wanted = AlternatingMKL(tol=1e-5, max_iter=500).solve(dense)
    assert found.converged
    assert found.objective == pytest.approx(wanted.objective, rel=1e-6)
    np.testing.assert_allclose(
        found.solution.contributions, wanted.solution.contributions, atol=1e-3
    )


def test_an_objective_that_falls_to_zero_ends_there():
    """A class of one sample along the lowest eigenvector of a kernel, at no cost in the limit."""
    rng = np.random.default_rng(0)
    values, ends = rng.normal(size=(30, 60)), []
    for sample in range(12):
        y = np.where(np.arange(60) == sample, 1.0, -1.0)
        problem = MKLModel(
            KernelBank(values, SigmoidKernel(0.1, -0.01)), y, 1.0, 0.1, surrogate("l1"), np.inf
        )
        result = AlternatingMKL(tol=1e-3).solve(problem)
        assert problem.without_features() == pytest.approx(4 * 59 / 60)
        assert result.converged
        assert min(result.trace) >= 0.0
        ends.append(result.objective)
    assert min(ends) <= 1e-3 * 4 * 59 / 60
