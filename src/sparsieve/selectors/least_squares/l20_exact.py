"""The exact solver of the l2,0 model: the best support of every size, proven."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...design import blank_columns
from ...solvers.base import Callback, Path, Result
from ...solvers.exact.best_subsets import BestSubsets, BestSubsetSearch
from ...solvers.exact.bounds import BoundSearch
from ...solvers.searches.forward import EndRule
from .l20_greedy import GreedySearch, SupportsBySize
from .proof import Proof
from .support_fit import SupportLeastSquares

# Accuracy of the relaxations that say how far sizes have to be searched for a price.
SIZE_ACCURACY = 1e-3


@dataclass(frozen=True)
class ExactSupports:
    """What the search found, what is proven about it, and whether an interrupt cut it short.

    With ``any_size`` the proof is about sets of all sizes, by what they cost in all.
    """

    supports: SupportsBySize
    proven: BestSubsets
    n_nodes: int
    any_size: bool
    interrupted: bool

    def result(self, count: int, tol: float) -> tuple[Result[SupportsBySize], str]:
        """How the search for a number of features went, and what would help."""
        values = np.asarray(self.supports.path.objective)
        gap, finished = self.proven.gap(count, any_size=self.any_size)
        remedy = "raise the solver's time_limit"
        if finished:
            remedy = (
                "some columns are so nearly collinear that double precision cannot decide: drop "
                "near-duplicates, or increase ridge"
            )
        trace = values[1:].tolist()
        return (
            Result(self.supports, float(values[-1]), gap, self.n_nodes, gap <= tol, trace),
            remedy,
        )


def exact_supports(
    greedy: GreedySearch,
    proof: Proof,
    n_steps: int,
    stop: EndRule | None,
    time_limit: float,
    callback: Callback | None,
) -> ExactSupports:
    """Greedy first, then exact on the problem of ``proof`` with the prices that greedy has.

    Sets of all sizes compete where there is a ``lam``, those of each size otherwise.
    """
    start, lam = greedy.supports(n_steps, stop).solution, greedy.selector.lam
    proof = replace(proof, prices=start.charges(0.0 if lam is None else lam))
    supports = list(start.path.supports)
    if lam is not None:
        longest = min(sizes_worth_searching(proof.search, start.path), n_steps)
        if longest > len(start.path):
            start = greedy.supports(longest, None).solution
        supports = _extend_supports(start, proof.search.choices, longest)
    elif stop is None:
        supports = _extend_supports(start, proof.search.choices, n_steps)
    interrupted, any_size = False, lam is not None
    solver = BestSubsetSearch(supports, any_size, time_limit=time_limit)
    try:
        found = solver.solve(proof.search, callback=callback)
    except KeyboardInterrupt:
        if solver.best is None:  # it came before there was anything to keep
            raise
        found, interrupted = solver.best, True
    ordered = _order_supports(start, found.solution, proof, greedy.problem.design.dtype)
    return ExactSupports(ordered, found.solution, found.n_iter, any_size, interrupted)


def _extend_supports(start: SupportsBySize, eligible: np.ndarray, n_most: int) -> list[np.ndarray]:
    """Supports of all sizes: where greedy search finds nothing to add, other features follow."""
    supports = [support for support in start.path.supports if eligible[support].all()]
    last = supports[-1]
    others = np.setdiff1d(np.flatnonzero(eligible), last)
    others = others[np.argsort(-start.alone[others], kind="stable")]
    for feature in others[: max(0, n_most - len(last))]:
        last = np.append(last, feature)
        supports.append(last)
    return supports


def sizes_worth_searching(search: BoundSearch, path: Path) -> int:
    """The largest number of features that could pay for itself, by a proven bound."""
    n_open = int(search.choices.sum())
    costs = [
        float(search.value(support).high[0] + search.size_costs(len(support)))
        for support in path.supports
    ]
    best = min(costs) * (1.0 + 1e-12)
    most = int(np.searchsorted(search.cheapest(), best, side="right")) - 1
    if not search.has_ridge or most == 0:
        return most
    longest = min(max(len(path), 1), most)
    while True:
        found = search.solve(longest, tol=SIZE_ACCURACY).solution
        bounds = found.dual.bounds(n_open, search.ridge)
        worth = np.flatnonzero(bounds + search.size_costs(np.arange(len(bounds))) <= best)
        furthest = min(int(worth.max(initial=0)), most)
        if furthest <= longest:
            return longest
        longest = furthest


def _order_supports(
    start: SupportsBySize, found: BestSubsets, proof: Proof, dtype: np.dtype
) -> SupportsBySize:
    """The exact supports with their own order, scores and fits."""
    path, problem = found.path, proof.problem
    # A column of a group that covariates explain is in no fit: what is left of it is rounding.
    problem = replace(problem, design=blank_columns(problem.design, ~proof.eligible))
    known = np.unique(np.concatenate([start.columns(support) for support in path.supports]))
    model = replace(SupportLeastSquares.factorise(problem, known, proof.ridge), dtype=dtype)
    longest, gains = replace(start, model=model).entry(path.supports[-1], path.supports[-1][:0])
    paid = np.array([proof.search.inside(support) for support in path.supports])
    values = 0.5 * np.maximum(np.asarray(path.objective) - paid, 0.0)
    ordered = Path([*path.supports[:-1], longest], objective=values, optimality=path.optimality)
    leftover = start.leftover.copy()
    leftover[longest] = 0.0
    constant = start.constant.copy()
    constant[np.unique(np.concatenate(path.supports))] = False
    return replace(
        start, path=ordered, model=model, gains=gains, leftover=leftover, constant=constant
    )
