"""The squared loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class SquaredLoss:
    """Sum of squares of Z - Y, without a factor one half.

    ``curvature`` is the Lipschitz constant of the gradient with respect to Z.
    """

    curvature: float = 2.0

    def value(self, Y, Z) -> float:
        """Sum of squared residuals."""
        residual = Z - Y
        return float(np.vdot(residual, residual))

    def gradient(self, Y, Z):
        """Gradient with respect to Z."""
        return 2.0 * (Z - Y)
