"""What every feature would gain next, from few passes over X.

What every feature has left to give, kept up to date as forward selection takes features.

Products of X with the columns that will most likely enter next, taken in one pass.

A direction of forward selection is a combination of selected columns, v = (x_j - V h) / length.
So are its products with all features, X'v = (X'x_j - P h) / length, where P holds the products of
the directions before. One pass with a block of the most promising columns therefore serves every
step whose winner lies in the block. Winners are always found from up-to-date scores, so that the
features selected are the same as by one pass for every step.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from scipy.linalg.blas import get_blas_funcs

from ...design import DesignMatrix, leading
from ..engines.group_products import RANK_TOL as RANK_TOL

# Fewer steps than this do not repay a block.
MIN_STEPS = 3
# P is held while X has this many rows for every column of P.
MIN_ROWS_PER_COLUMN_HELD = 8
# Blocks whose products are kept, and blocks whose columns come along with a pass over a file.
KEPT_BLOCKS = 4
PREFETCHED_BLOCKS = 3
# Where so little of a column is left, the difference above loses too many digits: a share of its
# squared norm, below which a pass of its own is taken.
MIN_RESIDUAL_SHARE = {np.dtype(np.float64): 1e-6, np.dtype(np.float32): 1e-2}


def blocks_pay(design: Any, n_steps: int) -> bool:
    """Whether blocks save passes that cost something: see ``columns_at_once``."""
    at_once, capacity = design.columns_at_once, design.shape[0] // MIN_ROWS_PER_COLUMN_HELD
    return at_once > 1 and min(n_steps, capacity // 2, capacity - at_once) >= MIN_STEPS


class CandidateBlocks:
    """What the passes so far tell of X'x for promising columns x, and of all directions taken.

    Parameters
    ----------
    design : DesignMatrix
        Which says by ``columns_at_once`` how many columns a block has.
    n_steps : int
        How many features may be selected.
    """

    def __init__(self, design: Any, n_steps: int):
        n_samples, n_features = design.shape
        self.design = design
        self.passes: int = 0
        capacity = n_samples // MIN_ROWS_PER_COLUMN_HELD
        self._most = min(n_steps, capacity // 2, n_features)
        self._at: dict[int, np.ndarray] = {}
        self._coming: list[int] = []
        self._taken = self._empty(min(16, self._most))
        self._min_residual_share = MIN_RESIDUAL_SHARE[np.dtype(design.dtype)]

    @classmethod
    def if_they_pay(cls, design: Any, n_steps: int) -> Self | None:
        """Blocks, where they pay."""
        return cls(design, n_steps) if blocks_pay(design, n_steps) else None

    def choose(self, j: int, scores: np.ndarray) -> None:
        """Choose the columns to read beside that of feature j, where nothing is known of it yet."""
        if j in self._at or j in self._coming:
            return
        at_once = self.design.columns_at_once
        wanted = leading(scores, (1 + PREFETCHED_BLOCKS) * at_once + len(self._at)).tolist()
        others = [place for place in wanted if place not in self._at and place != j]
        self._coming = [j, *others[: at_once - 1]]
        if self.design.passes:  # one pass for all of them; more come along with the product
            self.design.dense_columns(self._coming)
            self.design.hint_columns(np.array(others[at_once - 1 :], dtype=np.int64))

    def product(self, j: int, new: Any, scores: np.ndarray) -> np.ndarray:
        """Products of all features with the ``Direction`` of feature j."""
        step = len(new.along)
        if step >= self._most or new.share < self._min_residual_share:
            product = self._pass(new.v[:, None])[0]
        else:
            self.choose(j, scores)
            self._read_block()
            product = self._at.pop(j)
            product = product - new.along.astype(product.dtype, copy=False) @ self._taken[:step]
            product /= new.length
        if step < self._most:
            self._keep(step, product)
        return product

    def _read_block(self) -> None:
        """Take the products of all features with the columns that were chosen."""
        if not self._coming:
            return
        products = self._pass(self.design.dense_columns(self._coming))
        self._at.update(zip(self._coming, products, strict=True))
        self._coming = []
        while len(self._at) > KEPT_BLOCKS * self.design.columns_at_once:
            del self._at[next(iter(self._at))]  # the oldest is the least likely to win still

    def _keep(self, step: int, product: np.ndarray) -> None:
        if step == len(self._taken):
            taken = self._empty(min(2 * step, self._most))
            taken[:step] = self._taken
            self._taken = taken
        self._taken[step] = product

    def _empty(self, n_rows: int) -> np.ndarray:
        return np.empty((n_rows, self.design.shape[1]), dtype=self.design.dtype)

    def _pass(self, U: np.ndarray) -> np.ndarray:
        """X'U with an output in every row."""
        self.passes += 1
        return self.design.rmatmul(U).T


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
            self.design.hint_columns(np.argsort(-self.score, kind="stable")[:CANDIDATES])
        return self.design.rmatmul(new.v[:, None])[:, 0]


def _row_squares(C: np.ndarray) -> np.ndarray:
    total = np.zeros(C.shape[0], dtype=C.dtype)
    for column in C.T:
        total += column * column
    return total
