"""Reweighted least squares for the robust models, penalised or convex.

Minimises sum_i s_i ||r_i|| + alpha sum_j ||w_j|| + rho (sum of all but the K largest ||w_j||).
The last term is the smallest over K-sets of the row norms outside the set, so that fixing the
set of the current K largest rows gives an upper bound that touches; bounding every norm by a
quadratic on top leaves one linear system per iteration, of the size of the samples or of the
rows still in play. The objective never rises.

Without the last term this is the iteration for RFS as published (Nie, Huang, Cai and Ding, 2010).
With U = (W; E), E = (Y - X W) / alpha and A = (X, alpha I) the problem is min ||U||_2,1 subject to
A U = Y. The iteration is U = D^-1 A' (A D^-1 A')^-1 Y, D = diag(1 / (2 ||u_k||)), from D = I; here
with the unpenalised columns in the equations. The objective falls all the way, but slowly near the
end; the working set needs a tenth of the iterations and certifies its answer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...penalties import row_norms
from ...penalties.concave import TopKGap
from ..base import Callback, Event, Result, relative
from .problem import RobustRegression, RobustSolution
from .weighted_gram import ReweightedSystem

# Rows below this share of the largest are left out for good.
PRUNE_SHARE = 1e-5
# The dense columns of a start use at most about this much memory.
START_MAX_BYTES = 512 << 20


@dataclass(frozen=True)
class ReweightedLeastSquares:
    """Solve one reweighted system after the other.

    Parameters
    ----------
    max_iter : int
        Maximum number of iterations.
    tol : float
        Stop when the objective falls by less, relatively.
    published : bool
        Begin with D = I and keep all eligible features to the end, as published for RFS, instead of
        beginning with a ridge regression and leaving out rows that have become negligible.
    """

    max_iter: int = 300
    tol: float = 1e-6
    published: bool = False

    def solve(
        self,
        problem: RobustRegression,
        start: Result[RobustSolution] | None = None,
        callback: Callback | None = None,
    ) -> Result[RobustSolution]:
        """Iterate from the norms of rows and residuals of ``start``, where there is one."""
        weights = problem.weights
        penalty = TopKGap(problem.k or 0, problem.rho or 0.0, problem.alpha)
        features = problem.features if self.published else _first_rows(problem)
        X, free = problem.columns(features), problem.free_basis
        ridge = start is None and not self.published
        if start is not None:
            lengths = problem.residual_norms(start.solution)
            sizes = np.maximum(lengths, 1e-3 * problem.mean(lengths))
            norms = row_norms(start.solution.W[features])
            norms = np.maximum(norms, 1e-3 * norms.max(initial=0.0) + 1e-300)
        elif self.published:
            norms, sizes = np.ones(len(features)), np.full(len(problem.Y), float(problem.alpha))
        else:
            lengths = row_norms(problem.Y - free @ (free.T @ problem.Y))
            sizes = np.maximum(lengths, 1e-3 * problem.mean(lengths))
            # The scale at which the first step is an even-handed ridge regression.
            spread = float(np.einsum("i,ij,ij->", weights, X, X)) / max(len(features), 1)
            norms = np.full(len(features), problem.mean(sizes) / max(spread, 1e-300))
        trace: list[float] = []
        change = np.inf
        while len(trace) < self.max_iter:
            slopes = np.ones(len(norms)) if ridge else penalty.strengths(norms)
            if not ridge and penalty.alpha == 0:  # rows without any penalty must stay bounded
                slopes = np.maximum(slopes, 1e-10 * penalty.rho)
            ridge = False
            e = sizes / weights
            M, W, B = ReweightedSystem(np.hstack([X, free]), norms / slopes, e).fit(problem.Y)
            norms, lengths = row_norms(W), row_norms(e[:, None] * M)
            trace.append(float(weights @ lengths) + penalty.value(W))
            if len(trace) > 1:
                change = relative(abs(trace[-2] - trace[-1]), trace[-1])
            event = Event(len(trace), trace[-1], change, len(features))
            stop = callback is not None and callback(event)
            if change <= self.tol or stop:
                break
            # Forgetting a row costs its norm at most; the K largest are never forgotten.
            kept = norms > PRUNE_SHARE * norms.max(initial=0.0)
            if not self.published and kept.sum() > penalty.k and not kept.all():
                X, W, features, norms = X[:, kept], W[kept], features[kept], norms[kept]
            sizes = np.maximum(lengths, 1e-10 * problem.mean(lengths))
            norms = np.maximum(norms, 1e-12 * norms.max(initial=0.0) + 1e-300)
        W, B = problem.restrict(features).coefficients(W), problem.free_coefficients(free @ B)
        solution = RobustSolution(W, B, problem.correlations(M))
        return Result(solution, trace[-1], change, len(trace), change <= self.tol, trace)


def _first_rows(problem: RobustRegression) -> np.ndarray:
    """All eligible features, or the most correlated ones where dense columns would be large."""
    features = problem.features
    most = max(1000, START_MAX_BYTES // (8 * len(problem.Y)))
    if len(features) > most:
        correlations = problem.correlations(problem.Y * problem.weights[:, None])[features]
        features = np.sort(features[np.argpartition(-correlations, most - 1)[:most]])
    return features
