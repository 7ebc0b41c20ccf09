"""Tests of one column or group at a time: is it associated with the target?

Permutation tests take a measure: a function of targets that gives, for each of them, how much every
column or group explains of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.utils import gen_batches

from ..._beside import most, stack_rows, to_numpy, where, zeros_like_entries
from ...solvers.claims.distilled_state import DistillationProblem, inverse_root, project_out
from ...solvers.claims.random_targets import MAX_PRODUCTS, MAX_WORK
from ..ranked import adjusted_pvalues
from .claim_data import ClaimData, Tests
from .claim_words import ClaimSettings

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
