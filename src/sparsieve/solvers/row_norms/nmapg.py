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

import numpy as np

from ...penalties import row_norms
from ...penalties.top_k import TopKGap
from ..base import Callback, Event, Result, relative
from .problem import RobustData, RobustSolution
from .smoothing import l21_loss, onto_balls, smoothed_norms

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
        self.n_features = data.design.shape[1]
        self.free = data.free.astype(dtype)
        rows = self.n_features + self.free.shape[1]
        self.W = np.zeros((rows, self.Y.shape[1]), dtype=dtype)
        self.XW = np.zeros_like(self.Y)
        if start is not None:
            self.W[: self.n_features] = start.W
            self.W[self.n_features :] = start.free
            self.XW = self._product(self.W)

    def begin(self, mu: float) -> None:
        """Start Algorithm 1 at the current W."""
        self.mu = mu
        constant = self.lipschitz / mu
        self.tau = 2.0 * constant
        self.delta = 0.1 * (self.tau - constant)
        self.Z, self.XZ = self.W, self.XW
        self.W_last, self.XW_last = self.W, self.XW
        self.t_last, self.t = 0.0, 1.0
        self.average = self._smoothed(self.W, self.XW)
        self.q = 1.0

    def step(self) -> None:
        """One iteration of Algorithm 1."""
        ahead, back = self.t_last / self.t, (self.t_last - 1.0) / self.t
        U = self.W + ahead * (self.Z - self.W) + back * (self.W - self.W_last)
        XU = self.XW + ahead * (self.XZ - self.XW) + back * (self.XW - self.XW_last)
        self.Z, self.XZ, value = self._proximal_step(U, XU)
        self.W_last, self.XW_last = self.W, self.XW
        drop = 0.5 * self.delta * float(((self.Z - U) ** 2).sum())
        if value <= self.average - drop:
            self.W, self.XW = self.Z, self.XZ
        else:
            V, XV, other = self._proximal_step(self.W, self.XW)
            if value <= other:
                self.W, self.XW = self.Z, self.XZ
            else:
                self.W, self.XW, value = V, XV, other
        self.t_last, self.t = self.t, 0.5 * (np.sqrt(4.0 * self.t**2 + 1.0) + 1.0)
        q = self.eta * self.q + 1.0
        self.average = (self.eta * self.q * self.average + value) / q
        self.q = q

    def _proximal_step(self, U, XU):
        d = self.n_features
        slopes = self.weights * onto_balls(XU - self.Y, self.mu)
        moved = U.copy()
        gradient = self.data.design.rmatmul(slopes)
        gradient += self.penalty.alpha * onto_balls(U[:d], self.mu)
        moved[:d] -= gradient / self.tau
        moved[:d] = self.gap.prox(moved[:d], 1.0 / self.tau)
        moved[d:] -= self.free.T @ slopes / self.tau
        image = self._product(moved)
        return moved, image, self._smoothed(moved, image)

    def _product(self, W):
        return self.data.design.matmul(W[: self.n_features]) + self.free @ W[self.n_features :]

    def _smoothed(self, W, XW) -> float:
        norms = row_norms(W[: self.n_features])
        loss = l21_loss(XW - self.Y, self.data.weights, self.mu)
        kept = self.penalty.alpha * smoothed_norms(norms, self.mu).sum()
        return loss + float(kept) + self.gap.rho * self.gap.gap(norms)

    def objective(self) -> float:
        """The penalised objective without smoothing."""
        loss = l21_loss(self.XW - self.Y, self.data.weights)
        return loss + self.penalty.value(self.W[: self.n_features])

    def moved(self) -> float:
        """Length of the last step, relative to the norm of W or 1."""
        length = float(np.linalg.norm(self.W - self.W_last))
        return length / max(float(np.linalg.norm(self.W)), 1.0)

    def solution(self) -> RobustSolution:
        """In double precision."""
        W = self.W.astype(np.float64)
        return RobustSolution(W[: self.n_features], W[self.n_features :])
