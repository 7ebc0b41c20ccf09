"""Blocks on the diagonal of a matrix, and factors of positive semidefinite matrices."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

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
