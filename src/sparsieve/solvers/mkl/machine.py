"""Semismooth Newton for the squared hinge loss of a kernel machine.

    min over u, b:  strength u'Ru + sum_i max(0, s_i - y_i ((A u)_i + s_i b))^2

with A symmetric or of fewer columns, R symmetric positive semidefinite and s the square roots of
the sample weights. The objective is convex and piecewise quadratic: Newton's method ends in a few
steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, cg

from ..base import Result

# Beyond this many samples forming the Hessian costs more than solving with it by products.
DENSE_LIMIT = 2000


@dataclass(frozen=True)
class KernelMachine:
    """Coefficients of the samples, and the bias."""

    u: np.ndarray
    bias: float


def solve_kernel_machine(
    A: np.ndarray,
    shift: float,
    strength: float,
    y: np.ndarray,
    s: np.ndarray,
    u0: np.ndarray | None = None,
    bias0: float = 0.0,
    *,
    slope: np.ndarray | None = None,
    regulariser: np.ndarray | None = None,
    max_iter: int = 100,
    tol: float = 1e-10,
) -> Result[KernelMachine]:
    """Minimise the objective above with R = A + shift I, or R = ``regulariser`` + shift I.

    A with fewer columns than rows needs a ``regulariser`` of its own.

    ``slope`` subtracts slope'u: the linearised concave part of a difference of convex functions.
    The optimality is the largest entry of the gradient relative to its largest entry at zero;
    where the numbers overflow it is infinite.
    """
    R = A if regulariser is None else regulariser
    linear = np.zeros(len(R)) if slope is None else slope
    sy = s * y
    point = np.zeros(len(R) + 1)
    if u0 is not None:
        point[:-1], point[-1] = u0, bias0
    quadratic = 2.0 * strength

    def evaluate(p):
        u = p[:-1]
        fitted = A @ u
        residual = np.maximum(0.0, s - y * fitted - sy * p[-1])
        smooth = (fitted if regulariser is None else R @ u) + shift * u
        value = strength * float(u @ smooth) - float(linear @ u) + float(residual @ residual)
        gradient = np.empty_like(p)
        gradient[:-1] = quadratic * smooth - linear - 2.0 * (A.T @ (y * residual))
        gradient[-1] = -2.0 * float(sy @ residual)
        return value, gradient, residual

    value, gradient, residual = evaluate(point)
    scale = 2.0 * max(float(np.abs(A.T @ sy).max()), float(s @ s), np.finfo(float).tiny)
    scale = max(scale, float(np.abs(linear).max()))
    trace: list[float] = []
    while len(trace) < max_iter and np.isfinite(value) and np.isfinite(gradient).all():
        if np.abs(gradient).max() <= tol * scale:
            break
        direction = _newton_direction(A, R, shift, quadratic, sy, residual > 0, gradient)
        descent = float(gradient @ direction)
        step, accepted = 1.0, False
        while step > 1e-10:
            trial = point + step * direction
            new_value, new_gradient, new_residual = evaluate(trial)
            if new_value <= value + 1e-4 * step * descent:
                accepted = True
                break
            step *= 0.5
        if not accepted:
            break  # rounding: no visible decrease is left
        stalled = value - new_value <= 1e-15 * abs(value)
        point, value, gradient, residual = trial, new_value, new_gradient, new_residual
        trace.append(value)
        if stalled:
            break
    optimality = float(np.abs(gradient).max()) / scale
    if not np.isfinite(optimality):
        optimality = np.inf
    found = KernelMachine(point[:-1].copy(), float(point[-1]))
    return Result(found, value, optimality, len(trace), optimality <= tol, trace)


def _newton_direction(A, R, shift, quadratic, sy, active, gradient) -> np.ndarray:
    """Solve the bordered Newton system; its null directions are those of zero gradient."""
    size = len(R)
    ridge = 1e-13 * quadratic * (float(np.trace(R)) / size + shift) + 1e-300
    if size > DENSE_LIMIT:
        return _by_products(A, R, shift + ridge, quadratic, sy, active, gradient)
    factor = factored_hessian(A, R, shift, quadratic, sy, active)
    if factor is not None:
        return -cho_solve(factor, gradient)
    return -gradient / (quadratic * (float(np.abs(R).max()) + shift) + 2.0 * float((A**2).sum()))


def factored_hessian(A, R, shift, quadratic, sy, active) -> tuple[np.ndarray, bool] | None:
    """Cholesky factor of the Hessian in (u, b), as scipy has it; None where there is none."""
    size, rows = len(R), A[active]
    hessian = np.empty((size + 1, size + 1))
    hessian[:-1, :-1] = 2.0 * (rows.T @ rows) + quadratic * R
    hessian[:-1, -1] = hessian[-1, :-1] = 2.0 * (np.abs(sy[active]) @ rows)
    hessian[-1, -1] = 2.0 * float(sy[active] @ sy[active])
    diagonal = np.einsum("ii->i", hessian)
    diagonal[:-1] += quadratic * shift
    if not np.isfinite(hessian).all():
        return None  # overflow: nowhere to go
    ridge = 1e-13 * quadratic * (float(np.trace(R)) / size + shift) + 1e-300
    jitter = max(ridge, 1e-14 * float(diagonal.max()))
    for _ in range(8):
        diagonal += jitter
        try:
            return cho_factor(hessian, lower=True)
        except LinAlgError:
            jitter *= 100.0
    return None


def _by_products(A, R, shift, quadratic, sy, active, gradient) -> np.ndarray:
    s = np.abs(sy)

    def product(v):
        inner = np.where(active, A @ v[:-1] + s * v[-1], 0.0)
        out = np.empty_like(v)
        out[:-1] = quadratic * (R @ v[:-1] + shift * v[:-1]) + 2.0 * (A.T @ inner)
        out[-1] = 2.0 * float(s @ inner) + 1e-12 * v[-1]
        return out

    size = len(gradient)
    operator = LinearOperator((size, size), matvec=product, dtype=np.float64)
    direction, _ = cg(operator, -gradient, rtol=1e-8, maxiter=500)
    return direction if float(direction @ gradient) < 0 else -gradient
