"""The convex problem on a few features, and its solution with a certificate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...penalties import row_norms


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

    def objective(self, W: np.ndarray, B: np.ndarray) -> float:
        """Value at (W, B)."""
        residual = self.Y - self.X @ W - self.free @ B
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
