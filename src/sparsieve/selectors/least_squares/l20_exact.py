"""The exact solver of the l2,0 model: the best support of every size, proven."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..._checks import check_real
from ...solvers.base import Callback, Path, Result
from ...solvers.least_squares.best_subsets import BestSubsets, best_subsets
from ...solvers.least_squares.exact import SAME
from ...solvers.least_squares.forward import EndRule
from ..preparation import Prepared
from ..settings import SolverSettings
from .l20_greedy import SupportsBySize, greedy_supports
from .proof import Proof
from .support_fit import SupportLeastSquares

# Accuracy of the relaxations that say how far sizes have to be searched for a price.
SIZE_ACCURACY = 1e-3


@dataclass(eq=False, repr=False, kw_only=True)
class ExactSearch(SolverSettings):
    """Branch and bound for the best support of every size, a solver of :class:`L20Selector`.

    Starts from the greedy solver's supports and searches until each is proven best or its time
    is up; ``optimality_`` is the proven gap either way, all rounding errors included. It is 0
    where every other support was shown to be no better. Otherwise no other is better by more than
    this share of the objective: supports that double precision cannot tell apart, such as those
    with one or the other of two copies of a column, leave a gap of the size of rounding errors.

    With a ridge the bounds are those of a convex relaxation, or what all features that are left
    reach together (leaps and bounds), whichever is better at the start. Without a ridge there is
    the second only: for features that are fewer than samples, or few enough to try every support.

    Parameters
    ----------
    time_limit : float, default=60.0
        Seconds for every number of features.

    See Also
    --------
    sparsieve.L20Selector : Prices features one by one, with exact search on request.
    sparsieve.Greedy : Forward selection with exchanges, the default solver.
    sparsieve.Certificate : What is proven about a selection.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import ExactSearch, L20Selector
    >>> X, y = load_wine(return_X_y=True)
    >>> selector = L20Selector(4, solver=ExactSearch(time_limit=10)).fit(X, y)
    >>> selector.converged_
    True
    """

    time_limit: float = 60.0

    name = "exact"

    def _check(self) -> None:
        check_real("time_limit", self.time_limit, minimum=0, strict=True)


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
        gap, finished = self.proven.gap(count, price)
        remedy = "raise the solver's time_limit"
        if finished:
            remedy = (
                "columns depend on each other so nearly that double precision tells no more: drop "
                "near copies, or raise ridge"
            )
        trace = values[1:].tolist()
        return (
            Result(self.supports, float(values[-1]), gap, self.n_nodes, gap <= tol, trace),
            remedy,
        )


def exact_supports(
    settings: ExactSearch,
    problem: Prepared,
    proof: Proof,
    *,
    ridge: float,
    total_weight: float,
    n_steps: int,
    stop: EndRule | None,
    price: float | None,
    callback: Callback | None,
) -> ExactSupports:
    """Greedy on ``problem``, then exact on that of ``proof``."""

    def greedy(n_most: int, rule: EndRule | None) -> SupportsBySize:
        return greedy_supports(
            problem,
            ridge=ridge,
            total_weight=total_weight,
            n_steps=n_most,
            stop=rule,
            n_swaps=1,
            callback=None,
        ).solution

    start = greedy(n_steps, stop)
    supports = list(start.path.supports)
    if price is not None:
        longest = min(sizes_worth_searching(proof, start.path, price), n_steps)
        if longest > len(start.path):
            start = greedy(longest, None)
        supports = _extended(start, proof.eligible, longest)
    elif stop is None:
        supports = _extended(start, proof.eligible, n_steps)
    interrupted = False
    try:
        found = best_subsets(
            proof.search,
            supports,
            price=price,
            tol=SAME,
            time_limit=float(settings.time_limit),
            callback=callback,
        )
    except KeyboardInterrupt as stopped:
        if not hasattr(stopped, "best"):  # it came before there was anything to keep
            raise
        found, interrupted = stopped.best, True
    ordered = _ordered(start, found.solution, proof, problem.design.dtype)
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
    search, n_open = proof.search, int(proof.eligible.sum())
    costs = [
        0.5 * float(search.value(support).high[0]) + price * len(support)
        for support in path.supports
    ]
    best = min(costs) * (1.0 + 1e-12)
    most = int(min(best / price, n_open))
    if not search.has_ridge or most == 0:
        return most
    longest = min(max(len(path), 1), most)
    while True:
        bounds = search.solve(longest, tol=SIZE_ACCURACY)[1].bounds(n_open, search.ridge)
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
    known = np.unique(np.concatenate(path.supports))
    model = replace(SupportLeastSquares.of(problem, known, proof.ridge), dtype=dtype)
    longest, gains = model.entry(path.supports[-1], path.supports[-1][:0])
    values = 0.5 * np.asarray(path.objective)
    ordered = Path([*path.supports[:-1], longest], objective=values, optimality=path.optimality)
    leftover = start.leftover.copy()
    leftover[longest] = 0.0
    constant = start.constant.copy()
    constant[known] = False
    return replace(
        start, path=ordered, model=model, gains=gains, leftover=leftover, constant=constant
    )
