"""Two classes: l(y, f) = ln(1 + e^f) - y f with y = 0 or 1."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import entr, expit

from .base import (
    BINOMIAL,
    SeparableLoss,
    binary_entropy,
    compiled_loss,
    mean_of,
    sample_weights,
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
    def is_for(cls, target: Any) -> bool:
        return len(target.classes) == 2

    @classmethod
    def of(cls, target: Any, weights: np.ndarray | None, settings: Any) -> Self:
        if not cls.is_for(target):
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
        self.compiled: tuple[Any, ...] | None = compiled_loss(
            BINOMIAL, self.y, self.weights, 1.0 - self.y
        )

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
        p = mean_of(self.y, self.weights)
        with np.errstate(divide="ignore"):
            intercept = np.log(p) - np.log1p(-p)
        return np.array([intercept]), float(self.weights.sum() * (entr(p) + entr(1.0 - p)))
