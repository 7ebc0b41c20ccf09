"""Several classes: l(y, f) = ln sum_k e^(f_k) - f_y, one output per class."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.special import entr, xlogy

from .base import Loss, sample_weights

# Numbers that stay in the cache of a processor while some samples are seen to.
CACHED_NUMBERS = 2**15
# Columns for which sums over samples are made for every two of them.
MAX_SUMMED_COLUMNS = 8
# Where ln p is less, p is no more than nothing.
MAX_LOG = 1e3


class _Shares(NamedTuple):
    """What is known at some predictors.

    What concerns the likeliest class comes from the sum of the others: nothing cancels where it is
    all but certain.

    Attributes
    ----------
    P : ndarray of shape (n, m)
        Probabilities.
    top, left : ndarray of shape (n,)
        The likeliest class, and one less its probability.
    rest : ndarray of shape (n,)
        One less the probability of the class that was seen.
    spread : ndarray of shape (n,)
        The sum of p ln p over all classes but that.
    losses : ndarray of shape (n,)
    """

    P: np.ndarray
    top: np.ndarray
    left: np.ndarray
    rest: np.ndarray
    spread: np.ndarray
    losses: np.ndarray


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
    def from_target(cls, target: Any, weights: np.ndarray | None, settings: Any) -> Self:
        return cls(target.codes, len(target.classes), weights)

    def __init__(
        self, codes: np.ndarray, n_classes: int, weights: np.ndarray | None = None
    ) -> None:
        self.codes, self.n_outputs = np.asarray(codes), n_classes
        self.weights: np.ndarray = sample_weights(weights, len(self.codes))
        self._own = (np.arange(len(self.codes)), self.codes)
        self._latest: tuple[np.ndarray, _Shares] | None = None

    def _parts(self) -> Iterator[slice]:
        """Some samples after the other, with as many numbers as are read fast."""
        n = len(self.codes)
        step = max(CACHED_NUMBERS // self.n_outputs, 1)
        return (slice(first, min(first + step, n)) for first in range(0, n, step))

    def _cached_quantities(self, F: np.ndarray) -> _Shares:
        """What is known at F, remembered for the next question about it."""
        if self._latest is None or not self._is_same(self._latest[0], F):
            known = _Shares(np.empty(F.shape), F.argmax(axis=1), *np.empty((4, len(F))))
            for part in self._parts():
                self._evaluate(F[part], self.codes[part], _Shares(*(a[part] for a in known)))
            self._latest = F.copy(), known
        return self._latest[1]

    def _is_same(self, F: np.ndarray, other: np.ndarray) -> bool:
        """Whether predictors are equal; others mostly differ in the first few samples already."""
        return F.shape == other.shape and all(
            np.array_equal(F[part], other[part]) for part in self._parts()
        )

    def _evaluate(self, F: np.ndarray, codes: np.ndarray, found: _Shares) -> None:
        """Fill in what is found at some samples, but for the likeliest classes."""
        rows, P = np.arange(len(F)), found.P
        top, own = (rows, found.top), (rows, codes)
        F = F - F[top][:, None]
        np.exp(F, out=P)
        P[top] = 0.0
        others = P.sum(axis=1)
        P[top] = 1.0
        P /= (1.0 + others)[:, None]
        log = np.log1p(others)
        found.left[:] = others / (1.0 + others)
        found.losses[:] = log - F[own]
        F -= log[:, None]  # ln p
        share = P[own]
        P[own] = 0.0
        found.rest[:] = P.sum(axis=1)
        found.spread[:] = np.einsum("ik,ik->i", P, np.maximum(F, -MAX_LOG))
        P[own] = share

    def value(self, F: np.ndarray) -> float:
        return float(self.weights @ self._cached_quantities(F).losses)

    def gradient(self, F: np.ndarray) -> np.ndarray:
        known = self._cached_quantities(F)
        G = known.P * self.weights[:, None]
        G[self._own] = -self.weights * known.rest
        return G

    def curvature(self, F: np.ndarray) -> np.ndarray:
        known = self._cached_quantities(F)
        # diag(p) - pp' has no eigenvalue above twice its largest entry, nor above one half.
        # The largest is that of the largest p: the others are at most 1 - p.
        largest = known.P[self._own[0], known.top]
        bound = self.weights * np.minimum(2.0 * largest * known.left, 0.5)
        return np.repeat(bound[:, None], self.n_outputs, axis=1)

    def diagonal(self, F: np.ndarray) -> np.ndarray:
        known = self._cached_quantities(F)
        top = (self._own[0], known.top)
        found = 1.0 - known.P
        found[top] = known.left
        found *= known.P
        found *= self.weights[:, None]
        return found

    def hessian_product(self, F: np.ndarray, V: np.ndarray) -> np.ndarray:
        known = self._cached_quantities(F)
        if V.ndim == 2:
            found = V.copy()
            for part in self._parts():
                _multiply(known.P[part], known.top[part], self.weights[part], found[part])
            return found
        # What all outputs share does not matter: less that of the likeliest class, little cancels.
        V = V - V[self._own[0], known.top][:, None]
        weighted = self.weights[:, None] * known.P
        mean = np.einsum("ik,ikq->iq", known.P, V)
        return np.asarray(weighted[:, :, None] * (V - mean[:, None]))

    def curvature_operator(
        self, F: np.ndarray, X: np.ndarray, dtype: type = np.float64
    ) -> Callable[[np.ndarray], np.ndarray]:
        known = self._cached_quantities(F)
        if X.shape[1] <= MAX_SUMMED_COLUMNS:
            return self._few_columns(known.P, X)
        X = X.astype(dtype, copy=False)
        P: np.ndarray = known.P.astype(dtype, copy=False)
        weights: np.ndarray = self.weights.astype(dtype, copy=False)

        def apply(V: np.ndarray) -> np.ndarray:
            image = np.zeros_like(V)
            for part in self._parts():
                product = X[part] @ V
                _multiply(P[part], known.top[part], weights[part], product)
                image += X[part].T @ product
            return image

        return apply

    def _few_columns(self, P: np.ndarray, X: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """The operator by products with P, and sums of it for every two columns."""
        weighted = self.weights[:, None] * X
        own = np.einsum("iq,ir,ik->qrk", weighted, X, P, optimize=True)

        def apply(V: np.ndarray) -> np.ndarray:
            mean = np.einsum("iq,iq->i", P @ V.T, X)
            shared = (weighted * mean[:, None]).T @ P
            return np.asarray(np.einsum("qrk,rk->qk", own, V) - shared)

        return apply

    def hessian(self, F: np.ndarray, X: np.ndarray) -> np.ndarray:
        P, m, q = self._cached_quantities(F).P, self.n_outputs, X.shape[1]
        both = (X[:, :, None] * (np.sqrt(self.weights)[:, None] * P)[:, None, :]).reshape(-1, q * m)
        found = np.negative(both.T @ both).reshape(q, m, q, m)
        bends = self.diagonal(F)
        for k in range(m):
            found[:, k, :, k] = X.T @ (bends[:, k, None] * X)
        return found.reshape(q * m, q * m)

    def dual_value(self, F: np.ndarray, t: float) -> float:
        known = self._cached_quantities(F)
        # Shares t p, and what is missing goes to the class that was seen. Its share from the sum
        # of the others: nothing cancels where it is close to 1.
        share, others = t * known.P[self._own] + (1.0 - t), t * known.rest
        own = np.where(others < 0.5, -share * np.log1p(-np.minimum(others, 0.5)), entr(share))
        return float(self.weights @ (own - xlogy(t, t) * known.rest - t * known.spread))

    def null(self) -> tuple[np.ndarray, float]:
        sizes = np.bincount(self.codes, self.weights, self.n_outputs)
        shares = sizes / sizes.sum()
        with np.errstate(divide="ignore"):
            intercepts = np.log(shares)
        return intercepts - intercepts.mean(), float(sizes.sum() * entr(shares).sum())


def _multiply(P: np.ndarray, top: np.ndarray, weights: np.ndarray, V: np.ndarray) -> None:
    """The Hessian of some samples times V, in place.

    What all outputs share does not matter: less that of the likeliest class, little cancels.
    """
    V -= V[np.arange(len(V)), top][:, None]
    V -= np.einsum("ik,ik->i", P, V)[:, None]
    V *= P
    V *= weights[:, None]
