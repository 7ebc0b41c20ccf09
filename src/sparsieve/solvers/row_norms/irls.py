"""Reweighted least squares for the penalised robust model, with rows pruned on the way.

Minimises sum_i s_i ||r_i|| + alpha sum_j ||w_j|| + rho (sum of all but the K largest ||w_j||).
The last term is the smallest over K-sets of the row norms outside the set, so that fixing the
set of the current K largest rows gives an upper bound that touches; bounding every norm by a
quadratic on top leaves one linear system per iteration, of the size of the samples or of the
rows still in play. The objective never rises.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...penalties import row_norms
from ...penalties.top_k import TopKGap
from ..base import Callback, Event, Result, relative
from ._weighted_kernel import WeightedKernel
from .problem import RobustData, RobustSolution

PRUNE = 1e-5
# The rows of a start use at most about this much memory.
START_BYTES = 512 << 20


@dataclass(frozen=True)
class ReweightedLeastSquares:
    """Settings: at most ``max_iter`` iterations, or until the objective falls by ``tol``."""

    max_iter: int = 300
    tol: float = 1e-6

    def solve(
        self,
        data: RobustData,
        penalty: TopKGap,
        eligible: np.ndarray,
        callback: Callback | None = None,
    ) -> Result[RobustSolution]:
        """Minimise from the ridge solution, in which every row takes part."""
        n_features = data.design.shape[1]
        features = self._first_rows(data, eligible)
        X = data.columns(features)
        free = data.free_basis
        lengths = row_norms(data.Y - free @ (free.T @ data.Y))
        sizes = np.maximum(lengths, 1e-3 * data.mean(lengths))
        # The scale at which the first step is an even-handed ridge regression.
        spread = float(np.einsum("i,ij,ij->", data.weights, X, X)) / max(len(features), 1)
        norms = np.full(len(features), data.mean(sizes) / max(spread, 1e-300))
        first = True
        trace: list[float] = []
        change = np.inf
        while len(trace) < self.max_iter:
            slopes = np.ones(len(norms)) if first else penalty.strengths(norms)
            if not first and penalty.alpha == 0:  # rows without any penalty must stay bounded
                slopes = np.maximum(slopes, 1e-10 * penalty.rho)
            a = norms / slopes
            first = False
            kernel = WeightedKernel(np.hstack([X, free]), a, sizes / data.weights)
            M, W, B = kernel.fit(data.Y)
            residual = (sizes / data.weights)[:, None] * M
            norms, lengths = row_norms(W), row_norms(residual)
            trace.append(float(data.weights @ lengths) + penalty.value(W))
            sizes = np.maximum(lengths, 1e-10 * data.mean(lengths))
            if len(trace) > 1:
                change = relative(abs(trace[-2] - trace[-1]), trace[-1])
            stop = callback is not None and callback(
                Event(len(trace), trace[-1], change, len(features))
            )
            if change <= self.tol or stop:
                break
            # Forgetting a row costs its norm at most; the K largest are never forgotten.
            kept = norms > PRUNE * norms.max(initial=0.0)
            if kept.sum() > penalty.k and not kept.all():
                X, W, features, norms = X[:, kept], W[kept], features[kept], norms[kept]
            norms = np.maximum(norms, 1e-12 * norms.max(initial=0.0) + 1e-300)
        coefficients = np.zeros((n_features, data.Y.shape[1]))
        coefficients[features] = W
        solution = RobustSolution(coefficients, data.free_coefficients(free @ B))
        return Result(solution, trace[-1], change, len(trace), change <= self.tol, trace)

    def _first_rows(self, data: RobustData, eligible: np.ndarray) -> np.ndarray:
        """All eligible features, or the most promising ones where X as dense columns is large."""
        features = np.flatnonzero(eligible)
        room = max(1000, START_BYTES // (8 * len(data.Y)))
        if len(features) > room:
            pulls = data.pulls(data.Y * data.weights[:, None])[features]
            features = np.sort(features[np.argpartition(-pulls, room - 1)[:room]])
        return features
