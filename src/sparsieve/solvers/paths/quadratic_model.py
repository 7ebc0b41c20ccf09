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


def ranges(firsts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """The numbers from each first on, so many of each, one range after the other."""
    if len(sizes) == sizes.sum():
        return firsts
    ends = np.cumsum(sizes)
    return np.repeat(firsts - ends + sizes, sizes) + np.arange(ends[-1])


def block_norms(W: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """||W_b|| of every block b of rows, from ``starts[b]`` to the start of the next."""
    if W.shape[1] == 1 and len(W) == len(starts) - 1:
        return np.abs(W[:, 0])
    squares = np.einsum("jk,jk->j", W, W)
    if len(squares) > len(starts) - 1:
        squares = np.add.reduceat(squares, starts[:-1])
    return np.sqrt(squares)


def block_spectra(A: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Eigenvalues and eigenvectors, as rows, of blocks of these sizes on the diagonal of A.

    All of one block after those of the other; the third array says where eigenvectors begin.
    """
    if len(A) == len(sizes):
        return np.maximum(A.diagonal(), 0.0), np.ones(len(A)), np.arange(len(A) + 1)
    starts = np.cumsum(sizes) - sizes
    offsets = np.append(0, np.cumsum(sizes**2))
    values, vectors = np.empty(len(A)), np.ones(int(offsets[-1]))
    for p in np.unique(sizes).tolist():
        these = np.flatnonzero(sizes == p)
        rows = starts[these][:, None] + np.arange(p)
        found, Q = np.linalg.eigh(A[rows[:, :, None], rows[:, None, :]])
        values[rows] = np.maximum(found, 0.0)
        places = offsets[these][:, None] + np.arange(p * p)
        vectors[places] = Q.transpose(0, 2, 1).reshape(len(these), -1)
    return values, vectors, offsets


# Directions whose curvature is below this share of the largest of a block are flat.
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

        def step() -> bool:
            return step_on_places(A, w, g, costs)
    else:
        widest = int(np.diff(starts).max(initial=1))
        space = np.empty((n_outputs, 2 * widest)), np.empty((n_outputs, widest))
        spectra = values, vectors, offsets

        def sweep(count: int) -> tuple[float, float]:
            block_sweeps(A, scales, W, G, starts, *spectra, costs, count, *space)
            return violations(W, G, starts, costs, scale)

        def step() -> bool:
            return n_outputs == 1 and step_on_blocks(A, w, g, starts, costs)

    for _ in range(MAX_ROUNDS):
        if sweep(SWEEPS)[1] <= tol:
            break
        for _ in range(NEWTON_STEPS):
            if not step():
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


def step_on_places(A: np.ndarray, w: np.ndarray, g: np.ndarray, costs: np.ndarray) -> bool:
    """One Newton step on the places with weight, if it lowers the objective: whether it did.

    A place ends at zero where its sign would change; as far as to the first change of sign the
    objective falls for sure.
    """
    from ._quadratic_kernels import solve_at

    places = ((w != 0.0) | (costs == 0.0)).nonzero()[0]
    here, cost, full = w[places], costs[places], A[: len(w), : len(w)]
    step = -g[places] - np.copysign(cost, here)
    solve_at(A, places, step, np.empty((len(here) + 1, len(here))))
    turns = here * (here + step) < 0.0
    for length in (1.0, float((-here[turns] / step[turns]).min(initial=1.0))):
        there = here + length * step
        there[(cost > 0.0) & (there * here <= ZERO * here * here)] = 0.0
        moved = np.zeros_like(w)
        moved[places] = there - here
        change = moved @ full
        if cost @ (np.abs(there) - np.abs(here)) + moved @ (g + 0.5 * change) < 0.0:
            w[places] = there
            g += change
            return True
    return False


def step_on_blocks(
    A: np.ndarray, w: np.ndarray, g: np.ndarray, starts: np.ndarray, costs: np.ndarray
) -> bool:
    """One Newton step on the blocks with weight, if it lowers the objective: whether it did.

    The norm of a block is straight along it, so that copies of features may leave a flat direction:
    there its curvature is damped until the step pays. With all of the damping its model is the
    parabola above it.
    """
    norms, sizes = block_norms(w[:, None], starts), np.diff(starts)
    used = np.flatnonzero((norms > 0.0) | (costs == 0.0))
    block, places = np.repeat(used, sizes[used]), ranges(starts[used], sizes[used])
    if not len(places):
        return False
    here, slopes = w[places], g[places]
    norm = np.where(norms[block] > 0.0, norms[block], 1.0)
    pull = costs[block] / norm
    bends = (pull > 0.0) & (sizes[block] > 1)
    # All pairs of places of one block, and the curvature that its norm lacks along it.
    firsts, n_others = np.cumsum(sizes[used]) - sizes[used], sizes[block]
    rows = np.repeat(np.arange(len(places)), n_others)
    columns = ranges(np.repeat(firsts, sizes[used]), n_others)
    unit = np.where(bends, here / norm, 0.0)
    along = pull[rows] * unit[rows] * unit[columns]
    own_pull = np.where(bends, pull, 0.0)
    price, target, n = float(costs @ norms), -(slopes + pull * here), len(w)
    for damping in DAMPINGS:
        own = A[places].take(places, axis=1)
        own[rows, columns] -= (1.0 - damping) * along
        own.reshape(-1)[:: len(own) + 1] += own_pull
        step = solved_in_part(own, target)
        there = here + step
        there[~bends & (pull > 0.0) & (there * here <= ZERO * here * here)] = 0.0
        moved, new = np.zeros_like(w), w.copy()
        moved[places], new[places] = there - here, there
        change = moved @ A[:n, :n]
        lower = float(costs @ block_norms(new[:, None], starts)) - price
        lower += float(moved @ (g + 0.5 * change))
        if lower <= MIN_GAIN_SHARE * -0.5 * float(target @ step) + ROUNDING * price:
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
