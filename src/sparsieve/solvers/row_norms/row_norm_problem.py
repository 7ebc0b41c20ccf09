"""The convex problem on a few features, and its solution with a certificate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ...penalties import row_norms
from ..base import Result, relative


@dataclass(frozen=True)
class RowNormProblem:
    """Minimise sum_i weights_i ||y_i - x_i W - f_i B|| + sum_j strengths_j ||w_j||.

    ``X`` holds the penalised columns (strengths > 0), ``free`` an orthonormal basis of those
    that are not penalised, for example a constant column for the intercept.
    """

    X: np.ndarray
    Y: np.ndarray
    strengths: np.ndarray
    weights: np.ndarray
    free: np.ndarray

    @cached_property
    def columns(self) -> np.ndarray:
        """The penalised columns, then the free ones."""
        return np.hstack([self.X, self.free])

    def objective(self, W: np.ndarray, B: np.ndarray) -> float:
        """Value at (W, B)."""
        residual = self.Y - self.columns @ np.vstack([W, B])
        return float(self.weights @ row_norms(residual) + self.strengths @ row_norms(W))


@dataclass(frozen=True)
class RowNormPoint:
    """The unknowns, with their certificate.

    Attributes
    ----------
    W, B : coefficients on the penalised and on the free columns. Rows that are zero at the
        optimum are only small here; ``vanishing`` tells which they are.
    dual : feasible dual point M.
    bound : a lower bound of the optimum.
    rows : the multipliers a of coefficient rows and residual rows, for a warm start.
    vanishing : mask of the coefficient rows on their way to zero.
    """

    W: np.ndarray
    B: np.ndarray
    dual: np.ndarray
    bound: float
    rows: np.ndarray
    vanishing: np.ndarray


class BestSoFar:
    """The best coefficients and the highest bound, which need not be of the same step.

    Parameters
    ----------
    known : float
        A lower bound of the optimum that is known already.
    exact : float
        An objective that counts as zero.
    """

    def __init__(self, *, known: float = -np.inf, exact: float = -np.inf):
        self.known, self.exact = known, exact
        self.objective = np.inf
        self.trace: list[float] = []
        self._point: RowNormPoint | None = None

    @property
    def point(self) -> RowNormPoint:
        assert self._point is not None, "no step was seen"
        return self._point

    @property
    def is_empty(self) -> bool:
        return self._point is None

    def see(self, value: float, point: RowNormPoint) -> bool:
        """Take what is better of a step; returns whether its bound is."""
        self.trace.append(value)
        best = self._point or point
        rose = best is point or point.bound > best.bound
        surest = point if rose else best
        if best is point or value < self.objective:
            self.objective, best = value, point
        self._point = replace(best, bound=surest.bound, dual=surest.dual)
        if self.objective <= self.exact:
            self.objective, self._point = 0.0, replace(self.point, bound=0.0)
        return rose

    @property
    def gap(self) -> float:
        """Between the objective and the highest bound, not relative to anything."""
        return self.objective - max(self.point.bound, self.known)

    @property
    def relative_gap(self) -> float:
        return relative(self.gap, self.objective)

    def result(self, n_iter: int, tol: float) -> Result[RowNormPoint]:
        """Where the steps have ended; rounding must not put the bound above the objective."""
        point = replace(self.point, bound=min(self.point.bound, self.objective))
        gap = self.relative_gap
        return Result(point, self.objective, gap, n_iter, gap <= tol, self.trace)


@dataclass(frozen=True)
class FeaturesInUse:
    """A solution on all features, told by those with nonzero rows.

    Attributes
    ----------
    features : the features with nonzero rows.
    W, B : their coefficients, and those on the free columns.
    dual : the dual point.
    rows : multipliers of these features and of the samples, for a warm start.
    pulls : ||x_j' dual|| of all features.
    """

    features: np.ndarray
    W: np.ndarray
    B: np.ndarray
    dual: np.ndarray
    rows: np.ndarray
    pulls: np.ndarray
