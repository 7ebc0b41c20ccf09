"""The l2,1 loss: the sum of residual norms, as it is and smoothed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class L21Loss:
    """sum_i weights_i ||z_i - y_i||, smoothed by Nesterov's method where ``mu`` is positive.

    The smoothed norm is ||r||^2 / (2 mu) up to ||r|| = mu and ||r|| - mu / 2 beyond; it lies
    below the norm by at most mu / 2, and its gradient is the projection of r / mu onto the
    unit ball. With ``mu = 0`` the loss has subgradients only: zero residuals get zero.
    """

    mu: float = 0.0
    weights: np.ndarray | None = None

    @property
    def curvature(self) -> float:
        """Lipschitz constant of the gradient with respect to Z."""
        if self.mu == 0:
            return np.inf
        return (1.0 if self.weights is None else float(self.weights.max())) / self.mu

    def value(self, Y, Z) -> float:
        """Weighted sum of the (smoothed) residual norms."""
        values = smoothed_norms(_norms(Z - Y), self.mu)
        return float(values.sum() if self.weights is None else self.weights @ values)

    def gradient(self, Y, Z):
        """Gradient with respect to Z."""
        gradient = onto_balls(Z - Y, self.mu)
        return gradient if self.weights is None else gradient * self.weights[:, None]


def smoothed_norms(norms: np.ndarray, mu: float) -> np.ndarray:
    """Nesterov's smoothing of the norm, from the norms."""
    if mu == 0:
        return norms
    return np.where(norms <= mu, norms**2 / (2.0 * mu), norms - 0.5 * mu)


def onto_balls(R: np.ndarray, mu: float) -> np.ndarray:
    """Projection of every row of R / mu onto the unit ball; R / ||R|| for mu = 0."""
    lengths = np.maximum(_norms(R), mu if mu > 0 else np.finfo(np.float64).tiny)
    return R / lengths[:, None]


def _norms(R: np.ndarray) -> np.ndarray:
    return np.sqrt(np.einsum("ij,ij->i", R, R))
