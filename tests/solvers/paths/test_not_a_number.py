"""No loop may depend on a comparison that NaN decides: bounds that are no numbers end solvers."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from sparsieve.design import as_design
from sparsieve.papers.baselines.rlsr import RescaledRegression
from sparsieve.papers.baselines.solvers.published_rlsr import PublishedAlternation
from sparsieve.papers.exclusive_l21.dual_newton import ProximalDualNewton
from sparsieve.papers.exclusive_l21.published import ExclusiveALM
from sparsieve.penalties.convex import L21, ExclusiveL21, SquaredL21
from sparsieve.solvers.base import LeastSquares
from sparsieve.solvers.paths.block_cd import BlockCD


def without_bounds(kind, *strengths, bound=np.nan):
    """A penalty whose lower bounds are no numbers."""

    @dataclass(frozen=True)
    class Unbounded(kind):
        def dual_bound(self, Y, R, G):
            return bound

        def dual_bound_from(self, residual_sq, inner, G):
            return bound

    return Unbounded(*strengths)


CASES = [
    (BlockCD(max_iter=10**9), L21, (0.5,)),
    (BlockCD(max_iter=10**9, decided=True), L21, (0.5,)),
    (BlockCD(max_iter=10**9), ExclusiveL21, (0.5, 0.5)),
    (ProximalDualNewton(max_iter=10**9), ExclusiveL21, (0.0, 0.5)),
    (ExclusiveALM(max_iter=500), ExclusiveL21, (0.5, 0.5)),
    (RescaledRegression(max_iter=10**9), SquaredL21, (0.5,)),
    (PublishedAlternation(max_iter=10**9), SquaredL21, (0.5,)),
]


@pytest.mark.parametrize("shape", [(20, 8), (8, 20)])
@pytest.mark.parametrize("bound", [np.nan, -np.inf])
@pytest.mark.parametrize(("solver", "kind", "strengths"), CASES)
def test_a_gap_that_is_no_number_ends_the_solver(rng, solver, kind, strengths, bound, shape):
    X, Y = rng.standard_normal(shape), rng.standard_normal((shape[0], 2))
    penalty = without_bounds(kind, *strengths, bound=bound)
    result = solver.solve(LeastSquares(as_design(X), Y, penalty))
    assert not result.converged
    assert not result.optimality <= 1e-3  # zero is a bound that always holds
    assert np.isfinite(result.objective)


@pytest.mark.parametrize(("solver", "kind", "strengths"), CASES)
def test_overflowing_data_end_the_solver(rng, solver, kind, strengths):
    X, Y = 1e200 * rng.standard_normal((12, 6)), rng.standard_normal((12, 2))
    problem = LeastSquares(as_design(X), Y, kind(*strengths))
    with np.errstate(all="ignore"):
        if isinstance(solver, ProximalDualNewton):
            with pytest.raises(ValueError, match="X has values too large to be squared"):
                solver.solve(problem)
        else:
            assert not replace(solver, max_iter=500).solve(problem).converged


def test_targets_beyond_their_squares_are_refused():
    design = as_design(np.eye(3))
    with pytest.raises(ValueError, match="too large to be squared"):
        LeastSquares(design, np.full((3, 1), 1e200), L21(1.0))
    with pytest.raises(ValueError, match="too small to be squared"):
        LeastSquares(design, np.full((3, 1), 1e-200), L21(1.0))
    assert LeastSquares(design, np.zeros((3, 1)), L21(1.0)).power == 0.0
    assert LeastSquares(design, np.full((3, 1), 1e25, dtype=np.float32), L21(1.0)).power < np.inf
