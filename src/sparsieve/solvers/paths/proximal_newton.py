"""A penalised likelihood on a working set, for one strength: proximal Newton steps.

The steps are NumPy around few compiled loops: the loss in one pass over the samples
(``losses/expansion.py``), and sweeps over the quadratic model (``quadratic_model.py``). Compiled as
a whole they took half a minute to compile, and between two thirds of the time and all of it.
"""

from __future__ import annotations

from math import inf, isfinite, isnan, log
from typing import Any, NamedTuple

import numpy as np

from ..losses.expansion import Expansion, usual_length
from .free import settle
from .quadratic_model import block_norms, block_spectra, minimise, ranges

# Of the relative gap on the working set: how well the quadratic model of one step is solved.
MODEL_SHARE = 0.03
# Blocks at zero are in the model of a step from this share of the slope on at which they enter.
MODEL_MARGIN = 0.98
# A step that leaves more than this share of the gap calls for a new Hessian, whatever that costs.
KEEP_SHARE = 0.7
# Of the objective: what rounding may add to it.
ROUNDING = 1e-14
# A step that leaves more than this share of the gap makes no progress; so many end the descent.
SLOW_SHARE, MAX_SLOW = 0.9, 12
MAX_HALVINGS = 40
# Coefficients whose Hessian is held in memory.
MAX_DENSE = 600
ONE = np.ones(1)


class Point(NamedTuple):
    """Where a descent has come to.

    Attributes
    ----------
    W : ndarray of shape (n_rows, n_outputs)
        Coefficients of the rows of X.
    F, gradient : ndarray of shape (n_samples, n_outputs)
        The predictors that they give, and the gradient of the loss.
    norms, strengths : ndarray of shape (n_blocks,)
        ||W_b||, and the strength at which every block would enter.
    """

    W: np.ndarray
    F: np.ndarray
    gradient: np.ndarray
    norms: np.ndarray
    strengths: np.ndarray


class Descent(NamedTuple):
    """What came of a descent.

    Attributes
    ----------
    point : Point
    value, gap : float
    n_steps : int
    is_done : bool
        False where the Hessian would be too large, or the loss cannot be evaluated this way.
    """

    point: Point
    value: float
    gap: float
    n_steps: int
    is_done: bool


class ModelHessian:
    """The Hessian of the blocks that have mattered since it was computed.

    Attributes
    ----------
    here : Expansion or None
        Where it was computed; None while it is not to be used.
    A : ndarray
        X'HX of the places of these blocks, and room for more; the outputs of a column are
        neighbours.
    known : ndarray of bool of shape (n_blocks,)
    blocks, rows : ndarray of int
        The blocks in the order of their places, and their rows of X.
    X : ndarray
        These rows.
    starts, offsets, values, vectors : ndarray
        Where the places of a block begin, and the spectra of their parts of A, as
        :func:`.quadratic.block_spectra` has them.
    """

    def __init__(self) -> None:
        self.here: Expansion | None = None
        self.A: np.ndarray = np.empty((0, 0))

    def begin(self, here: Expansion, n_blocks: int) -> None:
        self.here = here
        self.known: np.ndarray = np.zeros(n_blocks, dtype=bool)
        self.blocks: np.ndarray = np.arange(0)
        self.rows: np.ndarray = np.arange(0)
        self.X: np.ndarray = np.empty((0, len(here.F)))
        self.starts: np.ndarray = np.zeros(1, dtype=np.int64)
        self.offsets: np.ndarray = np.zeros(1, dtype=np.int64)
        self.values: np.ndarray = np.empty(0)
        self.vectors: np.ndarray = np.empty(0)

    def widen(self, n_blocks: int) -> None:
        """Further blocks have joined the working set."""
        if self.here is not None:
            self.known = np.append(self.known, np.zeros(n_blocks - len(self.known), dtype=bool))

    def take(self, X: np.ndarray, starts: np.ndarray, blocks: np.ndarray) -> bool:
        """Take in further blocks; False where they are too many."""
        assert self.here is not None
        m, sizes = self.here.F.shape[1], starts[blocks + 1] - starts[blocks]
        old, new = len(self.rows), ranges(starts[blocks], sizes)
        first, last = old * m, (old + len(new)) * m
        if last > MAX_DENSE:
            self.here = None
            return False
        if last > len(self.A):
            wider = np.empty((min(max(last, 2 * len(self.A)), MAX_DENSE),) * 2)
            wider[:first, :first] = self.A[:first, :first]
            self.A = wider
        self.X = np.concatenate((self.X, X[new])) if old else X[new]
        cross = self.here.cross_hessian(self.X, old)
        own = cross[first:]
        own += own.T.copy()
        own *= 0.5
        self.A[:last, first:last], self.A[first:last, :first] = cross, cross[:first].T
        values, vectors, offsets = block_spectra(own, sizes * m)
        self.known[blocks] = True
        ends = first + np.cumsum(sizes * m), self.offsets[-1] + offsets[1:]
        known = self.rows, self.blocks, self.starts, self.offsets, self.values, self.vectors
        added = new, blocks, *ends, values, vectors
        self.rows, self.blocks, self.starts, self.offsets, self.values, self.vectors = map(
            np.concatenate, zip(known, added, strict=True)
        )
        return True

    def is_outdated(self, gap: float, before: float, goal: float, X: np.ndarray) -> bool:
        """Whether steps with it would take longer than those with a new one, and making it.

        A step with a new one is expected to do; counted are multiplications.
        """
        rate = gap / before
        if rate >= KEEP_SHARE:
            return True
        n_steps, size = max(log(gap / goal) / -log(rate), 1.0), float(self.starts[-1])
        step = size**3 + 4.0 * X.size
        return (n_steps - 1.0) * step > size * X.shape[1] * (size + 20.0)


def proximal_newton(
    kind: type[Expansion],
    loss: Any,
    X: np.ndarray,
    starts: np.ndarray,
    weights: np.ndarray,
    alpha: float,
    share: float,
    least: float,
    max_steps: int,
    point: Point,
    ahead: Point | None,
    hessian: ModelHessian,
) -> Descent:
    """Minimise L(X'W) + alpha sum_b weights_b ||W_b|| from a point, or from ``ahead`` if lower.

    Parameters
    ----------
    kind : Expansion or CompiledExpansion
    loss : Loss
    X : a row per column of the working set, those without penalty first.
    starts, weights : where blocks of rows begin, and the factors of their norms; the first block
        has none if there are free columns.
    share, least : stop where the gap is at most this share of the objective, or of what it is above
        the least loss.
    hessian : ModelHessian, which may be of other predictors.
    """
    from ._quadratic_kernels import judge

    n_free = int(starts[1]) if weights[0] == 0.0 else 0
    norms, strengths, wanted = np.empty_like(weights), np.empty_like(weights), weights == 0.0
    W, here = point.W, kind(loss, point.F)
    if ahead is not None:
        there = kind(loss, ahead.F)
        lower = weights @ (block_norms(ahead.W, starts) - block_norms(W, starts))
        if there.value + alpha * lower < here.value:
            W, here = ahead.W, there
    steps, slow, best, before, is_settled = 0, 0, inf, inf, n_free == 0

    def leave(gap: float, is_done: bool) -> Descent:
        place = Point(W, here.F, here.gradient, norms, strengths)
        return Descent(place, total, gap, steps, is_done)

    while True:
        total = here.value
        if not isfinite(total):
            return leave(inf, False)
        slopes = X @ here.gradient
        margin = MODEL_MARGIN * alpha
        price, most = judge(W, slopes, starts, weights, margin, norms, strengths, wanted)
        total += alpha * price
        gap = total - here.dual_value(min(1.0, alpha / max(most, alpha)))
        size = max(abs(total), total - least)
        slow = slow + 1 if gap > SLOW_SHARE * best else 0
        if not gap > share * size or slow > MAX_SLOW or steps >= max_steps:
            if is_settled:
                return leave(gap, True)
            # Only here the gap has to be one.
            here, further = settle(here, X[:n_free].T)
            W, is_settled = np.concatenate((W[:n_free] + further, W[n_free:])), True
            continue
        if before < inf and hessian.here and hessian.is_outdated(gap, before, share * size, X):
            hessian.here = None
        best, before = min(best, gap), gap
        is_fresh = hessian.here is None
        if is_fresh:
            hessian.begin(here, len(weights))
        joins = np.flatnonzero(wanted > hessian.known)
        if len(joins) and not hessian.take(X, starts, joins):
            return leave(gap, False)
        # No block of the model violates its optimality condition by more than a share of its cost.
        rows, costs = hessian.rows, alpha * weights[hessian.blocks]
        old, slope_rows = W[rows], slopes[rows]
        w, spectra = old.reshape(1, -1).copy(), (hessian.values, hessian.vectors, hessian.offsets)
        tol = max(MODEL_SHARE * gap / size, ROUNDING)
        minimise(
            *(hessian.A, ONE, w, slope_rows.reshape(1, -1).copy(), hessian.starts, *spectra),
            *(costs, alpha, tol),
        )
        moves, places = w.reshape(old.shape) - old, hessian.starts
        moved = hessian.X.T @ moves
        new_price = float(costs @ block_norms(w.reshape(-1, 1), places))
        promised = min(float(np.vdot(slope_rows, moves)) + new_price - alpha * price, 0.0)
        length, accepted = usual_length(here.F, moved), False
        for _ in range(MAX_HALVINGS):
            there = here.at(here.F + length * moved)
            if isnan(there.value):
                return leave(gap, False)
            if length < 1.0:
                w = old + length * moves
                new_price = float(costs @ block_norms(w.reshape(-1, 1), places))
            limit = total + 1e-4 * length * promised + ROUNDING * abs(total)
            if there.value + new_price <= limit:
                accepted = True
                break
            length *= 0.5
        if accepted:
            W, here, is_settled, steps = W.copy(), there, n_free == 0, steps + 1
            W[rows] = old + length * moves
        elif is_fresh:  # rounding is all that is left
            return leave(gap, True)
        else:
            hessian.here = None
