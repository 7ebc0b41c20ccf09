"""What every feature has left to give, kept up to date as forward selection takes features."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import get_blas_funcs

from ...design import DesignMatrix
from ..engines.group_products import RANK_TOL as RANK_TOL
from .column_prefetch import CandidateBlocks

# Columns that are read beside a product because one of them will most likely win the next step.
CANDIDATES = 16
# Steps after which what drifts by updates is computed anew.
SCORE_REFRESH = 8


class Direction(NamedTuple):
    """The part of a column that is new: v = (x_j - V along) / length, and what the target shows."""

    v: np.ndarray
    responses: np.ndarray
    along: np.ndarray
    length: float
    share: float  # of the column's own squared norm that is new


class Features:
    """Features of a design, for the outputs R that are left to explain.

    Parameters
    ----------
    design, ridge, eligible : the problem.
    n_steps : int
        Length of the path.
    R : ndarray of shape (n_samples, n_outputs)
        The outputs, in the precision of the design.
    """

    design: DesignMatrix
    ridge: float

    def __init__(
        self, design: DesignMatrix, R: np.ndarray, ridge: float, eligible: np.ndarray, n_steps: int
    ):
        dtype = design.dtype
        self.design, self.ridge = design, ridge
        # Outputs are the slow axis, so that rank-one updates run over contiguous features.
        self.C = np.asfortranarray(design.rmatmul(R))
        norms = design.column_sq_norms().astype(dtype, copy=True)
        self.residual: np.ndarray = norms.copy()
        self.open: np.ndarray = eligible & (norms > 0)
        self.norms: np.ndarray = norms
        self.passed: np.ndarray = np.empty(0, dtype=np.int64)
        self.spent: np.ndarray = RANK_TOL[np.dtype(dtype)] * norms
        self.blocks: CandidateBlocks | None = CandidateBlocks.if_they_pay(design, n_steps)
        # ||C_j||^2, kept up to date; recomputed now and then against the drift of the updates.
        self.squares: np.ndarray = _row_squares(self.C)
        self.score: np.ndarray = np.empty(
            len(self.C), dtype=self.C.dtype
        )  # what each would gain as the next

    def winner(self) -> tuple[int, float]:
        """The feature that gains most, and how much."""
        if self.ridge == 0:
            self.open &= self.residual > self.spent
        score = self.score
        np.add(self.residual, self.ridge, out=score)
        with np.errstate(divide="ignore", invalid="ignore"):
            np.divide(self.squares, score, out=score)
        score[~self.open] = 0.0
        np.maximum(score, 0.0, out=score)
        j = int(np.argmax(score))
        return j, float(score[j])

    def mean_gain(self) -> float:
        """Mean of ||x'R||^2 / nu over the features that are open."""
        return float(np.mean(self.squares[self.open] / self.residual[self.open]))

    def column(self, j: int) -> np.ndarray:
        """A feature; where X is read from a file, others that may follow are read with it."""
        if self.blocks is not None:
            self.blocks.choose(j, self.score)
        return self.design.dense_columns([j])[:, 0]

    def pass_over(self, features: np.ndarray) -> None:
        """Close near copies of a feature that was taken, until :meth:`turn_back`."""
        features = features[self.open[features]]
        self.open[features] = False
        self.passed = np.append(self.passed, features)

    def turn_back(self) -> bool:
        """Open again what was passed over; whether that is anything."""
        found, self.passed = self.passed, self.passed[:0]
        self.open[found] = True
        return bool(len(found))

    def take(self, j: int, new: Direction) -> None:
        """Close a feature and take its direction out of all others."""
        p, r, C = self._products(j, new), new.responses, self.C
        ger, gemv = get_blas_funcs(("ger", "gemv"), dtype=C.dtype)
        self.squares += p * (p * float(np.vdot(r, r)) - 2.0 * gemv(1.0, C, r))
        ger(-1.0, p, r, a=C, overwrite_x=0, overwrite_y=0, overwrite_a=1)
        self.residual -= p * p
        if len(new.along) % SCORE_REFRESH == SCORE_REFRESH - 1:
            self.squares[:] = _row_squares(C)
        self.open[j] = False

    def _products(self, j: int, new: Direction) -> np.ndarray:
        if self.blocks is not None:
            return self.blocks.product(j, new, self.score)
        if self.design.passes:  # X is read from a file: let the next winner come along
            self.design.will_need(np.argsort(-self.score, kind="stable")[:CANDIDATES])
        return self.design.rmatmul(new.v[:, None])[:, 0]


def _row_squares(C: np.ndarray) -> np.ndarray:
    total = np.zeros(C.shape[0], dtype=C.dtype)
    for column in C.T:
        total += column * column
    return total
