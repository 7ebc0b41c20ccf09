"""Newton's method in the row norms, for the last digits of l2,1-penalised least squares.

Writing ||w_j|| = min over eta_j > 0 of (||w_j||^2 / eta_j + eta_j) / 2 and eliminating W leaves a
smooth convex function of one variable per feature. With D = diag(eta), b = alpha / 2 and
K = X D X' + b I the inner minimiser is W = D U with U = X' K^-1 Y, its residual is b K^-1 Y, and

    g(eta) = ||Y||^2 - <W, X'Y> + b sum(eta),
    dg/deta_j = b (1 - ||u_j||^2),
    d2g/deta_i deta_j = alpha (u_i'u_j) T_ij   with  T = X' K^-1 X,

so that eta is optimal iff ||u_j|| = 1 where eta_j > 0 and ||u_j|| <= 1 elsewhere; then
eta_j = ||w_j||. The bound eta >= 0 is handled by Coleman and Li's scaling: where the gradient
pushes towards zero, gradient / eta joins the diagonal of the Hessian, so that a row leaves at a
superlinear rate without crossing zero, while rows that stay feel the plain Newton step.

Coordinate descent needs sweeps in proportion to the conditioning of the active columns; these
steps hardly notice it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from scipy.linalg import lapack

from ...penalties import row_norms

# A row this much shorter than the longest one, and with a smaller gradient than its penalty, is
# dropped.
ZERO_ROW_TOL = 1e-6
# Keeps the step defined where columns are copies of each other.
RIDGE_JITTER = 1e-10
# No step shrinks a row by more than this factor.
MAX_SHRINK = 0.02


@dataclass(frozen=True)
class NormsPoint:
    """The inner solution at some eta, of rows or of groups of rows."""

    index: np.ndarray  # of those that the search began with
    eta: np.ndarray
    squares: np.ndarray  # c^2, the squared weights of the penalty; ones for rows
    factor: np.ndarray  # Cholesky factor of D^1/2 X'X D^1/2 + b I, or of K
    U: np.ndarray
    lengths: np.ndarray  # ||u_j|| / c_j
    value: float  # g(eta)
    fit: float  # <W, X'Y>


Point = TypeVar("Point", bound=NormsPoint)


def newton_rows(
    gram: np.ndarray,
    correlation: np.ndarray,
    alpha: float,
    W: np.ndarray,
    power: float,
    goal: float,
    max_steps: int = 12,
) -> np.ndarray:
    """Improve the rows of W, all nonzero, for the problem restricted to them.

    Parameters
    ----------
    gram, correlation : X'X and X'Y of these features.
    alpha : strength of the l2,1 penalty.
    W : current rows.
    power : ||Y||^2.
    goal : stop when the duality gap on these features is at most this.
    max_steps : largest number of Newton steps.

    Returns
    -------
    W : improved rows, some of which may have become zero.
    """
    half = 0.5 * alpha

    def evaluate(index: np.ndarray, eta: np.ndarray) -> NormsPoint | None:
        root = np.sqrt(eta)
        system = (gram if len(index) == len(gram) else gram[np.ix_(index, index)]) * root
        system *= root[:, None]
        system[np.diag_indices_from(system)] += half
        # LAPACK expects columns: the transpose of a symmetric matrix saves it a copy.
        factor, failed = lapack.dpotrf(system.T, lower=1, clean=0, overwrite_a=1)
        if failed:
            return None
        U = lapack.dpotrs(factor, root[:, None] * correlation[index], lower=1)[0] / root[:, None]
        fit = float((eta[:, None] * U * correlation[index]).sum())
        value = power - fit + half * float(eta.sum())
        return NormsPoint(index, eta, np.ones(len(eta)), factor, U, row_norms(U), value, fit)

    def hessian(point: NormsPoint) -> np.ndarray:
        # T = X'K^-1 X = D^-1/2 (I - b (D^1/2 X'X D^1/2 + b I)^-1) D^-1/2. Only the lower triangle
        # of what LAPACK hands back means anything, and only that is read.
        found = lapack.dpotri(point.factor, lower=1)[0]
        found *= -half
        found[np.diag_indices_from(found)] += 1.0
        scaled = point.U / np.sqrt(point.eta)[:, None]
        found *= (scaled @ scaled.T).T
        return found

    def some(point: NormsPoint, keep: np.ndarray, eta: np.ndarray) -> NormsPoint | None:
        return evaluate(point.index[keep], eta)

    point = evaluate(np.arange(len(W)), row_norms(W))
    if point is None:
        return W
    point = newton_in_norms(point, some, hessian, alpha, power, goal, max_steps)
    improved = np.zeros_like(W)
    improved[point.index] = point.eta[:, None] * point.U
    return improved


def newton_in_norms(
    point: Point,
    some: Callable[[Point, np.ndarray, np.ndarray], Point | None],
    hessian: Callable[[Point], np.ndarray],
    alpha: float,
    power: float,
    goal: float,
    max_steps: int,
) -> Point:
    """Newton steps in eta until the duality gap is at most ``goal``.

    ``some`` gives the inner solution for a part of a point's rows at another eta, or None where
    that fails; ``hessian`` the second derivatives over alpha, of which the lower triangle is read.
    """
    for _ in range(max_steps):
        if _gap(point, power, alpha) <= goal:
            break
        step = _newton_step(point, hessian(point))
        following = None if step is None else _line_search(some, point, step)
        if following is None:
            break
        point = following
    return point


def _gap(point: NormsPoint, power: float, alpha: float) -> float:
    """Duality gap of W = D U: its residual correlations are b U, feasible after scaling."""
    lengths, eta = point.lengths, point.eta * point.squares
    inner = power - point.fit
    residual = max(inner - 0.5 * alpha * float(eta @ lengths**2), np.finfo(float).tiny)
    scale = min(inner / residual, 1.0 / lengths.max(initial=np.finfo(float).tiny))
    bound = scale * (2.0 * inner - scale * residual)
    return residual + alpha * float(eta @ lengths) - bound


def _newton_step(point: NormsPoint, hessian: np.ndarray) -> np.ndarray | None:
    downhill = 0.5 * (point.lengths**2 - 1.0) * point.squares
    diagonal = np.diag_indices_from(hessian)
    hessian[diagonal] *= 1.0 + RIDGE_JITTER
    hessian[diagonal] += np.maximum(-downhill, 0.0) / point.eta
    factor, failed = lapack.dpotrf(hessian, lower=1, clean=0, overwrite_a=1)
    if failed:
        return None
    return lapack.dpotrs(factor, downhill, lower=1)[0]


def _line_search(
    some: Callable[[Point, np.ndarray, np.ndarray], Point | None], point: Point, step: np.ndarray
) -> Point | None:
    slack = 1e-13 * abs(point.value)
    for length in (1.0, 0.4, 0.15, 0.05):
        eta = np.maximum(point.eta + length * step, MAX_SHRINK * point.eta)
        keep = np.flatnonzero((eta > ZERO_ROW_TOL * eta.max()) | (point.lengths >= 1.0))
        candidate = some(point, keep, eta[keep])
        if candidate is not None and candidate.value <= point.value + slack:
            return candidate
    return None
