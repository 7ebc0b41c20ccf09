"""A quadratic model with a norm per block: coordinate descent finds the blocks, Newton the digits.

    minimise  g'(w - w0) + (w - w0)'A(w - w0) / 2 + sum_b costs_b ||w_b||

is the step of a proximal Newton method. Where every block is a single number, one linear system
solves it once the signs are known; otherwise Newton steps on the blocks with weight, where the
norms are smooth, converge within a few.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

# Sweeps between two tries of Newton's method.
SWEEPS = 10
MAX_ROUNDS = 200
MAX_NEWTON = 8
# How much of the parabola above a norm is added to its curvature until a step pays, that is, until
# it gains this share of what it promises.
DAMPINGS = (0.0, 0.01, 0.1, 1.0)
WORTH = 0.1
# Of the penalty: what rounding may add to a change of the objective.
ROUNDING = 1e-15
# Of a number: what is left of it where a step was meant to end at zero.
ZERO = 1e-14
# What is added to unit diagonals, one after the other, until a matrix can be factorised.
JITTERS = (0.0, 1e-14, 1e-12, 1e-10, 1e-8, 1e-4, 1.0)


@dataclass(frozen=True)
class Blocks:
    """Places that share a norm, one block after the other.

    Attributes
    ----------
    starts : ndarray of int of shape (n_blocks + 1,)
    numbers : ndarray of int
        The block of every place.
    """

    starts: np.ndarray
    numbers: np.ndarray

    @classmethod
    def of(cls, sizes: np.ndarray) -> Blocks:
        """Blocks of these sizes."""
        starts = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        return cls(starts, np.repeat(np.arange(len(sizes)), sizes))

    @property
    def are_single(self) -> bool:
        """Whether every block is one place."""
        return len(self.numbers) == len(self.starts) - 1

    def norms(self, w: np.ndarray) -> np.ndarray:
        """||w_b|| of every block."""
        if self.are_single:
            return np.abs(w)
        return np.sqrt(np.bincount(self.numbers, w * w, len(self.starts) - 1))


def minimise_quadratic(
    A: np.ndarray,
    gradient: np.ndarray,
    w: np.ndarray,
    blocks: Blocks,
    costs: np.ndarray,
    tol: float,
    n_outputs: int = 1,
) -> np.ndarray:
    """The minimiser, from ``w``.

    Parameters
    ----------
    A : ndarray
        Symmetric and positive semidefinite.
    gradient : ndarray
        Of the quadratic part at ``w``.
    w : ndarray
        Where to start.
    blocks, costs : which places share a norm, and what a unit of each norm costs.
    tol : float
        Stop when no block violates its optimality condition by more than this share of its cost.
    n_outputs : int
        How many neighbouring places belong to one row of A: with more than one, A stands for the
        same matrix for every output.
    """
    from ._quadratic_kernels import sweeps, sweeps_of_rows

    w, gradient = w.copy(), gradient.copy()
    if n_outputs > 1:
        starts = blocks.starts // n_outputs
        W, G = w.reshape(-1, n_outputs), gradient.reshape(-1, n_outputs)
        bounds = block_bounds(A, Blocks.of(np.diff(starts)))
        room = np.empty((int(np.diff(starts).max(initial=1)), n_outputs))
        for _ in range(MAX_ROUNDS):
            sweeps_of_rows(A, W, G, starts, bounds, costs, SWEEPS, room)
            if _violation(w, gradient, blocks, costs) <= tol:
                break
        return w
    bounds = block_bounds(A, blocks)
    scratch = np.empty(int(np.diff(blocks.starts).max(initial=1)))
    for _ in range(MAX_ROUNDS):
        sweeps(A, w, gradient, blocks.starts, bounds, costs, SWEEPS, scratch)
        if _violation(w, gradient, blocks, costs) <= tol:
            break
        w, gradient = _newton(A, w, gradient, blocks, costs, tol)
        if _violation(w, gradient, blocks, costs) <= tol:
            break
    return w


def _violation(w: np.ndarray, gradient: np.ndarray, blocks: Blocks, costs: np.ndarray) -> float:
    """The largest violation of an optimality condition, relative to the cost of the block."""
    norms = blocks.norms(w)
    pull = costs / np.where(norms > 0.0, norms, np.inf)
    sizes = blocks.norms(gradient + pull[blocks.numbers] * w) / costs
    return float(np.where(norms > 0.0, sizes, sizes - 1.0).max(initial=0.0))


def block_bounds(A: np.ndarray, blocks: Blocks) -> np.ndarray:
    """The largest eigenvalue of the part of A of every block."""
    if blocks.are_single:
        return A.diagonal().copy()
    found = np.empty(len(blocks.starts) - 1)
    for b, (first, last) in enumerate(zip(blocks.starts[:-1], blocks.starts[1:], strict=True)):
        part = A[first:last, first:last]
        found[b] = part[0, 0] if last - first == 1 else np.linalg.eigvalsh(part)[-1]
    return found


def _newton(
    A: np.ndarray,
    w: np.ndarray,
    gradient: np.ndarray,
    blocks: Blocks,
    costs: np.ndarray,
    tol: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Newton steps on the blocks with weight, as long as they lower the objective."""
    step = _single_step if blocks.are_single else _block_step
    for _ in range(len(w) if blocks.are_single else MAX_NEWTON):
        norms = blocks.norms(w)
        index = np.flatnonzero(norms[blocks.numbers] > 0.0)
        numbers = blocks.numbers[index]
        pull = costs[numbers] / norms[numbers]
        slope = gradient[index] + pull * w[index]
        if (np.abs(slope) <= 0.1 * tol * costs[numbers]).all():
            break
        rows = A[index]
        there, is_last = step(rows, index, slope, w, gradient, blocks, costs)
        if there is None:
            break
        gradient = gradient + (there[index] - w[index]) @ rows
        w = there
        if is_last:
            break
    return w, gradient


def _single_step(rows, index, slope, w, gradient, blocks, costs):
    """(where a step leads that changes no sign, whether it is the minimiser for these signs)."""
    here = w[index]
    step = solved(rows[:, index], -slope)
    if step is None:
        return None, True
    # As far as to the first change of sign the objective falls for sure.
    crossing = step * here < 0.0
    first = float((-here[crossing] / step[crossing]).min(initial=1.0))
    for length in (1.0, first):
        there = w.copy()
        there[index] += length * step
        there[index[there[index] * here <= ZERO * here**2]] = 0.0  # what would change its sign
        if _change(rows, index, w, there, gradient, blocks, costs) < 0.0:
            return there, length == 1.0 and bool((there[index] != 0.0).all())
    return None, True


def _block_step(rows, index, slope, w, gradient, blocks, costs):
    """(where a step leads, False): Newton's step, damped along the blocks until it pays.

    The norm of a block is straight along the block, so that copies of features may leave a flat
    direction. With all of the damping its model is the parabola above it: the objective falls.
    """
    norms, numbers = blocks.norms(w), blocks.numbers[index]
    pull, u = costs[numbers] / norms[numbers], w[index] / norms[numbers]
    rounding = ROUNDING * float(costs @ norms)
    for damping in DAMPINGS:
        system = rows[:, index]
        system[np.diag_indices_from(system)] += pull
        ends = np.flatnonzero(np.append(np.diff(numbers) > 0, True)) + 1
        first = 0
        for last in ends.tolist():
            inside = slice(first, last)
            along = (1.0 - damping) * pull[first]
            system[inside, inside] -= along * np.outer(u[inside], u[inside])
            first = last
        step = solved(system, -slope)
        if step is None:
            continue
        there = w.copy()
        there[index] += step
        promised = 0.5 * float(slope @ step)
        if _change(rows, index, w, there, gradient, blocks, costs) <= WORTH * promised + rounding:
            return there, False
    return None, True


def _change(rows, index, w, there, gradient, blocks, costs) -> float:
    """The change of the objective from w to there, which differ in some places only."""
    moved = there[index] - w[index]
    quadratic = float(gradient[index] @ moved + 0.5 * (moved @ rows)[index] @ moved)
    return quadratic + float(costs @ (blocks.norms(there) - blocks.norms(w)))


def factorised(system: np.ndarray) -> np.ndarray | None:
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


def solved(system: np.ndarray, target: np.ndarray) -> np.ndarray | None:
    """The solution of a positive semidefinite system, or None where it has none."""
    L = factorised(system)
    if L is None:
        return None
    found, _ = lapack.dpotrs(L, target, lower=1)
    return np.asarray(found) if np.isfinite(found).all() else None
