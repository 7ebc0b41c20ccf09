"""Newton's method for a loss with a ridge on few columns: L(A W) + 1/2 sum_j p_j ||w_j||^2."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..engines.conjugate_gradients import conjugate_gradients
from ..losses.base import Loss
from ..losses.cox import CANCELLED, Cox
from ..losses.expansion import CompiledExpansion, space_for_terms, usual_length
from ..paths.free import common_part, solve_semidefinite

# Up to this many coefficients the Hessian is factorised; beyond, conjugate gradients solve.
MAX_DENSE = 600
MAX_STEPS, MAX_HALVINGS = 100, 40
# A relative change of the objective below this is rounding.
ACCURACY = 1e-12
# Of the curvature that columns have at the null model, less than this is none.
FLAT = 1e-7


class Part(NamedTuple):
    """The quadratic model 1/2 w'Kw - b'w of some outputs."""

    outputs: slice
    K: np.ndarray
    b: np.ndarray


# One part, or several of which every output has one.
Model = Sequence[Part]


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
    derivatives : ndarray of shape (2, n_samples) or None
        Gradient and curvature at F, where compiled code has found them.
    """

    W: np.ndarray
    F: np.ndarray
    objective: float
    optimality: float
    derivatives: np.ndarray | None = None


def ridge_fit(
    loss: Loss,
    A: np.ndarray,
    penalty: np.ndarray,
    start: np.ndarray | None = None,
    *,
    scale: float,
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
    """
    start = np.zeros((A.shape[1], loss.n_outputs)) if start is None else start
    rows = np.ascontiguousarray(A.T, dtype=np.float64)
    fit = RidgeFits(loss, scale)(rows, np.arange(len(rows)), penalty, start)
    assert fit is not None
    return fit


class RidgeFits:
    """Fits of one loss on different columns.

    Parameters
    ----------
    loss : Loss
    scale : float
        The size of the objective that relative accuracies are shares of.
    """

    loss: Loss
    scale: float

    def __init__(self, loss: Loss, scale: float) -> None:
        self.loss, self.scale = loss, scale
        if loss.compiled is not None:
            self._samples = np.empty((8, loss.n_samples))
            self._terms = space_for_terms(loss.compiled)

    def __call__(
        self,
        rows: np.ndarray,
        places: np.ndarray,
        penalty: np.ndarray,
        start: np.ndarray,
        *,
        model: Model | None = None,
        safe: float = np.inf,
        limit: float = np.inf,
    ) -> RidgeFit | None:
        """The fit on some columns of a pool; None where its objective is not below a limit.

        Parameters
        ----------
        rows : ndarray of shape (n_columns, n_samples)
            The pool, every column a contiguous row.
        places : ndarray of int
            The columns that are used.
        penalty : ndarray of shape (n_columns,)
        start : ndarray of shape (n_places, n_outputs)
            Where to begin.
        model : Model or None
            Begin at the minimum of this model of all columns, where the objective is at most
            ``safe``.
        safe : float
        limit : float
        """
        fit = None
        if self.loss.compiled is not None and 0 < len(places) <= MAX_DENSE:
            given = (rows, places, penalty, start, limit)
            if model is not None:
                fit = self._run_kernel(*given, safe, model[0])
            fit = fit or self._run_kernel(*given)
        if fit is None:
            fit = self._plain(rows[places].T, penalty[places], start, limit, places, model)
        return fit if fit.objective < limit else None

    def _run_kernel(
        self,
        rows: np.ndarray,
        places: np.ndarray,
        penalty: np.ndarray,
        start: np.ndarray,
        limit: float,
        safe: float = np.inf,
        model: Part | None = None,
    ) -> RidgeFit | None:
        """Newton steps in compiled code; None where that is not to be trusted."""
        from ._newton_kernels import AT_POINT, DONE, MODEL, START, newton_steps

        q, coefs = len(places), np.empty((4, len(places)))
        L, coefs[0] = np.empty((q, q)), start[:, 0]
        K, b = (L, coefs[0]) if model is None else (model.K, model.b[:, 0])
        state, value = START if model is None else MODEL, safe
        for _ in range(MAX_STEPS):
            state, value, gain = newton_steps(
                *(self.loss.compiled, rows, places, penalty, K, b, L, coefs, self._samples),
                *(self._terms, state, value, self.scale, limit),
            )
            if state != AT_POINT:
                break
            F, _, h = self._samples[:3]
            L = hessian_products(self.loss, F, rows[places], h)[1]
            L[np.diag_indices(q)] += penalty[places]
        if state != DONE:
            return None
        known = self._samples[:3] if value >= limit else self._samples[:3].copy()
        W, F, derivatives = coefs[0][:, None], known[0][:, None], known[1:]
        return RidgeFit(W, F, value, max(gain, 0.0) / self.scale, derivatives)

    def _plain(
        self,
        A: np.ndarray,
        penalty: np.ndarray,
        start: np.ndarray,
        limit: float,
        places: np.ndarray,
        model: Model | None,
    ) -> RidgeFit:
        """Newton's method for any loss."""
        loss, scale = self.loss, self.scale
        W, F = start.copy(), A @ start
        value, gain = _value(loss, F, W, penalty), 0.0
        if model is not None:
            parts = [solve_semidefinite(K[places][:, places], b[places]) for _, K, b in model]
            found = [part for part in parts if part is not None]
            if len(found) == len(parts):
                there = np.hstack(found)
                value_there = _value(loss, A @ there, there, penalty)
                if value_there <= value:
                    W, F, value = there, A @ there, value_there
        for _ in range(MAX_STEPS if len(W) else 0):
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


def hessian_products(
    loss: Loss, f: np.ndarray, rows: np.ndarray, curvature: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """H x at f for every row x, and their products with all rows, for a loss of one output.

    The curvature is the diagonal matrix that H is below. No diagonal entry is less than what
    rounding may have left of it.
    """
    products = hessian_rows(loss, f, rows, curvature)
    K = products @ rows.T
    above = rows**2 @ curvature if isinstance(loss, Cox) else K.diagonal()
    K[np.diag_indices(len(K))] += CANCELLED * above
    return products, K


def hessian_rows(loss: Loss, f: np.ndarray, rows: np.ndarray, curvature: np.ndarray) -> np.ndarray:
    """H x at f for every row x, of a loss of one output."""
    if not isinstance(loss, Cox):
        return rows * curvature
    if loss.compiled is not None:
        here = CompiledExpansion(loss, f[:, None])
        if np.isfinite(here.value):
            return here.hessian_rows(rows)
    return np.asarray(loss.hessian_product(f[:, None], rows.T[:, None])[:, 0].T)


def _value(loss: Loss, F: np.ndarray, W: np.ndarray, penalty: np.ndarray) -> float:
    with np.errstate(over="ignore"):
        value = loss.value(F) + 0.5 * float(np.sum(penalty[:, None] * W * W))
    return value if np.isfinite(value) else np.inf


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
        step = solve_semidefinite(H, -gradient.ravel())
        return None if step is None else step.reshape(q, m)
    # Without what outputs share, every output has a small matrix of its own.
    M = np.einsum("ij,ik,il->kjl", A, loss.diagonal(F), A, optimize=True)
    size = float(np.trace(M, axis1=1, axis2=2).max())
    M[:, np.arange(q), np.arange(q)] += penalty + 1e-10 * size
    if not np.isfinite(M).all():
        return None
    inverses, is_free = np.linalg.inv(M), (penalty == 0.0)[:, None]
    product = loss.curvature_operator(F, A)
    return -conjugate_gradients(
        lambda V: product(V) + penalty[:, None] * V + is_free * size * common_part(loss, V),
        gradient,
        lambda V: np.einsum("kjl,lk->jk", inverses, V),
        max_steps=50,
        tol=1e-2,
    )


def check_optimum(loss: Loss, A: np.ndarray, fit: RidgeFit, curvature: float) -> None:
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
