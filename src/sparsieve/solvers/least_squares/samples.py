"""Descent on the residual of a working set, for exclusive problems with few samples.

With n samples it takes n products per output to look at a row and as many to change it, and no
Gram matrix has to be built, copied or factorised.
"""

from __future__ import annotations

import numpy as np

from ...design import DesignMatrix
from .entry_newton import SampleProducts, newton_entries
from .working_set import Goal, WorkingSet

# A check and a Newton step cost as much as some sweeps, or as many visits to single rows.
SWEEPS_PER_CHECK, ROWS_PER_CHECK = 10, 2000
# Sweeps end when one gains less than this share of the wanted gap.
ENOUGH = 0.01


class SampleSet(WorkingSet):
    """A working set without a Gram matrix."""

    def __init__(self, design: DesignMatrix, Y: np.ndarray):
        super().__init__(design, Y)
        self.norms = np.empty(0)  # ||x_j||^2

    def add(self, features: np.ndarray) -> None:
        old = self.size
        super().add(features)
        block = self.columns[:, old:]
        self.norms = np.concatenate([self.norms, np.einsum("ij,ij->j", block, block)])

    def room(self) -> int:
        # Columns are cheap to hold, and about as many as samples will be needed.
        return max(4 * self.design.shape[0], 2 * len(self.active()))

    def refine(self, G: np.ndarray, R: np.ndarray) -> None:
        if self.design.dtype != np.float64 or self.size == len(G):
            G[self.features] = self.columns.T @ R

    def move_if_lower(self, penalty, candidate: np.ndarray) -> None:
        before, value = self.W, self._value(penalty, self.residual())
        self.W = candidate
        if self._value(penalty, self.residual()) >= value:
            self.W = before

    def descend(self, penalty, goal: Goal, max_sweeps: int) -> int:
        """Coordinate descent with a Newton step after every few sweeps."""
        if self.size == 0:
            return 0
        alpha, beta = (float(s) for s in penalty.row_strengths())
        sweeps = n_steps = 0
        R = np.ascontiguousarray(self.residual().T)
        value = self._value(penalty, R)
        while sweeps < max_sweeps:
            enough = ENOUGH * goal.gap(value)
            sweeps += self._sweep(R, alpha, beta, enough, max_sweeps - sweeps)
            value = self._value(penalty, R)
            gap = value - self._bound(penalty, R)
            if gap <= goal.gap(value) or not np.isfinite(gap):
                break
            active = self.active()
            if len(active):
                columns = self.columns[:, active]
                correlation = columns.T @ self.Y
                self.W[active] = newton_entries(
                    SampleProducts(columns), correlation, alpha, beta, self.W[active], n_steps
                )
                n_steps += 1
                R = np.ascontiguousarray(self.residual().T)
        return sweeps

    def _sweep(self, R, alpha: float, beta: float, enough: float, most: int) -> int:
        """One sweep over the working set, then some over its nonzero rows alone; in place.

        Returns their number, at most ``most``.
        """
        from ._sample_kernels import sample_epochs

        n_outputs = self.W.shape[1]
        scratch = np.empty(n_outputs)
        data = self.columns.T, self.norms, self.W, R, alpha, beta
        sample_epochs(*data, np.arange(self.size), 1, 0.0, scratch)
        active = self.active()
        count = max(SWEEPS_PER_CHECK, ROWS_PER_CHECK // max(1, len(active)))
        return 1 + sample_epochs(*data, active, min(count, most - 1), enough, scratch)

    def _value(self, penalty, R) -> float:
        return float(np.vdot(R, R)) + penalty.value(self.W)

    def _bound(self, penalty, R) -> float:
        """Lower bound of the optimum of the problem on the working set."""
        G = 2.0 * (self.columns.T @ R.T)
        return penalty.dual_bound(self.Y, R.T, G)
