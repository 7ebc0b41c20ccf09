"""The exact solver of the l2,0 model: the best support of every size, proven."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...solvers.base import Callback, Path, Result
from ...solvers.exact.best_subsets import BestSubsets, BestSubsetSearch
from ...solvers.searches.forward import EndRule
from .l20_greedy import GreedySearch, SupportsBySize
from .l20_groups import GroupGreedySearch, GroupSupportsBySize
from .proof import Proof
from .support_fit import SupportLeastSquares

# Accuracy of the relaxations that say how far sizes have to be searched for a price.
SIZE_ACCURACY = 1e-3


@dataclass(frozen=True)
class ExactSupports:
    """What the search found, what is proven about it, and whether an interrupt cut it short."""

    supports: SupportsBySize
    proven: BestSubsets
    n_nodes: int
    interrupted: bool

    def result(
        self, count: int, price: float | None, tol: float
    ) -> tuple[Result[SupportsBySize], str]:
        """How the search for a number of features, or for a price, went, and what would help."""
        values = np.asarray(self.supports.path.objective)
        if price is not None and isinstance(self.supports, GroupSupportsBySize):
            price = 0.0  # the objectives of groups have their prices
        gap, finished = self.proven.gap(count, price)
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
    greedy: GreedySearch | GroupGreedySearch,
    proof: Proof,
    n_steps: int,
    stop: EndRule | None,
    price: float | None,
    time_limit: float,
    callback: Callback | None,
) -> ExactSupports:
    """Greedy first, then exact on the problem of ``proof``; prices of groups are part of that."""
    start: SupportsBySize = greedy.supports(n_steps, stop).solution
    if isinstance(start, GroupSupportsBySize):
        proof = replace(proof, prices=start.prices)
    supports = list(start.path.supports)
    if price is not None:
        longest = min(sizes_worth_searching(proof, start.path, price), n_steps)
        if longest > len(start.path):
            start = greedy.supports(longest, None).solution
        supports = _extended(start, proof.search.choices, longest)
    elif stop is None:
        supports = _extended(start, proof.search.choices, n_steps)
    interrupted = False
    if price is not None and proof.prices is not None:
        price = 0.0  # groups bring theirs
    solver = BestSubsetSearch(supports, price, time_limit=time_limit)
    try:
        found = solver.solve(proof.search, callback=callback)
    except KeyboardInterrupt:
        if solver.best is None:  # it came before there was anything to keep
            raise
        found, interrupted = solver.best, True
    ordered = _ordered(start, found.solution, proof, greedy.problem.design.dtype)
    return ExactSupports(ordered, found.solution, found.n_iter, interrupted)


def _extended(start: SupportsBySize, eligible: np.ndarray, n_most: int) -> list[np.ndarray]:
    """Supports of all sizes: where greedy search finds nothing to add, other features follow."""
    supports = [support for support in start.path.supports if eligible[support].all()]
    last = supports[-1]
    others = np.setdiff1d(np.flatnonzero(eligible), last)
    others = others[np.argsort(-start.alone[others], kind="stable")]
    for feature in others[: max(0, n_most - len(last))]:
        last = np.append(last, feature)
        supports.append(last)
    return supports


def sizes_worth_searching(proof: Proof, path: Path, price: float) -> int:
    """The largest number of features that could pay for itself, by a proven bound."""
    search, n_open = proof.search, int(proof.search.choices.sum())
    costs = [
        0.5 * float(search.value(support).high[0]) + price * len(support)
        for support in path.supports
    ]
    best = min(costs) * (1.0 + 1e-12)
    if search.prices is None:
        most = int(min(best / price, n_open))
    else:  # included in the values
        cheapest = np.cumsum(np.sort(search.prices[search.choices]))
        most = int(np.searchsorted(0.5 * cheapest, best, side="right"))
    if not search.has_ridge or most == 0:
        return most
    longest = min(max(len(path), 1), most)
    while True:
        found = search.solve(longest, tol=SIZE_ACCURACY).solution
        bounds = found.dual.bounds(n_open, search.ridge)
        worth = np.flatnonzero(0.5 * bounds + price * np.arange(len(bounds)) <= best)
        furthest = min(int(worth.max(initial=0)), most)
        if furthest <= longest:
            return longest
        longest = furthest


def _ordered(
    start: SupportsBySize, found: BestSubsets, proof: Proof, dtype: np.dtype
) -> SupportsBySize:
    """The exact supports with their own order, scores and fits."""
    path, problem = found.path, proof.problem
    known = np.unique(np.concatenate([start.columns(support) for support in path.supports]))
    model = replace(SupportLeastSquares.of(problem, known, proof.ridge), dtype=dtype)
    longest, gains = replace(start, model=model).entry(path.supports[-1], path.supports[-1][:0])
    paid = np.array([start.paid(support) for support in path.supports])
    values = np.maximum(0.5 * np.asarray(path.objective) - paid, 0.0)
    ordered = Path([*path.supports[:-1], longest], objective=values, optimality=path.optimality)
    leftover = start.leftover.copy()
    leftover[longest] = 0.0
    constant = start.constant.copy()
    constant[np.unique(np.concatenate(path.supports))] = False
    return replace(
        start, path=ordered, model=model, gains=gains, leftover=leftover, constant=constant
    )
