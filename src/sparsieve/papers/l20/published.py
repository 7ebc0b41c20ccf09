"""Homotopy iterative hard thresholding for the l2,0 problem, plain and accelerated.

Minimises 1/2 ||XW - Y||^2 + ridge/2 ||W||^2 + lam ||W||_{2,0} by gradient steps that drop short
rows, while lam falls geometrically from a value at which W = 0 to the one asked for. As published,
the line search only ever raises the step constant L and asks for a decrease of
eta/2 ||dW||^2; the plain version iterates until the steps are small at every lam, the accelerated
one takes a single step per lam. The inner loop ends when L ||dW||^2 <= tol * objective: unlike a
bound on ||dW||^2 alone this does not depend on the size of L.

From a W other than zero the prices begin higher, high enough for the first step to remove it, but
on the same grid: prices shifted against each other end in other supports. What L has learnt on
the way to W = 0 is forgotten there. Whatever the start, the rest is then the same.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...penalties import L20, row_norms
from ...solvers.base import Callback, Event, LeastSquares, Result

# Gathering the columns of the nonzero rows beats a product with all of X below this share of it.
GATHERED_MAX_SHARE = 0.25


@dataclass(frozen=True)
class PricedRows:
    """Where the homotopy ended.

    Attributes
    ----------
    W : ndarray of shape (n_features, n_outputs)
        The last iterate.
    lam : float
        Price of a row at the end.
    constant : float
        Step constant at the end.
    entered : ndarray of shape (n_features,)
        The lam at which each nonzero row became nonzero to stay; 0 for the others.
    gradient_norms : ndarray of shape (n_features,)
        Row norms of the gradient at the end.
    """

    W: np.ndarray
    lam: float
    constant: float
    entered: np.ndarray
    gradient_norms: np.ndarray


@dataclass(frozen=True)
class HomotopyIHT:
    """Settings of the homotopy; the names in brackets are those of the publication.

    Parameters
    ----------
    lam : float
        Final price of a row.
    accelerated : bool
        One step per lam instead of iterating to the end.
    first_constant : float
        Initial step constant (L_0).
    first_lam : float or None
        Where the homotopy starts (lambda_0); None takes the price at which the first row enters
        from zero, divided by ``decay`` as often as it takes to remove the initial W.
    sufficient : float
        Coefficient of the sufficient decrease (eta).
    growth : float
        Factor on the step constant when a step is refused (gamma).
    decay : float
        Factor on lam from one stage to the next (rho).
    tol, max_iter
        Inner stopping rule, and the largest number of steps in all stages together.
    wanted_rows, lowest_lam
        While fewer than ``wanted_rows`` rows are nonzero the homotopy goes on below ``lam``, but
        not below ``lowest_lam``.
    """

    lam: float
    accelerated: bool = False
    first_constant: float = 1.0
    first_lam: float | None = None
    sufficient: float = 1e-3
    growth: float = 2.0
    decay: float = 0.9
    tol: float = 1e-6
    max_iter: int = 10_000
    wanted_rows: int = 0
    lowest_lam: float = 0.0

    def solve(
        self,
        problem: LeastSquares,
        start: Result[Any] | None = None,
        callback: Callback | None = None,
    ) -> Result[PricedRows]:
        """Run the homotopy from zero or a warm start; no ridge is the published problem.

        The optimality is the larger of L ||dW||^2 relative to the objective and the share by
        which the price still has to fall; the accelerated version goes by the price alone.
        """
        state = _Iterate(problem, start)
        L = self.first_constant
        entry = entry_price(state.gradients.correlation, L)
        ahead = 0  # stages above the price at which the first row enters
        if self.first_lam is None and start is not None:
            # All-zero data have no entry price; any grid will do then.
            entry = entry or self.lam
            ahead = self._stages_ahead(state, entry)
        lam = self.first_lam or entry / self.decay**ahead
        lam = max(lam, self.lam)
        entered = np.zeros(problem.design.shape[1])
        trace: list[float] = []
        step = np.inf
        while True:
            penalty = L20(lam)
            value = state.smooth() + state.price(lam)
            settled = False
            while len(trace) < self.max_iter:
                had_rows = len(state.active) > 0
                state, value, moved, L = self._step(state, penalty, value, L)
                step = L * moved / max(value, np.finfo(np.float64).tiny)
                trace.append(value)
                settled = step <= self.tol
                if had_rows and not len(state.active):
                    L = self.first_constant
                if self.accelerated or settled:
                    break
            rows = state.W.any(axis=1)
            entered[rows & (entered == 0.0)] = lam
            entered[~rows] = 0.0
            event = Event(
                len(trace), value, step, n_features=int(rows.sum()), note=f"price {lam:.4g}"
            )
            if (callback is not None and callback(event)) or len(trace) >= self.max_iter:
                break
            if lam <= self.lam and (rows.sum() >= self.wanted_rows or lam <= self.lowest_lam):
                break
            floor = self.lam if lam > self.lam else self.lowest_lam
            ahead -= 1
            lam = max(entry / self.decay**ahead if ahead >= 0 else self.decay * lam, floor)
        optimality = max(0.0, 1.0 - self.lam / lam)
        if not self.accelerated:
            optimality = max(optimality, step)
        solution = PricedRows(state.W, lam, L, entered, row_norms(state.gradient()))
        done = optimality <= self.tol
        return Result(solution, value, optimality, len(trace), done, trace)

    def _stages_ahead(self, state: _Iterate, entry: float) -> int:
        """How often ``entry`` has to be divided by ``decay`` for the first step to end at zero.

        A step with the constant L removes every row at prices from L/2 max_j ||w_j - g_j/L||^2,
        but which L is accepted depends on the price.
        """
        gradient, value = state.gradient(), state.smooth()
        constants = self.first_constant * self.growth ** np.arange(64.0)
        least = min(
            0.5 * L * float(row_norms(state.W - gradient / L).max(initial=0.0)) ** 2
            for L in constants
        )
        ahead = max(0, int(np.ceil(np.log(least / entry) / -np.log(self.decay))) if least else 0)
        while True:
            penalty = L20(entry / self.decay**ahead)
            trial, *_ = self._step(
                state, penalty, value + penalty.value(state.W), self.first_constant
            )
            if not len(trial.active):
                return ahead
            ahead += 1

    def _step(self, state: _Iterate, penalty: L20, value: float, L: float):
        """One thresholded gradient step, with L raised until it decreases enough."""
        gradient = state.gradient()
        while True:
            target = state.W - gradient / L
            active = penalty.surviving_rows(target, 1.0 / L)
            W = np.zeros_like(target)
            W[active] = target[active]
            moved = W - state.W
            length = float(np.vdot(moved, moved))
            trial = state.move(W, active)
            new_value = trial.smooth() + trial.price(penalty.lam)
            # Rounding hides decreases below this; without the allowance L would grow for ever.
            slack = 1e-14 * abs(value) if W.dtype == np.float64 else 1e-6 * abs(value)
            if value - new_value >= 0.5 * self.sufficient * length - slack:
                return trial, new_value, length, L
            L *= self.growth


def entry_price(correlation: np.ndarray, constant: float) -> float:
    """The price at which the first step from zero keeps no row, in spite of rounding."""
    rounding = 8.0 * float(np.finfo(correlation.dtype).eps)
    largest = float(row_norms(correlation).max(initial=0.0))
    return (1.0 + rounding) * largest**2 / (2.0 * constant)


class _Gradients:
    """X'(XW - Y) from columns of X'X, computed when their feature first has a nonzero row.

    With few nonzero rows this reads a part of X'X instead of twice X. As many columns are kept
    as X has rows, so that they take no more memory than X; beyond that X itself is used.
    """

    def __init__(self, design, Y):
        self.design, self.correlation = design, design.rmatmul(Y)
        n_samples, n_features = design.shape
        self.slot = np.full(n_features, -1, dtype=np.int64)
        self.columns = np.empty((n_features, 0), dtype=Y.dtype, order="F")
        self.count, self.most = 0, n_samples
        self.gathered = _Gathered(lambda active: self.columns[:, self.slot[active]])

    def __call__(self, W, active, residual):
        new = active[self.slot[active] < 0]
        if len(active) >= self.most or self.count + len(new) > self.most:
            return self.design.rmatmul(residual)
        if len(new):
            self._add(new)
        return self.gathered(active) @ W[active] - self.correlation

    def _add(self, new):
        end = self.count + len(new)
        if end > self.columns.shape[1]:
            wider = np.empty(
                (len(self.slot), min(max(end, 2 * self.count), self.most)),
                dtype=self.columns.dtype,
                order="F",
            )
            wider[:, : self.count] = self.columns[:, : self.count]
            self.columns = wider
        self.columns[:, self.count : end] = self.design.rmatmul(self.design.dense_columns(new))
        self.slot[new] = np.arange(self.count, end)
        self.count = end


class _Gathered:
    """Columns of the rows last asked for, which seldom change from one step to the next."""

    def __init__(self, gather):
        self.gather, self.active, self.columns = gather, None, None

    def __call__(self, active):
        if self.active is None or not np.array_equal(active, self.active):
            self.active, self.columns = active, self.gather(active)
        return self.columns


class _Iterate:
    """W with its residual, and its gradient once somebody asks for it."""

    def __init__(self, problem: LeastSquares, start: Result[Any] | None):
        design, Y = self.design, self.Y = problem.design, problem.Y
        self.ridge = problem.ridge
        self.gradients = _Gradients(design, Y)
        self.gathered = _Gathered(design.dense_columns)
        W = np.zeros((design.shape[1], Y.shape[1]))
        if start is not None:
            W = start.solution.W
        self._assign(W, np.flatnonzero(W.any(axis=1)))

    def _assign(self, W, active):
        self.W = W.astype(self.Y.dtype, copy=False)
        self.active = active
        if len(self.active) < GATHERED_MAX_SHARE * len(W):
            product = self.gathered(self.active) @ self.W[self.active]
        else:
            product = self.design.matmul(self.W)
        self.residual = product - self.Y

    def move(self, W, active) -> _Iterate:
        """The same data at another W, whose nonzero rows are ``active``."""
        other = copy.copy(self)
        other._assign(W, active)
        return other

    def price(self, lam: float) -> float:
        """What the nonzero rows cost."""
        return lam * len(self.active)

    def smooth(self) -> float:
        value = 0.5 * float(np.vdot(self.residual, self.residual))
        if self.ridge:
            value += 0.5 * self.ridge * float(np.vdot(self.W, self.W))
        return value

    def gradient(self):
        gradient = self.gradients(self.W, self.active, self.residual)
        return gradient + self.ridge * self.W if self.ridge else gradient
