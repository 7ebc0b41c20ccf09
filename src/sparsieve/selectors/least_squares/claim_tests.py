"""Tests of columns and of groups, and the members of what is claimed.

Tests are repeated where structure shows that nobody recorded. A claim is about the feature in its
name, and those that may replace it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.utils import gen_batches

from ..._beside import most, stack_rows, to_numpy, where, zeros_like_entries
from ...solvers.claims.distillation import MAX_PRODUCTS, MAX_WORK, ForwardDistillation
from ...solvers.claims.distilled_state import (
    COPY_CORR,
    DistillationProblem,
    PathResiduals,
    inverse_root,
    project_out,
    share_pvalue,
)
from ...solvers.claims.group_distillation import GroupDistillation, Groups
from ..ranked import adjusted_pvalues
from .claim_data import ClaimData, Tests
from .claim_words import CONDITIONAL, ClaimSettings

Measure = Callable[[list[np.ndarray]], Any]  # with an entry per column, beside X
MAX_COLUMNS = 1024  # that are in memory at a time
TIE_RATIO = 1.0 + 1e-9  # shares closer than this are equal: permutations repeat them
# Orders of the samples that are tried for the test of all columns together. No more are tried once
# so many explain as much: the p-value is then above 0.1 whatever the others do.
MIN_ORDERS, MAX_ORDERS, MAX_BEYOND = 99, 499, 50


def column_measure(problem: DistillationProblem) -> Measure:
    """Shares of what covariates leave of every column that each target explains."""
    norms = problem.sq_norms()
    if problem.covariates.shape[1]:
        norms = norms - (problem.product(problem.covariates) ** 2).sum(axis=1)
    left = where(problem.open & (norms > 0), norms, np.inf)

    def measure(targets: list[np.ndarray]) -> Any:
        products, ends = target_products(problem, targets)
        products **= 2
        return stack_rows([products[:, a:b].sum(axis=1) for a, b in pairwise(ends)]) / left

    return measure


def column_freedom(problem: DistillationProblem) -> Any:
    """Degrees of freedom to test every column with; one number where samples are independent."""
    if problem.is_plain:
        return problem.freedom
    design = problem.design
    return np.concatenate(
        [
            problem.degrees_of_freedom((), design.dense_columns(np.arange(part.start, part.stop)))
            for part in gen_batches(design.shape[1], MAX_COLUMNS)
        ]
    )


def target_products(
    problem: DistillationProblem, targets: list[np.ndarray]
) -> tuple[Any, list[int]]:
    """X'V of targets without what covariates know of them, made orthonormal, and where each is."""
    white = targets  # orthonormal in any order of samples
    if problem.covariates.shape[1]:
        rest = [project_out(target, problem.covariates) for target in targets]
        white = [target @ inverse_root(target.T @ target, 1e-10) for target in rest]
    ends = np.cumsum([0, *(target.shape[1] for target in white)]).tolist()
    return problem.product(np.hstack(white)), ends


def associations(
    ready: ClaimData, tests: Tests, tested: np.ndarray, measure: Measure, settings: ClaimSettings
) -> None:
    """Correct the p-values of marginal tests, after drawing them if that is asked for.

    ``tests`` has those of all units, some of which are ``tested``, and gets the adjusted ones.
    """
    rng, number = np.random.default_rng(settings.seed), settings.n_draws
    if settings.correction == "maxt":
        tests.adjusted[:] = step_down_pvalues(ready, measure, number, rng)
    else:
        if number:
            tests.pvalues[:] = permutation_pvalues(ready, measure, number, rng)
        tests.adjusted[tested] = adjusted_pvalues(tests.pvalues[tested])
    tests.pvalues[~tested] = tests.adjusted[~tested] = 1.0


def permutation_pvalues(
    ready: ClaimData, measure: Measure, n_permutations: int, rng: np.random.Generator
) -> np.ndarray:
    """How often as much of the target is explained with its samples in another order."""
    (observed,) = measure([ready.problem.target])
    beyond = zeros_like_entries(observed)
    for drawn in _permute(ready, measure, n_permutations, rng):
        beyond += (drawn * TIE_RATIO >= observed).sum(axis=0)
    return to_numpy((1.0 + beyond) / (n_permutations + 1.0))


def step_down_pvalues(
    ready: ClaimData, measure: Measure, n_permutations: int, rng: np.random.Generator
) -> np.ndarray:
    """P-values adjusted for the probability of any false claim: step-down maxT.

    Westfall and Young: the most that a column or one of those that explain less explains, with the
    samples of the target in another order.
    """
    observed = to_numpy(measure([ready.problem.target])[0])
    falling = np.argsort(-observed, kind="stable")
    beyond = np.zeros(len(observed))
    for drawn in _permute(ready, measure, n_permutations, rng):
        largest = np.maximum.accumulate(to_numpy(drawn)[:, falling[::-1]], axis=1)[:, ::-1]
        beyond += (largest * TIE_RATIO >= observed[falling]).sum(axis=0)
    adjusted = np.empty(len(observed))
    adjusted[falling] = np.maximum.accumulate((1.0 + beyond) / (n_permutations + 1.0))
    return adjusted


def bounded_by_shuffles(
    ready: ClaimData, adjusted: np.ndarray, measure: Callable[[], Measure], seed: int
) -> np.ndarray:
    """Adjusted p-values, no smaller than the test of all columns together allows."""
    if adjusted.min(initial=1.0) == 1.0:
        return adjusted
    return np.maximum(adjusted, global_pvalue(ready, measure(), np.random.default_rng(seed)))


def global_pvalue(ready: ClaimData, measure: Measure, rng: np.random.Generator) -> float:
    """How often some column explains as much of the target with its samples in another order.

    Without covariates this test holds whatever the columns are, as long as samples are independent.
    0 where no order of those tried does, so that the test stands in the way of no level that is too
    strict for it.
    """
    problem = ready.problem
    if problem.target.shape[1] == 0 or not problem.eligible.any():
        return 1.0
    observed = most(measure([problem.target]), 1)[0]
    work = problem.design.n_entries * problem.target.shape[1]
    n_orders = int(np.clip(MAX_WORK / max(1, work), MIN_ORDERS, MAX_ORDERS))
    beyond, number, size = 0, 0, MAX_BEYOND
    while number < n_orders and beyond < MAX_BEYOND:
        for drawn in _permute(ready, measure, min(size, n_orders - number), rng):
            beyond += int((most(drawn, 1) * TIE_RATIO >= observed).sum())
            number += len(drawn)
        size *= 3
    return (1.0 + beyond) / (number + 1.0) if beyond else 0.0


def _permute(
    ready: ClaimData, measure: Measure, n_permutations: int, rng: np.random.Generator
) -> Iterator[Any]:
    """What is explained of targets in another order, many at a time."""
    target, n_features = ready.problem.target, ready.problem.design.shape[1]
    step = max(1, min(n_permutations, MAX_PRODUCTS // (4 * max(1, target.shape[1]) * n_features)))
    for first in range(0, n_permutations, step):
        count = min(step, n_permutations - first)
        yield measure([target[ready.exchange.order(rng)] for _ in range(count)])


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
    shares = to_numpy(measure([problem.target])[0])
    tests = Tests.none(shares, problem.freedom)
    tests.pvalues[:] = share_pvalue(shares, problem.target.shape[1], column_freedom(problem))
    associations(ready, tests, eligible, measure, settings)
    # Copies are associated as well.
    alike = np.flatnonzero(eligible[ready.representative] & ~eligible)
    for values in (tests.pvalues, tests.adjusted, tests.ties):
        values[alike] = values[ready.representative[alike]]
    return tests


def _sequential(ready: ClaimData, settings: ClaimSettings) -> Tests:
    solver = ForwardDistillation(1.0, n_rotations=settings.n_draws, seed=settings.seed)
    path = solver.steps(ready.problem)
    return Tests.of_steps(path, ready.problem.freedom)


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
        left = PathResiduals.from_problem(problem, 0, 0.0)
        groups = Groups(problem, columns, left)
        pvalues = groups.pvalues(left, problem, dependent=True)
        tests = Tests.none(-np.log10(np.maximum(pvalues, SMALLEST)), problem.freedom)
        tests.pvalues[:] = pvalues
        associations(ready, tests, groups.open, group_measure(problem, groups, left), settings)
        return tests, groups.open
    solver = GroupDistillation(settings.least, seed=settings.seed, groups=columns)
    if claim == "sequential":
        solver = replace(solver, substitutes=1.0, n_rotations=settings.n_draws, distil=False)
        found = solver.solve(problem).solution
        return Tests.of_steps(found, found.freedom), found.tested
    found = solver.solve(problem).solution
    tests, tested = Tests.none(found.remaining, found.freedom), found.tested
    tests.pvalues[:] = found.pvalues
    tests.follow(found)

    def measure() -> Measure:
        left = PathResiduals.from_problem(problem, 0, 0.0)
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
            groups.group_pvalues(bases, products[:, a:b], np.eye(b - a), problem.freedom)
            for a, b in pairwise(ends)
        ]
        return -np.log(np.maximum(pvalues, SMALLEST))

    return measure


def run_tests(
    ready: ClaimData,
    groups: Sequence[np.ndarray] | None,
    settings: ClaimSettings,
    expecting: Callable[[float], None] | None,
) -> tuple[ClaimData, Tests, np.ndarray]:
    """What was tested in the end, what tests found, and which columns or groups were tested.

    ``groups`` has the columns of every group; None for single columns. Before anything is claimed,
    components are taken where they are ahead of columns. Where features matter and structure does
    too, it shows only once these are known: if what the claimed ones leave of the target goes with
    components, all is tested again given these, until no more of them show.
    """
    tests, tested = _tests(ready, groups, settings, expecting)
    if settings.adjustment != "auto" or not ready.hidden.is_small:
        return ready, tests, tested
    while len(claimed := np.flatnonzero(tests.adjusted <= settings.level)):
        if groups is not None:
            claimed = np.unique(np.concatenate([groups[g] for g in claimed.tolist()]))
        components = ready.hidden.select_components(ready.problem, claimed)
        if not components.shape[1]:
            break
        ready = ready.add_components(components)
        tests, tested = _tests(ready, groups, settings, expecting)
    return ready, tests, tested


def _tests(
    ready: ClaimData,
    groups: Sequence[np.ndarray] | None,
    settings: ClaimSettings,
    expecting: Callable[[float], None] | None,
) -> tuple[Tests, np.ndarray]:
    if groups is None:
        return column_tests(ready, settings, expecting), ready.problem.eligible
    return group_tests(ready, groups, settings)


Members = dict[Any, list[tuple[Any, float]]]


def name_substitutes(
    claimed: list[int],
    tests: Tests,
    names: list[Any],
    plain: dict[int, np.ndarray],
    settings: ClaimSettings,
) -> Members:
    """Name what a claim stands for: substitutes by the tests' measure, and by the plain one.

    A claim about a few features holds for more of them too. ``plain`` has the correlations of every
    claimed column, as given, with all others.
    """
    least, found = min(settings.least if settings.claim == "conditional" else 1.0, COPY_CORR), {}
    for j in claimed:
        tested = np.clip(tests.correlations.get(j, np.zeros(len(names))), -1.0, 1.0)
        given = np.clip(plain.get(j, tested), -1.0, 1.0)
        close = np.flatnonzero(np.maximum(np.abs(given), np.abs(tested)) >= least)
        close = close[np.argsort(-np.abs(given[close]), kind="stable")].tolist()
        found[names[j]] = [(names[i], float(given[i])) for i in close if i != j]
    return found


def describe_sets(
    claimed: list[int],
    tests: Tests,
    names: list[Any],
    plain: dict[int, np.ndarray],
    first: np.ndarray,
) -> tuple[Members, Members]:
    """The features of every set with their weights, and the other ones with their correlations.

    ``first`` is the first of the copies of every column; copies of a feature share its weight.
    """
    sets: Members = {}
    others: Members = {}
    for j in claimed:
        some, members = tests.sets[j], []
        for i, weight in zip(some.columns.tolist(), some.weights.tolist(), strict=True):
            copies = np.flatnonzero(first == i).tolist()
            members += [(copy, weight / len(copies)) for copy in copies]
        sets[names[j]] = [(names[i], weight) for i, weight in members]
        others[names[j]] = [(names[i], float(plain[j][i])) for i, _ in members if i != j]
    return sets, others
