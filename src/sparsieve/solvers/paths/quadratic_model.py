"""Descent on a quadratic model with a norm per block.

    minimise  <G, D> + <C D A, D> / 2 + sum_b costs_b ||W_b||_F,  D = W - W0

over W of shape (n_outputs, n_places), where A is the same for all outputs but for their factors
``scales``, the diagonal of C, and a block is some neighbouring places. ``G`` is the gradient of the
quadratic part and kept up to date with ``W``. Blocks without cost are free. ``values`` and
``vectors`` are the eigenvalues, in increasing order, and eigenvectors of the part of A of every
block, the latter as rows, p^2 numbers from ``offsets[b]`` on: in their coordinates the minimiser
over a block is known but for its norm, which is the root of one equation.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from .quadratic import block_norms

# Directions whose curvature is below this share of their own before other directions took part of
# it are flat.
FLAT = 1e-12
# How much of the parabola above a norm is added to its curvature until a step pays, that is, until
# it gains this share of what it promises.
DAMPINGS, MIN_GAIN_SHARE = (0.0, 0.01, 0.1, 1.0), 0.1
# Of the penalty: what rounding may add to a change of the objective. Of a number: what is left of
# it where a step was meant to end at zero.
ROUNDING, ZERO = 1e-15, 1e-14
# Sweeps before a try of Newton's method, such tries in turn, and rounds of both.
SWEEPS, NEWTON_STEPS, MAX_ROUNDS = 6, 8, 60


def minimise(
    A: np.ndarray,
    scales: np.ndarray,
    W: np.ndarray,
    G: np.ndarray,
    starts: np.ndarray,
    values: np.ndarray,
    vectors: np.ndarray,
    offsets: np.ndarray,
    costs: np.ndarray,
    scale: float,
    tol: float,
) -> None:
    """Sweeps, and Newton steps in turn where there is one output, until no block is off by tol."""
    from ._quadratic_kernels import block_sweeps, sweeps

    n_outputs, n_places = W.shape
    w, g = W[0], G[0]
    if n_outputs == 1 and n_places == len(costs):

        def sweep(count: int) -> tuple[float, float]:
            return sweeps(A, w, g, values, costs, scale, count)
    else:
        widest = int(np.diff(starts).max(initial=1))
        space = np.empty((n_outputs, 2 * widest)), np.empty((n_outputs, widest))
        spectra = values, vectors, offsets

        def sweep(count: int) -> tuple[float, float]:
            block_sweeps(A, scales, W, G, starts, *spectra, costs, count, *space)
            return violations(W, G, starts, costs, scale)

    for _ in range(MAX_ROUNDS):
        if sweep(SWEEPS)[1] <= tol:
            break
        if n_outputs > 1:
            continue
        for _ in range(NEWTON_STEPS):
            if not newton_step(A, w, g, starts, costs):
                break
            off, off_anywhere = sweep(0)
            if off <= 0.3 * tol:
                if off_anywhere <= tol:
                    return
                break


def violations(
    W: np.ndarray, G: np.ndarray, starts: np.ndarray, costs: np.ndarray, scale: float
) -> tuple[float, float]:
    """The largest violation of an optimality condition, as a share of the cost of its block.

    Of the blocks with weight or without cost, and of all blocks.
    """
    norms = block_norms(W.T, starts)
    pull = np.divide(costs, norms, out=np.zeros_like(norms), where=norms > 0.0)
    off = block_norms((G + per_place(pull, starts) * W).T, starts)
    off = off / np.where(costs > 0.0, costs, scale)
    at_zero = (norms == 0.0) & (costs > 0.0)
    worst = float(off[~at_zero].max(initial=0.0))
    return worst, max(worst, float(off[at_zero].max(initial=1.0)) - 1.0)


def per_place(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """The value of its block for every place."""
    return values if starts[-1] == len(values) else np.repeat(values, np.diff(starts))


def newton_step(
    A: np.ndarray, w: np.ndarray, g: np.ndarray, starts: np.ndarray, costs: np.ndarray
) -> bool:
    """One Newton step on the blocks with weight, if it lowers the objective: whether it did.

    A block of a single place ends at zero where its sign would change; as far as to the first
    change of sign the objective falls for sure. The norm of a larger block is straight along the
    block, so that copies of features may leave a flat direction: there its curvature is damped
    until the step pays. With all of the damping its model is the parabola above it.
    """
    norms = block_norms(w[:, None], starts)
    places = np.flatnonzero(per_place((norms > 0.0) | (costs == 0.0), starts))
    if not len(places):
        return False
    here, slopes, cost = w[places], g[places], per_place(costs, starts)[places]
    rows = A[places, : len(w)]
    M = rows[:, places]
    bends = None
    if len(costs) < len(w):
        block = np.repeat(np.arange(len(costs)), np.diff(starts))[places]
        norm = np.where(norms[block] > 0.0, norms[block], 1.0)
        pull = cost / norm
        bends = (pull > 0.0) & (np.diff(starts)[block] > 1)
    if bends is None or not bends.any():
        pull, bends = cost / np.where(here == 0.0, 1.0, np.abs(here)), None
        trials: tuple[float, ...] = DAMPINGS[:2]
    else:
        unit, same = np.where(bends, here / norm, 0.0), block[:, None] == block
        trials = DAMPINGS
    price, target, step = float(costs @ norms), -(slopes + pull * here), np.zeros(0)
    for trial, damping in enumerate(trials):
        own, length = M, 1.0
        if bends is not None:
            own = M - (1.0 - damping) * (same * np.outer(pull * unit, unit))
            own[np.diag_indices_from(own)] += np.where(bends, pull, 0.0)
        if bends is not None or trial == 0:
            step = solved_in_part(own, target)
        else:
            turns = here * (here + step) < 0.0
            length = float((-here[turns] / step[turns]).min(initial=1.0))
        there = here + length * step
        ends = (cost > 0.0) & (there * here <= ZERO * here * here)
        there[ends if bends is None else ends & ~bends] = 0.0
        moved, new = there - here, w.copy()
        new[places] = there
        change = moved @ rows
        lower = float(costs @ block_norms(new[:, None], starts)) - price
        lower += float(moved @ (slopes + 0.5 * change[places]))
        pays = MIN_GAIN_SHARE * -0.5 * float(target @ step) + ROUNDING * price
        if lower < 0.0 if bends is None else lower <= pays:
            w[:] = new
            g += change
            return True
    return False


def solved_in_part(M: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The solution of a system, with zeros where other places, as of copies, can do the same.

    M is overwritten.
    """
    diagonal = M.diagonal().copy()
    L, failed = lapack.dpotrf(M.T, lower=1, clean=0, overwrite_a=1)
    if not failed and (L.diagonal() ** 2 > FLAT * diagonal).all():
        return np.asarray(lapack.dpotrs(L, target, lower=1)[0])
    M = np.triu(L, 1)  # is as it was
    M += M.T
    np.fill_diagonal(M, diagonal)
    units = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    L, order, rank, _ = lapack.dpstrf(units[:, None] * M * units, tol=FLAT, lower=1)
    kept, found = order[:rank] - 1, np.zeros_like(target)
    part = np.asfortranarray(L[:rank, :rank])
    found[kept] = units[kept] * lapack.dpotrs(part, units[kept] * target[kept], lower=1)[0]
    return found
