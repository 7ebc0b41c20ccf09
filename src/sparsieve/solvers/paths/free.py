"""Columns without penalty, such as the intercept and covariates: Newton's method on them alone."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from scipy.linalg import lapack

from ..engines.conjugate_gradients import conjugate_gradients
from ..losses.base import Loss
from ..losses.expansion import Expansion

Place = TypeVar("Place", bound=Expansion)

MAX_STEPS = 100
MAX_DENSE = 100  # free coefficients whose Hessian is held in memory
# Of the sum of the absolute terms of a gradient: what rounding leaves of it.
ROUNDING = 1e-12
TINY = np.finfo(np.float64).tiny
# What is added to unit diagonals, one after the other, until a matrix can be factorised.
JITTERS = (0.0, 1e-14, 1e-12, 1e-10, 1e-8, 1e-4, 1.0)


def minimise_free(
    loss: Loss, Z: np.ndarray, F: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Minimise L(F + Z B) over B.

    Parameters
    ----------
    loss : Loss
    Z : ndarray of shape (n_samples, n_free)
        Linearly independent columns.
    F : ndarray of shape (n_samples, n_outputs)

    Returns
    -------
    F, gradient, B : ndarray
        The predictors there, the gradient of the loss, which is orthogonal to Z, and what was
        added.
    """
    there, B = settle(Expansion(loss, F), Z)
    return there.F, there.gradient, B


def settle(here: Place, Z: np.ndarray) -> tuple[Place, np.ndarray]:
    """The same from a loss at predictors to it at others, and what was added."""
    B = np.zeros((Z.shape[1], here.F.shape[1]))
    if not Z.shape[1]:
        return here, B
    sizes = np.abs(Z).T
    for _ in range(MAX_STEPS):
        slope = Z.T @ here.gradient
        if (np.abs(slope) <= ROUNDING * (sizes @ np.abs(here.gradient))).all():
            break
        D = _newton(here, Z, -slope)
        if D is None:
            break
        following = _lower(here, Z @ D, float(np.vdot(slope, D)))
        if following is None:
            break
        here, length = following
        B = B + length * D
    return here, B


def _newton(here: Expansion, Z: np.ndarray, target: np.ndarray) -> np.ndarray | None:
    """The Newton step; by conjugate gradients where there are very many outputs."""
    loss, F = here.loss, here.F
    if target.size <= MAX_DENSE:
        step = solve_semidefinite(definite(loss, here.hessian(Z)), target.ravel())
        return None if step is None else step.reshape(target.shape)
    scale = np.maximum((Z**2).T @ loss.diagonal(F), TINY)
    product = loss.curvature_operator(F, Z)
    return conjugate_gradients(
        lambda V: product(V) + scale.mean() * common_part(loss, V),
        target,
        lambda V: V / scale,
        max_steps=200,
        tol=1e-6,
    )


def factorise(system: np.ndarray) -> np.ndarray | None:
    """The lower Cholesky factor of a positive semidefinite matrix, or None where it has NaN.

    Rows and columns have unit diagonals meanwhile, whatever the units of features are, and a little
    is added to these where copies of columns and rounding have left less than nothing.
    """
    sizes = np.sqrt(np.maximum(system.diagonal(), 0.0))
    sizes = np.where(sizes > 0.0, sizes, 1.0)
    scaled = system / sizes / sizes[:, None]
    for jitter in JITTERS:
        scaled[np.diag_indices_from(scaled)] += jitter
        L, failed = lapack.dpotrf(scaled, lower=1)
        if not failed and np.isfinite(L).all():
            return np.asarray(sizes[:, None] * L)
    return None


def solve_semidefinite(system: np.ndarray, target: np.ndarray) -> np.ndarray | None:
    """The solution of a positive semidefinite system, or None where it has none."""
    if len(system) == 1 and system[0, 0] > 0.0 and np.isfinite(system[0, 0]):
        return np.asarray(target / system[0, 0])
    L = factorise(system)
    if L is None:
        return None
    found, _ = lapack.dpotrs(L, target, lower=1)
    return np.asarray(found) if np.isfinite(found).all() else None


def check_bounds(Z: np.ndarray, gradient: np.ndarray) -> None:
    """Refuse columns without penalty whose coefficients grow without bound."""
    if (np.abs(Z.T @ gradient) <= 1e-6 * (np.abs(Z).T @ np.abs(gradient)) + TINY).all():
        return
    if not np.ptp(Z, axis=0).any():  # the intercept alone, which has a finite best value
        raise ValueError(
            "the model without features cannot be fitted, because the values of y or the weights "
            "of the samples differ too much in size for floating-point numbers; pass y in other "
            "units, or drop extreme samples"
        )
    raise ValueError(
        "the columns of always_keep predict the target perfectly, so that their coefficients "
        "have no finite best value; leave some of them out of always_keep"
    )


def common_part(loss: Loss, V: np.ndarray) -> np.ndarray:
    """What all outputs share of V, where that changes nothing: any curvature will do there."""
    return V.mean(axis=1, keepdims=True) if loss.is_redundant else np.zeros(1)


def definite(loss: Loss, H: np.ndarray) -> np.ndarray:
    """H with some curvature where equal numbers for all outputs change nothing."""
    if not loss.is_redundant:
        return H
    m = loss.n_outputs
    size = float(np.trace(H)) / len(H)
    return np.asarray(H + np.kron(np.eye(len(H) // m), np.full((m, m), size / m)))


def _lower(here: Place, direction: np.ndarray, slope: float) -> tuple[Place, float] | None:
    """(the loss there, step length) where it is lower, or as low within rounding."""
    length, slack = 1.0, 1e-15 * abs(here.value) * len(direction) ** 0.5
    for _ in range(60):
        there = here.at(here.F + length * direction)
        if there.value <= here.value + 1e-4 * length * slope + slack:
            return there, length
        length *= 0.5
    return None
