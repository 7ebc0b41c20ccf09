"""Exchanges of features until none lowers the objective.

Exchanges on top of forward selection: better supports of every size, in one run.

Forward selection never takes back a choice. This search does: after every addition it exchanges
features of the support for others as long as that lowers the objective, and once the longest
support is reached it walks back down, dropping the cheapest feature and exchanging again. Of all
supports of one size that were visited, and those of the forward path, the best is kept, so the
result is never worse than plain forward selection. Where near copies are passed over, none enters
a support by an exchange either.

Everything an exchange does to min ||Y - X_S W||^2 + ridge ||W||^2 is known in closed form. Let
H = (X_S'X_S + ridge I)^-1, Z = X'X_S H, C = X'(Y - X_S W) and nu_i the squared norm of what S
leaves of column i. Dropping j costs ||w_j||^2 / h_jj; adding i after that gains
||C_i + z_ij w_j / h_jj||^2 / (ridge + nu_i + z_ij^2 / h_jj).

Exchanges between supports of one size, whatever is fitted on them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from ...design import DesignMatrix, own_passes
from ..base import Callback, Event, LeastSquares, Path, Result
from .forward import DistinctSupport, ForwardPath, ForwardSelection
from .forward_scores import RANK_TOL
from .redundancy import Redundancy
from .swap_table import TabledSupport

# Pairs of features considered for leaving together, cheapest first.
PAIRS = 50


class SweptGram:
    """A support of a problem with few features, exchanged one for one or two for two."""

    def __init__(
        self,
        design: DesignMatrix,
        Y: np.ndarray,
        ridge: float,
        candidates: np.ndarray,
        redundancy: Redundancy | None = None,
    ):
        n_features = design.shape[1]
        # Pairs of near copies, which are never inside together.
        self._alike = np.zeros((n_features, n_features), dtype=bool)
        if redundancy is not None:
            self._alike = redundancy.conflicts()
            candidates = candidates & ~self._alike[:, redundancy.always].any(axis=1)
        X = design.dense_columns(np.arange(n_features)).astype(np.float64)
        joint = np.hstack([X, Y.astype(np.float64)])
        self._A = joint.T @ joint
        self._norms = np.diag(self._A)[:n_features].copy()
        self._A[np.arange(n_features), np.arange(n_features)] += ridge
        self._spent = RANK_TOL[np.dtype(design.dtype)] * (self._norms + ridge)
        self._candidates = candidates & (self._norms > 0)
        self._d = n_features
        self._inside = np.zeros(n_features, dtype=bool)
        self.order: list[int] = []

    @property
    def objective(self) -> float:
        """Min ||Y - X_S W||^2 + ridge ||W||^2."""
        return float(np.trace(self._A[self._d :, self._d :]))

    def best_addition(self) -> tuple[int, float]:
        """The feature that lowers the objective most, and by how much."""
        gains = self.gains()
        best = int(np.argmax(gains))
        return best, float(gains[best])

    def gains(self) -> np.ndarray:
        """By how much each feature would lower the objective; 0 for those that cannot enter."""
        outside = np.flatnonzero(self._outside() & ~self._alike[:, self._inside].any(axis=1))
        gains = np.zeros(self._d)
        C, nu = self._A[outside, self._d :], np.diag(self._A)[outside]
        gains[outside] = (C * C).sum(axis=1) / nu
        return gains

    def add(self, feature: int) -> None:
        """Sweep on ``feature``."""
        self._sweep(feature)
        self._inside[feature] = True
        self.order.append(feature)

    def remove(self, feature: int) -> None:
        """Undo the sweep on ``feature``."""
        self._sweep(feature)
        self._inside[feature] = False
        self.order.remove(feature)

    def cheapest(self) -> int:
        """The feature whose removal costs least."""
        inside, costs = self._costs()
        return int(inside[np.argmin(costs)])

    def best_exchange(self) -> tuple[tuple[int, ...], tuple[int, ...], float]:
        """The best exchange of one feature for one or of two for two."""
        outside = np.flatnonzero(self._outside(after_removal=True))
        single = self._best_single(outside)
        if single[2] > 0:
            return single
        double = self._best_double(outside)
        return double if double[2] > single[2] else single

    def _best_single(self, outside):
        inside, costs = self._costs()
        if not len(outside) or not len(inside):
            return (), (), -np.inf
        A, d = self._A, self._d
        h = -np.diag(A)[inside]
        Z = A[np.ix_(outside, inside)] / h
        C, W = A[outside, d:], A[inside, d:]
        nu = np.diag(A)[outside][:, None] + Z * Z * h
        gains = (C * C).sum(axis=1)[:, None] + Z * (2.0 * C @ W.T + Z * (W * W).sum(axis=1))
        left = (nu > self._spent[outside, None]) & ~self._stays_alike(outside, inside[:, None])
        gains = np.divide(gains, nu, out=np.zeros_like(gains), where=left) - costs
        i, j = divmod(int(np.argmax(gains)), len(inside))
        return (int(inside[j]),), (int(outside[i]),), float(gains[i, j])

    def _best_double(self, outside):
        inside, _ = self._costs()
        if len(outside) < 2 or len(inside) < 2:
            return (), (), -np.inf
        A, d = self._A, self._d
        first, second = np.triu_indices(len(inside), 1)
        pairs = np.stack([inside[first], inside[second]], axis=1)
        # H restricted to each pair, inverted: what leaving together does to everything else.
        H = -A[pairs[:, :, None], pairs[:, None, :]]
        M = np.linalg.inv(H)
        W = A[pairs, d:]
        costs = np.einsum("pac,pab,pbc->p", W, M, W)
        kept = np.argsort(costs, kind="stable")[:PAIRS]
        pairs, M, W, costs = pairs[kept], M[kept], W[kept], costs[kept]
        Z = np.swapaxes(A[outside][:, pairs], 0, 1)  # pair x outside x 2
        ZM = Z @ M
        C = A[outside, d:] + ZM @ W
        N = A[np.ix_(outside, outside)] + ZM @ np.swapaxes(Z, 1, 2)
        a, b = np.triu_indices(len(outside), 1)
        inner = C @ np.swapaxes(C, 1, 2)
        saa, sbb, sab = inner[:, a, a], inner[:, b, b], inner[:, a, b]
        naa, nbb, nab = N[:, a, a], N[:, b, b], N[:, a, b]
        determinant = naa * nbb - nab * nab
        spent = self._spent[outside]
        alike = self._stays_alike(outside, pairs).T  # pair x outside
        sound = (determinant > spent[a] * nbb) & (determinant > spent[b] * naa)
        sound &= ~(alike[:, a] | alike[:, b] | self._alike[outside[a], outside[b]])
        gains = np.full(determinant.shape, -np.inf)
        np.divide(saa * nbb + sbb * naa - 2.0 * sab * nab, determinant, out=gains, where=sound)
        gains -= costs[:, None]
        p, t = divmod(int(np.argmax(gains)), len(a))
        into = (int(outside[a[t]]), int(outside[b[t]]))
        return (int(pairs[p, 0]), int(pairs[p, 1])), into, float(gains[p, t])

    def _stays_alike(self, outside: np.ndarray, leaving: np.ndarray) -> np.ndarray:
        """Which features outside are like one that stays when others leave: outside x leaving."""
        alike = self._alike[outside]
        n_alike = alike[:, self._inside].sum(axis=1)
        return n_alike[:, None] > alike[:, leaving].sum(axis=2)

    def _costs(self) -> tuple[np.ndarray, np.ndarray]:
        inside = np.flatnonzero(self._inside)
        W = self._A[inside, self._d :]
        return inside, (W * W).sum(axis=1) / -np.diag(self._A)[inside]

    def _outside(self, after_removal: bool = False) -> np.ndarray:
        """Features that may enter; one in the span of the support may once others have left."""
        free = self._candidates & ~self._inside
        if not after_removal:
            free &= np.diag(self._A)[: self._d] > self._spent
        return free

    def _sweep(self, feature: int) -> None:
        A = self._A
        pivot = A[feature, feature]
        row = A[feature].copy()
        A -= np.outer(row, row / pivot)
        A[feature] = A[:, feature] = row / pivot if pivot > 0 else -row / pivot
        A[feature, feature] = -1.0 / pivot


Fit = TypeVar("Fit", bound=Any)  # with its objective
# The features of a support, and how to fit it: None where the objective does not get below a limit.
Proposal = tuple[Iterable[int], Callable[[float], Fit | None]]


class Exchanges(ABC, Generic[Fit]):
    """Proposals are fitted one by one; the first that is better is taken.

    What supports that were tried could not get below is remembered: none is fitted twice in vain.
    """

    def __init__(self) -> None:
        self._rejected: dict[frozenset[int], float] = {}

    @abstractmethod
    def goal(self, fit: Fit) -> float:
        """What an exchange must get below."""

    @abstractmethod
    def proposals(self, fit: Fit) -> Iterator[Proposal[Fit]]:
        """Exchanges that may lower the objective, the most promising first."""

    def better(self, fit: Fit) -> Fit | None:
        """The first proposal that lowers the objective; None where none does."""
        tried = (self.try_support(fit, *proposal) for proposal in self.proposals(fit))
        return next((found for found in tried if found is not None), None)

    def try_support(
        self, fit: Fit, features: Iterable[int], fitted: Callable[[float], Fit | None]
    ) -> Fit | None:
        """The fit on these features where it is below the goal."""
        goal, key = self.goal(fit), frozenset(features)
        if self._rejected.get(key, -np.inf) >= goal:
            return None
        found = fitted(goal)
        if found is not None and found.objective < goal:
            return found
        self._rejected[key] = goal
        return None


# Up to this many features the Gram matrix is searched thoroughly, two-for-two exchanges included.
MAX_THOROUGH_FEATURES = 32
# On larger problems this many of the features that are cheapest to drop are considered for every
# exchange that is allowed before the support grows or shrinks again.
DROPS_PER_EXCHANGE = 4
# An exchange must lower the objective by this share of ||Y||^2, or rounding would drive it.
MIN_DECREASE = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 1e-5}


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
    """Some features, or groups of them, and what every change would do to their objective."""

    order: list[int]

    @property
    def objective(self) -> float:
        """What these features reach."""

    def gains(self) -> np.ndarray:
        """What every feature outside would gain."""

    def best_addition(self) -> tuple[int, float]:
        """The feature to add, and its gain."""

    def add(self, feature: int) -> None:
        """Take a feature in."""

    def remove(self, feature: int) -> None:
        """Take a feature out."""

    def cheapest(self) -> int:
        """The feature that costs least to take out."""

    def best_exchange(self) -> tuple[Sequence[int], Sequence[int], float]:
        """Features out, features in, and the decrease of the objective."""


@dataclass(frozen=True)
class ExchangeSearch:
    """Improve every support of a forward path by exchanges.

    Parameters
    ----------
    n_steps : int
        Features of the longest support, where no forward path is given to start from.
    n_swaps : int
        Maximum number of exchanges between two changes of the size. Up to
        ``MAX_THOROUGH_FEATURES`` features the search is thorough whatever this number: it exchanges
        one for one and two for two until nothing helps, and goes beyond the path and back.
    """

    n_steps: int
    n_swaps: int = 1

    def solve(
        self,
        problem: LeastSquares,
        start: Result[ForwardPath] | Result[ExchangedSupports] | None = None,
        callback: Callback | None = None,
    ) -> Result[ExchangedSupports]:
        """Start from a path; the callback sees every support that is visited."""
        if start is None:
            start = ForwardSelection(self.n_steps).solve(problem)
        first = start.solution
        n_steps = len(first.path)
        supports = list(first.path.supports)
        objectives = np.array(first.path.objective)
        remaining = first.remaining
        least = MIN_DECREASE[np.dtype(problem.design.dtype)] * objectives[0]
        with own_passes(problem.design):
            for n_visited, support in enumerate(self._visit_supports(problem, n_steps, least), 1):
                k = len(support.order)
                if k <= n_steps and support.objective < objectives[k] - least:
                    objectives[k] = support.objective
                    supports[k] = np.array(support.order, dtype=np.int64)
                    if k == n_steps:
                        remaining = support.gains()
                event = Event(n_visited, support.objective, n_features=k)
                if callback is not None and callback(event):
                    break
        objectives = np.maximum(objectives, 0.0)
        # The fit on every support is exact; nothing certifies the supports.
        found = ExchangedSupports(Path(supports, objective=objectives), remaining)
        return Result(found, float(objectives[-1]), 0.0, n_steps, True, objectives[1:].tolist())

    def _visit_supports(
        self, problem: LeastSquares, n_steps: int, least: float
    ) -> Iterator[_Support]:
        """Grow a support and shrink it again, with exchanges on the way."""
        support, top, rounds = self._empty(problem, n_steps)
        while len(support.order) < top:
            feature, gain = support.best_addition()
            if not gain > 0:
                break
            support.add(feature)
            _exchange(support, rounds, least)
            yield support
        while len(support.order) > 1:
            support.remove(support.cheapest())
            _exchange(support, rounds, least)
            yield support

    def _empty(self, problem: LeastSquares, n_steps: int) -> tuple[_Support, int, int]:
        """A support to begin with, the size to grow it to, and exchanges allowed at each size."""
        design, Y, ridge = problem.design, problem.Y, problem.ridge
        n_features, candidates = design.shape[1], problem.is_eligible
        if n_features <= MAX_THOROUGH_FEATURES:
            swept = SweptGram(design, Y, ridge, candidates, problem.redundancy)
            return swept, n_features, 10 * n_features
        cheapest = DROPS_PER_EXCHANGE * self.n_swaps
        support: _Support = TabledSupport(design, Y, ridge, candidates, n_steps, cheapest)
        if problem.redundancy is not None:
            support = DistinctSupport(support, problem.redundancy)
        return support, n_steps, self.n_swaps


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
