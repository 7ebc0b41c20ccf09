"""Alternating DC algorithm for multiple kernel machines with few kernels.

    F(u, b, d) = lambda1 sum_m d_m u'(A_m + shift_m I)u + lambda2 sum_m delta(d_m)
                 + sum_i max(0, s_i - y_i (sum_m d_m (A_m u)_i + s_i b))^2,   0 <= d <= d_max

A_m is the centred kernel matrix of feature m and shift_m what makes it semidefinite, so F is
convex in (u, b) and nonnegative. The steps: coefficients (u, b) by Newton's method, weights (d, b)
by the DC algorithm of ``mkl_weights``, and the scale of d against u, along which the loss does
not change. No step can raise F.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from ...kernels import KernelBank
from ...penalties import Surrogate
from ..engines.dca import DCA
from .machine import KernelMachine, solve_kernel_machine
from .weights import KernelWeights, WeightProgram

# The starting kernel is an average over at most this many kernel entries in all.
START_ENTRIES = 100_000_000


@dataclass
class MKLModel:
    """The problem: kernels, labels and strengths."""

    # Whether the scale of weights against coefficients is optimised in every round
    rescales: ClassVar[bool] = True

    bank: KernelBank
    y: np.ndarray
    lambda1: float
    lambda2: float
    surrogate: Surrogate
    d_max: float

    def weight_program(self, u: np.ndarray) -> WeightProgram:
        """The problem in the weights, for coefficients ``u``."""
        return WeightProgram(
            self.bank,
            self.y,
            u,
            self.lambda1,
            self.lambda2,
            self.surrogate,
            self.d_max,
            shifted=True,
        )

    def coefficients(
        self, weights: KernelWeights, start: KernelMachine | None = None
    ) -> KernelMachine:
        """The optimal coefficients and bias for these weights."""
        A = self.bank.combine(weights.features, weights.d)
        shift = float(weights.d @ self.bank.shifts(weights.features))
        return self._machine(A, shift, start)

    def first_coefficients(self, weights: np.ndarray | None = None) -> KernelMachine:
        """Coefficients for the average of all kernels, or for an average with these weights.

        Semidefinite by a shift of its own. With very many kernel entries the average runs over
        evenly spaced features only: it is where the algorithm starts, not what it solves.
        """
        n_features, n_samples = self.bank.n_features, self.bank.n_samples
        count = max(1, min(n_features, START_ENTRIES // n_samples**2))
        features = np.unique(np.linspace(0, n_features - 1, count).astype(np.int64))
        share = np.ones(len(features)) if weights is None else weights[features]
        A = self.bank.combine(features, share / share.sum(), keep=False)
        lowest = float(np.linalg.eigvalsh(A)[0])
        return self._machine(A, max(0.0, -lowest), None)

    def objective(self, machine: KernelMachine, weights: KernelWeights) -> float:
        """F, given the optimal coefficients for these weights."""
        return machine.objective + self.lambda2 * self.surrogate.total(weights.d)

    def _machine(self, A, shift, start) -> KernelMachine:
        s = self.bank.roots
        u0, b0 = (None, 0.0) if start is None else (start.u, start.bias)
        machine = solve_kernel_machine(A, shift, self.lambda1, self.y, s, u0, b0)
        # Centred kernels do not see the direction s, and a shift can only dislike it.
        return replace(machine, u=machine.u - s * (float(s @ machine.u) / float(s @ s)))


@dataclass
class MKLResult:
    """Where the alternation ended; ``history`` starts with the first weight step."""

    machine: KernelMachine
    weights: KernelWeights
    objective: float
    optimality: float
    n_iter: int
    converged: bool
    # What every feature would gain per unit of weight
    gains: np.ndarray
    history: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class AlternatingMKL:
    """Settings of the alternation.

    Attributes
    ----------
    max_iter : int
        Most rounds of a weight step and a coefficient step.
    tol : float
        Stop when both blocks satisfy their first-order conditions up to this relative error.
    """

    max_iter: int = 100
    tol: float = 1e-3

    def solve(
        self,
        model: MKLModel,
        start: np.ndarray | None = None,
        callback: Any = None,
    ) -> MKLResult:
        """Run from the average kernel, or from the kernel with weights ``start``."""
        machine = model.first_coefficients(start)
        weights = KernelWeights.none(machine.bias)
        dca = DCA(max_iter=20, tol=1e-6, slack=1e-8)
        history: list[float] = []
        before, stride = None, 2.0
        objective, converged, stalled, n_iter = np.inf, False, False, 0
        while True:
            program = model.weight_program(machine.u)
            optimality = np.inf
            if n_iter:
                optimality = max(program.stationarity(weights), machine.optimality)
                report: dict[str, Any] = {
                    "objective": objective,
                    "optimality": optimality,
                    "n_active": len(weights.features),
                }
                stop = callback is not None and callback(report)
                converged = optimality <= self.tol
                if converged or stalled or stop or n_iter >= self.max_iter:
                    break
            n_iter += 1
            run = dca.solve(program, weights)
            if n_iter == 1 and model.rescales and not len(run.solution.d):
                machine = awakened(program, machine)
                program = model.weight_program(machine.u)
                run = dca.solve(program, weights)
            weights = run.solution
            if n_iter == 1:
                history.append(run.objective)
            if model.rescales:
                weights, machine = rescaled(model, program, weights, machine)
            machine = model.coefficients(weights, machine)
            new = model.objective(machine, weights)
            if before is not None and np.array_equal(before.features, weights.features):
                weights, machine, new, stride = further(
                    model, before, weights, machine, new, stride
                )
            weights = before = replace(weights, bias=machine.bias)
            stalled = objective - new <= 1e-13 * abs(new)
            objective = new
            history.append(objective)
        return MKLResult(
            machine,
            weights,
            objective,
            optimality,
            n_iter,
            converged,
            program.gains(weights),
            history,
        )


def awakened(program: WeightProgram, machine: KernelMachine) -> KernelMachine:
    """Coefficients of the scale at which some feature is most eager to enter.

    The scale of the first coefficients is arbitrary, and may be one at which no feature pays.
    With u / t feature m gains pull / t - charge / t^2 - cost per unit of weight, most at
    t = 2 charge / pull.
    """
    y = np.sign(program.border)
    bias = float(program.s @ program.border) / float(program.s @ program.s)
    pull = 2.0 * (program.P @ (program.s * np.maximum(0.0, 1.0 - y * bias)))
    eager = np.argsort(-pull, kind="stable")[:50]
    pull, charge = pull[eager], program.charge(eager)
    if not (pull[0] > 0 and (charge > 0).any()):
        return machine
    best = int(np.argmax(np.where(charge > 0, pull * np.abs(pull) / np.maximum(charge, 1e-300), 0)))
    t = 2.0 * charge[best] / pull[best]
    return replace(machine, u=machine.u / t) if t > 0 else machine


def further(model: MKLModel, before, weights, machine, objective, stride):
    """Go on in the direction of the last round, if that lowers the objective.

    Alternation converges in ever smaller steps of the same direction; a stride that worked is
    doubled for the next round, one that did not is halved.
    """
    d = np.clip(weights.d + stride * (weights.d - before.d), 0.25 * weights.d, model.d_max)
    trial = KernelWeights(weights.features, d, weights.bias)
    moved = model.coefficients(trial, machine)
    value = model.objective(moved, trial)
    if value < objective:
        return trial, moved, value, min(2.0 * stride, 64.0)
    return weights, machine, objective, max(0.5 * stride, 1.0)


def rescaled(
    model: MKLModel, program: WeightProgram, weights: KernelWeights, machine: KernelMachine
) -> tuple[KernelWeights, KernelMachine]:
    """Weights t d and coefficients u / t with the best t; the loss does not depend on it.

    Along t the objective is energy / t + lambda2 sum_m delta(t d_m) and a constant.
    """
    if not len(weights.d):
        return weights, machine
    energy = float(program.charge(weights.features) @ weights.d)

    def along(log_t):
        t = np.exp(log_t)
        return energy / t + model.lambda2 * model.surrogate.total(t * weights.d)

    def slope(log_t):
        d = np.exp(log_t) * weights.d
        return float(model.lambda2 * (model.surrogate.weight(d) @ d) - energy / np.exp(log_t))

    longest = np.log(model.d_max / weights.d.max()) if np.isfinite(model.d_max) else 12.0
    span = (min(-12.0, longest - 1.0), longest)
    found = minimize_scalar(along, bounds=span, method="bounded", options={"xatol": 1e-8})
    candidates = [0.0, longest] if np.isfinite(model.d_max) else [0.0]
    best = min([_sharpened(float(found.x), slope), *candidates], key=along)
    t = float(np.exp(best))
    d = t * weights.d
    d[d >= model.d_max * (1.0 - 1e-12)] = model.d_max  # at the limit but for rounding
    return replace(weights, d=d), replace(machine, u=machine.u / t)


def _sharpened(x: float, slope) -> float:
    """The zero of the slope next to a minimum that was found by values alone.

    Values see a minimum only to half of the digits; rounding would then decide the scale.
    """
    low, high = x - 1e-3, x + 1e-3
    if slope(low) < 0 < slope(high):
        return float(brentq(slope, low, high, xtol=1e-15, rtol=1e-15))
    return x
