"""The exact solver of the l2,0 model: the best support of every size, proven."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..._checks import check_real
from ...solvers.base import Callback, Path, Result, relative
from ...solvers.least_squares.best_subsets import best_subsets
from ...solvers.least_squares.bounds import BoundSearch
from ...solvers.least_squares.exact import SAME
from ...solvers.least_squares.forward import EndRule
from ..preparation import Prepared
from ..settings import SolverSettings
from .l20_greedy import SupportsBySize, greedy_supports
from .support_fit import SupportLeastSquares

# Accuracy of the relaxations that say how far sizes have to be searched for a price.
SIZE_ACCURACY = 1e-3


@dataclass(eq=False, repr=False, kw_only=True)
class ExactSearch(SolverSettings):
    """Branch and bound for the best support of every size, a solver of :class:`L20Selector`.

    Starts from the greedy solver's supports and searches until each is proven best or its time
    is up; ``optimality_`` is the proven gap either way. Without a ridge every support is tried,
    which is for small problems only.

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


def exact_supports(
    settings: ExactSearch,
    problem: Prepared,
    *,
    ridge: float,
    total_weight: float,
    n_steps: int,
    stop: EndRule | None,
    price: float | None,
    callback: Callback | None,
) -> tuple[Result[SupportsBySize], bool]:
    """Greedy, then exact, and whether an interrupt cut it short."""

    def greedy(n_most: int, rule: EndRule | None) -> Result[SupportsBySize]:
        return greedy_supports(
            problem,
            ridge=ridge,
            total_weight=total_weight,
            n_steps=n_most,
            stop=rule,
            n_swaps=1,
            callback=None,
        )

    start = greedy(n_steps, stop)
    strength = ridge * total_weight
    if price is not None:
        longest = sizes_worth_searching(problem, strength, start.solution.path, price)
        if longest > len(start.solution.path):
            start = greedy(min(longest, n_steps), None)
    interrupted = False
    try:
        found = best_subsets(
            problem.design,
            problem.Y,
            strength,
            start.solution.path.supports,
            price=price,
            eligible=~problem.constant,
            tol=SAME,
            time_limit=float(settings.time_limit),
            callback=callback,
        )
    except KeyboardInterrupt as stopped:
        if not hasattr(stopped, "best"):  # it came before there was anything to keep
            raise
        found, interrupted = stopped.best, True
    return _ordered(start, found, problem, strength), interrupted


def sizes_worth_searching(problem: Prepared, ridge: float, path: Path, price: float) -> int:
    """The largest number of features that could pay for itself, by a proven bound."""
    objectives = np.asarray(path.objective)
    best = float((objectives + price * np.arange(len(objectives))).min())
    if ridge == 0.0:
        return min(int(best / price), int((~problem.constant).sum()))
    search = BoundSearch(problem.design, problem.Y, ridge, ~problem.constant)
    n_open = int((~problem.constant).sum())
    longest = min(max(len(path), 1), n_open)
    while True:
        bounds = search.solve(longest, tol=SIZE_ACCURACY)[1].bounds(n_open, ridge)
        costs = 0.5 * bounds + price * np.arange(len(bounds))
        worth = np.flatnonzero(costs <= best)
        furthest = int(worth.max(initial=0))
        if furthest <= longest:
            return longest
        longest = furthest


def _ordered(
    start: Result[SupportsBySize], found: Result[Path], problem: Prepared, ridge: float
) -> Result[SupportsBySize]:
    """The exact supports with their own order, scores and fits."""
    path = found.solution
    known = np.unique(np.concatenate(path.supports))
    model = SupportLeastSquares.of(problem, known, ridge)
    longest, gains = model.entry(path.supports[-1], path.supports[-1][:0])
    values = 0.5 * np.asarray(path.objective)
    ordered = Path([*path.supports[:-1], longest], objective=values, optimality=path.optimality)
    leftover = start.solution.leftover.copy()
    leftover[longest] = 0.0
    supports = replace(start.solution, path=ordered, model=model, gains=gains, leftover=leftover)
    gap = relative(found.optimality * values[-1], values[-1])
    return Result(supports, float(values[-1]), gap, found.n_iter, False, values[1:].tolist())
