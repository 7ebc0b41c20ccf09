"""l0-MKL as printed: Algorithms 1, 3 and 4 of the paper, on the objective as printed.

    F(beta, b, d) = lambda1 beta'K(d)beta + lambda2 sum_m delta(d_m)
                    + sum_i max(0, 1 - y_i ((K(d) beta)_i + b))^2,   K(d) = sum_m d_m K_m,  d >= 0

Nothing bounds F from below once beta'K(d)beta is negative: shrinking d and growing beta by the same
factor leaves K(d) beta alone and sends the first term to minus infinity. With indefinite kernels
the iteration usually goes that way. It is here to be looked at, not to be used.

What the paper leaves open: d starts at 1/M, beta and b at zero and later where they were; rho is
kept positive, as the text demands, where the largest eigenvalue of K is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ...solvers.base import Callback, Event, Result, relative
from .alternating_dca import MKLModel, SparseKernelMachine
from .kernel_svm import KernelMachine, KernelSVM, SemismoothNewton
from .kernel_weights import KernelWeights, UnboundedObjectiveError, WeightProgram

# An objective below minus this many times the number of samples is taken for unbounded.
UNBOUNDED_PER_SAMPLE = 1e12
# Added to the largest eigenvalue of K.
RHO_MARGIN = 1e-5


@dataclass(frozen=True)
class PublishedMKLModel(MKLModel):
    """The problem above; ``bank`` holds plain kernels, neither centred nor shifted."""

    shifted: ClassVar[bool] = False


@dataclass(frozen=True)
class PublishedMKL:
    """Settings of the printed iteration.

    Attributes
    ----------
    max_iter : int
        T of Algorithm 1.
    tol : float
        epsilon of Algorithm 1, for the change of F relative to F.
    inner_max_iter : int
        T of Algorithms 3 and 4.
    inner_tol : float
        epsilon of Algorithms 3 and 4, for the squared length of a step.
    min_weight : float
        Weights below this are discarded in the end.
    """

    max_iter: int = 200
    tol: float = 1e-3
    inner_max_iter: int = 100
    inner_tol: float = 1e-5
    min_weight: float = 1e-5

    def solve(
        self,
        problem: PublishedMKLModel,
        start: Result[SparseKernelMachine] | None = None,
        callback: Callback | None = None,
    ) -> Result[SparseKernelMachine]:
        """Algorithm 1, from equal weights or from those of ``start``.

        The callback's events hold (machine, weights) as their solution, with all weights; small
        ones are discarded in the end. Raises UnboundedObjectiveError once F is out of reach.
        """
        model, n_features = problem, problem.bank.n_features
        weights = KernelWeights(np.arange(n_features), np.full(n_features, 1.0 / n_features), 0.0)
        if start is not None:
            given = start.solution.weights
            weights = KernelWeights(given.features, given.d / given.d.sum(), 0.0)
        machine = KernelMachine(np.zeros(model.bank.n_samples), 0.0)
        trace: list[float] = []
        change, converged = np.inf, False
        while len(trace) < self.max_iter:
            machine = self.coefficients(model, weights, machine, trace)
            program = WeightProgram(model, machine.u, bias=machine.bias)
            try:
                weights = self.weights(program, replace(weights, bias=machine.bias))
            except UnboundedObjectiveError as error:
                raise UnboundedObjectiveError(str(error), [*trace, -np.inf]) from None
            trace.append(program.value(weights))
            change = _change(trace)
            converged = change <= self.tol
            event = Event(
                len(trace), trace[-1], change, len(weights.features), solution=(machine, weights)
            )
            stop = callback is not None and callback(event)
            if converged or stop:
                break
        kept = weights.d >= self.min_weight
        weights = KernelWeights(weights.features[kept], weights.d[kept], weights.bias)
        found = SparseKernelMachine.from_program(program, weights, machine.u)
        return Result(found, trace[-1], change, len(trace), converged, trace)

    def coefficients(
        self,
        model: MKLModel,
        weights: KernelWeights,
        start: KernelMachine,
        trace: Sequence[float] = (),
    ) -> KernelMachine:
        """Algorithm 3, with the gradient of h as printed (half of what it is).

        Where F falls out of reach the error's trace is that of the rounds before, given here as
        ``trace``, and of the steps of this one.
        """
        K = model.bank.combine(weights.features, weights.d, keep=False)
        penalty = model.lambda2 * model.surrogate.total(weights.d)
        rho = max(float(np.linalg.eigvalsh(K)[-1]), 0.0) + RHO_MARGIN
        svm = KernelSVM(K, model.y, model.bank.roots, model.lambda1, rho, np.zeros_like(K))
        now, values = start, list(trace)
        for _ in range(self.inner_max_iter):
            slope = model.lambda1 * (rho * now.u - K @ now.u)
            before = Result(now, np.inf, np.inf, 0, False)
            found = SemismoothNewton().solve(replace(svm, slope=slope), before).solution
            values.append(penalty + _loss(model, K, found))
            if not values[-1] >= -UNBOUNDED_PER_SAMPLE * len(model.y):
                raise UnboundedObjectiveError(
                    f"the published algorithm diverges (objective {values[-1]:.3g} in round "
                    f"{len(trace) + 1}), because its objective has no lower bound with an "
                    'indefinite kernel; use solver="alternating" or a positive semidefinite kernel',
                    values,
                )
            step = float(np.sum((found.u - now.u) ** 2)) + (found.bias - now.bias) ** 2
            now = found
            if not step > self.inner_tol:
                break
        return now

    def weights(self, program: WeightProgram, start: KernelWeights) -> KernelWeights:
        """Algorithm 4."""
        now, n_features = start, len(program.energy)
        for _ in range(self.inner_max_iter):
            found = program.solve_convex(program.linearise(now), now)
            step = np.sum((found.dense(n_features) - now.dense(n_features)) ** 2)
            now = found
            if not step > self.inner_tol:
                break
        return now


def _loss(model: MKLModel, K: np.ndarray, machine: KernelMachine) -> float:
    """The objective of the coefficients."""
    s, fitted = model.bank.roots, K @ machine.u
    hinge = np.maximum(0.0, s - model.y * (fitted + s * machine.bias))
    return model.lambda1 * float(machine.u @ fitted) + float(hinge @ hinge)


def _change(trace: list[float]) -> float:
    """How much the objective changed in the last round, relative to itself."""
    return relative(abs(trace[-1] - trace[-2]), trace[-1]) if len(trace) > 1 else np.inf
