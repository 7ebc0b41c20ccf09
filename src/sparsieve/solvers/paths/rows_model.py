"""Least squares with a penalty on rows, on a working set: a growing block of dense columns.

Fewer coefficients for the same fit, where there are more than the samples can tell apart.

Along z with X z = 0 the fit of one output stays, and sum |w_j| changes in proportion until a
coefficient becomes zero. Going the way on which it does not grow leaves columns that are
independent, for which Newton's method is defined; with dependent ones its steps are tiny.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..._beside import in_double, rows_in_use, write_entries
from ...penalties import row_norms
from ..base import FewRows, LeastSquares
from .engine import MIN_NEW_UNITS, PRODUCT_COLUMNS, Iterate, is_doubtful

# Singular values below this share of the largest are zero.
RANK_TOL = 1e-12


def independent_rows(X: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Coefficients with the fit of w, all nonzero, and no larger sum |w_j|, on independent columns.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.solvers.paths.rows_model import independent_rows
    >>> X = np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    >>> independent_rows(X, np.array([1.0, 1.0, 3.0]))
    array([0. , 1.5, 3. ])
    """
    _, sizes, V = np.linalg.svd(X, full_matrices=True)
    null = V[int((sizes > RANK_TOL * sizes[0]).sum()) :].T
    w, signs = w.copy(), np.sign(w)
    while null.shape[1]:
        weights = null.T @ signs
        size = float(np.linalg.norm(weights))
        z = -null @ (weights / size) if size > 1e-12 else null[:, 0]
        shrinking = np.flatnonzero(z * signs < 0)
        if not len(shrinking):  # rounding alone
            break
        steps = np.abs(w[shrinking] / z[shrinking])
        first = shrinking[np.argmin(steps)]
        w += float(steps.min()) * z
        w[first] = 0.0
        signs[first] = 0.0
        # Turn the basis so that only its first direction moves that coefficient, and drop it.
        row = null[first].copy()
        row[0] += np.copysign(np.linalg.norm(row), row[0])
        null = (null - np.outer(null @ row, 2.0 * row / (row @ row)))[:, 1:]
        null[first] = 0.0
    return np.where(signs * w > 0, w, 0.0)


@dataclass
class Point:
    """Coefficients of the working set, what follows from them, and how they came about."""

    W: np.ndarray
    G: Any  # 2 X'R of the working set, then of all features
    past: list[tuple[float, np.ndarray]]
    R: np.ndarray | None = None  # Y - XW, once X was read


class RowsModel:
    """Dense columns of a design with their coefficients, in double precision whatever the design.

    How to descend on them is for subclasses to say. The penalty is that of the problem, at any
    strength.

    Attributes
    ----------
    needs : str
        The method of a penalty that the descent uses.
    """

    needs: ClassVar[str]

    design: Any
    problem: LeastSquares
    can_enter: Any
    n_at_once: int
    n_joining: int

    def __init__(self, problem: LeastSquares) -> None:
        self.problem, self.design = problem, problem.design
        self.Y: np.ndarray = problem.Y.astype(np.float64)
        self.power: float = problem.power
        self.beta: float = float(getattr(problem.penalty, "beta", 0.0))
        self.can_enter = self.design.to_native(np.ones(self.design.shape[1], dtype=bool))
        self.n_at_once = max(1, PRODUCT_COLUMNS // self.Y.shape[1])
        self.n_joining = MIN_NEW_UNITS
        if self.beta > 0 and self.design.shape[1] <= self.design.shape[0]:
            # Rounds with a few of many features are not worth their price where sweeps are dear.
            self.n_joining = self.design.shape[1]
        self.features: np.ndarray = np.empty(0, dtype=np.int64)
        self._columns = np.empty((self.design.shape[0], 0), order="F")
        self.W = np.empty((0, self.Y.shape[1]))
        self.past: list[tuple[float, np.ndarray]] = []  # solutions of the last two strengths

    @property
    def size(self) -> int:
        return len(self.features)

    @property
    def columns(self) -> np.ndarray:
        return self._columns[:, : self.size]

    def _reserve(self, capacity: int) -> None:
        columns = np.empty((self.design.shape[0], capacity), order="F")
        columns[:, : self.size] = self.columns
        self._columns = columns

    def active(self) -> np.ndarray:
        """Rows with a nonzero coefficient."""
        return rows_in_use(self.W)

    def residual(self, W: np.ndarray) -> np.ndarray:
        """Y - X_S W."""
        active = rows_in_use(W)
        return self.Y - self.columns[:, active] @ W[active]

    # -- for subclasses --------------------------------------------------------------------------

    def descend(self, penalty: Any, share: float, max_sweeps: int) -> tuple[int, float]:
        """Lower the objective until the gap of the restricted problem is small enough.

        Returns the number of sweeps made, and that gap.
        """
        raise NotImplementedError

    def move_if_lower(self, penalty: Any, candidate: np.ndarray) -> None:
        """Take over other coefficients if their objective is lower."""
        raise NotImplementedError

    def correlations(self) -> np.ndarray:
        """X_S'R of the residual."""
        return self.columns.T @ self.residual(self.W)

    @property
    def squares(self) -> np.ndarray:
        """||x_j||^2."""
        raise NotImplementedError

    # -- what the engine asks --------------------------------------------------------------------

    def current_iterate(self) -> Iterate:
        return self._iterate(self.problem.penalty, np.inf, 0)

    def add(self, units: np.ndarray) -> None:
        """Append features with zero coefficients."""
        n_samples, n_features = self.design.shape
        if n_features <= n_samples and 2 * (self.size + len(units)) >= n_features:
            # The whole Gram matrix is smaller than X.
            units = np.setdiff1d(np.arange(n_features), self.features, assume_unique=True)
        old, new = self.size, self.size + len(units)
        if new > self._columns.shape[1]:
            self._reserve(min(max(new, 2 * old), n_features))
        self._columns[:, old:new] = self.design.dense_columns(units)
        write_entries(self.can_enter, units, False)
        self.features = np.concatenate([self.features, units])
        self.W = np.vstack([self.W, np.zeros((len(units), self.W.shape[1]))])

    def begin(self, W: np.ndarray) -> None:
        """Take in the nonzero rows of a solution."""
        if len(rows := rows_in_use(W)):
            self.add(rows)
            self.W[np.isin(self.features, rows)] = W[rows]

    def solve(self, alpha: float, share: float, max_steps: int) -> Iterate:
        penalty = replace(self.problem.penalty, alpha=alpha)
        self._predict(penalty)
        steps, gap = self.descend(penalty, share, max_steps) if self.size else (0, 0.0)
        past = [one for one in self.past if one[0] != alpha]
        self.past = [*past[-1:], (alpha, self.W.copy())]
        return self._iterate(penalty, gap, steps)

    def _iterate(self, penalty: Any, gap: float, steps: int) -> Iterate:
        """Without the part of the objective that the residual has, which comes with reading X."""
        point = Point(self.W.copy(), 2.0 * self.correlations(), self.past)
        value = penalty.value(self.W)
        return Iterate(value, gap, steps, self.features[self.active()], point)

    def _predict(self, penalty: Any) -> None:
        """Start a new strength from the line through the last two solutions, if that is lower.

        Between changes of the support solutions are smooth in the strength, for a single output
        even linear.
        """
        if len(self.past) < 2 or penalty.alpha == self.past[1][0]:
            return
        (first, W_first), (second, W_second) = self.past
        ahead = (penalty.alpha - second) / (second - first)
        candidate = self.W.copy()
        known = len(W_first)
        lasting = W_first.any(axis=1) & W_second[:known].any(axis=1)
        candidate[:known][lasting] += ahead * (W_second[:known] - W_first)[lasting]
        self.move_if_lower(penalty, candidate)

    def restore(self, iterate: Iterate) -> None:
        point: Point = iterate.state
        self.past = point.past
        self.W[: len(point.W)], self.W[len(point.W) :] = point.W, 0.0

    def entering(self, iterates: Sequence[Iterate]) -> list[Any]:
        points: list[Point] = [iterate.state for iterate in iterates]
        residuals = [self.residual(point.W) for point in points]
        n_features, n_outputs = self.design.shape[1], self.Y.shape[1]
        if self.size == n_features:
            G = self.design.to_native(np.empty((n_features, n_outputs * len(points))))
        else:
            R = np.hstack(residuals)
            G = in_double(self.design.native_projection(R.astype(self.design.dtype, copy=False)))
            G *= 2.0
        found = []
        for i, (iterate, point, R) in enumerate(zip(iterates, points, residuals, strict=True)):
            point.R, iterate.value = R, iterate.value + float(np.vdot(R, R))
            inside, point.G = point.G, G[:, i * n_outputs : (i + 1) * n_outputs]
            write_entries(point.G, self.features[: len(inside)], inside)
            found.append(self.problem.penalty.dual_norms(point.G))
        return found

    def gap(self, iterate: Iterate, alpha: float, largest: float) -> tuple[float, float]:
        point, penalty = iterate.state, replace(self.problem.penalty, alpha=alpha)
        bound = penalty.dual_bound(self.Y, point.R, point.G)
        return iterate.value - bound, max(iterate.value, self.problem.floor)

    def in_doubt(self, iterate: Iterate, alpha: float, seen: np.ndarray) -> bool:
        """Whether a new row is nonzero, or zero, by less than the gap can tell.

        A gap bounds the error of the residual by its root, and that of a row's dual norm by that
        of the column's norm times as much, twice; an l1 norm by the root of the outputs more.
        """
        if self.beta > 0:
            return False
        strengths = self.problem.penalty.dual_norms(iterate.state.G)
        fits = self.squares * row_norms(iterate.state.W) ** 2
        reach = 2.0 * np.sqrt(self.squares * self.spread)
        doubtful = is_doubtful(fits, strengths, reach, alpha, iterate.gap)
        return bool((doubtful & ~seen[self.features]).any())

    @property
    def spread(self) -> int:
        """How much larger the square of a dual norm may be than that of the Euclidean one."""
        return 1

    def solution(self, iterate: Iterate, strengths: Any, gap: float) -> FewRows:
        W = iterate.state.W
        return FewRows(self.features[: len(W)], W, strengths, self.design.dtype)
