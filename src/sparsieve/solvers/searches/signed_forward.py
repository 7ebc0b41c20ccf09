"""Forward selection for ridge least squares of one output with prescribed signs.

With P the features in use, those with weight, adding x_j lowers the objective by at most what it
would without signs, (x_j'R)^2 / (ridge + nu_j), and by exactly that where no coefficient changes
its sign. Features are tried in the order of this bound until no other one can do better
(SNNOLS, Nguyen, Soussen, Idier and Djermoune 2019). A feature that loses its weight keeps its
place, for it may come back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from ..._beside import to_numpy
from ...design import own_passes
from ..base import Callback, Event, LeastSquares, Result
from ..paths.signed import one_sided, signed_minimum
from .forward import EndRule, ForwardPath, Standing, path_result
from .forward_scores import RANK_TOL
from .redundancy import Company


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


class _Search:
    """The features taken so far with the best coefficients of the prescribed signs."""

    def __init__(self, problem: LeastSquares, signs: np.ndarray) -> None:
        self.design, self.signs, self.ridge = problem.design, signs, problem.ridge
        self.power = problem.power
        self.C: np.ndarray = self._products(problem.Y)  # X'y
        self.squares: np.ndarray = problem.design.column_sq_norms().astype(np.float64)
        self.least: np.ndarray = RANK_TOL[np.dtype(self.design.dtype)] * self.squares
        self.open: np.ndarray = problem.is_eligible & (self.squares > 0)
        self.passed = np.zeros(len(signs), dtype=bool)
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

    def best(self) -> tuple[int, float]:
        """The feature with the largest gain, and that gain."""
        bounds, best, most = self.bounds(), -1, 0.0
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
        column = self.design.dense_columns(np.array([j]))
        self.G = np.vstack([self.G, self._products(column)])
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
