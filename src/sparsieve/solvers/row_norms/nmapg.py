"""The published method for the robust l2,0 model (An, Dong and Qin, 2021), formulas corrected.

The constraint "at most K nonzero rows" becomes the penalty rho times the sum of all row norms
except the K largest; the remaining norms are smoothed with parameter mu; nonmonotone
accelerated proximal gradient steps (Li and Lin, 2015) do the rest. Algorithm 1 keeps mu fixed,
Algorithm 2 lowers it in stages.

Two things differ from the printed text. The printed proximal map multiplies short rows by a
negative factor; here they become zero, which is the minimiser. And next to the printed step
constant (||X||_F^2 + d alpha) / mu the much smaller (||X||_2^2 + alpha) / mu is on offer, which
suffices because the smoothed row norms act on separate rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...penalties import row_norms
from ...penalties.top_k import TopKGap
from ..base import Callback, Event, Result, relative
from .problem import RobustData, RobustSolution
from .smoothing import onto_balls, smoothed_norms

STEP_CONSTANTS = ("printed", "spectral")


@dataclass(frozen=True)
class NonmonotoneAPG:
    """Algorithm 1 (``mu`` given) or Algorithm 2 (``mu=None``).

    Parameters
    ----------
    mu : fixed smoothing, or None for stages from ``mu_start``, each ``mu_decay`` times the one
        before, until 2 ``accuracy`` / (n + alpha d).
    stage_iter : iterations per stage of Algorithm 2.
    max_iter : iterations in all.
    tol : a stage also ends when the objective changes by less than this, relatively ...
    step_tol : ... or when W moves by less than this, relative to its norm or 1; equation (6.1)
        of the paper.
    step_constant : "printed" or "spectral".
    """

    mu: float | None = None
    mu_start: float = 1.0
    mu_decay: float = 0.1
    accuracy: float = 0.1
    stage_iter: int = 200
    max_iter: int = 800
    tol: float = 1e-7
    step_tol: float = 0.0
    step_constant: str = "printed"
    eta: float = 0.9

    def solve(
        self,
        data: RobustData,
        penalty: TopKGap,
        callback: Callback | None = None,
        n_eligible: int | None = None,
        start: RobustSolution | None = None,
    ) -> Result[RobustSolution]:
        """Minimise from ``start`` or W = 0; ``penalty.alpha`` is smoothed, ``penalty.rho`` is not.

        Objectives are those without smoothing. When the callback returns True, the stage ends.
        ``n_eligible`` says how many columns of the design are not blank.
        """
        size = penalty.alpha * (data.design.shape[1] if n_eligible is None else n_eligible)
        lipschitz = self.lipschitz(data, penalty.alpha, size)
        run = _Run(data, penalty, lipschitz, self.eta, start)
        trace: list[float] = []
        change = np.inf
        arrived = False
        for mu in self.levels(data.total_weight + size):
            left = self.max_iter - len(trace)
            budget = left if self.mu is not None else min(self.stage_iter, left)
            run.begin(mu)
            for _ in range(budget):
                run.step()
                trace.append(run.objective())
                if len(trace) > 1:
                    change = relative(abs(trace[-1] - trace[-2]), trace[-1])
                arrived = change <= self.tol or run.moved() <= self.step_tol
                stop = callback is not None and callback(Event(len(trace), trace[-1], change))
                if arrived or stop:
                    break
            if len(trace) >= self.max_iter:
                break
        return Result(run.solution(), trace[-1], change, len(trace), arrived, trace)

    def levels(self, size: float) -> Iterator[float]:
        """Smoothings of the stages; ``size`` is n + alpha d."""
        if self.mu is not None:
            yield self.mu
            return
        mu = self.mu_start
        while mu >= 2.0 * self.accuracy / size:
            yield mu
            mu *= self.mu_decay

    def lipschitz(self, data: RobustData, alpha: float, size: float) -> float:
        """Lipschitz constant of the smoothed gradient, times mu; ``size`` is d alpha."""
        weighted = data.weighted_design()
        n_free = data.free.shape[1]
        if self.step_constant == "printed":
            frobenius = float(weighted.column_sq_norms().astype(np.float64).sum())
            return frobenius + n_free * data.total_weight + size
        # The free columns are orthogonal and of equal length.
        longest = data.total_weight if n_free else 0.0
        return (1.0 + 1e-5) * weighted.spectral_norm(rng=0) ** 2 + longest + alpha


class _Point(NamedTuple):
    """Coefficients, X times them, and the norms that all objectives are made of."""

    W: np.ndarray
    XW: np.ndarray
    losses: np.ndarray
    norms: np.ndarray
    gap: float


class _Run:
    """The iterates. Products X W are kept, so that a step costs two products with X.

    Free columns, such as an intercept, are further rows without any penalty.
    """

    def __init__(
        self,
        data: RobustData,
        penalty: TopKGap,
        lipschitz: float,
        eta: float,
        start: RobustSolution | None,
    ):
        self.data, self.penalty, self.eta = data, penalty, eta
        self.gap = TopKGap(penalty.k, penalty.rho)
        self.lipschitz = lipschitz
        dtype = data.design.dtype
        self.Y = data.Y.astype(dtype, copy=False)
        self.weights = data.weights.astype(dtype)[:, None]
        self.weighted = bool((data.weights != 1.0).any())
        self.n_features = data.design.shape[1]
        self.free = data.free.astype(dtype)
        rows = self.n_features + self.free.shape[1]
        W = np.zeros((rows, self.Y.shape[1]), dtype=dtype)
        # Room for what is needed from one step to the next only.
        self.U, self.change = np.empty_like(W), np.empty_like(W)
        self.XU, self.XW_change, self.R = (np.empty_like(self.Y) for _ in range(3))
        if start is None:
            XW = np.zeros_like(self.Y)
        else:
            W[: self.n_features] = start.W
            W[self.n_features :] = start.free
            XW = self._product(W)
        self.now = self._point(W, XW)

    def begin(self, mu: float) -> None:
        """Start Algorithm 1 at the current W."""
        self.mu = mu
        constant = self.lipschitz / mu
        self.tau = 2.0 * constant
        self.delta = 0.1 * (self.tau - constant)
        self.tried = self.now
        self.change[:] = 0.0
        self.XW_change[:] = 0.0
        self.t_last, self.t = 0.0, 1.0
        self.average = self._smoothed(self.now)
        self.q = 1.0

    def step(self) -> None:
        """One iteration of Algorithm 1."""
        last, tried = self.now, self.tried
        ahead, back = self.t_last / self.t, (self.t_last - 1.0) / self.t
        U = _combined(last.W, tried.W, self.change, ahead, back, out=self.U)
        XU = _combined(last.XW, tried.XW, self.XW_change, ahead, back, out=self.XU)
        self.tried = self.now = self._proximal_step(U, XU)
        value = self._smoothed(self.tried)
        U -= self.tried.W
        if not value <= self.average - 0.5 * self.delta * float(np.vdot(U, U)):
            other = self._proximal_step(last.W, last.XW)
            at_other = self._smoothed(other)
            if not value <= at_other:
                self.now, value = other, at_other
        np.subtract(self.now.W, last.W, out=self.change)
        np.subtract(self.now.XW, last.XW, out=self.XW_change)
        self.t_last, self.t = self.t, 0.5 * (np.sqrt(4.0 * self.t**2 + 1.0) + 1.0)
        q = self.eta * self.q + 1.0
        self.average = (self.eta * self.q * self.average + value) / q
        self.q = q

    def _proximal_step(self, U: np.ndarray, XU: np.ndarray) -> _Point:
        d = self.n_features
        residuals = np.subtract(XU, self.Y, out=self.R)
        slopes = onto_balls(residuals, self.mu, out=residuals)
        if self.weighted:
            slopes *= self.weights
        W = np.empty_like(U)
        np.subtract(U[d:], self.free.T @ slopes / self.tau, out=W[d:])
        gradient = self.data.design.rmatmul(slopes)
        moved = onto_balls(U[:d], self.mu, out=W[:d])
        moved *= self.penalty.alpha
        gradient += moved
        gradient /= self.tau
        np.subtract(U[:d], gradient, out=moved)
        factors = self.gap.shrinkage(row_norms(moved), 1.0 / self.tau)
        moved *= factors[:, None].astype(W.dtype, copy=False)
        return self._point(W, self._product(W))

    def _point(self, W: np.ndarray, XW: np.ndarray) -> _Point:
        losses = row_norms(np.subtract(XW, self.Y, out=self.R))
        norms = row_norms(W[: self.n_features])
        return _Point(W, XW, losses, norms, self.gap.gap(norms))

    def _product(self, W: np.ndarray) -> np.ndarray:
        image = self.data.design.matmul(W[: self.n_features])
        image += self.free @ W[self.n_features :]
        return image

    def _smoothed(self, point: _Point) -> float:
        loss = float(self.data.weights @ smoothed_norms(point.losses, self.mu))
        kept = self.penalty.alpha * smoothed_norms(point.norms, self.mu).sum()
        return loss + float(kept) + self.gap.rho * point.gap

    def objective(self) -> float:
        """The penalised objective without smoothing."""
        loss = float(self.data.weights @ self.now.losses)
        kept = self.penalty.alpha * self.now.norms.sum()
        return loss + float(kept + self.penalty.rho * self.now.gap)

    def moved(self) -> float:
        """Length of the last step, relative to the norm of W or 1."""
        length = float(np.linalg.norm(self.change))
        return length / max(float(np.linalg.norm(self.now.W)), 1.0)

    def solution(self) -> RobustSolution:
        """In double precision."""
        W = self.now.W.astype(np.float64)
        return RobustSolution(W[: self.n_features], W[self.n_features :])


def _combined(
    now: np.ndarray,
    tried: np.ndarray,
    change: np.ndarray,
    ahead: float,
    back: float,
    out: np.ndarray,
) -> np.ndarray:
    """The sum now + ahead (tried - now) + back change; spoils ``change``."""
    if tried is now:
        np.multiply(change, back, out=out)
        out += now
        return out
    np.subtract(tried, now, out=out)
    out *= ahead
    out += now
    change *= back
    out += change
    return out
