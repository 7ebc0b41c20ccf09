"""Losses that add up over samples, one output each: logistic, counts, Huber.

Two classes: l(y, f) = ln(1 + e^f) - y f with y = 0 or 1.

Counts: Poisson, l = e^f - y f, and negative binomial of size r.

The latter is l = (y + r) ln(1 + e^z) - y z with z = f - ln r.

Numbers with outliers: l(y, f) = r^2 / 2 for |r| <= d, else d |r| - d^2 / 2, with r = f - y.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import entr, expit, xlogy

from .base import (
    BinomialData,
    PoissonData,
    SeparableLoss,
    binary_entropy,
    one_column,
    sample_weights,
    weighted_mean,
)


class Logistic(SeparableLoss):
    """The negative log-likelihood of two classes.

    Parameters
    ----------
    y : array of shape (n,)
        0 or 1.
    weights : array of shape (n,) or None
        Weights of the samples.
    """

    task: ClassVar[str] = "classification"

    @classmethod
    def is_default(cls, target: Any) -> bool:
        return len(target.classes) == 2

    @classmethod
    def from_target(cls, target: Any, weights: np.ndarray | None, settings: Any) -> Self:
        if not cls.is_default(target):
            raise ValueError(
                f'loss="logistic" is for two classes, but y has {len(target.classes)}; use '
                'loss="multinomial" or "auto"'
            )
        return cls(target.codes, weights)

    def __init__(self, y: np.ndarray, weights: np.ndarray | None = None) -> None:
        self.y: np.ndarray = np.asarray(y, dtype=np.float64)
        self.weights: np.ndarray = sample_weights(weights, len(self.y))
        # l = ln(1 + e^(sign f)): nothing cancels where the class is all but certain.
        self._signs = np.where(self.y > 0.5, -1.0, 1.0)
        self.compiled: Any = BinomialData(self.y, 1.0 - self.y, self.weights)

    def value(self, F: np.ndarray) -> float:
        return float(self.weights @ np.logaddexp(0.0, self._signs * F[:, 0]))

    def gradient(self, F: np.ndarray) -> np.ndarray:
        return (self.weights * self._signs * expit(self._signs * F[:, 0]))[:, None]

    def curvature(self, F: np.ndarray) -> np.ndarray:
        return self.weights[:, None] * expit(F) * expit(-F)

    def dual_value(self, F: np.ndarray, t: float) -> float:
        # q and 1 - q each from its own parts: neither is the small difference of large numbers.
        q = (1.0 - t) * self.y + t * expit(F[:, 0])
        rest = (1.0 - t) * (1.0 - self.y) + t * expit(-F[:, 0])
        return float(self.weights @ binary_entropy(q, rest))

    def null(self) -> tuple[np.ndarray, float]:
        p = weighted_mean(self.y, self.weights)
        with np.errstate(divide="ignore"):
            intercept = np.log(p) - np.log1p(-p)
        return np.array([intercept]), float(self.weights.sum() * (entr(p) + entr(1.0 - p)))


class CountLoss(SeparableLoss):
    """Base of losses of counts, whose logarithms of means are the linear predictors."""

    y: np.ndarray

    task: ClassVar[str] = "counts"

    @classmethod
    def predict_mean(cls, F: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            return np.exp(F)

    def null(self) -> tuple[np.ndarray, float]:
        intercept = np.array([np.log(weighted_mean(self.y, self.weights))])
        return intercept, self.value(np.full((len(self.y), 1), intercept[0]))


class Poisson(CountLoss):
    """The negative log-likelihood of counts, without the terms ln y! that no model changes.

    Parameters
    ----------
    y : array of shape (n,)
        Not negative, not all zero.
    weights : array of shape (n,) or None
        Weights of the samples.
    """

    def __init__(self, y: np.ndarray, weights: np.ndarray | None = None) -> None:
        self.y: np.ndarray = np.asarray(y, dtype=np.float64)
        self.weights: np.ndarray = sample_weights(weights, len(self.y))
        self.compiled: Any = PoissonData(self.y, self.weights)

    def _means(self, F: np.ndarray) -> np.ndarray:
        return self.predict_mean(F)[:, 0]

    def value(self, F: np.ndarray) -> float:
        return float(self.weights @ (self._means(F) - self.y * F[:, 0]))

    def gradient(self, F: np.ndarray) -> np.ndarray:
        return (self.weights * (self._means(F) - self.y))[:, None]

    def curvature(self, F: np.ndarray) -> np.ndarray:
        return (self.weights * self._means(F))[:, None]

    def dual_value(self, F: np.ndarray, t: float) -> float:
        v = (1.0 - t) * self.y + t * self._means(F)
        return float(self.weights @ (v - xlogy(v, v)))


class NegativeBinomial(CountLoss):
    """The negative log-likelihood of counts of variance mu + mu^2 / r, without constant terms.

    It is the binomial loss of y + r trials at f - ln r.

    Parameters
    ----------
    y : array of shape (n,)
        Not negative, not all zero.
    size : float
        r, positive; the dispersion is 1 / r.
    weights : array of shape (n,) or None
        Weights of the samples.
    """

    @classmethod
    def from_target(cls, target: Any, weights: np.ndarray | None, settings: Any) -> Self:
        return cls(one_column(target), 1.0 / float(settings.dispersion), weights)

    def __init__(self, y: np.ndarray, size: float, weights: np.ndarray | None = None) -> None:
        self.y: np.ndarray = np.asarray(y, dtype=np.float64)
        self.size: float = float(size)
        self.weights: np.ndarray = sample_weights(weights, len(self.y))
        self._trials = self.y + self.size
        self._shift = float(np.log(self.size))
        sizes = np.full(len(self.y), self.size)
        self.compiled: Any = BinomialData(self.y, sizes, self.weights, self._shift)

    def value(self, F: np.ndarray) -> float:
        # y ln(1 + e^-z) + r ln(1 + e^z): nothing cancels where y or r is large.
        z = F[:, 0] - self._shift
        parts = self.y * np.logaddexp(0.0, -z) + self.size * np.logaddexp(0.0, z)
        return float(self.weights @ parts)

    def gradient(self, F: np.ndarray) -> np.ndarray:
        z = F[:, 0] - self._shift
        return (self.weights * (self.size * expit(z) - self.y * expit(-z)))[:, None]

    def curvature(self, F: np.ndarray) -> np.ndarray:
        z = F[:, 0] - self._shift
        return (self.weights * self._trials * expit(z) * expit(-z))[:, None]

    def dual_value(self, F: np.ndarray, t: float) -> float:
        z = F[:, 0] - self._shift
        trials, y = self._trials, self.y
        q = (1.0 - t) * y / trials + t * expit(z)
        rest = (1.0 - t) * self.size / trials + t * expit(-z)
        u = t * (self.size * expit(z) - y * expit(-z))
        return float(self.weights @ (trials * binary_entropy(q, rest) - u * self._shift))


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
    def from_target(cls, target: Any, weights: np.ndarray | None, settings: Any) -> Self:
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
