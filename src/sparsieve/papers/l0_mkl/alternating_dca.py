"""Alternating DC algorithm for multiple kernel machines with few kernels.

    F(u, b, d) = lambda1 sum_m d_m u'(A_m + shift_m I)u + lambda2 sum_m delta(d_m)
                 + sum_i max(0, s_i - y_i (sum_m d_m (A_m u)_i + s_i b))^2,   0 <= d <= d_max

A_m is the centred kernel matrix of feature m and shift_m what makes it semidefinite, so F is
convex in (u, b) and nonnegative. The steps: coefficients (u, b) by Newton's method, weights (d, b)
by the DC algorithm of ``kernel_weights``, and the scale of d against u, along which the loss does
not change. No step can raise F.

**The scale.**
With weights t d and coefficients u / t the decision function is the same for every t; the
regulariser and the penalty are not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np
from scipy.linalg import cho_solve
from scipy.optimize import brentq, minimize_scalar

from ..._saved import Floats, Savable
from ...penalties import Surrogate
from ...solvers.base import Callback, Event, Result
from ...solvers.engines.dca import DCA
from .bank import KernelBank
from .kernel_svm import MAX_DENSE_HESSIAN, KernelMachine, KernelSVM, SemismoothNewton
from .kernel_weights import KernelWeights, WeightProgram
from .kernels import CombinedKernel


def scaled_to_enter(
    program: WeightProgram, machine: Result[KernelMachine]
) -> Result[KernelMachine]:
    """Coefficients of the scale at which some feature violates its KKT condition the most.

    The scale of the first coefficients is arbitrary, and may be one at which no feature pays.
    With u / t feature m gains slope / t - charge / t^2 - cost per unit of weight, where the slope
    is its correlation with the residual, most at t = 2 charge / slope.
    """
    y = np.sign(program.border)
    bias = float(program.s @ program.border) / float(program.s @ program.s)
    slope = 2.0 * (program.P @ (program.s * np.maximum(0.0, 1.0 - y * bias)))
    steepest = np.argsort(-slope, kind="stable")[:50]
    slope, charge = slope[steepest], program.charge(steepest)
    if not (slope[0] > 0 and (charge > 0).any()):
        return machine
    gain = np.where(charge > 0, slope * np.abs(slope) / np.maximum(charge, 1e-300), 0)
    best = int(np.argmax(gain))
    t = 2.0 * charge[best] / slope[best]
    return divide_coefficients(machine, t) if t > 0 else machine


def divide_coefficients(machine: Result[KernelMachine], t: float) -> Result[KernelMachine]:
    """The machine with coefficients u / t."""
    return replace(machine, solution=replace(machine.solution, u=machine.solution.u / t))


def rescale(
    model: MKLModel, program: WeightProgram, weights: KernelWeights, machine: Result[KernelMachine]
) -> tuple[KernelWeights, Result[KernelMachine]]:
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
    best = min([_sharpen(float(found.x), slope), *candidates], key=along)
    t = float(np.exp(best))
    d = t * weights.d
    d[d >= model.d_max * (1.0 - 1e-12)] = model.d_max  # at the limit but for rounding
    return replace(weights, d=d), divide_coefficients(machine, t)


def _sharpen(x: float, slope) -> float:
    """The zero of the slope next to a minimum that was found by values alone.

    Values see a minimum only to half of the digits; rounding would then decide the scale.
    """
    low, high = x - 1e-3, x + 1e-3
    if slope(low) < 0 < slope(high):
        return float(brentq(slope, low, high, xtol=1e-15, rtol=1e-15))
    return x


# Rounds over all features before the working set is screened, and how many features it then has.
UNSCREENED_ROUNDS = 3
SCREENED_FEATURES = 1000
# The starting kernel is an average over at most this many kernel entries in all.
START_ENTRIES = 100_000_000


@dataclass(frozen=True)
class MKLModel(Savable):
    """The problem: kernels, labels and regularisation parameters."""

    bank: Annotated[KernelBank, "samples", "features"]
    y: Annotated[Floats, "samples"]
    lambda1: float
    lambda2: float
    surrogate: Surrogate
    d_max: float

    # Whether the shifts of the kernels are part of the objective.
    shifted: ClassVar[bool] = True

    def coefficients(
        self, weights: KernelWeights, start: Result[KernelMachine] | None = None
    ) -> Result[KernelMachine]:
        """The optimal coefficients and bias for these weights."""
        A = self.bank.combine_directions(weights.features, weights.d)
        shift = float(weights.d @ self.bank.shifts(weights.features))
        return self._machine(A, shift, start)

    def first_coefficients(self, weights: np.ndarray | None = None) -> Result[KernelMachine]:
        """Coefficients for the average of all kernels, or for an average with these weights.

        Semidefinite by a shift of its own. With very many kernel entries the average runs over
        evenly spaced features only: it is where the algorithm starts, not what it solves.
        """
        n_features = self.bank.n_features
        features = np.unique(np.linspace(0, n_features - 1, self.n_averaged).astype(np.int64))
        share = np.ones(len(features)) if weights is None else weights[features]
        A = self.bank.combine_directions(features, share / share.sum(), keep=False)
        return self._machine(A, A.shift(), None)

    @property
    def n_averaged(self) -> int:
        """Of how many features the kernels can be averaged."""
        n_features, n_samples = self.bank.n_features, self.bank.n_samples
        # Entries of matrices, or of their factors where these are shorter.
        whole, factored = n_samples**2, n_samples * float(self.bank.ranks.mean())
        count = START_ENTRIES // whole
        if 2 * n_features * factored <= whole:
            count = int(START_ENTRIES / factored)
        return max(1, min(n_features, count))

    def objective(self, machine: Result[KernelMachine], weights: KernelWeights) -> float:
        """F, given the optimal coefficients for these weights.

        Along the lowest eigenvectors only rounding is left of the regulariser: it is not negative.
        """
        return max(machine.objective, 0.0) + self.lambda2 * self.surrogate.total(weights.d)

    def without_features(self) -> float:
        """F with no weights at all, at the best bias."""
        w = self.bank.weights
        positive, negative = float(w[self.y > 0].sum()), float(w[self.y < 0].sum())
        return 4.0 * positive * negative / (positive + negative)

    def svm(self, A: CombinedKernel, shift: float) -> KernelSVM:
        """The problem in the coefficients, in the basis Q of A where it has one.

        u = Q v: what is at right angles to Q costs a shift and does nothing.
        """
        settings = self.y, self.bank.roots, self.lambda1, shift
        if A.basis is None:
            return KernelSVM(A.inner, *settings)
        return KernelSVM(A.basis @ A.inner, *settings, regulariser=A.inner)

    def _machine(
        self, A: CombinedKernel, shift: float, start: Result[KernelMachine] | None
    ) -> Result[KernelMachine]:
        s, Q = self.bank.roots, A.basis
        if start is not None and Q is not None:
            start = replace(start, solution=replace(start.solution, u=Q.T @ start.solution.u))
        result = SemismoothNewton().solve(self.svm(A, shift), start)
        u = result.solution.u if Q is None else Q @ result.solution.u
        # Centred kernels do not see the direction s, and a shift can only dislike it.
        u = u - s * (float(s @ u) / float(s @ s))
        return replace(result, solution=KernelMachine(u, result.solution.bias))


@dataclass(frozen=True)
class SparseKernelMachine:
    """Kernel weights with the bias, the coefficients, and what features would add.

    Attributes
    ----------
    weights : KernelWeights
    u : ndarray of shape (n_samples,)
    gains : ndarray of shape (n_features,)
        What every feature would gain per unit of weight.
    contributions : ndarray of shape (n_features,)
        What every feature adds to the margin of one: half the difference of the two classes'
        means of its part of the decision function.
    """

    weights: KernelWeights
    u: np.ndarray
    gains: np.ndarray
    contributions: np.ndarray

    @classmethod
    def from_program(
        cls, program: WeightProgram, weights: KernelWeights, u: np.ndarray
    ) -> SparseKernelMachine:
        """Read gains and contributions off the program of the coefficients ``u``."""
        return cls(weights, u, program.gains(weights), program.contributions(weights))

    def machine(self) -> Result[KernelMachine]:
        """The coefficients and the bias alone."""
        machine = KernelMachine(self.u, self.weights.bias)
        return Result(machine, np.inf, np.inf, 0, False)

    @classmethod
    def from_weights(cls, d: np.ndarray) -> Result[SparseKernelMachine]:
        """A start at the kernel with these weights of all features, nothing solved yet."""
        features, none = np.flatnonzero(d), np.empty(0)
        machine = cls(KernelWeights(features, d[features], 0.0), none, none, none)
        return Result(machine, np.inf, np.inf, 0, False)


@dataclass(frozen=True)
class AlternatingMKL:
    """Settings of the alternation.

    Attributes
    ----------
    max_iter : int
        Maximum number of rounds of a weight step and a coefficient step.
    tol : float
        Stop when both blocks satisfy their first-order conditions up to this relative error, or
        when the objective is at most this share of what it is without features: it is never
        negative, so that no point is better by more. Where few samples of a class lie along the
        lowest eigenvector of a kernel, it falls towards zero while a weight vanishes, and no point
        is stationary.
    """

    max_iter: int = 100
    tol: float = 1e-3

    def solve(
        self,
        problem: MKLModel,
        start: Result[SparseKernelMachine] | None = None,
        callback: Callback | None = None,
    ) -> Result[SparseKernelMachine]:
        """Run from the average kernel, or from the kernel with the weights of ``start``.

        Without coefficients ``start`` says only which kernel the first ones belong to; otherwise
        its rounds are continued.
        """
        model, n_features = problem, problem.bank.n_features
        trace: list[float] = []
        objective = np.inf
        if start is not None and len(start.solution.u):
            weights, machine = start.solution.weights, start.solution.machine()
            trace, objective = list(start.trace), start.objective
        else:
            given = None if start is None else start.solution.weights.dense(n_features)
            machine = model.first_coefficients(given)
            weights = KernelWeights.none(machine.solution.bias)
        dca = DCA(max_iter=20, tol=1e-6, slack=1e-8)
        n_before = len(trace)
        before: KernelWeights | None = None
        optimality, converged, stalled = np.inf, False, False
        members: np.ndarray | None = None
        while True:
            if members is not None:
                members = np.union1d(members, weights.features)
            program = WeightProgram(model, machine.solution.u, members)
            if trace:
                optimality = self._optimality(model, program, weights, machine, objective)
                event = Event(len(trace), objective, optimality, len(weights.features))
                stop = callback is not None and callback(event)
                stop = stop or len(trace) >= self.max_iter
                if members is not None and (optimality <= self.tol or stalled or stop):
                    # What holds for the screened features has to hold for all.
                    members, stalled = None, False
                    program = WeightProgram(model, machine.solution.u)
                    optimality = self._optimality(model, program, weights, machine, objective)
                converged = optimality <= self.tol
                if converged or stalled or stop:
                    break
            if members is None and len(trace) - n_before >= UNSCREENED_ROUNDS - 1:
                members = screen_features(program, weights)
            run = dca.solve(program, weights)
            if not trace and not len(run.solution.d):
                machine = scaled_to_enter(program, machine)
                program = WeightProgram(model, machine.solution.u)
                run = dca.solve(program, weights)
            weights = run.solution
            weights, machine = rescale(model, program, weights, machine)
            machine = model.coefficients(weights, machine)
            new = model.objective(machine, weights)
            if before is not None and np.array_equal(before.features, weights.features):
                weights, machine, new = further(model, weights, machine, new)
            weights = before = replace(weights, bias=machine.solution.bias)
            stalled = not objective - new > 1e-13 * abs(new)
            objective = new
            trace.append(objective)
        found = SparseKernelMachine.from_program(program, weights, machine.solution.u)
        return Result(found, objective, optimality, len(trace), converged, trace)

    @staticmethod
    def _optimality(model, program, weights, machine, objective) -> float:
        """What ``tol`` bounds."""
        stationarity = max(program.stationarity(weights), machine.optimality)
        return min(stationarity, objective / model.without_features())


def screen_features(program: WeightProgram, weights: KernelWeights) -> np.ndarray | None:
    """The features nearest to being used; None where they would be half of all."""
    count = max(SCREENED_FEATURES, 10 * len(weights.features))
    gains = program.gains(weights)
    if 2 * count >= len(gains):
        return None
    return np.sort(program.members[np.argpartition(-gains, count)[:count]])


def further(
    model: MKLModel, weights: KernelWeights, machine: Result[KernelMachine], objective: float
) -> tuple[KernelWeights, Result[KernelMachine], float]:
    """Follow a Newton step of the weights while it lowers the objective: alternation is slow.

    The step is that of the objective minimised over the coefficients. Weights stay positive: which
    of them are zero is for the weight step to say.
    """
    direction = _newton_step(model, weights, machine.solution)
    for length in () if direction is None else (1.0, 0.25):
        d = np.clip(weights.d + length * direction, 0.1 * weights.d, model.d_max)
        trial = replace(weights, d=d)
        moved = model.coefficients(trial, machine)
        value = model.objective(moved, trial)
        if value < objective:
            return trial, moved, value
    return weights, machine, objective


def _newton_step(model: MKLModel, weights: KernelWeights, machine: KernelMachine):
    """Minus the gradient in the weights, over the Schur complement of the coefficients.

    The Hessian of the objective in (u, b) is H; D holds its mixed derivatives and E those in the
    weights alone, the surrogate taken by its tangent. E - D'H^-1 D is made positive definite.
    """
    bank, s, y = model.bank, model.bank.roots, model.y
    kernel = bank.combine_directions(weights.features, weights.d)
    if len(kernel.inner) > MAX_DENSE_HESSIAN:
        return None
    P = bank.apply(machine.u, weights.features)
    shifts = bank.shifts(weights.features)
    residual = np.maximum(0.0, s - y * (weights.d @ P + s * machine.bias))
    active = residual > 0
    svm = model.svm(kernel, float(weights.d @ shifts))
    factor = svm.factored_hessian(active)
    if factor is None:
        return None
    mixed = 2.0 * model.lambda1 * (P + np.multiply.outer(shifts, machine.u))
    mixed -= 2.0 * bank.apply(y * residual, weights.features)
    inside = mixed.T if kernel.basis is None else kernel.basis.T @ mixed.T
    held = np.where(active, P, 0.0)
    D = np.vstack([inside + 2.0 * (svm.A.T @ held.T), 2.0 * (held @ s)])
    schur = 2.0 * (held @ held.T) - D.T @ cho_solve(factor, D)
    gradient = model.lambda1 * (P @ machine.u + shifts * float(machine.u @ machine.u))
    gradient += model.lambda2 * model.surrogate.weight(weights.d) - 2.0 * (P @ (y * residual))
    free = (weights.d < model.d_max) | (gradient > 0)
    step = np.zeros(len(gradient))
    if not np.isfinite(schur).all() or not free.any():
        return None
    values, vectors = np.linalg.eigh(schur[np.ix_(free, free)])
    values = np.maximum(np.abs(values), 1e-10 * np.abs(values).max() + 1e-300)
    step[free] = -vectors @ ((vectors.T @ gradient[free]) / values)
    return step
