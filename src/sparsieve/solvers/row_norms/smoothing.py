"""Nesterov's smoothing of norms.

The smoothed norm is ||r||^2 / (2 mu) up to ||r|| = mu and ||r|| - mu / 2 beyond. It lies below
the norm by at most mu / 2; its gradient is the projection of r / mu onto the unit ball, with
Lipschitz constant 1 / mu. With mu = 0 there are subgradients only: zero rows get zero.
"""

from __future__ import annotations

import numpy as np

from ...penalties import row_norms


def smoothed_norms(norms: np.ndarray, mu: float) -> np.ndarray:
    """The smoothed norms, from the norms."""
    if mu == 0:
        return norms
    return np.where(norms <= mu, norms**2 / (2.0 * mu), norms - 0.5 * mu)


def onto_balls(R: np.ndarray, mu: float, out: np.ndarray | None = None) -> np.ndarray:
    """Projection of every row of R / mu onto the unit ball; R / ||R|| for mu = 0."""
    lengths = np.maximum(row_norms(R), mu if mu > 0 else np.finfo(np.float64).tiny)
    return np.divide(R, lengths[:, None], out=out)
