"""Steps where features times outputs are too many for their Hessian, as with a thousand classes.

The curvature bound D of the loss is the same for all outputs of a sample, so that X'DX, one number
for every two features, bounds the Hessian for every output. Block coordinate descent on that model
finds the groups with weight, and conjugate gradients on these the Newton step.
"""

from __future__ import annotations

import numpy as np

from ..engines.conjugate_gradients import conjugate_gradients
from ..losses.base import Loss
from .free import shared
from .quadratic import Blocks, minimise_quadratic, solved

# Products with the Hessian for one Newton step, and how well they solve for it.
CG_STEPS = 50
CG_TOL = 0.05


def bounded_direction(
    loss: Loss,
    F: np.ndarray,
    Z: np.ndarray,
    X: np.ndarray,
    slopes: np.ndarray,
    w: np.ndarray,
    blocks: Blocks,
    costs: np.ndarray,
    tol: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Changes of w and of the free coefficients that minimise the model with the bound.

    ``slopes`` and ``w`` are those of the columns X, with the outputs of a column as neighbours; the
    free columns Z are at their optimum.
    """
    m, z = loss.n_outputs, Z.shape[1]
    D = loss.curvature(F).max(axis=1)
    M = np.hstack((Z, X))
    A = M.T @ (D[:, None] * M)
    system = A[z:, z:]
    follow = solved(A[:z, :z], A[:z, z:]) if z else None
    if follow is not None:
        system = system - A[z:, :z] @ follow
    new = minimise_quadratic(np.ascontiguousarray(system), slopes, w, blocks, costs, tol, m)
    d = new - w
    free = np.zeros((z, m)) if follow is None else -follow @ d.reshape(-1, m)
    return d, free


def newton_direction(
    loss: Loss,
    F: np.ndarray,
    Z: np.ndarray,
    X: np.ndarray,
    slopes: np.ndarray,
    w: np.ndarray,
    blocks: Blocks,
    costs: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """The Newton step on the groups with weight, where the penalty is smooth, roughly."""
    m, z = loss.n_outputs, Z.shape[1]
    norms = blocks.norms(w)
    active = norms[blocks.numbers] > 0.0
    numbers = blocks.numbers[active]
    pull = (costs[numbers] / norms[numbers]).reshape(-1, m)
    u = (w[active] / norms[numbers]).reshape(-1, m)
    inside = X[:, active[::m]]
    M = np.hstack((Z, inside))
    firsts = np.flatnonzero(np.append(True, np.diff(numbers[::m]) > 0))

    def apply(V: np.ndarray) -> np.ndarray:
        image = M.T @ loss.hessian_product(F, M @ V)
        along = np.add.reduceat((u * V[z:]).sum(axis=1), firsts)
        spread = np.repeat(along, np.diff(np.append(firsts, len(u))))
        image[z:] += pull * (V[z:] - u * spread[:, None])
        image[:z] += size * shared(loss, V[:z])
        return image

    target = np.zeros((M.shape[1], m))
    target[z:] = -(slopes[active].reshape(-1, m) + pull * u * norms[numbers].reshape(-1, m))
    scale = np.maximum((M**2).T @ loss.diagonal(F), np.finfo(np.float64).tiny)
    scale[z:] += pull
    size = float(scale.mean())
    found = conjugate_gradients(apply, target, lambda V: V / scale, max_steps=CG_STEPS, tol=CG_TOL)
    d = np.zeros_like(w)
    d[active] = found[z:].ravel()
    return d, found[:z]
