"""Exactly k rows under an l2,1 loss by an augmented Lagrangian (Cai, Nie and Huang, 2013).

Minimises sum_i s_i ||y_i - x_i W - f_i B|| over W with k nonzero rows, where f_i are free columns
such as the intercept. The residual E and a copy V
of W are split off; E is found by shrinking rows, V by keeping the k longest, and (W, B) by least
squares with one factorisation for the whole run. Sample weights multiply both the loss and the
quadratic terms of a sample, so that a weight of two is the sample given twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ...penalties import row_norms
from ...penalties.top_k import largest
from .problem import RobustData


@dataclass
class SplitFit:
    """The outcome: the chosen rows, the split coefficients and how far the copies differ.

    The rows of ``W`` say how much every feature is wanted; ``smooth`` is the copy of the
    coefficients that fits the data and agrees with the sparse one only in the end. ``history``
    holds the loss at the sparse copy after every iteration.
    """

    features: np.ndarray
    W: np.ndarray
    smooth: np.ndarray
    disagreement: float
    n_iter: int
    converged: bool
    history: list[float]


@dataclass(frozen=True)
class TopKLagrangian:
    """Settings: weight ``mu`` of the constraints, growing by ``growth`` per iteration."""

    mu: float = 0.1
    growth: float = 1.02
    max_iter: int = 1000
    tol: float = 1e-6

    def solve(
        self,
        data: RobustData,
        k: int,
        eligible: np.ndarray,
        callback: Callable[[dict], bool | None] | None = None,
    ) -> SplitFit:
        """Run from the ridge regression; stop when the copies agree to ``tol``, relatively."""
        if k == 0:  # nothing to choose; the copies would approach zero for ever
            nothing = np.zeros((data.design.shape[1], data.Y.shape[1]))
            return SplitFit(np.empty(0, dtype=np.int64), nothing, nothing, 0.0, 1, True, [])
        system = _RidgeSystem(data, int(eligible.sum()))
        Y = data.Y.astype(data.design.dtype)
        W, free = system.solve(Y)
        image = data.design.matmul(W)
        gap_E, gap_V = np.zeros_like(Y), np.zeros_like(W)  # multipliers divided by mu
        mu = self.mu
        history: list[float] = []
        disagreement = np.inf
        V = W
        while len(history) < self.max_iter:
            E = _shrink_rows(Y - image - free - gap_E, 1.0 / mu)
            candidate = W + gap_V
            norms = np.where(eligible, row_norms(candidate), -1.0)
            rows = largest(norms, k)
            V = np.zeros_like(W)
            V[rows] = candidate[rows]
            goal = V - gap_V
            target = Y - E - gap_E
            step, free = system.solve(target - data.design.matmul(goal))
            W = goal + step
            image = data.design.matmul(W)
            gap_E += E - (Y - image - free)
            gap_V += W - V
            scale = max(float(np.linalg.norm(V)), np.finfo(V.dtype).tiny)
            disagreement = float(np.linalg.norm(W - V)) / scale
            loss = Y - data.design.matmul(V)
            history.append(float(data.weights @ row_norms(loss - free)))
            stop = callback is not None and callback(
                {"objective": history[-1], "optimality": disagreement, "n_iter": len(history)}
            )
            if disagreement <= self.tol or stop:
                break
            mu *= self.growth
            gap_E /= self.growth
            gap_V /= self.growth
        return SplitFit(
            rows,
            candidate.astype(np.float64),
            W.astype(np.float64),
            disagreement,
            len(history),
            disagreement <= self.tol,
            history,
        )


class _RidgeSystem:
    """min sum_i s_i ||t_i - x_i U - f_i B||^2 + weight ||U||^2 for many T, factorised once.

    The columns of X are orthogonal to the free ones (under the weights), so that F B is found
    without X.
    """

    def __init__(self, data: RobustData, n_eligible: int):
        self.data = data
        self.design = data.weighted_design()
        self.root = np.sqrt(data.weights).astype(self.design.dtype)[:, None]
        self.wide = self.design.shape[1] >= self.design.shape[0]
        matrix = self.design.cross_gram() if self.wide else self.design.gram()
        # The constraint W = V weighs as much as an average column: with a weight of one the
        # steps would crawl on columns of large norm, and ignore the data on those of small.
        scale = float(np.trace(matrix)) / max(n_eligible, 1)
        self.weight = scale if scale > 0 else 1.0
        matrix[np.diag_indices(len(matrix))] += self.weight
        self.factor = cho_factor(matrix, lower=True, overwrite_a=True)

    def solve(self, T):
        """U and F B."""
        free = (self.data.free @ self.data.free_coefficients(T)).astype(T.dtype, copy=False)
        scaled = (T - free) * self.root
        if self.wide:
            return self.design.rmatmul(cho_solve(self.factor, scaled)), free
        return cho_solve(self.factor, self.design.rmatmul(scaled)), free


def _shrink_rows(R, threshold: float):
    norms = row_norms(R)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.where(norms > threshold, 1.0 - threshold / norms, 0.0)
    return (R * factor).astype(R.dtype)
