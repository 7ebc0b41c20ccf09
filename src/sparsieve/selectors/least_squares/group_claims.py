"""Claims about whole groups of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from ...solvers.claims.distilled_state import DistillationProblem, PathResiduals
from ...solvers.claims.group_distillation import GroupDistillation, Groups, wilks_pvalues
from ..ranked import adjusted_pvalues
from .claim_data import ClaimData, Tests
from .claim_settings import ClaimSettings
from .marginal_tests import (
    Measure,
    global_pvalue,
    permutation_pvalues,
    step_down_pvalues,
    target_products,
)

SMALLEST = 1e-300  # p-values below this are no numbers


def group_tests(
    ready: ClaimData, columns: Sequence[np.ndarray], settings: ClaimSettings
) -> tuple[Tests, np.ndarray]:
    """Tests of groups, and which groups can be tested: those that vary.

    ``columns`` has those of every group.
    """
    claim = settings.claim
    if claim in ("knockoffs", "set"):
        raise ValueError(
            f'claim="{claim}" is for single features; choose another claim for feature groups'
        )
    problem = replace(ready.problem, is_beside=False)
    rng = np.random.default_rng(settings.seed)
    if claim == "marginal":
        left = PathResiduals.of(problem, 0, 0.0)
        groups = Groups(problem, columns, left)
        pvalues, tested = groups.pvalues(left, problem, dependent=True), groups.open
        tests = Tests.none(-np.log10(np.maximum(pvalues, SMALLEST)), problem.freedom)
        measure = group_measure(problem, groups, left)
        number = settings.n_drawn
        if settings.correction == "maxt":
            tests.adjusted[:] = step_down_pvalues(problem, measure, ready.exchange, number, rng)
        elif number:
            pvalues = permutation_pvalues(problem, measure, ready.exchange, number, rng)
        tests.pvalues[tested] = pvalues[tested]
        if settings.correction == "fdr":
            tests.adjusted[tested] = adjusted_pvalues(pvalues[tested])
        tests.adjusted[~tested] = 1.0
        return tests, tested
    solver = GroupDistillation(columns, settings.least, seed=settings.seed)
    if claim == "sequential":
        solver = replace(solver, substitutes=1.0, n_rotations=settings.n_drawn, distil=False)
    found = solver.solve(problem).solution
    tests, order = Tests.none(found.remaining, found.freedom), found.order
    if claim == "sequential":
        tests.pvalues[order] = found.step_pvalues
        tests.adjusted[order] = np.maximum.accumulate(found.step_pvalues)
    else:
        tests.pvalues[:] = found.pvalues
        adjusted = adjusted_pvalues(found.pvalues[found.tested])
        if adjusted.min(initial=1.0) < 1.0:  # nothing is claimed where all could be chance
            left = PathResiduals.of(problem, 0, 0.0)
            measure = group_measure(problem, Groups(problem, columns, left), left)
            p = global_pvalue(problem, measure, ready.exchange, rng)
            adjusted = np.maximum(adjusted, p)
        tests.adjusted[found.tested] = adjusted
    tests.ties[order] = 2.0 - np.arange(len(order)) / max(1, len(order))
    tests.correlations.update(zip(order.tolist(), found.correlations, strict=True))
    return tests, found.tested


def group_measure(problem: DistillationProblem, groups: Groups, left: PathResiduals) -> Measure:
    """Minus the logarithm of the p-value of every group, for each target."""
    bases = list(groups.bases(left))

    def measure(targets: list[np.ndarray]) -> np.ndarray:
        products, ends = target_products(problem, targets)
        found = np.zeros((len(targets), len(groups.columns)))
        for row, (a, b) in zip(found, pairwise(ends), strict=True):
            for members, columns, white, ranks in bases:
                along = white @ products[columns, a:b]
                p = wilks_pvalues(along, ranks, b - a, problem.freedom)
                row[members] = -np.log(np.maximum(p, SMALLEST))
        return found

    return measure
