"""Descent on a working set for the l1,inf norm, whose rows are cut at a level."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from ..least_squares import LeastSquares
from .rows_model import RowsModel

GAP_FREQ = 10
# Solutions that an extrapolation combines, as in Anderson's acceleration.
MEMORY = 5


class CutRowsModel(RowsModel):
    """Coordinate descent on the residual, with extrapolation: no Newton step crosses the kinks."""

    needs: ClassVar[str] = "levels"

    def __init__(self, problem: LeastSquares) -> None:
        super().__init__(problem)
        self.norms: np.ndarray = np.empty(0)  # ||x_j||^2

    @property
    def squares(self) -> np.ndarray:
        return self.norms

    @property
    def spread(self) -> int:
        return self.W.shape[1]

    def add(self, units: np.ndarray) -> None:
        old = self.size
        super().add(units)
        block = self.columns[:, old:]
        self.norms = np.concatenate([self.norms, np.einsum("ij,ij->j", block, block)])

    def move_if_lower(self, penalty: Any, candidate: np.ndarray) -> None:
        before, value = self.W, self._value(penalty, self.residual(self.W))
        self.W = candidate
        if self._value(penalty, self.residual(self.W)) >= value:
            self.W = before

    def descend(self, penalty: Any, share: float, max_sweeps: int) -> tuple[int, float]:
        from ._l1inf_kernels import cut_row_epochs

        scratch = np.empty(self.W.shape[1])
        data = self.columns.T, self.norms
        everyone = np.arange(self.size)
        past: list[np.ndarray] = []
        sweeps, gap = 0, np.inf
        R = np.ascontiguousarray(self.residual(self.W).T)
        while sweeps < max_sweeps:
            cut_row_epochs(*data, self.W, R, float(penalty.alpha), everyone, 1, scratch)
            count = min(GAP_FREQ - 1, max_sweeps - sweeps - 1)
            cut_row_epochs(*data, self.W, R, float(penalty.alpha), self.active(), count, scratch)
            sweeps += 1 + count
            value, G = self._value(penalty, R), 2.0 * (self.columns.T @ R.T)
            gap = value - penalty.dual_bound(self.Y, R.T, G)
            if not gap > share * max(value, self.problem.floor):  # also where it is no number
                break
            past = [*past[-MEMORY:], self.W.copy()]
            if len(past) > MEMORY:
                self.move_if_lower(penalty, extrapolated(past))
                R = np.ascontiguousarray(self.residual(self.W).T)
        return sweeps, gap

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
