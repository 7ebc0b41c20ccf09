"""Several classes: l(y, f) = ln sum_k e^(f_k) - f_y, one output per class."""

from __future__ import annotations

import numpy as np
from scipy.special import entr, logsumexp, softmax

from .loss import Loss, sample_weights


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

    is_redundant = True

    def __init__(
        self, codes: np.ndarray, n_classes: int, weights: np.ndarray | None = None
    ) -> None:
        self.codes, self.n_outputs = np.asarray(codes), n_classes
        self.weights = sample_weights(weights, len(self.codes))
        self._own = (np.arange(len(self.codes)), self.codes)

    def value(self, F: np.ndarray) -> float:
        return float(self.weights @ (logsumexp(F, axis=1) - F[self._own]))

    def gradient(self, F: np.ndarray) -> np.ndarray:
        P = softmax(F, axis=1)
        P[self._own] = -_rest(P, self._own)
        return self.weights[:, None] * P

    def curvature(self, F: np.ndarray) -> np.ndarray:
        P = softmax(F, axis=1)
        # diag(p) - pp' has no eigenvalue above twice its largest entry, nor above one half.
        bound = np.minimum(2.0 * (P * (1.0 - P)).max(axis=1), 0.5)
        return np.repeat((self.weights * bound)[:, None], self.n_outputs, axis=1)

    def diagonal(self, F: np.ndarray) -> np.ndarray:
        P = softmax(F, axis=1)
        return np.asarray(self.weights[:, None] * P * (1.0 - P))

    def hessian_product(self, F: np.ndarray, V: np.ndarray) -> np.ndarray:
        P = softmax(F, axis=1)
        weighted = self.weights[:, None] * P
        if V.ndim == 2:
            return np.asarray(weighted * (V - np.sum(P * V, axis=1, keepdims=True)))
        return np.asarray(weighted[:, :, None] * (V - np.einsum("ik,ikq->iq", P, V)[:, None]))

    def hessian(self, F: np.ndarray, X: np.ndarray) -> np.ndarray:
        P, m, q = softmax(F, axis=1), self.n_outputs, X.shape[1]
        both = (X[:, :, None] * (np.sqrt(self.weights)[:, None] * P)[:, None, :]).reshape(-1, q * m)
        found = np.negative(both.T @ both).reshape(q, m, q, m)
        for k in range(m):
            found[:, k, :, k] += X.T @ ((self.weights * P[:, k])[:, None] * X)
        return found.reshape(q * m, q * m)

    def dual_value(self, F: np.ndarray, t: float) -> float:
        Q = t * softmax(F, axis=1)
        Q[self._own] += 1.0 - t
        return float(self.weights @ entr(Q).sum(axis=1))

    def null(self) -> tuple[np.ndarray, float]:
        sizes = np.bincount(self.codes, self.weights, self.n_outputs)
        shares = sizes / sizes.sum()
        with np.errstate(divide="ignore"):
            intercepts = np.log(shares)
        return intercepts - intercepts.mean(), float(sizes.sum() * entr(shares).sum())


def _rest(P: np.ndarray, own: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """1 - p of the own class of every sample, without cancellation where p is close to one."""
    others = P.copy()
    others[own] = 0.0
    return np.asarray(others.sum(axis=1))
