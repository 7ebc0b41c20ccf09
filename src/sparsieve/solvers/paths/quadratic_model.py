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

from math import sqrt

import numpy as np
from scipy.linalg import lapack

from ..._numba import PART, VIEWS, compiled

# What is added to unit diagonals, one after the other, until a matrix can be factorised.
JITTERS = (0.0, 1e-14, 1e-12, 1e-10, 1e-8, 1e-4, 1.0)


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


FAST_MATH = {"fastmath": {"reassoc", "contract", "nsz", "arcp"}, "error_model": "numpy"}
# Directions whose curvature is below this share of the largest of a block are flat.
FLAT = 1e-12
# Newton steps for the norm of a block, and the share of it by which the last one may be off.
MAX_ROOT_STEPS, ROOT_TOL = 50, 1e-13


@compiled(**VIEWS, **FAST_MATH)
def sweeps(A, w, g, values, costs, scale, n_sweeps):
    """Minimise over one place after the other, where blocks are single places of one output.

    Places at zero come in the first and last sweep only. Returns the largest violation of an
    optimality condition, as a share of the cost: of places with weight or without cost, and of all.
    """
    for sweep in range(n_sweeps):
        moved = False
        for i in range(len(w)):
            here, cost = w[i], costs[i]
            if (0 < sweep < n_sweeps - 1 and here == 0.0 and cost > 0.0) or values[i] <= 0.0:
                continue
            pull = values[i] * here - g[i]
            new = 0.0
            if pull > cost:
                new = (pull - cost) / values[i]
            elif pull < -cost:
                new = (pull + cost) / values[i]
            change = new - here
            if change != 0.0:
                moved, w[i], row = True, new, A[i]
                for j in range(len(g)):
                    g[j] += change * row[j]
        if not moved:
            break
    worst, entering = 0.0, 0.0
    for i in range(len(w)):
        cost = costs[i]
        if w[i] == 0.0 and cost > 0.0:
            off = abs(g[i]) / cost - 1.0
            entering = off if off > entering else entering
        else:
            off = abs(g[i] + cost if w[i] > 0.0 else g[i] - cost) / (cost if cost > 0.0 else scale)
            worst = off if off > worst else worst
    return worst, worst if worst > entering else entering


@compiled(**PART, **VIEWS, **FAST_MATH)
def norm(W):
    """||W||_F."""
    square = 0.0
    for k in range(W.shape[0]):
        for i in range(W.shape[1]):
            square += W[k, i] * W[k, i]
    return sqrt(square)


@compiled(**PART, **VIEWS, **FAST_MATH)
def root(squares, values, scales, cost, t):
    """The norm t of a block's minimiser: sum_ki squares_ki / (scales_k values_i t + cost)^2 = 1.

    The inverse root of that sum is increasing and concave in t: Newton's method comes from below
    from its second step on.
    """
    for _ in range(MAX_ROOT_STEPS):
        total, slope = 0.0, 0.0
        for k in range(len(scales)):
            for i in range(len(values)):
                value = scales[k] * values[i]
                part = value * t + cost
                term = squares[k, i] / (part * part)
                total += term
                slope += term * value / part
        step = total * (sqrt(total) - 1.0) / slope
        t = max(t + step, 0.0)
        if not abs(step) > ROOT_TOL * t:
            break
    return t


@compiled(**PART, **VIEWS, **FAST_MATH)
def block_step(W, G, values, vectors, scales, cost, V, squares):
    """What to add to a block W of gradient G, in V; whether that is anything."""
    n_outputs, p = W.shape
    size = norm(W)
    if size == 0.0 and norm(G) <= cost:
        return False
    top = values[p - 1]
    if top <= 0.0:
        return False
    # In the coordinates of the eigenvectors: the block there, and what its minimiser goes along.
    total = 0.0
    for i in range(p):
        for k in range(n_outputs):
            here, slope = W[k, i], G[k, i]
            if p > 1:
                here, slope = 0.0, 0.0
                for j in range(p):
                    here += vectors[i * p + j] * W[k, j]
                    slope += vectors[i * p + j] * G[k, j]
            V[k, p + i] = here
            V[k, i] = scales[k] * values[i] * here - slope
            squares[k, i] = V[k, i] * V[k, i]
            total += squares[k, i]
    t = 0.0
    if total > cost * cost and cost > 0.0:
        t = (sqrt(total) - cost) / top  # were all values the largest
        if p > 1 or n_outputs > 1:
            t = root(squares, values, scales, cost, max(t, size))
    for i in range(p):
        for k in range(n_outputs):
            value, factor = scales[k] * values[i], 0.0
            if cost > 0.0:
                factor = t / (value * t + cost)
            elif values[i] > FLAT * top:
                factor = 1.0 / value
            here = V[k, i] * factor
            if cost == 0.0 and values[i] <= FLAT * top:
                here = V[k, p + i]
            V[k, p + i] = here
    moved = False
    for k in range(n_outputs):
        for j in range(p):
            new = V[k, p + j]
            if p > 1:
                new = 0.0
                for i in range(p):
                    new += V[k, p + i] * vectors[i * p + j]
            V[k, j] = new - W[k, j]
            moved = moved or V[k, j] != 0.0
    return moved


@compiled(**VIEWS, **FAST_MATH)
def block_sweeps(A, scales, W, G, starts, values, vectors, offsets, costs, n_sweeps, V, squares):
    """Minimise over one block after the other; blocks at zero in the first and last sweep only.

    ``V`` and ``squares`` are space for two numbers and one per output and place of a block.
    """
    n_outputs, n_places = W.shape
    for sweep in range(n_sweeps):
        moved = False
        for b in range(len(costs)):
            first, last = starts[b], starts[b + 1]
            own = W[:, first:last]
            if 0 < sweep < n_sweeps - 1 and norm(own) == 0.0 and costs[b] > 0.0:
                continue
            vector = vectors[offsets[b] : offsets[b + 1]]
            if not block_step(
                own, G[:, first:last], values[first:last], vector, scales, costs[b], V, squares
            ):
                continue
            moved = True
            for k in range(n_outputs):
                for i in range(first, last):
                    change = V[k, i - first]
                    W[k, i] += change
                    change *= scales[k]
                    for j in range(n_places):
                        G[k, j] += change * A[i, j]
        if not moved:
            break


# Directions whose curvature is below this share of their own before other directions took part of
# it are flat.
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
