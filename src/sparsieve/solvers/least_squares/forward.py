"""Forward selection for (ridge) least squares: at most one pass over X per feature, one run.

The ridge problem on a support S, min ||Y - X_S W||^2 + ridge ||W||^2, is ordinary least squares
on the augmented columns a_j = (x_j; sqrt(ridge) e_j). Adding feature j to S therefore lowers
the optimum by exactly ||a_j' R||^2 / ||residual part of a_j||^2, and because the lower halves of
different a_j are orthogonal this is ||x_j' R||^2 / (ridge + nu_j) with nu_j the residual squared
norm of the upper half. ridge = 0 is orthogonal least squares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import get_blas_funcs

from ...design import DenseDesign, DesignMatrix, stream
from ..base import Callback, Event, Path, Result
from .candidates import CandidateBlocks

# From this many features on, compiled loops do the bookkeeping: NumPy would read and write every
# array a dozen times a step, which then costs as much as the product with X.
COMPILED = 100_000
# The same where this path is one of many, so that compiling pays on smaller data.
COMPILED_IF_MANY = 5_000
# Columns that are read beside a product because one of them will most likely win the next step.
CANDIDATES = 16
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


@dataclass(frozen=True)
class Standing:
    """How a path stands before its next step.

    Attributes
    ----------
    n_selected : int
        Features so far.
    gain : float
        Decrease of the objective by the next one.
    residual : float
        Residual sum of squares.
    pull : float
        Mean of ||x'R||^2 / nu over the columns not selected, where nu is the squared norm of what
        the selected columns leave of x: for columns of noise it is the residual sum of squares
        over its degrees of freedom.
    spent : float
        Effective degrees of freedom of the fit, the trace of the matrix that maps Y to it.
    """

    n_selected: int
    gain: float
    residual: float
    pull: float
    spent: float


class Direction(NamedTuple):
    """The part of a column that is new: v = (x_j - V along) / length, and what the target shows."""

    v: np.ndarray
    responses: np.ndarray
    along: np.ndarray
    length: float
    share: float  # of the column's own squared norm that is new


EndRule = Callable[[Standing], bool]  # asked before every step: is this the end?


@dataclass(frozen=True)
class ForwardSelection:
    """A nested path of supports, and what gives the coefficients on each of them.

    Attributes
    ----------
    path : Path
        Features in order of entry, and the objective with the first 0, 1, 2, ... of them.
    gains : ndarray of shape (n_steps,)
        Decrease of the objective by every step.
    remaining : ndarray of shape (n_features,)
        What each feature would gain if it came next; 0 for those selected or spent.
    directions : ndarray of shape (n_steps, n_steps)
        Row t expresses the t-th orthonormal direction in the features selected by then.
    responses : ndarray of shape (n_steps, n_outputs)
        What the target shows in that direction; ``gains`` are its squared norms.
    """

    path: Path
    gains: np.ndarray
    remaining: np.ndarray
    directions: np.ndarray
    responses: np.ndarray

    def coefficients(self, n_steps: int) -> np.ndarray:
        """Coefficients of the first ``n_steps`` features, exact for that support."""
        return self.directions[:n_steps, :n_steps].T @ self.responses[:n_steps]


def forward_path(
    design: DesignMatrix,
    Y: np.ndarray,
    *,
    ridge: float,
    n_steps: int,
    eligible: np.ndarray | None = None,
    stop: EndRule | None = None,
    callback: Callback | None = None,
) -> Result[ForwardSelection]:
    """Select features one by one, each time the one that lowers the objective most.

    Parameters
    ----------
    design, Y : the centred problem.
    ridge : non-negative penalty on the squared coefficients.
    n_steps : length of the path; it ends earlier when no feature can add anything.
    eligible : mask of the features that may be selected.
    stop : an ``EndRule``; True ends the path.
    callback : called after every step.
    """
    if design.is_on_device:
        from ._forward_device import path_there

        return path_there(design, Y, ridge, n_steps, eligible, stop, callback)
    n_samples = design.shape[0]
    dtype = design.dtype
    n_outputs = Y.shape[1]
    ger = get_blas_funcs("ger", dtype=dtype)
    R = np.array(Y, dtype=dtype, order="F")
    features = _Features(design, R, ridge, eligible, n_steps)

    V = np.zeros((n_samples, 16), dtype=dtype, order="F")
    U = np.zeros((16, 16), dtype=dtype)
    responses: list[np.ndarray] = []
    order: list[int] = []
    gains: list[float] = []
    start = float(np.vdot(R, R))

    while True:
        j, gain = features.winner()
        t = len(order)
        if t >= n_steps or not gain > 0:
            break
        if stop is not None:
            freedom = float(np.vdot(V[:, :t], V[:, :t]))
            if stop(Standing(t, gain, float(np.vdot(R, R)), features.pull(), freedom)):
                break
        if t == V.shape[1]:
            V = np.asfortranarray(np.hstack([V, np.zeros_like(V)]))
            U = np.pad(U, ((0, t), (0, t)))
        column = v = features.column(j)
        u = np.zeros(t + 1, dtype=dtype)
        u[t] = 1.0
        along = np.zeros(t, dtype=dtype)
        for _ in range(2):  # the second pass removes what rounding left of the first
            inner = V[:, :t].T @ v + ridge * (U[:t, : t + 1] @ u)
            v = v - V[:, :t] @ inner
            u[:t] -= inner @ U[:t, :t]
            along += inner
        length = float(np.sqrt(np.vdot(v, v) + ridge * np.vdot(u, u)))
        v /= length
        u /= length
        # Orthogonal to all earlier directions, v sees the target through the residual alone.
        r = features.correlations(j) / length if t == 0 else (column @ R) / length
        share = length**2 / (float(np.vdot(column, column)) + ridge)
        features.take(j, Direction(v, r, along, length, share), refresh=t % 8 == 7)
        ger(-1.0, v, r, a=R, overwrite_x=0, overwrite_y=0, overwrite_a=1)
        V[:, t] = v
        U[t, : t + 1] = u
        responses.append(np.array(r))
        gains.append(float(np.vdot(r, r)))
        order.append(j)
        if callback and callback(
            Event(t + 1, start - sum(gains), n_features=t + 1, note=f"feature {j} entered")
        ):
            n_steps = t + 1

    t = len(order)
    shown = np.array(responses, dtype=dtype).reshape(t, n_outputs)
    return path_result(start, order, gains, features.scores(), U[:t, :t].copy(), shown)


def path_result(
    start: float,
    order: list[int],
    gains: list[float],
    remaining: np.ndarray,
    directions: np.ndarray,
    responses: np.ndarray,
) -> Result[ForwardSelection]:
    """What a path has found, with ``start`` the objective without any feature."""
    objective = start - np.concatenate(([0.0], np.cumsum(gains)))
    path = Path.nested(order, objective=objective)
    solution = ForwardSelection(path, np.array(gains), remaining, directions, responses)
    # Every step is exact: there is nothing left to iterate.
    return Result(solution, float(objective[-1]), 0.0, len(order), True, objective[1:].tolist())


class _Features:
    """What every feature has left to give, kept up to date as features are taken."""

    def __init__(self, design: DesignMatrix, R: np.ndarray, ridge: float, eligible, n_steps: int):
        n_features, dtype = design.shape[1], design.dtype
        self.design, self.ridge = design, ridge
        # Outputs are the slow axis, so that rank-one updates run over contiguous features.
        self.C = np.asfortranarray(design.rmatmul(R))
        # ||C_j||^2, kept up to date; recomputed now and then against the drift of the updates.
        self.squares = _row_squares(self.C)
        norms = design.column_sq_norms().astype(dtype, copy=True)
        self.residual = norms.copy()
        self.open = np.ones(n_features, dtype=bool) if eligible is None else eligible.copy()
        self.open &= norms > 0
        self.spent = SPENT[np.dtype(dtype)] * norms
        self.score = np.empty(n_features, dtype=dtype)
        self.blocks = CandidateBlocks.if_they_pay(design, n_steps)
        self._winner, self._advance, self._advance_along = _winner, _advance, None
        if n_features >= (COMPILED_IF_MANY if _one_of_many.get() else COMPILED):
            from . import _forward_kernels as kernels

            self._winner, self._advance = kernels.winner, kernels.advance
            if self.blocks is None and (array := _rows_for_one_thread(design)) is not None:
                self._advance_along = partial(kernels.advance_along, array)

    def winner(self) -> tuple[int, float]:
        """The feature that gains most, and how much."""
        if self.ridge == 0:
            self.open &= self.residual > self.spent
        j = self._winner(self.squares, self.residual, self.ridge, self.open, self.score)
        return j, float(self.score[j])

    def pull(self) -> float:
        """Mean of ||x'R||^2 / nu over the features that are open."""
        return float(np.mean(self.squares[self.open] / self.residual[self.open]))

    def correlations(self, j: int) -> np.ndarray:
        """Products of a feature with what is left of the outputs."""
        return self.C[j]

    def column(self, j: int) -> np.ndarray:
        """A feature; where X is read from a file, others that may follow are read with it."""
        if self.blocks is not None:
            self.blocks.choose(j, self.score)
        return self.design.dense_columns([j])[:, 0]

    def take(self, j: int, new: Direction, refresh: bool) -> None:
        """Close a feature and take its direction out of all others."""
        if self._advance_along is not None:
            self._advance_along(new.v, new.responses, self.C, self.squares, self.residual)
        else:
            p = self._products(j, new)
            self._advance(p, new.responses, self.C, self.squares, self.residual)
        if refresh:
            self.squares[:] = _row_squares(self.C)
        self.open[j] = False

    def _products(self, j: int, new: Direction) -> np.ndarray:
        if self.blocks is not None:
            return self.blocks.product(j, new, self.score)
        if self.design.passes:  # X is read from a file: let the next winner come along
            self.design.will_need(np.argsort(-self.score, kind="stable")[:CANDIDATES])
        return self.design.rmatmul(new.v[:, None])[:, 0]

    def scores(self) -> np.ndarray:
        """What each feature would gain if it came next."""
        return self.score.astype(np.float64)


def _rows_for_one_thread(design: DesignMatrix) -> np.ndarray | None:
    """X, if its rows are contiguous and a second thread, which BLAS would use, gains nothing.

    In single precision BLAS is as fast already, and another order of sums could change winners.
    """
    if type(design) is not DenseDesign or not design.array.flags.c_contiguous:
        return None
    if design.dtype != np.float64:
        return None
    small = design.array.size < 2 * stream.WORTH_A_THREAD
    return design.array if small or stream.n_threads() == 1 else None


def _winner(squares, residual, ridge: float, open_, score) -> int:
    """Set every feature's score, what it would gain, and find the best."""
    np.add(residual, ridge, out=score)
    with np.errstate(divide="ignore", invalid="ignore"):
        np.divide(squares, score, out=score)
    score[~open_] = 0.0
    np.maximum(score, 0.0, out=score)
    return int(np.argmax(score))


def _advance(p, r, C, squares, residual) -> None:
    """Take a direction with products p and responses r out of all features."""
    ger, gemv = get_blas_funcs(("ger", "gemv"), dtype=C.dtype)
    squares += p * (p * float(np.vdot(r, r)) - 2.0 * gemv(1.0, C, r))
    ger(-1.0, p, r, a=C, overwrite_x=0, overwrite_y=0, overwrite_a=1)
    residual -= p * p


def _row_squares(C: np.ndarray) -> np.ndarray:
    total = np.zeros(C.shape[0], dtype=C.dtype)
    for column in C.T:
        total += column * column
    return total
