"""Supports of every size for the l2,0 model, under either loss."""

from __future__ import annotations

import numpy as np

from ...penalties import row_norms
from ...solvers.least_squares.exchange import swap_path
from ...solvers.least_squares.forward import forward_path
from ...solvers.row_norms.greedy import RobustGreedy
from ..path import SelectionPath
from ..preparation import Prepared
from ..row_norms.base import RobustProblem
from .ending import PATIENCE
from .support_models import SupportOrder

# The first length of an l2,1-loss path that is tried when a price decides.
FIRST_LENGTH = 16


def squared_supports(
    problem: Prepared, *, ridge: float, n_steps: int, stop, n_swaps: int, verbose
) -> SupportOrder:
    """Forward selection and exchanges under the squared loss."""
    eligible = ~problem.constant
    start = forward_path(
        problem.design,
        problem.Y,
        ridge=ridge,
        n_steps=n_steps,
        eligible=eligible,
        stop=stop,
        callback=_print_step if verbose else None,
    )
    supports, objectives = None, start.objectives
    if n_swaps and len(start.order):
        better = swap_path(
            problem.design, problem.Y, start, ridge=ridge, n_swaps=n_swaps, eligible=eligible
        )
        supports, objectives = better.supports, better.objectives
    # The rest is ranked by what it would add to the forward path, and where that has exhausted
    # the target by what a feature says on its own.
    leftover = 0.5 * start.remaining.astype(np.float64)
    alone = row_norms(problem.design.rmatmul(problem.Y))
    features = start.order if supports is None else supports[-1]
    path = SelectionPath(features, 0.5 * objectives, supports=supports)
    return SupportOrder(path, leftover, alone, problem.constant)


def robust_supports(
    problem: RobustProblem, *, count: int, lam: float | None, verbose
) -> SupportOrder:
    """Greedy growth and exchanges under the l2,1 loss: ``count`` features, or as ``lam`` says."""
    eligible = ~problem.constant
    search = RobustGreedy(problem.data, 0.0, eligible)
    nothing = search.fit(np.empty(0, dtype=np.int64))
    most = int(eligible.sum())
    price = 0.0 if lam is None else lam
    if lam is not None:
        # A support of k features costs at least lam * k, more than nothing does beyond this.
        most = min(most, int(nothing.objective / lam) + 1)
    length = min(count if lam is None else FIRST_LENGTH, most)
    while True:
        found = search.path(length, _print_size if verbose else None)
        objectives = np.array([nothing.objective, *found.objectives])
        best = int(np.argmin(objectives + price * np.arange(len(objectives))))
        if lam is None or length == most or best + PATIENCE <= length:
            break
        length = min(2 * length, most)
    supports = [np.empty(0, dtype=np.int64), *found.supports]
    path = SelectionPath(supports[-1], objectives, supports=supports)
    alone = problem.data.pulls(nothing.multiplier)
    return SupportOrder(path, found.pulls, alone, problem.constant)


def _print_step(n_selected: int, feature: int, gain: float) -> None:
    print(f"step {n_selected}: feature {feature}, objective falls by {0.5 * gain:.6g}")


def _print_size(n_features: int, objective: float) -> None:
    print(f"{n_features} features: objective {objective:.6g}")
