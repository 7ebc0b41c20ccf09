"""Several classes: l(y, f) = ln sum_k e^(f_k) - f_y, one output per class."""

from __future__ import annotations

import numpy as np
from scipy.special import entr

from .base import Loss, sample_weights


class Multinomial(Loss):
    """The negative log-likelihood of several classes.

    Parameters
    ----------
    codes : array of shape (n,)
        The class of every sample, 0 to ``n_classes`` - 1, each of them at least once.
    n_classes : int
    weights : array of shape (n,) or None
        Weights of the samples.
    """

    codes: np.ndarray
    n_outputs: int

    is_redundant = True

    def __init__(
        self, codes: np.ndarray, n_classes: int, weights: np.ndarray | None = None
    ) -> None:
        self.codes, self.n_outputs = np.asarray(codes), n_classes
        self.weights: np.ndarray = sample_weights(weights, len(self.codes))
        self._own = (np.arange(len(self.codes)), self.codes)
        self._latest: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    def _at(self, F: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(probabilities, ln sum_k e^(f_k)), remembered for the next question about F."""
        if self._latest is None or not np.array_equal(self._latest[0], F):
            top = F.max(axis=1, keepdims=True)
            P = np.exp(F - top)
            total = P.sum(axis=1, keepdims=True)
            P /= total
            self._latest = F.copy(), P, (top + np.log(total))[:, 0]
        return self._latest[1:]

    def value(self, F: np.ndarray) -> float:
        return float(self.weights @ (self._at(F)[1] - F[self._own]))

    def gradient(self, F: np.ndarray) -> np.ndarray:
        P = self._at(F)[0].copy()
        # 1 - p from the other classes: without cancellation where p is close to one.
        P[self._own] = 0.0
        P[self._own] = -P.sum(axis=1)
        P *= self.weights[:, None]
        return P

    def curvature(self, F: np.ndarray) -> np.ndarray:
        P = self._at(F)[0]
        # diag(p) - pp' has no eigenvalue above twice its largest entry, nor above one half.
        # The largest is that of the largest p: the others are at most 1 - p.
        top = P.max(axis=1)
        bound = np.minimum(2.0 * top * (1.0 - top), 0.5)
        return np.repeat((self.weights * bound)[:, None], self.n_outputs, axis=1)

    def diagonal(self, F: np.ndarray) -> np.ndarray:
        P = self._at(F)[0]
        return np.asarray(self.weights[:, None] * P * (1.0 - P))

    def hessian_product(self, F: np.ndarray, V: np.ndarray) -> np.ndarray:
        P = self._at(F)[0]
        if V.ndim == 2:
            found = V - np.einsum("ik,ik->i", P, V)[:, None]
            found *= P
            found *= self.weights[:, None]
            return np.asarray(found)
        weighted = self.weights[:, None] * P
        return np.asarray(weighted[:, :, None] * (V - np.einsum("ik,ikq->iq", P, V)[:, None]))

    def hessian(self, F: np.ndarray, X: np.ndarray) -> np.ndarray:
        P, m, q = self._at(F)[0], self.n_outputs, X.shape[1]
        both = (X[:, :, None] * (np.sqrt(self.weights)[:, None] * P)[:, None, :]).reshape(-1, q * m)
        found = np.negative(both.T @ both).reshape(q, m, q, m)
        for k in range(m):
            found[:, k, :, k] += X.T @ ((self.weights * P[:, k])[:, None] * X)
        return found.reshape(q * m, q * m)

    def dual_value(self, F: np.ndarray, t: float) -> float:
        Q = t * self._at(F)[0]
        Q[self._own] += 1.0 - t
        return float(self.weights @ entr(Q).sum(axis=1))

    def null(self) -> tuple[np.ndarray, float]:
        sizes = np.bincount(self.codes, self.weights, self.n_outputs)
        shares = sizes / sizes.sum()
        with np.errstate(divide="ignore"):
            intercepts = np.log(shares)
        return intercepts - intercepts.mean(), float(sizes.sum() * entr(shares).sum())
