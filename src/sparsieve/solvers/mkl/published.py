"""The published objective of l0-MKL, with its gradient corrected.

    F(beta, b, d) = lambda1 beta'K(d)beta + lambda2 sum_m delta(d_m)
                    + sum_i max(0, 1 - y_i ((K(d) beta)_i + b))^2,   K(d) = sum_m d_m K_m,  d >= 0

Nothing bounds F from below once beta'K(d)beta is negative: shrinking d and growing beta by the same
factor leaves K(d) beta alone and sends the first term to minus infinity. An indefinite kernel
allows that, so the steps here watch the sign of that term and stop with an error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..engines.dca import DCA
from .machine import KernelMachine, solve_kernel_machine
from .model import MKLModel
from .weights import DIVERGED, KernelWeights, UnboundedObjectiveError, WeightProgram


@dataclass
class PaperMKLModel(MKLModel):
    """The problem above; ``bank`` holds plain kernels, neither centred nor shifted."""

    rescales: ClassVar[bool] = False

    def weight_program(self, u):
        return WeightProgram(
            self.bank,
            self.y,
            u,
            self.lambda1,
            self.lambda2,
            self.surrogate,
            self.d_max,
            shifted=False,
        )

    def coefficients(self, weights: KernelWeights, start=None):
        return self._machine(self.bank.combine(weights.features, weights.d), 0.0, start)

    def _machine(self, A, shift, start) -> KernelMachine:
        """The DC algorithm in the coefficients: K = K+ - K-, and K- linearised."""
        program = _CoefficientProgram(A, self.lambda1, self.y, self.bank.roots)
        if start is None:
            start = program.machine(np.zeros(len(self.y)), 0.0)
        else:  # the same coefficients mean another function once the weights have changed
            start = program.machine(start.u, start.bias)
        run = DCA(max_iter=200, tol=1e-9, slack=1e-9).solve(program, start)
        return run.solution


class _CoefficientProgram:
    """lambda1 u'A u + squared hinge with A indefinite."""

    def __init__(self, A, lambda1, y, s):
        self.A, self.lambda1, self.y, self.s = A, lambda1, y, s
        eigenvalues, vectors = np.linalg.eigh(A)
        # Eigenvalues of semidefinite kernels that rounding made negative are zero.
        negative = eigenvalues < -1e-12 * max(float(np.abs(eigenvalues).max()), 1e-300)
        part = vectors[:, negative]
        self.negative = (part * -eigenvalues[negative]) @ part.T
        self.positive = A + self.negative

    def machine(self, u, bias) -> KernelMachine:
        fitted = self.A @ u
        energy = self.lambda1 * float(u @ fitted)
        residual = np.maximum(0.0, self.s - self.y * fitted - self.s * self.y * bias)
        value = energy + float(residual @ residual)
        rounding = 1e-9 * self.lambda1 * float(u @ (self.positive @ u)) + 1e-12
        if energy < -rounding or np.abs(u).max() > DIVERGED or not np.isfinite(value):
            raise UnboundedObjectiveError(
                "the published objective is unbounded below on these data: with an indefinite "
                f"kernel its quadratic term has become negative ({energy:.3g}), and smaller "
                "kernel weights with larger coefficients lower it without limit; use "
                'formulation="shift" or a positive semidefinite kernel'
            )
        gradient = 2.0 * self.lambda1 * fitted - 2.0 * (self.A @ (self.y * residual))
        slope = -2.0 * float((self.s * self.y) @ residual)
        scale = 2.0 * max(float(np.abs(self.A @ (self.s * self.y)).max()), float(self.s @ self.s))
        optimality = max(float(np.abs(gradient).max()), abs(slope)) / scale
        return KernelMachine(u, bias, value, optimality, 0)

    def value(self, x: KernelMachine) -> float:
        return x.objective

    def linearise(self, x: KernelMachine) -> np.ndarray:
        return 2.0 * self.lambda1 * (self.negative @ x.u)

    def solve_convex(self, slope, x: KernelMachine) -> KernelMachine:
        found = solve_kernel_machine(
            self.A,
            0.0,
            self.lambda1,
            self.y,
            self.s,
            x.u,
            x.bias,
            slope=slope,
            regulariser=self.positive,
        )
        return self.machine(found.u, found.bias)
