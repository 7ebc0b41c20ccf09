"""Claims about whole groups of columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...solvers.least_squares.distilled_state import DistillationProblem, Left
from ...solvers.least_squares.group_distillation import GroupDistillation, Groups
from ..ranked import adjusted_pvalues
from .claim_data import Tests


def group_tests(
    problem: DistillationProblem,
    columns: Sequence[np.ndarray],
    claim: str,
    *,
    substitutes: float,
    n_targets: int,
    seed: int,
) -> tuple[Tests, np.ndarray]:
    """Tests of groups, and which groups can be tested: those that vary.

    Parameters
    ----------
    problem : DistillationProblem
    columns : sequence of arrays of int
        Of every group.
    claim : {"conditional", "marginal", "sequential"}
    substitutes : float
        Smallest correlation of columns of groups that stand for each other.
    n_targets : int
        Random targets of sequential claims.
    seed : int
    """
    if claim == "marginal":
        left = Left.of(problem, 0, 0.0)
        groups = Groups(problem, columns, left)
        pvalues, tested = groups.pvalues(left, problem), groups.open
        tests = Tests.none(1.0 - pvalues, problem.freedom)
        tests.pvalues[:] = pvalues
        tests.adjusted[tested] = adjusted_pvalues(pvalues[tested])
        return tests, tested
    solver = GroupDistillation(columns, substitutes, seed=seed)
    if claim == "sequential":
        solver = GroupDistillation(columns, 1.0, n_rotations=n_targets, seed=seed, distil=False)
    found = solver.solve(problem).solution
    tests, order = Tests.none(found.remaining, found.freedom), found.order
    if claim == "sequential":
        tests.pvalues[order] = found.step_pvalues
        tests.adjusted[order] = np.maximum.accumulate(found.step_pvalues)
    else:
        tests.pvalues[:] = found.pvalues
        tests.adjusted[found.tested] = adjusted_pvalues(found.pvalues[found.tested])
    tests.ties[order] = 2.0 - np.arange(len(order)) / max(1, len(order))
    tests.correlations.update(zip(order.tolist(), found.correlations, strict=True))
    return tests, found.tested
