"""Numbers with outliers: l(y, f) = r^2 / 2 for |r| <= d, else d |r| - d^2 / 2, with r = f - y."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .base import SeparableLoss, one_column, sample_weights

# Of the parabola above the loss: the curvature that straight parts are taken to have, so that no
# system of equations is singular.
STRAIGHT_CURVATURE = 1e-4
# A normal variable is within this many standard deviations with a probability of one half.
NORMAL_QUARTILE = 0.6744897501960817


class Huber(SeparableLoss):
    """Huber's loss: squared for small residuals, absolute for large ones.

    Parameters
    ----------
    y : array of shape (n,)
    scale : float
        d, positive, in the units of y: residuals beyond it pull no harder than at it.
    weights : array of shape (n,) or None
        Weights of the samples.
    """

    @classmethod
    def of(cls, target: Any, weights: np.ndarray | None, settings: Any) -> Self:
        """In units of the spread of y, in which it is a negative log-likelihood."""
        y = one_column(target)
        weights = sample_weights(weights, len(y))
        unit = spread(y, weights)
        return cls(y, float(settings.epsilon) * unit, weights / unit**2)

    def __init__(self, y: np.ndarray, scale: float, weights: np.ndarray | None = None) -> None:
        self.y: np.ndarray = np.asarray(y, dtype=np.float64)
        self.scale: float = float(scale)
        self.weights: np.ndarray = sample_weights(weights, len(self.y))

    def _sizes(self, F: np.ndarray) -> np.ndarray:
        return np.abs(F[:, 0] - self.y)

    def _pulls(self, F: np.ndarray) -> np.ndarray:
        """Residuals, cut off at the scale."""
        return np.clip(F[:, 0] - self.y, -self.scale, self.scale)

    def value(self, F: np.ndarray) -> float:
        sizes = self._sizes(F)
        near = np.minimum(sizes, self.scale)
        return float(self.weights @ (near * (sizes - 0.5 * near)))

    def gradient(self, F: np.ndarray) -> np.ndarray:
        return (self.weights * self._pulls(F))[:, None]

    def curvature(self, F: np.ndarray) -> np.ndarray:
        """That of the parabola above the loss that touches it at F and -F."""
        return (self.weights * (self.scale / np.maximum(self._sizes(F), self.scale)))[:, None]

    def diagonal(self, F: np.ndarray) -> np.ndarray:
        straight = self._sizes(F) > self.scale
        return np.where(straight[:, None], STRAIGHT_CURVATURE, 1.0) * self.curvature(F)

    def dual_value(self, F: np.ndarray, t: float) -> float:
        pulls = t * self._pulls(F)
        return -float(self.weights @ (pulls * (0.5 * pulls + self.y)))

    def null(self) -> tuple[np.ndarray, float]:
        """The gradient is linear between the numbers y +- d: a line through two of them."""
        ends = np.sort(np.concatenate([self.y - self.scale, self.y + self.scale]))

        def slope(b: float) -> float:
            return float(self.gradient(np.full((len(self.y), 1), b)).sum())

        low, high = 0, len(ends) - 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if slope(ends[middle]) < 0.0 else (low, middle)
        left, right = slope(ends[low]), slope(ends[high])
        share = -left / (right - left) if right > left else 0.0
        intercept = float(ends[low] + share * (ends[high] - ends[low]))
        return np.array([intercept]), self.value(np.full((len(self.y), 1), intercept))


def spread(y: np.ndarray, weights: np.ndarray) -> float:
    """The standard deviation of normal numbers with the same median distance from their median.

    Where more than half of the numbers are the same, the mean distance stands for the median one.
    """
    away = np.abs(y - _median(y, weights))
    middle = _median(away, weights) / NORMAL_QUARTILE
    return middle or float(weights @ away / weights.sum()) or 1.0


def _median(values: np.ndarray, weights: np.ndarray) -> float:
    """The weighted median; the middle of two where half of the weight is on either side."""
    order = np.argsort(values)
    below = np.cumsum(weights[order])
    half = 0.5 * below[-1]
    low = int(np.searchsorted(below, half * (1.0 - 1e-12)))
    high = int(np.searchsorted(below, half * (1.0 + 1e-12), side="right"))
    return float(0.5 * (values[order[low]] + values[order[min(high, len(values) - 1)]]))
