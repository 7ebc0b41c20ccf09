"""The reweighting iteration for RFS as published (Nie, Huang, Cai and Ding, 2010).

With U = (W; E), E = (Y - X W) / alpha and A = (X, alpha I) the problem is min ||U||_2,1 subject
to A U = Y. The iteration is U = D^-1 A' (A D^-1 A')^-1 Y, D = diag(1 / (2 ||u_k||)), from D = I;
here in its n x n form, and with the free columns of the data in the equations. The objective
falls all the way, but slowly near the end; the working-set solver needs a tenth of the
iterations and certifies its answer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...penalties import row_norms
from ..base import Callback, Event, Result, relative
from ._weighted_kernel import WeightedKernel
from .problem import RobustData, RobustSolution


@dataclass(frozen=True)
class PublishedReweighting:
    """Settings: at most ``max_iter`` iterations, or until the objective falls by ``tol``."""

    max_iter: int = 200
    tol: float = 1e-6

    def solve(
        self,
        data: RobustData,
        alpha: float,
        eligible: np.ndarray,
        callback: Callback | None = None,
    ) -> Result[RobustSolution]:
        """Iterate on all eligible features, as dense columns."""
        features = np.flatnonzero(eligible)
        free = data.free_basis
        columns = np.hstack([data.columns(features), free])
        norms, sizes = np.ones(len(features)), np.full(len(data.Y), float(alpha))
        trace: list[float] = []
        change = np.inf
        while len(trace) < self.max_iter:
            a, e = norms / alpha, sizes / data.weights
            kernel = WeightedKernel(columns, a, e)
            M, W, B = kernel.fit(data.Y)
            norms, lengths = row_norms(W), row_norms(e[:, None] * M)
            trace.append(float(data.weights @ lengths + alpha * norms.sum()))
            if len(trace) > 1:
                change = relative(abs(trace[-2] - trace[-1]), trace[-1])
            stop = callback is not None and callback(Event(len(trace), trace[-1], change))
            if change <= self.tol or stop:
                break
            # Division by zero is all that the published formulas leave open.
            sizes = np.maximum(lengths, 1e-10 * data.mean(lengths))
            norms = np.maximum(norms, 1e-12 * norms.max(initial=0.0) + 1e-300)
        rows = np.zeros((data.design.shape[1], data.Y.shape[1]))
        rows[features] = W
        solution = RobustSolution(rows, data.free_coefficients(free @ B), data.pulls(M))
        return Result(solution, trace[-1], change, len(trace), change <= self.tol, trace)
