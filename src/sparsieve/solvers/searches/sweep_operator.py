"""All supports of a small problem within reach: the swept Gram matrix.

Sweeping the Gram matrix of (X, Y) on a support S solves the regression of every column on X_S at
once: the swept matrix holds H = (X_S'X_S + ridge I)^-1, the coefficients of the other columns and
of Y, and the Gram matrix of what S leaves of them. A change of the support is one more sweep.
"""

from __future__ import annotations

import numpy as np

from ...design import DesignMatrix
from .forward_scores import RANK_TOL
from .redundancy import Redundancy

# Pairs of features considered for leaving together, cheapest first.
PAIRS = 50


class SweptGram:
    """A support of a problem with few features, exchanged one for one or two for two."""

    def __init__(
        self,
        design: DesignMatrix,
        Y: np.ndarray,
        ridge: float,
        candidates: np.ndarray,
        redundancy: Redundancy | None = None,
    ):
        n_features = design.shape[1]
        # Pairs of near copies, which are never inside together.
        self._alike = np.zeros((n_features, n_features), dtype=bool)
        if redundancy is not None:
            self._alike = redundancy.conflicts()
            candidates = candidates & ~self._alike[:, redundancy.always].any(axis=1)
        X = design.dense_columns(np.arange(n_features)).astype(np.float64)
        joint = np.hstack([X, Y.astype(np.float64)])
        self._A = joint.T @ joint
        self._norms = np.diag(self._A)[:n_features].copy()
        self._A[np.arange(n_features), np.arange(n_features)] += ridge
        self._spent = RANK_TOL[np.dtype(design.dtype)] * (self._norms + ridge)
        self._candidates = candidates & (self._norms > 0)
        self._d = n_features
        self._inside = np.zeros(n_features, dtype=bool)
        self.order: list[int] = []

    @property
    def objective(self) -> float:
        """Min ||Y - X_S W||^2 + ridge ||W||^2."""
        return float(np.trace(self._A[self._d :, self._d :]))

    def best_addition(self) -> tuple[int, float]:
        """The feature that lowers the objective most, and by how much."""
        gains = self.gains()
        best = int(np.argmax(gains))
        return best, float(gains[best])

    def gains(self) -> np.ndarray:
        """By how much each feature would lower the objective; 0 for those that cannot enter."""
        outside = np.flatnonzero(self._outside() & ~self._alike[:, self._inside].any(axis=1))
        gains = np.zeros(self._d)
        C, nu = self._A[outside, self._d :], np.diag(self._A)[outside]
        gains[outside] = (C * C).sum(axis=1) / nu
        return gains

    def add(self, feature: int) -> None:
        """Sweep on ``feature``."""
        self._sweep(feature)
        self._inside[feature] = True
        self.order.append(feature)

    def remove(self, feature: int) -> None:
        """Undo the sweep on ``feature``."""
        self._sweep(feature)
        self._inside[feature] = False
        self.order.remove(feature)

    def cheapest(self) -> int:
        """The feature whose removal costs least."""
        inside, costs = self._costs()
        return int(inside[np.argmin(costs)])

    def best_exchange(self) -> tuple[tuple[int, ...], tuple[int, ...], float]:
        """The best exchange of one feature for one or of two for two."""
        outside = np.flatnonzero(self._outside(after_removal=True))
        single = self._best_single(outside)
        if single[2] > 0:
            return single
        double = self._best_double(outside)
        return double if double[2] > single[2] else single

    def _best_single(self, outside):
        inside, costs = self._costs()
        if not len(outside) or not len(inside):
            return (), (), -np.inf
        A, d = self._A, self._d
        h = -np.diag(A)[inside]
        Z = A[np.ix_(outside, inside)] / h
        C, W = A[outside, d:], A[inside, d:]
        nu = np.diag(A)[outside][:, None] + Z * Z * h
        gains = (C * C).sum(axis=1)[:, None] + Z * (2.0 * C @ W.T + Z * (W * W).sum(axis=1))
        left = (nu > self._spent[outside, None]) & ~self._stays_alike(outside, inside[:, None])
        gains = np.divide(gains, nu, out=np.zeros_like(gains), where=left) - costs
        i, j = divmod(int(np.argmax(gains)), len(inside))
        return (int(inside[j]),), (int(outside[i]),), float(gains[i, j])

    def _best_double(self, outside):
        inside, _ = self._costs()
        if len(outside) < 2 or len(inside) < 2:
            return (), (), -np.inf
        A, d = self._A, self._d
        first, second = np.triu_indices(len(inside), 1)
        pairs = np.stack([inside[first], inside[second]], axis=1)
        # H restricted to each pair, inverted: what leaving together does to everything else.
        H = -A[pairs[:, :, None], pairs[:, None, :]]
        M = np.linalg.inv(H)
        W = A[pairs, d:]
        costs = np.einsum("pac,pab,pbc->p", W, M, W)
        kept = np.argsort(costs, kind="stable")[:PAIRS]
        pairs, M, W, costs = pairs[kept], M[kept], W[kept], costs[kept]
        Z = np.swapaxes(A[outside][:, pairs], 0, 1)  # pair x outside x 2
        ZM = Z @ M
        C = A[outside, d:] + ZM @ W
        N = A[np.ix_(outside, outside)] + ZM @ np.swapaxes(Z, 1, 2)
        a, b = np.triu_indices(len(outside), 1)
        inner = C @ np.swapaxes(C, 1, 2)
        saa, sbb, sab = inner[:, a, a], inner[:, b, b], inner[:, a, b]
        naa, nbb, nab = N[:, a, a], N[:, b, b], N[:, a, b]
        determinant = naa * nbb - nab * nab
        spent = self._spent[outside]
        alike = self._stays_alike(outside, pairs).T  # pair x outside
        sound = (determinant > spent[a] * nbb) & (determinant > spent[b] * naa)
        sound &= ~(alike[:, a] | alike[:, b] | self._alike[outside[a], outside[b]])
        gains = np.full(determinant.shape, -np.inf)
        np.divide(saa * nbb + sbb * naa - 2.0 * sab * nab, determinant, out=gains, where=sound)
        gains -= costs[:, None]
        p, t = divmod(int(np.argmax(gains)), len(a))
        into = (int(outside[a[t]]), int(outside[b[t]]))
        return (int(pairs[p, 0]), int(pairs[p, 1])), into, float(gains[p, t])

    def _stays_alike(self, outside: np.ndarray, leaving: np.ndarray) -> np.ndarray:
        """Which features outside are like one that stays when others leave: outside x leaving."""
        alike = self._alike[outside]
        n_alike = alike[:, self._inside].sum(axis=1)
        return n_alike[:, None] > alike[:, leaving].sum(axis=2)

    def _costs(self) -> tuple[np.ndarray, np.ndarray]:
        inside = np.flatnonzero(self._inside)
        W = self._A[inside, self._d :]
        return inside, (W * W).sum(axis=1) / -np.diag(self._A)[inside]

    def _outside(self, after_removal: bool = False) -> np.ndarray:
        """Features that may enter; one in the span of the support may once others have left."""
        free = self._candidates & ~self._inside
        if not after_removal:
            free &= np.diag(self._A)[: self._d] > self._spent
        return free

    def _sweep(self, feature: int) -> None:
        A = self._A
        pivot = A[feature, feature]
        row = A[feature].copy()
        A -= np.outer(row, row / pivot)
        A[feature] = A[:, feature] = row / pivot if pivot > 0 else -row / pivot
        A[feature, feature] = -1.0 / pivot
