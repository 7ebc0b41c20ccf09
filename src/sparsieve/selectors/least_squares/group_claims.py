"""Claims about whole groups of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from ...solvers.claims.distilled_state import DistillationProblem, PathResiduals
from ...solvers.claims.group_distillation import GroupDistillation, Groups
from ..ranked import adjusted_pvalues
from .claim_data import ClaimData, Tests
from .claim_settings import ClaimSettings
from .marginal_tests import Measure, associations, bounded_by_shuffles, target_products

SMALLEST = 1e-300  # p-values below this are no numbers


def group_tests(
    ready: ClaimData, columns: Sequence[np.ndarray], settings: ClaimSettings
) -> tuple[Tests, np.ndarray]:
    """Tests of groups, and which groups can be tested: those that vary.

    ``columns`` has those of every group.
    """
    claim = settings.claim
    if claim == "set":
        raise ValueError(
            'claim="set" is for single features; choose another claim for feature groups'
        )
    ready = replace(ready, problem=replace(ready.problem, is_beside=False))
    problem = ready.problem
    if claim == "marginal":
        left = PathResiduals.of(problem, 0, 0.0)
        groups = Groups(problem, columns, left)
        pvalues = groups.pvalues(left, problem, dependent=True)
        tests = Tests.none(-np.log10(np.maximum(pvalues, SMALLEST)), problem.freedom)
        tests.pvalues[:] = pvalues
        associations(ready, tests, groups.open, group_measure(problem, groups, left), settings)
        return tests, groups.open
    solver = GroupDistillation(settings.least, seed=settings.seed, groups=columns)
    if claim == "sequential":
        solver = replace(solver, substitutes=1.0, n_rotations=settings.n_drawn, distil=False)
        found = solver.solve(problem).solution
        return Tests.of_steps(found, found.freedom), found.tested
    found = solver.solve(problem).solution
    tests, tested = Tests.none(found.remaining, found.freedom), found.tested
    tests.pvalues[:] = found.pvalues
    tests.follow(found)

    def measure() -> Measure:
        left = PathResiduals.of(problem, 0, 0.0)
        return group_measure(problem, Groups(problem, columns, left), left)

    adjusted = adjusted_pvalues(found.pvalues[tested])
    tests.adjusted[tested] = bounded_by_shuffles(ready, adjusted, measure, settings.seed)
    return tests, tested


def group_measure(problem: DistillationProblem, groups: Groups, left: PathResiduals) -> Measure:
    """Minus the logarithm of the p-value of every group, for each target."""
    bases = list(groups.bases(left))

    def measure(targets: list[np.ndarray]) -> np.ndarray:
        products, ends = target_products(problem, targets)
        pvalues = [
            groups.pvalues_of(bases, products[:, a:b], np.eye(b - a), problem.freedom)
            for a, b in pairwise(ends)
        ]
        return -np.log(np.maximum(pvalues, SMALLEST))

    return measure
