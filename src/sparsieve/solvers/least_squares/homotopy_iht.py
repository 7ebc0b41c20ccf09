"""Homotopy iterative hard thresholding for the l2,0 problem, plain and accelerated.

Minimises 1/2 ||XW - Y||^2 + ridge/2 ||W||^2 + lam ||W||_{2,0} by gradient steps that drop short
rows, while lam falls geometrically from a value at which W = 0 to the one asked for. As published,
the line search only ever raises the step constant L and asks for a decrease of
eta/2 ||dW||^2; the plain version iterates until the steps are small at every lam, the accelerated
one takes a single step per lam. The inner loop ends when L ||dW||^2 <= tol * objective: unlike a
bound on ||dW||^2 alone this does not depend on the size of L.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np

from ...design import DesignMatrix
from ...penalties import L20, row_norms
from .problem import LegacyCallback as Callback
from .problem import LegacyResult as Result

# Gathering the columns of the nonzero rows beats a product with all of X below this share of it.
GATHER = 0.25


@dataclass(frozen=True)
class HomotopyIHT:
    """Settings of the homotopy; the names in brackets are those of the publication.

    Parameters
    ----------
    lam : float
        Final price of a row.
    accelerated : bool
        One step per lam instead of iterating to the end.
    ridge : float
        Ridge added to the squared loss; 0 is the published problem.
    first_constant : float
        Initial step constant (L_0).
    first_lam : float or None
        Where the homotopy starts (lambda_0); None takes the largest lam at which the first step
        from zero keeps a row.
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
    ridge: float = 0.0
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
        design: DesignMatrix,
        Y: np.ndarray,
        W0: np.ndarray | None = None,
        callback: Callback | None = None,
    ) -> HomotopyResult:
        """Run the homotopy from W0 (zero if None)."""
        n_features = design.shape[1]
        state = _Iterate(design, Y, self.ridge, W0)
        L = self.first_constant
        lam = self.first_lam
        if lam is None:
            lam = starting_lam(state.gradients.correlation, L)
        lam = max(lam, self.lam)
        entered = np.zeros(n_features)
        history: list[float] = []
        measure = np.inf
        settled = True
        while True:
            penalty = L20(lam)
            value = state.smooth() + penalty.value(state.W)
            settled = False
            while len(history) < self.max_iter:
                trial, new_value, moved, L = self._step(state, penalty, value, L)
                measure = L * moved / max(new_value, np.finfo(np.float64).tiny)
                state, value = trial, new_value
                history.append(value)
                settled = measure <= self.tol
                if self.accelerated or settled:
                    break
            rows = state.W.any(axis=1)
            entered[rows & (entered == 0.0)] = lam
            entered[~rows] = 0.0
            stop = callback is not None and callback(
                {"objective": value, "optimality": measure, "n_active": int(rows.sum()), "lam": lam}
            )
            if stop or len(history) >= self.max_iter:
                break
            if lam <= self.lam and (rows.sum() >= self.wanted_rows or lam <= self.lowest_lam):
                break
            floor = self.lam if lam > self.lam else self.lowest_lam
            lam = max(self.decay * lam, floor)
        converged = lam <= self.lam and (self.accelerated or settled)
        result = Result(state.W, value, measure, len(history), converged, history)
        return HomotopyResult(result, lam, L, entered, row_norms(state.gradient()))

    def _step(self, state, penalty, value, L):
        """One thresholded gradient step, with L raised until it decreases enough."""
        gradient = state.gradient()
        while True:
            W = penalty.prox(state.W - gradient / L, 1.0 / L)
            moved = W - state.W
            length = float(np.vdot(moved, moved))
            trial = state.at(W)
            new_value = trial.smooth() + penalty.value(W)
            # Rounding hides decreases below this; without the allowance L would grow for ever.
            blur = 1e-14 * abs(value) if W.dtype == np.float64 else 1e-6 * abs(value)
            if value - new_value >= 0.5 * self.sufficient * length - blur:
                return trial, new_value, length, L
            L *= self.growth


@dataclass(frozen=True)
class HomotopyResult:
    """The outcome of the homotopy.

    Attributes
    ----------
    result : Result
    lam : float
        Price of a row at the end.
    constant : float
        Step constant at the end.
    entered : ndarray of shape (n_features,)
        The lam at which each nonzero row became nonzero to stay; 0 for the others.
    gradient_norms : ndarray of shape (n_features,)
        Row norms of the gradient at the end.
    """

    result: Result
    lam: float
    constant: float
    entered: np.ndarray
    gradient_norms: np.ndarray


def starting_lam(correlation: np.ndarray, constant: float) -> float:
    """The lam above which the first step from zero keeps no row."""
    return float(row_norms(correlation).max(initial=0.0) ** 2 / (2.0 * constant))


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

    def __call__(self, W, active, residual):
        new = active[self.slot[active] < 0]
        if len(active) >= self.most or self.count + len(new) > self.most:
            return self.design.rmatmul(residual)
        if len(new):
            self._add(new)
        return self.columns[:, self.slot[active]] @ W[active] - self.correlation

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


class _Iterate:
    """W with its residual, and its gradient once somebody asks for it."""

    def __init__(self, design, Y, ridge, W0=None):
        self.design, self.Y, self.ridge = design, Y, ridge
        self.gradients = _Gradients(design, Y)
        self._set(np.zeros((design.shape[1], Y.shape[1])) if W0 is None else W0)

    def _set(self, W):
        self.W = W.astype(self.Y.dtype, copy=False)
        self.active = np.flatnonzero(W.any(axis=1))
        if len(self.active) < GATHER * len(W):
            product = self.design.dense_columns(self.active) @ self.W[self.active]
        else:
            product = self.design.matmul(self.W)
        self.residual = product - self.Y

    def at(self, W) -> _Iterate:
        other = copy.copy(self)
        other._set(W)
        return other

    def smooth(self) -> float:
        value = 0.5 * float(np.vdot(self.residual, self.residual))
        if self.ridge:
            value += 0.5 * self.ridge * float(np.vdot(self.W, self.W))
        return value

    def gradient(self):
        gradient = self.gradients(self.W, self.active, self.residual)
        return gradient + self.ridge * self.W if self.ridge else gradient
