"""Preconditioned conjugate gradients, for arrays of any shape."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Operator = Callable[[np.ndarray], np.ndarray]


def conjugate_gradients(
    apply: Operator,
    target: np.ndarray,
    precondition: Operator,
    *,
    max_steps: int,
    tol: float = 0.0,
    limit: np.ndarray | None = None,
    start: np.ndarray | None = None,
    on_top: bool = False,
) -> np.ndarray:
    """Solve ``apply(x) = target`` for a symmetric positive definite operator, roughly.

    Parameters
    ----------
    apply, precondition : callable
        The operator, and roughly its inverse.
    target : ndarray
        Right-hand side.
    max_steps : int
        Most products with the operator.
    tol : float
        Enough when the residual, measured by the preconditioner, is down to this share of the
        first one.
    limit : ndarray or None
        Enough when no entry of the residual is larger in magnitude than its entry here.
    start : ndarray or None
        Where to begin; None is zero.
    on_top : bool
        Whether the operator is ``apply`` on top of exactly the inverse of ``precondition``: then
        products with that inverse are known from the residuals. Only from zero.

    Returns
    -------
    x : ndarray
        The last iterate. An operator without curvature along a direction, or one that returns
        NaN, ends the iteration.
    """
    if start is None or not start.any():
        x, residual = np.zeros_like(target), target.copy()
    else:
        x, residual = start.copy(), target - apply(start)
    z = precondition(residual)
    direction, inverted = z.copy(), residual.copy()
    rho = first = float(np.vdot(residual, z))
    for _ in range(max_steps):
        if rho <= tol**2 * first or (limit is not None and (np.abs(residual) <= limit).all()):
            break
        image = inverted + apply(direction) if on_top else apply(direction)
        curvature = float(np.vdot(direction, image))
        if not curvature > 0:
            break
        step = rho / curvature
        x += step * direction
        residual -= step * image
        z = precondition(residual)
        rho, previous = float(np.vdot(residual, z)), rho
        direction *= rho / previous
        direction += z
        if on_top:
            inverted *= rho / previous
            inverted += residual
    return x
