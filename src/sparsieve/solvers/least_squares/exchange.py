"""Exchanges on top of forward selection: better supports of every size, in one run.

Forward selection never takes back a choice. This search does: after every addition it exchanges
features of the support for others as long as that lowers the objective, and once the longest
support is reached it walks back down, dropping the cheapest feature and exchanging again. Of all
supports of one size that were visited, and those of the forward path, the best is kept, so the
result is never worse than plain forward selection.

Everything an exchange does to min ||Y - X_S W||^2 + ridge ||W||^2 is known in closed form. Let
H = (X_S'X_S + ridge I)^-1, Z = X'X_S H, C = X'(Y - X_S W) and nu_i the squared norm of what S
leaves of column i. Dropping j costs ||w_j||^2 / h_jj; adding i after that gains
||C_i + z_ij w_j / h_jj||^2 / (ridge + nu_i + z_ij^2 / h_jj).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ...design import DesignMatrix, own_passes
from ..base import Path, Result
from .forward import ForwardSelection
from .swept_gram import SweptGram
from .tabled_support import tabled_support

# Up to this many features the Gram matrix is searched thoroughly, two-for-two exchanges included.
SMALL = 32
# On larger problems this many of the features that are cheapest to drop are considered for every
# exchange that is allowed before the support grows or shrinks again.
CHEAPEST = 4
# An exchange must lower the objective by this share of ||Y||^2, or rounding would drive it.
WORTHWHILE = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 1e-5}


@dataclass(frozen=True)
class ExchangedSupports:
    """The best support of every size that was found; they need not be nested.

    Attributes
    ----------
    path : Path
        Supports and their objectives. A feature that came in by an exchange has the place of the
        one it replaced, all others are in order of entry.
    remaining : ndarray of shape (n_features,)
        What each feature would gain beyond the longest support; 0 for those in it or spent.
    """

    path: Path
    remaining: np.ndarray


class _Support(Protocol):
    """A support that knows what every change to it would do."""

    order: list[int]

    @property
    def objective(self) -> float: ...

    def best_addition(self) -> tuple[int, float]: ...

    def gains(self) -> np.ndarray: ...

    def add(self, feature: int) -> None: ...

    def cheapest(self) -> int: ...

    def remove(self, feature: int) -> None: ...

    def best_exchange(self) -> tuple[tuple[int, ...], tuple[int, ...], float]: ...


def swap_path(
    design: DesignMatrix,
    Y: np.ndarray,
    start: ForwardSelection,
    *,
    ridge: float,
    n_swaps: int = 1,
    eligible: np.ndarray | None = None,
) -> Result[ExchangedSupports]:
    """Improve every support of a forward path by exchanges.

    Parameters
    ----------
    design, Y, ridge, eligible : as handed to :func:`forward_path`.
    start : what this gave.
    n_swaps : largest number of exchanges between two changes of the size. Up to ``SMALL``
        features the search is thorough whatever this number: it exchanges one for one and two
        for two until nothing helps, and goes beyond the path and back.
    """
    n_features = design.shape[1]
    n_steps = len(start.path)
    supports = list(start.path.supports)
    objectives = np.array(start.path.objective)
    remaining = start.remaining
    least = WORTHWHILE[np.dtype(design.dtype)] * objectives[0]
    candidates = np.ones(n_features, dtype=bool) if eligible is None else eligible.copy()

    def record(support: _Support) -> None:
        nonlocal remaining
        k = len(support.order)
        if k <= n_steps and support.objective < objectives[k] - least:
            objectives[k] = support.objective
            supports[k] = np.array(support.order, dtype=np.int64)
            if k == n_steps:
                remaining = support.gains()

    with own_passes(design):
        _search(design, Y, ridge, candidates, n_steps, n_swaps, least, record)
    objectives = np.maximum(objectives, 0.0)
    # The fit on every support is exact; nothing certifies the supports.
    found = ExchangedSupports(Path(supports, objective=objectives), remaining)
    return Result(found, float(objectives[-1]), 0.0, n_steps, True, objectives[1:].tolist())


def _search(design, Y, ridge, candidates, n_steps: int, n_swaps: int, least: float, record) -> None:
    """Grow a support and shrink it again, with exchanges on the way; ``record`` sees every one."""
    n_features = design.shape[1]
    support: _Support
    if n_features <= SMALL:
        support, top, rounds = SweptGram(design, Y, ridge, candidates), n_features, 10 * n_features
    else:
        support = tabled_support(design, Y, ridge, candidates, n_steps, CHEAPEST * n_swaps)
        top, rounds = n_steps, n_swaps
    while len(support.order) < top:
        feature, gain = support.best_addition()
        if not gain > 0:
            break
        support.add(feature)
        _exchange(support, rounds, least)
        record(support)
    while len(support.order) > 1:
        support.remove(support.cheapest())
        _exchange(support, rounds, least)
        record(support)


def _exchange(support: _Support, rounds: int, least: float) -> None:
    """Exchange features as long as it pays."""
    for _ in range(rounds):
        out, into, decrease = support.best_exchange()
        if not decrease > least:
            return
        places = [support.order.index(feature) for feature in out]
        for feature in out:
            support.remove(feature)
        for feature in into:
            support.add(feature)
        # The newcomers were put last; let them take the places of those they replaced.
        rest = support.order[: -len(into)]
        for place, feature in sorted(zip(places, into, strict=True)):
            rest.insert(place, feature)
        support.order[:] = rest
