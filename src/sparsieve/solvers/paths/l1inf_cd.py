"""Descent on a working set for the l1,inf norm, whose rows are cut at a level."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from ..._beside import put
from ...design import DesignMatrix
from .working_set import Goal, WorkingSet

GAP_FREQ = 10
# Solutions that an extrapolation combines, as in Anderson's acceleration.
MEMORY = 5


class CutRowsSet(WorkingSet):
    """Coordinate descent on the residual, with extrapolation: no Newton step crosses the kinks."""

    needs: ClassVar[str] = "levels"

    def __init__(self, design: DesignMatrix, Y: np.ndarray):
        super().__init__(design, Y)
        self.norms: np.ndarray = np.empty(0)  # ||x_j||^2

    def add(self, features: np.ndarray) -> None:
        old = self.size
        super().add(features)
        block = self.columns[:, old:]
        self.norms = np.concatenate([self.norms, np.einsum("ij,ij->j", block, block)])

    def batch_size(self) -> int:
        return max(20, 2 * len(self.active()))

    def refine(self, G: Any, R: np.ndarray) -> None:
        if self.design.dtype != np.float64 or self.size == len(G):
            put(G, self.features, self.columns.T @ R)

    def move_if_lower(self, penalty: Any, candidate: np.ndarray) -> None:
        before, value = self.W, self._value(penalty, self.residual())
        self.W = candidate
        if self._value(penalty, self.residual()) >= value:
            self.W = before

    def descend(self, penalty: Any, goal: Goal, max_sweeps: int) -> int:
        from ._l1inf_kernels import cut_row_epochs

        if self.size == 0:
            return 0
        scratch = np.empty(self.W.shape[1])
        data = self.columns.T, self.norms
        everyone = np.arange(self.size)
        past: list[np.ndarray] = []
        sweeps = 0
        R = np.ascontiguousarray(self.residual().T)
        while sweeps < max_sweeps:
            cut_row_epochs(*data, self.W, R, float(penalty.alpha), everyone, 1, scratch)
            count = min(GAP_FREQ - 1, max_sweeps - sweeps - 1)
            cut_row_epochs(*data, self.W, R, float(penalty.alpha), self.active(), count, scratch)
            sweeps += 1 + count
            value, G = self._value(penalty, R), 2.0 * (self.columns.T @ R.T)
            gap = value - penalty.dual_bound(self.Y, R.T, G)
            # The dual norm of a row, an l1 norm, moves by up to sqrt(n_outputs) times its l2 norm.
            spread = np.sqrt(self.norms * self.W.shape[1])
            while goal.decided and gap <= goal.gap(value):
                if not self.in_doubt(self.norms, spread, penalty.dual_norms(G), penalty.alpha, gap):
                    break
                goal = goal.tightened()
            if not gap > goal.gap(value):  # also where it is no number
                break
            past = [*past[-MEMORY:], self.W.copy()]
            if len(past) > MEMORY:
                self.move_if_lower(penalty, extrapolated(past))
                R = np.ascontiguousarray(self.residual().T)
        return sweeps

    def _value(self, penalty: Any, R) -> float:
        return float(np.vdot(R, R)) + penalty.value(self.W)


def extrapolated(past: list[np.ndarray]) -> np.ndarray:
    """The affine combination of iterates whose steps cancel best; rows at zero stay there."""
    steps = np.array([(b - a).ravel() for a, b in pairwise(past)])
    products = steps @ steps.T
    products += 1e-10 * np.trace(products) * np.eye(len(steps))
    try:
        weights = np.linalg.solve(products, np.ones(len(steps)))
    except np.linalg.LinAlgError:
        return past[-1]
    total = weights.sum()
    if not np.isfinite(total) or total == 0.0:
        return past[-1]
    mixed = np.tensordot(weights / total, np.array(past[1:]), axes=1)
    mixed[~past[-1].any(axis=1)] = 0.0
    return mixed
