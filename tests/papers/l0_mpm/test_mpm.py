"""The cone programs of the machines against cvxpy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.covariance import ledoit_wolf

from mpm_reference import mpm, norms_at, random_problem, ratio, weighted_l1
from sparsieve.design import as_design
from sparsieve.design.views import Scaled
from sparsieve.papers.l0_mpm.solvers.column_generation import InfeasibleError
from sparsieve.papers.l0_mpm.solvers.l0_mpm import SurrogateProgram
from sparsieve.papers.l0_mpm.solvers.l1_mpm import L1MPM
from sparsieve.papers.l0_mpm.solvers.moments import SampleGroup, TwoClassMoments
from sparsieve.papers.l0_mpm.solvers.mpm import MPM
from sparsieve.papers.l0_mpm.solvers.problem import Minimax, required_kappa, worst_case_accuracy
from sparsieve.papers.l0_mpm.solvers.published import PublishedSMPM
from sparsieve.papers.l0_mpm.solvers.ratio_mpm import SMPM
from sparsieve.penalties.concave import surrogate
from sparsieve.solvers.engines.dca import DCA

# samples, features, ridge: more samples than features, about as many, and far fewer
SHAPES = [(120, 10, 0.0), (120, 10, 0.3), (40, 30, 0.0), (40, 60, 0.1), (50, 300, 0.05)]


def as_moments(X, y, ridge=0.0, weights=None, **options):
    groups = [SampleGroup.from_rows(np.flatnonzero(y == label), weights) for label in (1, 0)]
    return TwoClassMoments(as_design(X), *groups, ridge, **options)


def solve_mpm(moments):
    return MPM().solve(Minimax(moments))


def solve_l1(moments, kappa, costs, start=None):
    return L1MPM().solve(Minimax(moments, costs, worst_case_accuracy(kappa)), start)


@pytest.mark.parametrize(("n", "d", "ridge"), SHAPES)
def test_mpm_is_optimal(n, d, ridge):
    X, y = random_problem(n + d, n, d)
    found = solve_mpm(as_moments(X, y, ridge))
    assert found.objective == pytest.approx(mpm(X, y, ridge), rel=1e-6)
    assert found.optimality <= 1e-8
    assert sum(norms_at(X, y, found.solution.weights, ridge)) == pytest.approx(
        found.objective, rel=1e-9
    )
    assert found.solution.accuracy == pytest.approx(worst_case_accuracy(1.0 / found.objective))
    assert (np.diff(found.trace) <= 1e-12).all()


def test_mpm_with_a_kink():
    """Five samples of one class span little: the optimum may have no spread in that class."""
    X, y = random_problem(3, 200, 20)
    rows = np.concatenate([np.flatnonzero(y == 1)[:5], np.flatnonzero(y == 0)])
    X, y = X[rows], y[rows]
    found = solve_mpm(as_moments(X, y))
    assert found.objective == pytest.approx(mpm(X, y), rel=1e-6)
    assert found.optimality <= 1e-6


def test_mpm_separates_perfectly_without_spread():
    X, y = random_problem(0, 20, 50)
    found = solve_mpm(as_moments(X, y))
    assert found.solution.accuracy == 1.0
    assert np.all((X @ found.solution.weights - found.solution.offset > 0) == (y == 1))


@given(st.integers(0, 10_000))
@settings(max_examples=20, deadline=None)
def test_best_level_is_affine_invariant(seed):
    rng = np.random.default_rng(seed)
    X, y = random_problem(seed, 60, 5)
    turn = rng.normal(size=(5, 5)) + 3.0 * np.eye(5)
    moved = X @ turn + rng.normal(size=5)
    assert solve_mpm(as_moments(moved, y)).solution.accuracy == pytest.approx(
        solve_mpm(as_moments(X, y)).solution.accuracy, rel=1e-6
    )


@pytest.mark.parametrize("share", [0.3, 0.8, 0.99])
@pytest.mark.parametrize(("n", "d", "ridge"), SHAPES)
def test_l1_machine_is_optimal(n, d, ridge, share):
    X, y = random_problem(n * d, n, d)
    moments = as_moments(X, y, ridge)
    kappa = required_kappa(share * solve_mpm(moments).solution.accuracy)
    found = solve_l1(moments, kappa, np.ones(d))
    assert found.objective == pytest.approx(weighted_l1(X, y, np.ones(d), kappa, ridge), rel=1e-6)
    assert found.objective == pytest.approx(np.abs(found.solution.weights).sum(), rel=1e-9)
    assert found.optimality <= 1e-6
    assert_feasible(X, y, found, kappa, ridge)


def assert_feasible(X, y, found, kappa, ridge):
    first, second = norms_at(X, y, found.solution.weights, ridge)
    above = X[y == 1].mean(axis=0) @ found.solution.weights - found.solution.offset
    below = found.solution.offset - X[y == 0].mean(axis=0) @ found.solution.weights
    assert above >= max(kappa * first, 1.0) * (1 - 1e-6)
    assert below >= max(kappa * second, 1.0) * (1 - 1e-6)


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.2]))
@settings(max_examples=15, deadline=None)
def test_any_costs(seed, ridge):
    X, y = random_problem(seed, 40, 60)
    costs = np.random.default_rng(seed).uniform(0.05, 1.0, size=60)
    moments = as_moments(X, y, ridge)
    kappa = required_kappa(0.8 * solve_mpm(moments).solution.accuracy)
    found = solve_l1(moments, kappa, costs)
    assert found.objective == pytest.approx(weighted_l1(X, y, costs, kappa, ridge), rel=1e-6)


def test_level_decides_feasibility():
    X, y = random_problem(5, 100, 8)
    moments = as_moments(X, y)
    best = solve_mpm(moments).solution.accuracy
    solve_l1(moments, required_kappa(0.999 * best), np.ones(8))
    with pytest.raises(InfeasibleError):
        solve_l1(moments, required_kappa(1.01 * best), np.ones(8))


@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", ["exp", "log", "capped_l1", "scad"])
@pytest.mark.parametrize(("n", "d", "ridge"), [(80, 12, 0.0), (40, 80, 0.0), (40, 80, 0.1)])
def test_every_dc_step_is_optimal(name, n, d, ridge):
    X, y = random_problem(7, n, d)
    moments = as_moments(X, y, ridge)
    kappa = required_kappa(0.8 * solve_mpm(moments).solution.accuracy)
    delta = surrogate(name, 5.0)
    problem = Minimax(moments, np.ones(d), worst_case_accuracy(kappa), delta)

    class Checked(SurrogateProgram):
        def solve_convex(self, slope, x0):
            found = super().solve_convex(slope, x0)
            costs = delta.slope_at_zero - slope
            best = weighted_l1(X, y, costs, kappa, ridge)
            value = costs @ np.abs(found.solution.weights)
            assert abs(value - best) <= 1e-6 * max(1.0, best)
            return found

    result = DCA(max_iter=50).solve(Checked(problem), None)
    assert result.converged
    assert (np.diff(result.trace) <= 1e-9).all()


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
@pytest.mark.parametrize(("n", "d", "ridge"), SHAPES)
def test_ratio_machine_is_optimal(n, d, ridge, share):
    X, y = random_problem(n + 2 * d, n, d)
    moments = as_moments(X, y, ridge)
    alpha = share * np.abs(moments.difference).max()
    found = SMPM().solve(Minimax(moments, np.full(d, alpha)))
    assert found.objective == pytest.approx(ratio(X, y, alpha, ridge), rel=1e-6)
    assert found.objective == pytest.approx(
        sum(norms_at(X, y, found.solution.weights, ridge)), rel=1e-9
    )
    assert found.optimality <= 1e-6


@pytest.mark.parametrize("seed", range(3))
def test_small_weights_count_where_a_feature_comes_in(seed):
    """Between two levels, halved again and again, the weight of a feature grows from zero."""
    X = np.random.default_rng(seed).standard_normal((60, 8))
    moments = as_moments(X, np.arange(60) < 2, 3e-4)
    few, more = 0.2, 0.8
    least = len(solve_l1(moments, few, np.ones(8)).solution.support)
    for _ in range(30):
        middle = 0.5 * (few + more)
        found = solve_l1(moments, middle, np.ones(8))
        assert found.optimality <= 1e-6
        assert found.converged
        if len(found.solution.support) > least:
            more = middle
        else:
            few = middle


@pytest.mark.parametrize("ridge", [5e-7, 1e-10])
def test_ratio_machine_is_certain_of_one_sample_with_a_small_ridge(ridge):
    X = np.random.default_rng(0).standard_normal((60, 30))
    moments = as_moments(X, np.arange(60) < 1, ridge)
    alpha = 0.5 * np.abs(moments.difference).max()
    found = SMPM().solve(Minimax(moments, np.full(30, alpha)))
    assert found.converged
    assert found.optimality <= 1e-12


@pytest.mark.thinned(2)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
@pytest.mark.parametrize(("n", "d", "ridge"), SHAPES)
def test_published_iteration_finds_the_same_ratio(n, d, ridge, share):
    X, y = random_problem(n + 2 * d, n, d)
    moments = as_moments(X, y, ridge)
    alpha = np.full(d, share * np.abs(moments.difference).max())
    seen = []
    found = PublishedSMPM(max_iter=50).solve(Minimax(moments, alpha), callback=seen.append)
    assert found.converged
    assert found.objective == pytest.approx(ratio(X, y, alpha, ridge), rel=2e-6)
    gain = moments.difference @ found.solution.weights - alpha @ np.abs(found.solution.weights)
    assert gain == pytest.approx(1.0, rel=1e-9)
    assert (np.diff(found.trace) <= 0.0).all()
    assert [event.objective for event in seen] == found.trace
    assert found.n_iter == len(seen) <= 10
    # What it certifies is true: no ratio is above the bound.
    assert found.objective * (1.0 - found.optimality) <= ratio(X, y, alpha, ridge) * (1 + 1e-7)


def test_published_iteration_says_when_it_stalls():
    X, y = random_problem(1, 50, 80)
    moments = as_moments(X, y, 0.1)
    alpha = np.full(80, 0.3 * np.abs(moments.difference).max())
    short = PublishedSMPM(max_iter=1).solve(Minimax(moments, alpha))
    assert not short.converged
    beyond = PublishedSMPM(tol=1e-14).solve(Minimax(moments, alpha))
    assert not beyond.converged
    assert beyond.n_iter < 30


@pytest.mark.parametrize("storage", ["csr", "csc", "lazy"])
@pytest.mark.parametrize(("n", "d"), [(60, 12), (30, 90)])
def test_factors_in_every_storage(storage, n, d):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.3)
    y = np.arange(n) % 3 == 0
    held = as_moments(X, y.astype(int))
    groups = [SampleGroup.from_rows(np.flatnonzero(members)) for members in (y, ~y)]
    if storage == "lazy":
        design = Scaled(as_design(X), centre=np.zeros(d))
    else:
        design = as_design(sparse.csr_array(X).asformat(storage))
    other = TwoClassMoments(design, *groups)
    np.testing.assert_allclose(other.difference, held.difference, atol=1e-12)
    everything = np.arange(d)
    for which in (0, 1):
        np.testing.assert_allclose(other.variances[which], held.variances[which], atol=1e-12)
        factor = other.columns(which, everything)
        spread = held.columns(which, everything)
        np.testing.assert_allclose(factor.T @ factor, spread.T @ spread, atol=1e-12)
    u = [rng.normal(size=rows) for rows in other.n_rows]
    dense = [other.columns(which, everything) for which in (0, 1)]
    np.testing.assert_allclose(other.rmatmul(*u), u[0] @ dense[0] + u[1] @ dense[1], atol=1e-12)
    rows = np.vstack([*dense, other.difference])
    np.testing.assert_allclose(other.gram(), rows @ rows.T, atol=1e-12)


@pytest.mark.parametrize(("n", "d"), [(60, 12), (30, 90)])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_ledoit_wolf(n, d, kind):
    X, y = random_problem(1, n, d)
    design = X if kind == "dense" else sparse.csr_array(X)
    found = as_moments(design, y, "ledoit_wolf")
    for which, label in enumerate((1, 0)):
        expected, _ = ledoit_wolf(X[y == label])
        Z = found.columns(which, np.arange(d))
        np.testing.assert_allclose(Z.T @ Z + found.ridges[which] * np.eye(d), expected, atol=1e-12)


def test_automatic_ridge():
    X, y = random_problem(1, 40, 30, share=0.2)
    found = as_moments(X, y, "auto")
    assert sum(y == 1) < 30 < sum(y == 0) + 8
    assert found.ridges[0] == pytest.approx(1e-2 * X[y == 1].var(axis=0).mean())


def test_weights_are_repetitions():
    X, y = random_problem(2, 30, 50)
    counts = np.random.default_rng(0).integers(1, 4, size=30)
    weighted = as_moments(X, y, 0.1, counts.astype(float))
    repeated = as_moments(np.repeat(X, counts, axis=0), np.repeat(y, counts), 0.1)
    first, second = solve_mpm(weighted), solve_mpm(repeated)
    np.testing.assert_allclose(
        first.solution.weights, second.solution.weights, rtol=1e-6, atol=1e-9
    )


def test_newton_and_cone_programs_agree_and_newton_goes_on_alone(monkeypatch):
    X, y = random_problem(7, 60, 200)
    moments, rng = as_moments(X, y, 0.05), np.random.default_rng(0)
    costs = [np.ones(200), rng.uniform(0.8, 1.2, size=200), rng.uniform(0.1, 2.0, size=200)]
    found = []
    for one in costs:
        found.append(solve_l1(moments, required_kappa(0.8), one, found[-1] if found else None))
    assert found[1].n_iter == 1  # from the features of the first
    monkeypatch.setattr(f"{L1MPM.__module__}.polish_weighted_l1", lambda *given: None)
    for one, fast in zip(costs, found, strict=True):
        slow = solve_l1(moments, required_kappa(0.8), one)
        assert fast.optimality <= 1e-6
        assert fast.objective == pytest.approx(slow.objective, rel=2e-6)
        assert_feasible(X, y, fast, required_kappa(0.8), 0.05)
