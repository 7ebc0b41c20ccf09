"""The common scale of kernel weights and coefficients, which the loss does not see.

With weights t d and coefficients u / t the decision function is the same for every t; the
regulariser and the penalty are not.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from ...solvers.base import Result
from .kernel_svm import KernelMachine
from .kernel_weights import KernelWeights, WeightProgram

if TYPE_CHECKING:
    from .alternating_dca import MKLModel


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
