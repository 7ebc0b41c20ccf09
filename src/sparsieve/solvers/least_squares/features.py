"""What every feature has left to give, kept up to date as forward selection takes features."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import get_blas_funcs

from ...design import DesignMatrix, contiguous_rows, stream
from .candidates import CandidateBlocks

# From this many features on, compiled loops do the bookkeeping: NumPy would read and write every
# array a dozen times a step, which then costs as much as the product with X.
COMPILED = 100_000
# The same where this path is one of many, so that compiling pays on smaller data.
COMPILED_IF_MANY = 5_000
# Columns that are read beside a product because one of them will most likely win the next step.
CANDIDATES = 16
# Steps after which what drifts by updates is computed anew.
REFRESH = 8
# A column whose residual has shrunk to this share of its squared norm lies in the span of the
# selected ones (a duplicate, a constant): it has nothing left to add.
SPENT = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 1e-5}


_one_of_many: ContextVar[bool] = ContextVar("one_of_many", default=False)


@contextmanager
def many_paths() -> Iterator[None]:
    """Say that the paths made in here are some of very many on data of the same size."""
    before = _one_of_many.set(True)
    try:
        yield
    finally:
        _one_of_many.reset(before)


class Direction(NamedTuple):
    """The part of a column that is new: v = (x_j - V along) / length, and what the target shows."""

    v: np.ndarray
    responses: np.ndarray
    along: np.ndarray
    length: float
    share: float  # of the column's own squared norm that is new


def features_of(
    design: DesignMatrix, R: np.ndarray, ridge: float, eligible: np.ndarray | None, n_steps: int
) -> Features:
    """The features of a problem; very many of them by compiled loops."""
    few = design.shape[1] < (COMPILED_IF_MANY if _one_of_many.get() else COMPILED)
    return (Features if few else VeryManyFeatures)(design, R, ridge, eligible, n_steps)


class Features:
    """Features of a design, for the outputs R that are left to explain.

    Parameters
    ----------
    design, ridge, eligible, n_steps : as ``forward_path`` takes them.
    R : ndarray of shape (n_samples, n_outputs)
        The outputs, in the precision of the design.
    """

    def __init__(self, design: DesignMatrix, R: np.ndarray, ridge: float, eligible, n_steps: int):
        n_features, dtype = design.shape[1], design.dtype
        self.design, self.ridge = design, ridge
        # Outputs are the slow axis, so that rank-one updates run over contiguous features.
        self.C = np.asfortranarray(design.rmatmul(R))
        norms = design.column_sq_norms().astype(dtype, copy=True)
        self.residual = norms.copy()
        self.open = np.ones(n_features, dtype=bool) if eligible is None else eligible.copy()
        self.open &= norms > 0
        self.spent = SPENT[np.dtype(dtype)] * norms
        self.blocks = CandidateBlocks.if_they_pay(design, n_steps)
        self._start()

    def _start(self) -> None:
        # ||C_j||^2, kept up to date; recomputed now and then against the drift of the updates.
        self.squares = _row_squares(self.C)
        self.score = np.empty(len(self.C), dtype=self.C.dtype)

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

    def pull(self) -> float:
        """Mean of ||x'R||^2 / nu over the features that are open."""
        return float(np.mean(self._squares()[self.open] / self.residual[self.open]))

    def correlations(self, j: int) -> np.ndarray:
        """Products of a feature with what is left of the outputs."""
        return self.C[j]

    def column(self, j: int) -> np.ndarray:
        """A feature; where X is read from a file, others that may follow are read with it."""
        if self.blocks is not None:
            self.blocks.choose(j, self._scores)
        return self.design.dense_columns([j])[:, 0]

    def take(self, j: int, new: Direction) -> None:
        """Close a feature and take its direction out of all others."""
        p, r, C = self._products(j, new), new.responses, self.C
        ger, gemv = get_blas_funcs(("ger", "gemv"), dtype=C.dtype)
        self.squares += p * (p * float(np.vdot(r, r)) - 2.0 * gemv(1.0, C, r))
        ger(-1.0, p, r, a=C, overwrite_x=0, overwrite_y=0, overwrite_a=1)
        self.residual -= p * p
        if len(new.along) % REFRESH == REFRESH - 1:
            self.squares[:] = _row_squares(C)
        self.open[j] = False

    def scores(self) -> np.ndarray:
        """What each feature would gain if it came next."""
        return self._scores().astype(np.float64)

    def _scores(self) -> np.ndarray:
        return self.score

    def _squares(self) -> np.ndarray:
        return self.squares

    def _products(self, j: int, new: Direction) -> np.ndarray:
        if self.blocks is not None:
            return self.blocks.product(j, new, self._scores)
        if self.design.passes:  # X is read from a file: let the next winner come along
            self.design.will_need(np.argsort(-self._scores(), kind="stable")[:CANDIDATES])
        return self.design.rmatmul(new.v[:, None])[:, 0]


class VeryManyFeatures(Features):
    """The same with every array read and written once a step."""

    def _start(self) -> None:
        from . import _forward_kernels as kernels

        self._kernels = kernels
        # Of how much of a feature something must be left: with a ridge any feature that is open
        # may come, without one those in the span of the ones taken have nothing to add.
        spent = -np.inf if self.ridge > 0 else self.spent
        self._least = np.where(self.open, spent, np.inf).astype(self.C.dtype)
        self._state = self.C.T, self.residual, self._least, self.C.dtype.type(self.ridge)
        self._rows = None if self.blocks is not None else contiguous_rows(self.design)
        nothing = np.zeros(self.C.shape[1], dtype=self.C.dtype)
        self._advance(np.zeros(len(self.C), dtype=self.C.dtype), nothing)

    def winner(self) -> tuple[int, float]:
        j, gain = self._best
        return int(j), float(gain)

    def take(self, j: int, new: Direction) -> None:
        if self._rows is None:
            p = self._products(j, new)
            self._close(j)
            self._advance(p, new.responses)
            return
        self._close(j)
        rows, weights = self._rows
        direction = rows.direction(new.v if weights is None else new.v * weights)
        given = (rows, *direction, new.responses, *self._state)
        self._lead(partial(self._kernels.advance_along, *given), self.design.stored)

    def _close(self, j: int) -> None:
        self.open[j] = False
        self._least[j] = np.inf

    def _advance(self, p: np.ndarray, r: np.ndarray) -> None:
        self._lead(partial(self._kernels.advance, p, r, *self._state), self.C.size)

    def _lead(self, work, size: int) -> None:
        if size < stream.WORTH_A_THREAD:
            self._best = work(0, len(self.C))
            return
        unit = stream.ALIGNED if self._rows is None else self._rows[0].clip.width
        found = stream.in_strips(work, len(self.C), size, unit)
        self._best = max(found, key=lambda one: one[1])  # the first of equals

    def _scores(self) -> np.ndarray:
        left = self.residual + self.C.dtype.type(self.ridge)
        free = self.residual > self._least
        score = np.divide(self._squares(), left, out=np.zeros_like(left), where=free)
        return np.maximum(score, 0.0, out=score)

    def _squares(self) -> np.ndarray:
        return _row_squares(self.C)


def _row_squares(C: np.ndarray) -> np.ndarray:
    total = np.zeros(C.shape[0], dtype=C.dtype)
    for column in C.T:
        total += column * column
    return total
