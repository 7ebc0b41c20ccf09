"""Newton's method for a loss with a ridge on few columns: L(A W) + 1/2 sum_j p_j ||w_j||^2."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..engines.conjugate_gradients import conjugate_gradients
from ..losses.base import Loss
from ..paths.free import shared
from ..paths.quadratic import solved

# Up to this many coefficients the Hessian is factorised; beyond, conjugate gradients solve.
MAX_DENSE = 600
MAX_HALVINGS = 40
# Linear predictors change by no more than this in one step, or than twice the largest of them.
FAR = 100.0
# A relative change of the objective below this is rounding.
ACCURACY = 1e-12
# Of the curvature that columns have at the null model, less than this is none.
FLAT = 1e-7


@dataclass(frozen=True)
class RidgeFit:
    """A fit on few columns.

    Attributes
    ----------
    W : ndarray of shape (n_columns, n_outputs)
    F : ndarray of shape (n_samples, n_outputs)
        Linear predictors.
    objective : float
    optimality : float
        What the last Newton step was to gain, relative to the objective; infinite where numbers
        are too large for a step.
    """

    W: np.ndarray
    F: np.ndarray
    objective: float
    optimality: float


def ridge_fit(
    loss: Loss,
    A: np.ndarray,
    penalty: np.ndarray,
    start: np.ndarray | None = None,
    *,
    scale: float,
    max_iter: int = 100,
    limit: float = np.inf,
) -> RidgeFit:
    """Minimise L(A W) + 1/2 sum_j penalty_j ||w_j||^2.

    Parameters
    ----------
    loss : Loss
    A : ndarray of shape (n_samples, n_columns)
    penalty : ndarray of shape (n_columns,)
    start : ndarray or None
        Where to begin; None is zero.
    scale : float
        The size of the objective that relative accuracies are shares of.
    max_iter : int
        Most Newton steps.
    limit : float
        Give up when the optimum is clearly above this: nobody is interested.
    """
    W = np.zeros((A.shape[1], loss.n_outputs)) if start is None else start.copy()
    F = A @ W
    value = _value(loss, F, W, penalty)
    gain = 0.0
    for _ in range(max_iter):
        if not A.shape[1]:
            break
        gradient = A.T @ loss.gradient(F) + penalty[:, None] * W
        step = _newton_step(loss, A, penalty, F, gradient)
        if step is None:
            gain = np.inf
            break
        gain = -0.5 * float(np.vdot(gradient, step))
        moved = A @ step
        size = usual_length(F, moved)
        for _ in range(MAX_HALVINGS):
            tried = _value(loss, F + size * moved, W + size * step, penalty)
            if tried <= value - 1e-4 * size * gain or gain <= 1e-10 * scale:
                break
            size /= 2.0
        if not tried <= value + ACCURACY * scale:
            break
        W, F, value = W + size * step, F + size * moved, tried
        if gain <= ACCURACY * scale or value - 2.0 * gain > limit:
            break
    return RidgeFit(W, F, value, max(gain, 0.0) / scale)


def _value(loss: Loss, F: np.ndarray, W: np.ndarray, penalty: np.ndarray) -> float:
    with np.errstate(over="ignore"):
        value = loss.value(F) + 0.5 * float(np.sum(penalty[:, None] * W * W))
    return value if np.isfinite(value) else np.inf


def usual_length(F: np.ndarray, moved: np.ndarray) -> float:
    """1, or less where a loss is all but flat, so that Newton's step would lead to nowhere."""
    far = max(FAR, 2.0 * float(np.abs(F).max(initial=0.0)))
    longest = float(np.abs(moved).max(initial=0.0))
    return 1.0 if longest <= far else far / longest


def _newton_step(
    loss: Loss, A: np.ndarray, penalty: np.ndarray, F: np.ndarray, gradient: np.ndarray
) -> np.ndarray | None:
    q, m = gradient.shape
    if q * m <= MAX_DENSE:
        H = loss.hessian(F, A)
        H[np.diag_indices(q * m)] += np.repeat(penalty, m)
        if loss.is_redundant:
            # Equal coefficients of all classes change nothing where no ridge sees them; any
            # curvature will do there, for the gradient has no such part.
            for j in np.flatnonzero(penalty == 0.0):
                own = slice(j * m, (j + 1) * m)
                H[own, own] += np.trace(H[own, own]) / m**2
        step = solved(H, -gradient.ravel())
        return None if step is None else step.reshape(q, m)
    # Without what outputs share, every output has a small matrix of its own.
    M = np.einsum("ij,ik,il->kjl", A, loss.diagonal(F), A, optimize=True)
    size = float(np.trace(M, axis1=1, axis2=2).max())
    M[:, np.arange(q), np.arange(q)] += penalty + 1e-10 * size
    if not np.isfinite(M).all():
        return None
    inverses, is_free = np.linalg.inv(M), (penalty == 0.0)[:, None]
    return -conjugate_gradients(
        lambda V: (
            A.T @ loss.hessian_product(F, A @ V)
            + penalty[:, None] * V
            + is_free * size * shared(loss, V)
        ),
        gradient,
        lambda V: np.einsum("kjl,lk->jk", inverses, V),
        max_steps=50,
        tol=1e-2,
    )


def check_bounded(loss: Loss, A: np.ndarray, fit: RidgeFit, curvature: float) -> None:
    """Refuse a fit without a ridge that has no optimum: the likelihood grows without end.

    There the curvature of some direction is next to none of what a column has at the null model.
    """
    q, m = A.shape[1], loss.n_outputs
    if not q or q * m > MAX_DENSE:
        return
    scales = np.sqrt(np.einsum("ij,ij->j", A, A) / len(A))
    H = loss.hessian(fit.F, A / np.where(scales > 0, scales, 1.0))
    if loss.is_redundant:
        H = H + np.kron(np.eye(q), np.full((m, m), curvature))
    if np.linalg.eigvalsh(H)[0] <= FLAT * curvature:
        raise ValueError(
            f"with {q - int(loss.has_intercept)} features the likelihood has no maximum, because "
            "they separate the target perfectly or repeat each other; pass ridge > 0"
        )
