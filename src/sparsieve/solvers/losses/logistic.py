"""Two classes: l(y, f) = ln(1 + e^f) - y f with y = 0 or 1."""

from __future__ import annotations

import numpy as np
from scipy.special import entr, expit

from .base import BINOMIAL, SeparableLoss, compiled_loss, mean_of, sample_weights


class Logistic(SeparableLoss):
    """The negative log-likelihood of two classes.

    Parameters
    ----------
    y : array of shape (n,)
        0 or 1.
    weights : array of shape (n,) or None
        Weights of the samples.
    """

    def __init__(self, y: np.ndarray, weights: np.ndarray | None = None) -> None:
        self.y: np.ndarray = np.asarray(y, dtype=np.float64)
        self.weights: np.ndarray = sample_weights(weights, len(self.y))
        self.compiled = compiled_loss(BINOMIAL, self.y, self.weights)

    def value(self, F: np.ndarray) -> float:
        f = F[:, 0]
        return float(self.weights @ (np.logaddexp(0.0, f) - self.y * f))

    def gradient(self, F: np.ndarray) -> np.ndarray:
        return (self.weights * (expit(F[:, 0]) - self.y))[:, None]

    def curvature(self, F: np.ndarray) -> np.ndarray:
        p = expit(F)
        return self.weights[:, None] * p * expit(-F)

    def dual_value(self, F: np.ndarray, t: float) -> float:
        # q and 1 - q each from its own parts: neither is the small difference of large numbers.
        q = (1.0 - t) * self.y + t * expit(F[:, 0])
        rest = (1.0 - t) * (1.0 - self.y) + t * expit(-F[:, 0])
        return float(self.weights @ (entr(q) + entr(rest)))

    def null(self) -> tuple[np.ndarray, float]:
        p = mean_of(self.y, self.weights)
        with np.errstate(divide="ignore"):
            intercept = np.log(p) - np.log1p(-p)
        return np.array([intercept]), float(self.weights.sum() * (entr(p) + entr(1.0 - p)))
