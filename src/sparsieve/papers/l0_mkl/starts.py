"""Where the alternation starts: the problem is not convex, and one start is not enough.

From no weights at all, the weight step is charged the full slope of the surrogate for every
feature, also where a bounded surrogate charges a large weight hardly more. From positive weights
it is not: so there is a start with equal weights, followed by plain alternation as a first guess,
and one with all weights at their limit, where a bounded surrogate is flat.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ...solvers.base import Callback, Event, Result, relative
from ...solvers.engines.dca import DCA
from .alternating_dca import MKLModel, SparseKernelMachine
from .kernel_weights import KernelWeights, WeightProgram

# Of the starts that every fit makes.
N_FIXED_STARTS = 3


@dataclass(frozen=True)
class PlainAlternation:
    """Coefficients and weights in turn, and nothing else.

    Attributes
    ----------
    max_iter : int
        Maximum number of rounds.
    tol : float
        Stop when the objective falls by less than this share of itself.
    """

    max_iter: int = 100
    tol: float = 1e-5

    def solve(
        self,
        problem: MKLModel,
        start: Result[SparseKernelMachine] | None = None,
        callback: Callback | None = None,
    ) -> Result[SparseKernelMachine]:
        """Run from the weights and the coefficients of ``start``; None is equal weights."""
        if start is None:
            start = equal_weights(problem, 1.0 / problem.bank.n_features)
        dca = DCA(max_iter=20, tol=1e-6, slack=1e-8)
        weights, machine = start.solution.weights, start.solution.machine()
        trace: list[float] = []
        decrease = np.inf
        while True:
            program = WeightProgram(problem, machine.solution.u)
            found = SparseKernelMachine.from_program(program, weights, machine.solution.u)
            if len(trace) >= self.max_iter or decrease <= self.tol:
                break
            weights = dca.solve(program, weights).solution
            machine = problem.coefficients(weights, machine)
            weights = replace(weights, bias=machine.solution.bias)
            trace.append(problem.objective(machine, weights))
            if len(trace) > 1:
                decrease = relative(trace[-2] - trace[-1], trace[-1])
            event = Event(len(trace), trace[-1], n_features=len(weights.features))
            if callback is not None and callback(event):
                decrease = 0.0
        objective = trace[-1] if trace else np.inf
        return Result(found, objective, decrease, len(trace), decrease <= self.tol, trace)


def fixed_starts(
    model: MKLModel, max_iter: int, callback: Callback | None = None
) -> Iterator[Result[SparseKernelMachine] | None]:
    """Where to start from, one after the other; None is no weights at all.

    That is the only one where the surrogate is linear up to the limit of the weights, and where
    there are too many kernels for an average of them all.
    """
    yield None
    bends = model.surrogate.weight(model.d_max) < model.surrogate.slope_at_zero
    if not bends or model.n_averaged < model.bank.n_features:
        return
    yield PlainAlternation(max_iter).solve(model, callback=callback)
    yield equal_weights(model, flat_weight(model))


def equal_weights(model: MKLModel, weight: float) -> Result[SparseKernelMachine]:
    """Optimal coefficients for the same weight of all features, or their limit if that is less."""
    n_features = model.bank.n_features
    d = np.full(n_features, min(weight, model.d_max))
    weights = KernelWeights(np.arange(n_features), d, 0.0)
    machine = model.coefficients(weights).solution
    none = np.empty(0)
    found = SparseKernelMachine(replace(weights, bias=machine.bias), machine.u, none, none)
    return Result(found, np.inf, np.inf, 0, False)


def flat_weight(model: MKLModel) -> float:
    """A weight of one or more, within the limit, at which the surrogate has lost its slope."""
    weight, surrogate = 1.0, model.surrogate
    while weight < model.d_max and surrogate.weight(weight) > 0.1 * surrogate.slope_at_zero:
        weight *= 2.0
    return min(weight, model.d_max)
