"""Forward selection and exchanges for ridge least squares of one output with prescribed signs.

With P the features in use, those with weight, adding x_j lowers the objective by at most what it
would without signs, (x_j'R)^2 / (ridge + nu_j), and by exactly that where no coefficient changes
its sign. Features are tried in the order of this bound until no other one can do better
(SNNOLS, Nguyen, Soussen, Idier and Djermoune 2019). A feature that loses its weight keeps its
place, for it may come back.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from ..._beside import to_numpy
from ...design import own_passes
from ..base import Callback, Event, LeastSquares, Path, Result
from ..paths.signed import one_sided, signed_minimum
from .exchange import ExchangedSupports
from .forward import EndRule, ForwardPath, Standing, path_result
from .forward_scores import RANK_TOL
from .redundancy import Company, Redundancy

# Problems of so few features are searched until no swap helps, which is at most so many times.
FEW_FEATURES, MANY_SWAPS = 32, 1000
# Of ||y||^2: what a swap has to gain.
LEAST_GAIN = 1e-10


@dataclass(frozen=True)
class SignedForward:
    """Add features one by one, each time the one that lowers the objective most.

    Parameters
    ----------
    n_steps : int
        Length of the path; it ends earlier when no feature can add anything.
    signs : ndarray of shape (n_features,)
        1 and -1 prescribe the sign of a coefficient, 0 does not.
    stop : EndRule or None
        True ends the path.
    """

    n_steps: int
    signs: np.ndarray
    stop: EndRule | None = None

    def solve(
        self,
        problem: LeastSquares,
        start: Result[ForwardPath] | None = None,
        callback: Callback | None = None,
    ) -> Result[ForwardPath]:
        """The path from no feature on; a path has no warm start."""
        with own_passes(problem.design):
            return self._path(problem, callback)

    def _path(self, problem: LeastSquares, callback: Callback | None) -> Result[ForwardPath]:
        search = _Search(problem, self.signs)
        company = None if problem.redundancy is None else Company(problem.redundancy)
        power = value = problem.power
        gains: list[float] = []
        steps: list[np.ndarray] = []  # coefficients of the features so far, after every step
        while len(gains) < self.n_steps:
            j, gain = search.best()
            if not gain > 0:
                if self.stop is None and search.passed.any():  # all others are used up
                    search.passed[:], company = False, None
                    continue
                break
            if self.stop is not None and self.stop(search.standing(gain, value)):
                break
            if company is not None:
                if company.closest(j) is not None:
                    search.passed[j] = True
                    continue
                company.add(j)
            search.take(j)
            now = search.value()
            gains.append(max(value - now, np.finfo(np.float64).tiny))
            steps.append(search.w.copy())
            value = now
            t = len(gains)
            event = Event(t, value, n_features=t, note=f"feature {j} entered")
            if callback and callback(event):
                break
        # As of any path: coefficients are sums over the steps so far, whose squares are gains.
        t, before = len(gains), np.zeros(0)
        directions, responses = np.zeros((t, t)), np.sqrt(np.array(gains))[:, None]
        for row, w in enumerate(steps):
            change = w - np.append(before, np.zeros(len(w) - len(before)))
            directions[row, : len(w)] = change / responses[row, 0]
            before = w
        search.passed[:] = False
        factors = (part.astype(search.design.dtype) for part in (directions, responses))
        return path_result(power, search.order, gains, search.bounds(), *factors)


@dataclass(frozen=True)
class SignedExchange:
    """Swap features of a path for better ones, at every size, from the better of two supports.

    These are that of the path, and the best one of the size below with the best addition.

    Parameters
    ----------
    n_steps : int
        Length of the path where none is given to start from.
    signs : ndarray of shape (n_features,)
        1 and -1 prescribe the sign of a coefficient, 0 does not.
    n_swaps : int
        Swaps of single features at one size, each the best one; few features are swapped until
        nothing helps.
    """

    n_steps: int
    signs: np.ndarray
    n_swaps: int = 1

    def solve(
        self,
        problem: LeastSquares,
        start: Result[ForwardPath] | None = None,
        callback: Callback | None = None,
    ) -> Result[ExchangedSupports]:
        """The best support of every size up to that of the path ``start``."""
        if start is None:
            start = SignedForward(self.n_steps, self.signs).solve(problem)
        with own_passes(problem.design):
            here, path = _Search(problem, self.signs), start.solution.path
            supports, values = [path.supports[0]], [problem.power]
            for support in path.supports[1:]:
                there = here.with_features(support)
                j, gain = here.distinct_addition(0.0, problem.redundancy)
                if here.value() - gain < there.value() - LEAST_GAIN * problem.power:
                    there = here.with_features([*here.order, j])
                here = self._swap(there, problem.redundancy)
                supports.append(np.array(here.order))
                values.append(min(here.value(), values[-1]))
                event = Event(len(values) - 1, values[-1], n_features=len(here.order))
                if callback and callback(event):
                    break
        found = ExchangedSupports(Path(supports, objective=np.array(values)), here.bounds())
        return Result(found, values[-1], 0.0, len(values) - 1, True, values[1:])

    def _swap(self, here: _Search, redundancy: Redundancy | None) -> _Search:
        """Where no swap lowers the objective, or as many were made as are allowed."""
        few = self.n_swaps > 0 and len(self.signs) <= FEW_FEATURES
        for _ in range(MANY_SWAPS if few else self.n_swaps):
            best, least = None, here.value() - LEAST_GAIN * here.power
            for place in range(len(here.order)):
                rest = here.with_features(here.order[:place] + here.order[place + 1 :])
                j, gain = rest.distinct_addition(rest.value() - least, redundancy)
                if j >= 0:
                    best, least = (place, j), rest.value() - gain
            if best is None:
                break
            features = list(here.order)
            features[best[0]] = best[1]
            here = here.with_features(features)
        return here


def order_by_gain(
    problem: LeastSquares, signs: np.ndarray, stages: Iterable[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Forward selection among all features of each stage in turn: their order, and their gains."""
    search, gains = _Search(problem, signs), []
    for stage in stages:
        left = stage.tolist()
        while left:
            search.open[:] = False
            search.open[left] = True
            before, (j, gain) = search.value(), search.best()
            j = j if gain > 0.0 else left[0]
            search.take(j)
            left.remove(j)
            gains.append(max(before - search.value(), 0.0))
    return np.array(search.order, dtype=np.int64), np.array(gains)


class _Search:
    """The features taken so far with the best coefficients of the prescribed signs."""

    def __init__(self, problem: LeastSquares, signs: np.ndarray) -> None:
        self.design, self.signs, self.ridge = problem.design, signs, problem.ridge
        self.power = problem.power
        self.C: np.ndarray = self._products(problem.Y)  # X'y
        self.squares: np.ndarray = problem.design.column_sq_norms().astype(np.float64)
        self.least: np.ndarray = RANK_TOL[np.dtype(self.design.dtype)] * self.squares
        self.is_eligible: np.ndarray = problem.is_eligible & (self.squares > 0)
        self.open = self.is_eligible.copy()
        self.passed = np.zeros(len(signs), dtype=bool)
        self._rows: dict[int, np.ndarray] = {}  # X'x of columns
        self.order: list[int] = []
        self.G = np.empty((0, len(signs)))  # X_S'X of the features taken
        self.w = np.empty(0)
        self._found: tuple[np.ndarray, np.ndarray] | None = None

    def _products(self, columns: np.ndarray) -> np.ndarray:
        columns = columns.astype(self.design.dtype, copy=False)
        return np.asarray(to_numpy(self.design.rmatmul(columns))[:, 0], dtype=np.float64)

    @property
    def used(self) -> np.ndarray:
        """The places of the features with weight."""
        return np.flatnonzero(self.w)

    def _left(self) -> tuple[np.ndarray, np.ndarray]:
        """Of all columns: what they want of the residual, and what those in use leave of them."""
        if self._found is None:
            used = self.used
            G, order = self.G[used], np.array(self.order, dtype=np.int64)[used]
            residual = self.squares
            if len(used):
                factor = cholesky(G[:, order] + self.ridge * np.eye(len(used)), lower=True)
                V = solve_triangular(factor, G, lower=True)
                residual = self.squares - np.einsum("ij,ij->j", V, V)
            pull = one_sided(self.C - self.w[used] @ G, self.signs)
            self._found = pull, np.maximum(residual, 0.0)
        return self._found

    def bounds(self) -> np.ndarray:
        """What every feature that is open would gain at most."""
        pull, residual = self._left()
        free = self.open & ~self.passed & (residual > self.least)
        gains = np.zeros(len(pull))
        return np.divide(pull * pull, self.ridge + residual, out=gains, where=free)

    def with_features(self, features: np.ndarray | list[int]) -> Self:
        """The search with these features taken."""
        there = copy(self)
        there.order, there._found = [int(j) for j in features], None
        there.open, there.passed = self.is_eligible.copy(), np.zeros_like(self.passed)
        there.open[there.order] = False
        there.G = np.vstack([self.G[:0], *(self._row(j) for j in there.order)])
        H = there.G[:, there.order]
        there.w = there._minimum(0.5 * (H + H.T), there.order, np.zeros(len(H)))
        return there

    def _row(self, j: int) -> np.ndarray:
        if j not in self._rows:
            self._rows[j] = self._products(self.design.dense_columns(np.array([j])))
        return self._rows[j]

    def distinct_addition(self, least: float, redundancy: Redundancy | None) -> tuple[int, float]:
        """The feature that gains most, and more than this; -1 for none.

        No near copy of a feature that was taken.
        """
        while True:
            j, gain = self.best(least)
            if not gain > least:
                return -1, 0.0
            if redundancy is None:
                return j, gain
            company = Company(redundancy)
            for feature in self.order:
                company.add(feature)
            if company.closest(j) is None:
                return j, gain
            self.passed[j] = True

    def best(self, least: float = 0.0) -> tuple[int, float]:
        """The feature with the largest gain above this, and that gain."""
        bounds, best, most = self.bounds(), -1, least
        if not self.order:
            best = int(np.argmax(bounds))
            return best, float(bounds[best])
        value = self.value()
        for j in np.argsort(-bounds, kind="stable"):
            if not bounds[j] > most:
                break
            gain = value - self._value_of(*self._fit_columns(int(j)))
            if gain > most:
                best, most = int(j), gain
        # What rounding alone gains is nothing.
        return best, most if most > np.finfo(np.float64).eps * self.power else 0.0

    def _fit_columns(self, j: int) -> tuple[list[int], np.ndarray]:
        """The features in use and another one, with their best coefficients."""
        used = self.used
        features = [*(self.order[place] for place in used), j]
        H = np.empty((len(features), len(features)))
        H[:-1, :] = self.G[used][:, features]
        H[-1, :-1], H[-1, -1] = H[:-1, -1], self.squares[j]
        return features, self._minimum(H, features, np.append(self.w[used], 0.0))

    def _minimum(self, H: np.ndarray, features: list[int], start: np.ndarray) -> np.ndarray:
        """The best coefficients of some features, whose inner products are H."""
        ridged = H + self.ridge * np.eye(len(H))
        signs = self.signs[features]
        return signed_minimum(ridged, self.C[features], np.zeros(len(H)), signs, start)

    def _value_of(self, features: list[int], w: np.ndarray) -> float:
        """The objective at the best coefficients of some features: ||y||^2 - w'X'y."""
        return self.power - float(w @ self.C[features])

    def value(self) -> float:
        """The objective with the features taken."""
        return self._value_of(self.order, self.w)

    def take(self, j: int) -> None:
        """Add a feature, with the best coefficients of all that were taken."""
        self.order.append(j)
        self.open[j], self._found = False, None
        self.G = np.vstack([self.G, self._row(j)])
        H = self.G[:, self.order]
        self.w = self._minimum(0.5 * (H + H.T), self.order, np.append(self.w, 0.0))

    def standing(self, gain: float, value: float) -> Standing:
        """How the path stands; features with the wrong sign say nothing that could be used."""
        pull, residual = self._left()
        free = self.open & (residual > self.least) & (pull > 0)
        shares = pull[free] ** 2 / residual[free]
        used, n = self.used, len(self.order)
        own = self.G[used][:, np.array(self.order, dtype=np.int64)[used]]
        freedom = float(np.trace(np.linalg.solve(own + self.ridge * np.eye(len(used)), own)))
        rss = value - self.ridge * float(self.w @ self.w)
        return Standing(n, gain, rss, float(shares.mean()) if len(shares) else 0.0, freedom)
