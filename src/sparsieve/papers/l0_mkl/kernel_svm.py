"""Semismooth Newton for the squared hinge loss of a kernel machine.

    min over u, b:  strength u'(R + shift I)u - slope'u
                    + sum_i max(0, s_i - y_i ((A u)_i + s_i b))^2

with A symmetric or of fewer columns, R + shift I positive semidefinite and s the square roots of
the sample weights. The objective is convex and piecewise quadratic: Newton's method ends in a few
steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, cg

from ...solvers.base import Callback, Event, Result

# Beyond this many unknowns forming the Hessian costs more than conjugate gradients with products.
MAX_DENSE_HESSIAN = 2000


@dataclass(frozen=True)
class KernelMachine:
    """Coefficients of the samples, and the bias."""

    u: np.ndarray
    bias: float


@dataclass(frozen=True)
class KernelSVM:
    """The problem above.

    Attributes
    ----------
    A : ndarray of shape (n_samples, n_unknowns)
    y, s : ndarray of shape (n_samples,)
        Labels -1 and 1, and the roots of the sample weights.
    strength, shift : float
    regulariser : ndarray of shape (n_unknowns, n_unknowns) or None
        R; None is A itself. A with fewer columns than rows needs one of its own.
    slope : ndarray of shape (n_unknowns,) or None
        The linearised concave part of a difference of convex functions.
    """

    A: np.ndarray
    y: np.ndarray
    s: np.ndarray
    strength: float
    shift: float
    regulariser: np.ndarray | None = None
    slope: np.ndarray | None = None

    @property
    def R(self) -> np.ndarray:
        """The matrix of the regulariser, without the shift."""
        return self.A if self.regulariser is None else self.regulariser

    @property
    def linear(self) -> np.ndarray:
        """The slope, zero where there is none."""
        return np.zeros(self.A.shape[1]) if self.slope is None else self.slope

    def evaluate(self, p: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Value, gradient and hinge residuals at p = (u, b)."""
        u, sy = p[:-1], self.s * self.y
        fitted = self.A @ u
        residual = np.maximum(0.0, self.s - self.y * fitted - sy * p[-1])
        smooth = (fitted if self.regulariser is None else self.R @ u) + self.shift * u
        value = float(self.strength * (u @ smooth) - self.linear @ u + residual @ residual)
        gradient = np.empty_like(p)
        gradient[:-1] = 2.0 * self.strength * smooth - self.linear
        gradient[:-1] -= 2.0 * (self.A.T @ (self.y * residual))
        gradient[-1] = -2.0 * float(sy @ residual)
        return value, gradient, residual

    def factored_hessian(self, active: np.ndarray) -> tuple[np.ndarray, bool] | None:
        """Cholesky factor of the Hessian in (u, b), as scipy has it; None where there is none."""
        rows, roots = self.A[active], self.s[active]
        size = self.A.shape[1]
        hessian = np.empty((size + 1, size + 1))
        hessian[:-1, :-1] = 2.0 * (rows.T @ rows) + 2.0 * self.strength * self.R
        hessian[:-1, -1] = hessian[-1, :-1] = 2.0 * (roots @ rows)
        hessian[-1, -1] = 2.0 * float(roots @ roots)
        diagonal = np.einsum("ii->i", hessian)
        diagonal[:-1] += 2.0 * self.strength * self.shift
        if not np.isfinite(hessian).all():
            return None  # overflow: nowhere to go
        jitter = max(self.ridge, 1e-14 * float(diagonal.max()))
        for _ in range(8):
            diagonal += jitter
            try:
                return cho_factor(hessian, lower=True)
            except LinAlgError:
                jitter *= 100.0
        return None

    @property
    def ridge(self) -> float:
        """What Newton systems get on their diagonal: rounding of the regulariser."""
        mean = float(np.trace(self.R)) / self.A.shape[1] + self.shift
        return 2e-13 * self.strength * mean + 1e-300


@dataclass(frozen=True)
class SemismoothNewton:
    """Newton's method with backtracking.

    The optimality is the largest entry of the gradient relative to its largest entry at zero;
    where the numbers overflow it is infinite.
    """

    max_iter: int = 100
    tol: float = 1e-10

    def solve(
        self,
        problem: KernelSVM,
        start: Result[KernelMachine] | None = None,
        callback: Callback | None = None,
    ) -> Result[KernelMachine]:
        """Run from zero, or from a machine with the same unknowns."""
        point = np.zeros(problem.A.shape[1] + 1)
        if start is not None:
            point[:-1], point[-1] = start.solution.u, start.solution.bias
        s, sy = problem.s, problem.s * problem.y
        scale = 2.0 * max(float(np.abs(problem.A.T @ sy).max()), float(s @ s))
        scale = max(scale, float(np.abs(problem.linear).max()), 2.0 * np.finfo(float).tiny)
        value, gradient, residual = problem.evaluate(point)
        trace: list[float] = []
        while len(trace) < self.max_iter and np.isfinite(value) and np.isfinite(gradient).all():
            if np.abs(gradient).max() <= self.tol * scale:
                break
            direction = _newton_direction(problem, residual > 0, gradient)
            descent = float(gradient @ direction)
            step, accepted = 1.0, False
            while step > 1e-10:
                trial = point + step * direction
                new_value, new_gradient, new_residual = problem.evaluate(trial)
                if new_value <= value + 1e-4 * step * descent:
                    accepted = True
                    break
                step *= 0.5
            if not accepted:
                break  # rounding: no visible decrease is left
            stalled = value - new_value <= 1e-15 * abs(value)
            point, value, gradient, residual = trial, new_value, new_gradient, new_residual
            trace.append(value)
            stop = callback is not None and callback(Event(len(trace), value))
            if stalled or stop:
                break
        optimality = float(np.abs(gradient).max()) / scale
        if not np.isfinite(optimality):
            optimality = np.inf
        found = KernelMachine(point[:-1].copy(), float(point[-1]))
        return Result(found, value, optimality, len(trace), optimality <= self.tol, trace)


def _newton_direction(problem: KernelSVM, active: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Solve the bordered Newton system; its null directions are those of zero gradient."""
    if problem.A.shape[1] > MAX_DENSE_HESSIAN:
        return _by_products(problem, active, gradient)
    factor = problem.factored_hessian(active)
    if factor is not None:
        return -cho_solve(factor, gradient)
    size = 2.0 * problem.strength * (float(np.abs(problem.R).max()) + problem.shift)
    return -gradient / (size + 2.0 * float((problem.A**2).sum()))


def _by_products(problem: KernelSVM, active: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    A, R, s, shift = problem.A, problem.R, problem.s, problem.shift + problem.ridge

    def product(v):
        inner = np.where(active, A @ v[:-1] + s * v[-1], 0.0)
        out = np.empty_like(v)
        out[:-1] = 2.0 * problem.strength * (R @ v[:-1] + shift * v[:-1]) + 2.0 * (A.T @ inner)
        out[-1] = 2.0 * float(s @ inner) + 1e-12 * v[-1]
        return out

    size = len(gradient)
    operator = LinearOperator((size, size), matvec=product, dtype=np.float64)
    direction, _ = cg(operator, -gradient, rtol=1e-8, maxiter=500)
    return direction if float(direction @ gradient) < 0 else -gradient
