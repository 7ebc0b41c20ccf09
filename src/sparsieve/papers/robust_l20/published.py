"""The published method for the robust l2,0 model (An, Dong and Qin, 2021), formulas corrected.

The constraint "at most K nonzero rows" becomes the penalty rho times the sum of all row norms
except the K largest; the remaining norms are smoothed with parameter mu; nonmonotone
accelerated proximal gradient steps (Li and Lin, 2015) do the rest. Algorithm 1 keeps mu fixed,
Algorithm 2 lowers it in stages.

Two things differ from the printed text. The printed proximal map multiplies short rows by a
negative factor; here they become zero, which is the minimiser. And next to the printed step
constant (||X||_F^2 + d alpha) / mu the much smaller (||X||_2^2 + alpha) / mu is on offer, which
suffices because the smoothed row norms act on separate rows.

Nesterov's smoothed norm is ||r||^2 / (2 mu) up to ||r|| = mu and ||r|| - mu / 2 beyond. It lies
below the norm by at most mu / 2; its gradient is the projection of r / mu onto the unit ball, with
Lipschitz constant 1 / mu. With mu = 0 there are subgradients only: zero rows get zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import NamedTuple

import numpy as np

from ...design.base import feature_blocks
from ...penalties import row_norms
from ...penalties.concave import TopKGap, largest
from ...solvers.base import Callback, Event, Result, relative
from ...solvers.robust.problem import RobustRegression, RobustSolution
from ...solvers.settings import NmAPG


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
        problem: RobustRegression,
        start: Result[RobustSolution] | None = None,
        callback: Callback | None = None,
    ) -> Result[RobustSolution]:
        """Minimise from ``start`` or W = 0; the norms of ``alpha`` are smoothed, the gap is not.

        Objectives are those without smoothing. When the callback returns True, the stage ends.
        Columns that are not eligible must be zero in the design.
        """
        run = _Run(problem, self.lipschitz(problem), self.eta, start)
        trace: list[float] = []
        change = np.inf
        arrived = False
        for mu in self.levels(problem):
            left = self.max_iter - len(trace)
            budget = left if self.mu is not None else min(self.stage_iter, left)
            run.begin(mu)
            for _ in range(budget):
                run.step()
                trace.append(run.objective())
                if len(trace) > 1:
                    change = relative(abs(trace[-1] - trace[-2]), trace[-1])
                arrived = change <= self.tol or run.step_length() <= self.step_tol
                stop = callback is not None and callback(Event(len(trace), trace[-1], change))
                if arrived or stop:
                    break
            if len(trace) >= self.max_iter:
                break
        return Result(run.solution(), trace[-1], change, len(trace), arrived, trace)

    def levels(self, problem: RobustRegression) -> Iterator[float]:
        """Smoothings of the stages, down to 2 ``accuracy`` / (n + alpha d)."""
        size = problem.total_weight + problem.alpha * len(problem.features)
        if self.mu is not None:
            yield self.mu
            return
        mu = self.mu_start
        while mu >= 2.0 * self.accuracy / size:
            yield mu
            mu *= self.mu_decay

    def lipschitz(self, problem: RobustRegression) -> float:
        """Lipschitz constant of the smoothed gradient, times mu."""
        weighted, alpha = problem.weighted_design(), problem.alpha
        n_free = problem.free.shape[1]
        if self.step_constant == "printed":
            frobenius = float(weighted.column_sq_norms().astype(np.float64).sum())
            return frobenius + n_free * problem.total_weight + alpha * len(problem.features)
        # The unpenalised columns are orthogonal and of equal length.
        longest = problem.total_weight if n_free else 0.0
        return (1.0 + 1e-5) * weighted.spectral_norm() ** 2 + longest + alpha


class _Point(NamedTuple):
    """Coefficients, X times them, and the norms that all objectives are made of."""

    W: np.ndarray
    XW: np.ndarray
    losses: np.ndarray
    norms: np.ndarray
    gap: float


class _Run:
    """The iterates. Products X W are kept, so that a step costs two products with X.

    Unpenalised columns, such as an intercept, are further rows without any penalty.
    """

    def __init__(
        self,
        problem: RobustRegression,
        lipschitz: float,
        eta: float,
        start: Result[RobustSolution] | None,
    ):
        self.problem, self.penalty, self.eta = problem, problem.penalty, eta
        self.gap = TopKGap(self.penalty.k, self.penalty.rho)
        self.lipschitz = lipschitz
        dtype = problem.design.dtype
        self.Y = problem.Y.astype(dtype, copy=False)
        self.weights = problem.weights.astype(dtype)[:, None]
        self.weighted = bool((problem.weights != 1.0).any())
        self.n_features = problem.design.shape[1]
        self.free = problem.free.astype(dtype)
        rows = self.n_features + self.free.shape[1]
        W = np.zeros((rows, self.Y.shape[1]), dtype=dtype)
        self.R = np.empty_like(self.Y)  # memory for residuals
        if start is None:
            XW = np.zeros_like(self.Y)
        else:
            W[: self.n_features] = start.solution.W
            W[self.n_features :] = start.solution.free
            XW = self._product(W)
        self.now = self._point(W, XW)

    def begin(self, mu: float) -> None:
        """Start Algorithm 1 at the current W."""
        self.mu = mu
        constant = self.lipschitz / mu
        self.tau = 2.0 * constant
        self.delta = 0.1 * (self.tau - constant)
        self.tried = self.now
        self.change, self.XW_change = np.zeros_like(self.now.W), np.zeros_like(self.Y)
        self.t_last, self.t = 0.0, 1.0
        self.average = self._smooth_objective(self.now)
        self.q = 1.0

    def step(self) -> None:
        """One iteration of Algorithm 1."""
        last, tried = self.now, self.tried
        ahead, back = self.t_last / self.t, (self.t_last - 1.0) / self.t
        U = last.W + ahead * (tried.W - last.W) + back * self.change
        XU = last.XW + ahead * (tried.XW - last.XW) + back * self.XW_change
        self.tried = self.now = self._proximal_step(U, XU)
        value = self._smooth_objective(self.tried)
        U -= self.tried.W
        if not value <= self.average - 0.5 * self.delta * float(np.vdot(U, U)):
            other = self._proximal_step(last.W, last.XW)
            at_other = self._smooth_objective(other)
            if not value <= at_other:
                self.now, value = other, at_other
        self.change, self.XW_change = self.now.W - last.W, self.now.XW - last.XW
        self.t_last, self.t = self.t, 0.5 * (sqrt(4.0 * self.t**2 + 1.0) + 1.0)
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
        gradient = self.problem.design.rmatmul(slopes)
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
        image = self.problem.design.matmul(W[: self.n_features])
        image += self.free @ W[self.n_features :]
        return image

    def _smooth_objective(self, point: _Point) -> float:
        loss = float(self.problem.weights @ smoothed_norms(point.losses, self.mu))
        kept = self.penalty.alpha * smoothed_norms(point.norms, self.mu).sum()
        return loss + float(kept) + self.gap.rho * point.gap

    def objective(self) -> float:
        """The penalised objective without smoothing."""
        loss = float(self.problem.weights @ self.now.losses)
        kept = self.penalty.alpha * self.now.norms.sum()
        return loss + float(kept + self.penalty.rho * self.now.gap)

    def step_length(self) -> float:
        """Length of the last step, relative to the norm of W or 1."""
        length = float(np.linalg.norm(self.change))
        return length / max(float(np.linalg.norm(self.now.W)), 1.0)

    def solution(self) -> RobustSolution:
        """In double precision."""
        W = self.now.W.astype(np.float64)
        return RobustSolution(W[: self.n_features], W[self.n_features :])


def smoothed_norms(norms: np.ndarray, mu: float) -> np.ndarray:
    """The smoothed norms, from the norms."""
    if mu == 0:
        return norms
    return np.where(norms <= mu, norms**2 / (2.0 * mu), norms - 0.5 * mu)


def onto_balls(R: np.ndarray, mu: float, out: np.ndarray | None = None) -> np.ndarray:
    """Projection of every row of R / mu onto the unit ball; R / ||R|| for mu = 0."""
    lengths = np.maximum(row_norms(R), mu if mu > 0 else np.finfo(np.float64).tiny)
    return np.divide(R, lengths[:, None], out=out)


LIMITS = 50  # the paper's figures run over K = 1, 2, ..., 50


def nmapg(settings: NmAPG, max_iter: int | None = None) -> NonmonotoneAPG:
    """The solver with these settings, which stops as the paper says: by the step alone."""
    return NonmonotoneAPG(
        mu=None if settings.mu is None else float(settings.mu),
        mu_start=float(settings.mu_0),
        mu_decay=float(settings.sigma),
        accuracy=float(settings.epsilon),
        stage_iter=int(settings.n_stage),
        max_iter=settings.max_iter if max_iter is None else max_iter,
        tol=0.0,
        step_tol=float(settings.stop),
        step_constant=settings.step_constant,
        eta=float(settings.eta),
    )


def over_limits(
    solver: NonmonotoneAPG,
    problem: RobustRegression,
    limits: Sequence[int],
    *,
    warm_start: bool = True,
) -> Iterator[tuple[int, Result[RobustSolution]]]:
    """Every limit K in order, each from the solution for the one before."""
    last: Result[RobustSolution] | None = None
    for k in limits:
        last = solver.solve(replace(problem, k=k), last if warm_start else None)
        yield k, last


def limit_path(settings: NmAPG, k: int) -> list[int]:
    """The limits that are solved on the way to this one, which is the last."""
    on_the_way = range(1, LIMITS + 1) if settings.limits is None else settings.limits
    return [*sorted({int(limit) for limit in on_the_way if limit < k}), k]


def exact_rho(problem: RobustRegression) -> float:
    """max_j sum_i s_i |x_ij| - alpha: from here on the penalty enforces the limit exactly."""
    blocks = (block for _, block in feature_blocks(problem.design))
    sums = [float((problem.weights @ np.abs(block)).max()) for block in blocks]
    return max(*sums, problem.alpha) - problem.alpha


def printed_rho_max(problem: RobustRegression) -> float:
    """M max |x_ij| - alpha, the bound of Theorem 3.1; the weights of m samples add up to m."""
    largest_entry = max(float(np.abs(b).max()) for _, b in feature_blocks(problem.design))
    return max(problem.total_weight * largest_entry - problem.alpha, 0.0)


def chosen_rho(problem: RobustRegression, rho: float | str | None, share: float = 1.0) -> float:
    """The strength that is meant: a number, the exact value, or a share of the printed bound."""
    if rho is None:
        return share * printed_rho_max(problem)
    return exact_rho(problem) if isinstance(rho, str) else float(rho)


def is_first_step(problem: RobustRegression, mu: float, features: np.ndarray) -> bool:
    """Whether these are the features of the first step from zero, and no later one changes them.

    With a strength above the gradient at zero a row that is zero stays zero: the method is then
    a filter by correlation with the target.
    """
    slopes = problem.weights[:, None] * onto_balls(-problem.Y.astype(np.float64), mu)
    norms = row_norms(np.asarray(problem.design.rmatmul(slopes), dtype=np.float64))
    if not 1 < len(features) < len(norms) or problem.rho <= norms.max(initial=0.0):
        return False
    return set(largest(norms, len(features)).tolist()) == set(features.tolist())
