"""Passes over a large dense array by compiled code, on as many threads as the user allows."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial

import numpy as np

# Columns whose moments are taken together: all their rows should fit the second-level cache.
MOMENTS_BYTES = 1 << 19
# So many outputs are cheaper by matrix products of clipped blocks than by a pass for each: of
# rows that are contiguous, and of columns.
MANY_OUTPUTS = {True: 12, False: 4}
BLOCK = (256, 512)  # rows and columns of such a block, which stays in the second-level cache
# Fewer numbers than this are not worth a second thread.
WORTH_A_THREAD = 1 << 22


@cache
def _libraries():
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def n_threads() -> int:
    """What BLAS may use now: follows OMP_NUM_THREADS, threadpoolctl and joblib's workers."""
    return max((pool["num_threads"] for pool in _libraries().info()), default=1)


def in_strips(work: Callable[[int, int], object], n_columns: int, size: int) -> None:
    """Call ``work(start, stop)`` for ranges of columns side by side."""
    workers = min(n_threads(), max(1, size // WORTH_A_THREAD))
    if workers == 1:
        work(0, n_columns)
        return
    edges = np.linspace(0, n_columns, workers + 1).astype(int)
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(work, edges[:-1].tolist(), edges[1:].tolist()))


def can_stream(array: np.ndarray) -> bool:
    """Whether rows or columns are contiguous, as the compiled passes need it."""
    return array.flags.c_contiguous or array.flags.f_contiguous


def products(array: np.ndarray, low: np.ndarray, high: np.ndarray, U: np.ndarray) -> np.ndarray:
    """clip(X)' U, of shape (n_features, n_outputs) in Fortran order."""
    by_row = array.flags.c_contiguous
    if U.shape[1] >= MANY_OUTPUTS[by_row]:
        return _products_of_blocks(array, low, high, U)
    from . import _stream_kernels as kernels

    kernel = kernels.products_by_row if by_row else kernels.products_by_column
    out = np.empty((array.shape[1], U.shape[1]), dtype=array.dtype, order="F")
    for k in range(U.shape[1]):
        u = np.ascontiguousarray(U[:, k], dtype=array.dtype)
        work = partial(_strip, kernel, (array, low, high, u), out[:, k])
        in_strips(work, array.shape[1], array.size)
    return out


def _products_of_blocks(array, low, high, U: np.ndarray) -> np.ndarray:
    n_samples, n_features = array.shape
    out = np.empty((n_features, U.shape[1]), dtype=array.dtype, order="F")
    height, width = BLOCK

    def work(start: int, stop: int) -> None:
        buffer = np.empty((height, width), dtype=array.dtype)
        if not array.flags.c_contiguous:
            buffer = np.asfortranarray(buffer)
        for first in range(start, stop, width):
            last = min(first + width, stop)
            total = np.zeros((last - first, U.shape[1]))
            for top in range(0, n_samples, height):
                block = array[top : top + height, first:last]
                clipped = buffer[: block.shape[0], : block.shape[1]]
                np.maximum(block, low[first:last], out=clipped)
                np.minimum(clipped, high[first:last], out=clipped)
                total += clipped.T @ U[top : top + height]
            out[first:last] = total

    in_strips(work, n_features, array.size)
    return out


def _strip(kernel: Callable, given: tuple, out: np.ndarray, start: int, stop: int) -> None:
    kernel(*given, start, stop, out)


def moments(
    array: np.ndarray,
    weights: np.ndarray | None,
    low: np.ndarray | None = None,
    high: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Weighted mean and variance of every (clipped) column, in double precision."""
    from . import _stream_kernels as kernels

    n_samples, n_features = array.shape
    shares = np.full(n_samples, 1.0 / n_samples)
    if weights is not None:
        shares = np.asarray(weights, dtype=np.float64) / np.sum(weights)
    if low is None or high is None:
        high = np.full(n_features, np.inf, dtype=array.dtype)
        low = -high
    width = max(16, MOMENTS_BYTES // (n_samples * array.itemsize))
    means, variances = np.empty(n_features), np.empty(n_features)
    in_strips(
        lambda start, stop: kernels.moments(
            array, low, high, shares, start, stop, width, means, variances
        ),
        n_features,
        array.size,
    )
    return means, variances
