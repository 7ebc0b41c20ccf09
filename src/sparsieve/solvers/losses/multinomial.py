"""Several classes: l(y, f) = ln sum_k e^(f_k) - f_y, one output per class."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import entr, xlog1py

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

    task: ClassVar[str] = "classification"
    is_redundant = True

    @classmethod
    def of(cls, target: Any, weights: np.ndarray | None, settings: Any) -> Self:
        return cls(target.codes, len(target.classes), weights)

    def __init__(
        self, codes: np.ndarray, n_classes: int, weights: np.ndarray | None = None
    ) -> None:
        self.codes, self.n_outputs = np.asarray(codes), n_classes
        self.weights: np.ndarray = sample_weights(weights, len(self.codes))
        self._own = (np.arange(len(self.codes)), self.codes)
        self._latest: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] | None = None

    def _at(self, F: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(probabilities p, 1 - p, losses), remembered for the next question about F.

        What concerns the likeliest class comes from the sum of the others: nothing cancels where it
        is all but certain.
        """
        if self._latest is None or not np.array_equal(self._latest[0], F):
            top = (self._own[0], F.argmax(axis=1))
            highest = F[top]
            P = np.exp(F - highest[:, None])
            P[top] = 0.0
            others = P.sum(axis=1)
            P[top] = 1.0
            P /= (1.0 + others)[:, None]
            rest = 1.0 - P
            rest[top] = others / (1.0 + others)
            self._latest = F.copy(), P, rest, highest - F[self._own] + np.log1p(others)
        return self._latest[1:]

    def value(self, F: np.ndarray) -> float:
        return float(self.weights @ self._at(F)[2])

    def gradient(self, F: np.ndarray) -> np.ndarray:
        G = self._at(F)[0].copy()
        # 1 - p from the other classes: without cancellation where p is close to one.
        G[self._own] = 0.0
        G[self._own] = -G.sum(axis=1)
        G *= self.weights[:, None]
        return G

    def curvature(self, F: np.ndarray) -> np.ndarray:
        P, rest, _ = self._at(F)
        # diag(p) - pp' has no eigenvalue above twice its largest entry, nor above one half.
        # The largest is that of the largest p: the others are at most 1 - p.
        bound = np.minimum(2.0 * P.max(axis=1) * rest.min(axis=1), 0.5)
        return np.repeat((self.weights * bound)[:, None], self.n_outputs, axis=1)

    def diagonal(self, F: np.ndarray) -> np.ndarray:
        P, rest, _ = self._at(F)
        return np.asarray(self.weights[:, None] * P * rest)

    def hessian_product(self, F: np.ndarray, V: np.ndarray) -> np.ndarray:
        P = self._at(F)[0]
        # What all outputs share does not matter: less that of the likeliest class, little cancels.
        V = V - V[np.arange(len(V)), P.argmax(axis=1)][:, None]
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
        bends = self.diagonal(F)
        for k in range(m):
            found[:, k, :, k] = X.T @ (bends[:, k, None] * X)
        return found.reshape(q * m, q * m)

    def dual_value(self, F: np.ndarray, t: float) -> float:
        P, rest, _ = self._at(F)
        Q = t * P
        Q[self._own] += 1.0 - t
        # The largest share from the sum of the others: nothing cancels where it is close to 1.
        top = (self._own[0], Q.argmax(axis=1))
        others = t * rest[top] + (1.0 - t) * (top[1] != self.codes)
        entropies = entr(Q)
        entropies[top] = -xlog1py(Q[top], -np.minimum(others, 1.0))
        return float(self.weights @ entropies.sum(axis=1))

    def null(self) -> tuple[np.ndarray, float]:
        sizes = np.bincount(self.codes, self.weights, self.n_outputs)
        shares = sizes / sizes.sum()
        with np.errstate(divide="ignore"):
            intercepts = np.log(shares)
        return intercepts - intercepts.mean(), float(sizes.sum() * entr(shares).sum())
