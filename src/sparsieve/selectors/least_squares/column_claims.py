"""Claims about single columns."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ..._beside import here
from ...solvers.claims.distillation import ForwardDistillation
from ...solvers.claims.distilled_state import share_pvalue
from ..ranked import adjusted_pvalues
from .claim_data import ClaimData, Tests
from .claim_settings import ClaimSettings
from .claim_words import CONDITIONAL
from .marginal_tests import (
    associations,
    bounded_by_shuffles,
    column_freedom,
    column_measure,
)


def column_tests(
    ready: ClaimData,
    settings: ClaimSettings,
    expecting: Callable[[float], None] | None = None,
) -> Tests:
    """Tests of columns, as :func:`.group_claims.group_tests` are those of groups.

    ``expecting`` is told how many multiplications conditional tests will take.
    """
    if settings.claim in CONDITIONAL:
        solver = ForwardDistillation(
            settings.least, seed=settings.seed, coverage=settings.coverage, expecting=expecting
        )
        return _conditional(ready, solver)
    return (_sequential if settings.claim == "sequential" else _marginal)(ready, settings)


def _conditional(ready: ClaimData, solver: ForwardDistillation) -> Tests:
    problem = ready.problem
    distilled = solver.solve(problem).solution
    tests = Tests.none(distilled.remaining, distilled.freedom)
    order, eligible = distilled.order, problem.eligible
    # Those of the path come before all others, which have the p-value 1 too.
    if distilled.sets:  # a claim goes by the name of the column that it is most likely to be
        likely = np.array([some.columns[0] for some in distilled.sets], dtype=np.int64)
        for t in np.argsort(-distilled.pvalues, kind="stable"):  # of two sets the surer one stays
            j = int(likely[t])
            tests.pvalues[j], tests.sets[j] = distilled.pvalues[t], distilled.sets[t]
            tests.ties[j] = 1.0 + distilled.shares[t]
    else:
        tests.pvalues[order] = distilled.pvalues
        tests.ties[order] = 1.0 + distilled.shares
        tests.correlations.update(zip(order.tolist(), distilled.correlations, strict=True))
    adjusted = adjusted_pvalues(tests.pvalues[eligible])
    measure = partial(column_measure, problem)
    tests.adjusted[eligible] = bounded_by_shuffles(ready, adjusted, measure, solver.seed)
    return tests


def _marginal(ready: ClaimData, settings: ClaimSettings) -> Tests:
    problem, eligible = ready.problem, ready.problem.eligible
    measure = column_measure(problem)
    shares = here(measure([problem.target])[0])
    tests = Tests.none(shares, problem.freedom)
    tests.pvalues[:] = share_pvalue(shares, problem.target.shape[1], column_freedom(problem))
    associations(ready, tests, eligible, measure, settings)
    # Copies are associated as well.
    alike = np.flatnonzero(eligible[ready.representative] & ~eligible)
    for values in (tests.pvalues, tests.adjusted, tests.ties):
        values[alike] = values[ready.representative[alike]]
    return tests


def _sequential(ready: ClaimData, settings: ClaimSettings) -> Tests:
    solver = ForwardDistillation(1.0, n_rotations=settings.n_drawn, seed=settings.seed)
    path = solver.steps(ready.problem)
    return Tests.of_steps(path, ready.problem.freedom)
