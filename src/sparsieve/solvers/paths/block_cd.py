"""Block coordinate descent, with its models on the Gram matrix and on the residual.

Block coordinate descent with working sets for row-sparse least squares.

The working set keeps a dense copy of its few columns and descends on them, on their Gram matrix
or, for the l1,inf norm, on the residual. The design itself is only read to certify (one
product X'R over all features) and to find features that violate their optimality condition.

Descent on the Gram matrix of a working set.

Every sweep runs in the Gram domain, where a row that stays zero costs nothing to speak of; the
samples are not touched. The way to go unless samples are few.

Descent on a working set for the l1,inf norm, whose rows are cut at a level.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from ...penalties import L21, require
from ..base import LeastSquares, Result
from ..engines.group_products import PenalisedGroups
from .block_model import BlockModel, GroupRows
from .engine import PathEngine
from .entry_newton import newton_entries
from .norm_newton import ActiveGroups, newton_norms
from .rows_model import RowsModel, independent_rows

GAP_FREQ = 5
# Newton steps that leave this share of the gap, and the sweeps after them, get nowhere.
MIN_STALLED_GAP_SHARE = 0.9
# Steps in the entries that leave this share have to be solved more exactly before long.
MIN_ROUGH_GAP_SHARE = 0.5


class GramModel(RowsModel):
    """A working set that keeps the Gram matrix of its columns."""

    needs: ClassVar[str] = "row_strengths"

    def __init__(self, problem: LeastSquares) -> None:
        super().__init__(problem)
        # With space for more columns. Compiled code takes it whole: a part of it would not be
        # contiguous, and be compiled a second time.
        self.gram_storage: np.ndarray = np.empty((0, 0))
        self._compact = np.empty(0, dtype=np.int64), np.empty((0, 0))
        self.correlation: np.ndarray = np.empty((0, self.Y.shape[1]))  # X_S' Y

    @property
    def gram(self) -> np.ndarray:
        return self.gram_storage[: self.size, : self.size]

    @property
    def squares(self) -> np.ndarray:
        return np.diagonal(self.gram)

    def add(self, units: np.ndarray) -> None:
        old = self.size
        super().add(units)
        block = self.columns[:, old:]
        cross = self.columns[:, :old].T @ block
        self.gram[:old, old:] = cross
        self.gram[old:, :old] = cross.T
        self.gram[old:, old:] = block.T @ block  # symmetric, so at half the price
        self.correlation = np.vstack([self.correlation, block.T @ self.Y])

    def _reserve(self, capacity: int) -> None:
        gram = np.empty((capacity, capacity))
        gram[: self.size, : self.size] = self.gram
        self.gram_storage = gram
        super()._reserve(capacity)

    def compact(self, active: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows that include the active ones, not many more, and their contiguous Gram matrix.

        Copying the matrix takes as long as a sweep, so the last one serves while it fits.
        """
        rows, gram = self._compact
        if len(rows) > 1.1 * len(active) or not np.isin(active, rows, assume_unique=True).all():
            rows, gram = active, self.gram[np.ix_(active, active)]
            self._compact = rows, gram
        return rows, gram

    def correlations(self) -> np.ndarray:
        return self.residual_correlation().T

    def residual_correlation(self) -> np.ndarray:
        """(X_S'(Y - X_S W))', straight from the Gram matrix; one row per output."""
        Q = self.correlation.T.copy()
        active = self.active()
        _subtract(self.gram_storage, Q, active, self.W[active])
        return Q

    def move_if_lower(self, penalty: Any, candidate: np.ndarray) -> None:
        Q = self.residual_correlation()
        value, _ = _restricted_gap(self, penalty, Q, certify=False)
        _accept_if_lower(self, penalty, Q, candidate, value, np.inf, certify=False)

    def descend(self, penalty: Any, share: float, max_sweeps: int) -> tuple[int, float]:
        """Coordinate descent until the duality gap of the restricted problem reaches its goal.

        Sweeps find the support; Newton steps then take over the slow tail, in the row norms
        where the penalty is the plain l2,1 norm and in the nonzero entries elsewhere. They are
        tried whenever the sweeps since the last try cost as much as they would.
        """
        alpha, beta = (float(s) for s in penalty.row_strengths())
        W = self.W
        Q = self.residual_correlation()
        sweeps = since_newton = n_rough = 0
        # Share of the goal, for Newton steps; the gap when last they began.
        newton_share, before = 0.1, np.inf
        value, gap = _restricted_gap(self, penalty, Q)
        # The gap may also be no number.
        while sweeps < max_sweeps and gap > (goal := share * max(value, self.problem.floor)):
            count = min(GAP_FREQ, max_sweeps - sweeps)
            active = _sweep(self, Q, alpha, beta, count)
            sweeps += count
            since_newton += count
            value, gap = _restricted_gap(self, penalty, Q)
            if not np.isfinite(gap):
                break
            worth = _sweeps_worth(len(active), W.shape, len(self.columns), beta > 0)
            if gap <= goal or not len(active) or since_newton < worth:
                continue
            since_newton = 0
            candidate = np.zeros_like(W)
            n_rough += gap > MIN_ROUGH_GAP_SHARE * before
            start, stalled, before = W, gap > MIN_STALLED_GAP_SHARE * before, gap
            if stalled and beta == 0 and W.shape[1] == 1 and len(active) >= len(self.columns):
                start = W.copy()
                start[active, 0] = independent_rows(self.columns[:, active], W[active, 0])
                active = np.flatnonzero(start[:, 0])
            correlation = self.correlation[active]
            if beta == 0:
                # Between near copies a small gap still leaves much weight in the wrong place.
                newton_share *= 0.01 if stalled else 1.0
                accuracy = newton_share * max(goal, 0.1 * gap)
                rows = self._active_rows(active, correlation, alpha)
                candidate[active] = newton_norms(rows, start[active], self.power, accuracy)
            else:
                gram = self.gram[np.ix_(active, active)]
                candidate[active] = newton_entries(
                    gram, correlation, alpha, beta, W[active], n_rough
                )
            # With beta > 0 the bound is only sharp after a sweep, so it can wait for the next.
            value, gap = _accept_if_lower(
                self, penalty, Q, candidate, value, gap, certify=beta == 0
            )
        return sweeps, gap

    def _active_rows(
        self, active: np.ndarray, correlation: np.ndarray, alpha: float
    ) -> ActiveGroups:
        """The nonzero rows, by their columns where these are more than the samples."""
        if len(active) > len(self.columns):
            return ActiveGroups.of_columns(self.columns[:, active], self.Y, correlation, alpha)
        return ActiveGroups.of_rows(self.gram[np.ix_(active, active)], correlation, alpha)


def _sweep(state: GramModel, Q: np.ndarray, alpha: float, beta: float, count: int) -> np.ndarray:
    """One sweep over the working set, the others over its nonzero rows alone; in place.

    Returns the nonzero rows.
    """
    W = state.W
    _epochs(state.gram_storage, W, Q, alpha, beta, 1)
    active = np.flatnonzero(W.any(axis=1))
    if len(active):
        some, gram = state.compact(active)
        rows, Q_rows = W[some], np.ascontiguousarray(Q[:, some])
        _epochs(gram, rows, Q_rows, alpha, beta, count - 1)
        _subtract(state.gram_storage, Q, some, rows - W[some])
        W[some] = rows
    return np.flatnonzero(W.any(axis=1))


def _epochs(gram, W, Q, alpha: float, beta: float, n_epochs: int) -> None:
    from ._block_cd_kernels import PENDING, gram_epochs, subtract_rows

    n_outputs = W.shape[1]
    rows, deltas = np.zeros(PENDING, dtype=np.int64), np.zeros((PENDING, n_outputs))
    row = np.empty(n_outputs)
    count = gram_epochs(gram, W, Q, alpha, beta or None, n_epochs, row, rows, deltas)
    if count:
        deltas[count:] = 0.0
        subtract_rows(gram, Q, rows, deltas)


def _subtract(gram, Q, rows, deltas) -> None:
    """Q -= deltas' gram[rows], without copying the rows."""
    from ._block_cd_kernels import PENDING, subtract_rows

    count = len(rows)
    padded = count + -count % PENDING
    all_rows, all_deltas = np.zeros(padded, dtype=np.int64), np.zeros((padded, Q.shape[0]))
    all_rows[:count], all_deltas[:count] = rows, deltas
    subtract_rows(gram, Q, all_rows, all_deltas)


def _accept_if_lower(
    state, penalty: Any, Q, candidate, value: float, gap: float, certify: bool = True
) -> tuple[float, float]:
    """Move to a candidate that lowers the objective; return value and gap of where we stand."""
    before, Q_before = state.W.copy(), Q.copy()
    state.W[:] = candidate
    Q[:] = state.residual_correlation()
    new_value, new_gap = _restricted_gap(state, penalty, Q, certify)
    if new_value < value:
        return new_value, new_gap
    state.W[:], Q[:] = before, Q_before
    return value, gap


def _sweeps_worth(n_active: int, shape: tuple[int, ...], n_samples: int, entries: bool) -> float:
    """How many sweeps take as long as a round of Newton steps.

    A round of about three steps in the row norms costs 4 n_active^3 flops in LAPACK, or 4
    n_active^2 n_samples where there are fewer samples than active rows; one step
    in the entries costs n_active^3 and about 20 products of 4 n_active^2 n_outputs. A sweep
    takes 2 n_active n_rows n_outputs in our kernel, which runs at a quarter of that speed.
    """
    n_rows, n_outputs = shape
    if entries:
        return (n_active**2 + 80 * n_active * n_outputs) / max(1, 12 * n_rows * n_outputs)
    return n_active * min(n_active, n_samples) / max(1, 2 * n_rows * n_outputs)


def _restricted_gap(state: GramModel, penalty: Any, Q, certify: bool = True) -> tuple[float, float]:
    """Objective and duality gap of the problem on the working set, without touching samples.

    Without ``certify`` the gap is infinite.

    With Q' = X'R: ||R||^2 = ||Y||^2 - <W, X'Y> - <W, X'R> and <R, Y> = ||Y||^2 - <W, X'Y>.
    """
    fit = float(np.vdot(state.W, state.correlation))
    residual = max(state.power - fit - float(np.vdot(state.W, Q.T)), 0.0)
    value = residual + penalty.value(state.W)
    if not certify:
        return value, np.inf
    bound = penalty.dual_bound_by_products(residual, state.power - fit, 2.0 * Q.T)
    return value, max(value - bound, 0.0)


CUT_GAP_FREQ = 10
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
        from ._block_cd_kernels import cut_row_epochs

        scratch = np.empty(self.W.shape[1])
        data = self.columns.T, self.norms
        everyone = np.arange(self.size)
        past: list[np.ndarray] = []
        sweeps, gap = 0, np.inf
        R = np.ascontiguousarray(self.residual(self.W).T)
        while sweeps < max_sweeps:
            cut_row_epochs(*data, self.W, R, float(penalty.alpha), everyone, 1, scratch)
            count = min(CUT_GAP_FREQ - 1, max_sweeps - sweeps - 1)
            cut_row_epochs(*data, self.W, R, float(penalty.alpha), self.active(), count, scratch)
            sweeps += 1 + count
            value, G = self._value(penalty, R), 2.0 * (self.columns.T @ R.T)
            gap = value - penalty.dual_bound(self.Y, R.T, G)
            if not gap > share * max(value, self.problem.floor):  # also where it is no number
                break
            past = [*past[-MEMORY:], self.W.copy()]
            if len(past) > MEMORY:
                self.move_if_lower(penalty, extrapolate(past))
                R = np.ascontiguousarray(self.residual(self.W).T)
        return sweeps, gap

    def _value(self, penalty: Any, R) -> float:
        return float(np.vdot(R, R)) + penalty.value(self.W)


def extrapolate(past: list[np.ndarray]) -> np.ndarray:
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


MODELS: tuple[type[RowsModel], ...] = (GramModel, CutRowsModel)


@dataclass(frozen=True)
class BlockCD(PathEngine):
    """Minimise ||XW - Y||^2 + sum_j alpha ||w_j||_2 + beta ||w_j||_1^2, or + alpha ||w_j||_inf.

    Parameters
    ----------
    tol : float
        Stop when the duality gap is at most ``tol`` times the objective.
    max_iter : int
        Maximum number of sweeps over the working set for one strength, in all rounds together.
    decided : bool
        Go on where the gap cannot tell which rows of a plain l2,1 problem are zero.
    """

    def _model(self, problem: LeastSquares, start: Result[Any] | None) -> RowsModel:
        require(problem.penalty, "dual_norms", "dual_bound", solver="BlockCD")
        able = [kind for kind in MODELS if hasattr(problem.penalty, kind.needs)]
        if not able:
            require(problem.penalty, MODELS[0].needs, solver="BlockCD")
        model = able[0](problem)
        if start is not None:
            model.begin(start.solution.W)
        return model


@dataclass(frozen=True)
class GroupL21(PathEngine, PenalisedGroups):
    """Minimise ||XW - Y||^2 + a penalty on groups of rows, for falling strengths.

    The penalty is that of the problem, alpha sum_g c_g ||W_g|| where it has none.

    Parameters
    ----------
    groups : sequence of arrays of int
        The columns of every group; empty ones are never used.
    weights : ndarray of shape (n_groups,)
        c_g, positive.
    tol : float
        Stop when the duality gap is at most ``tol`` times the objective or, for a penalty that is
        not convex, the residual of the stationarity conditions ``tol`` times their strength.
    max_iter : int
        Largest number of sweeps over the working set for one strength.
    decided : bool
        Go on where the gap cannot tell which groups are zero.
    """

    def _model(self, problem: LeastSquares, start: Result[GroupRows] | None) -> BlockModel:
        penalty = L21(1.0) if problem.penalty is None else problem.penalty
        model = BlockModel(replace(problem, penalty=penalty), self)
        if start is not None:
            model.begin(start.solution)
        return model
