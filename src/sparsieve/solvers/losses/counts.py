"""Counts: Poisson, l = e^f - y f, and negative binomial of size r.

The latter is l = (y + r) ln(1 + e^z) - y z with z = f - ln r.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import expit, xlogy

from .base import (
    BINOMIAL,
    POISSON,
    SeparableLoss,
    binary_entropy,
    compiled_loss,
    mean_of,
    one_column,
    sample_weights,
)


class CountLoss(SeparableLoss):
    """Base of losses of counts, whose logarithms of means are the linear predictors."""

    y: np.ndarray

    task: ClassVar[str] = "counts"

    @classmethod
    def predicted(cls, F: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            return np.exp(F)

    def null(self) -> tuple[np.ndarray, float]:
        intercept = np.array([np.log(mean_of(self.y, self.weights))])
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
        self.compiled: tuple[Any, ...] | None = compiled_loss(POISSON, self.y, self.weights)

    def _means(self, F: np.ndarray) -> np.ndarray:
        return self.predicted(F)[:, 0]

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
    def of(cls, target: Any, weights: np.ndarray | None, settings: Any) -> Self:
        return cls(one_column(target), 1.0 / float(settings.dispersion), weights)

    def __init__(self, y: np.ndarray, size: float, weights: np.ndarray | None = None) -> None:
        self.y: np.ndarray = np.asarray(y, dtype=np.float64)
        self.size: float = float(size)
        self.weights: np.ndarray = sample_weights(weights, len(self.y))
        self._trials = self.y + self.size
        self._shift = float(np.log(self.size))
        sizes = np.full(len(self.y), self.size)
        self.compiled: tuple[Any, ...] | None = compiled_loss(
            BINOMIAL, self.y, self.weights, sizes, self._shift
        )

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
