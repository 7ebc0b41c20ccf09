"""Passes over a large dense array by compiled code, on as many threads as the user allows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from itertools import pairwise
from threading import Lock
from typing import Any, TypeVar

import numpy as np

# So many outputs are cheaper by matrix products of clipped blocks than by a pass for each: of
# rows that are contiguous, and of columns.
MANY_OUTPUTS = {True: 12, False: 4}
BLOCK = (256, 512)  # rows and columns of such a block, which stays in the second-level cache
# Fewer numbers than this are not worth a second thread.
WORTH_A_THREAD = 1 << 21

Item = TypeVar("Item")
Result = TypeVar("Result")


@cache
def _libraries():
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def n_threads() -> int:
    """What BLAS may use now: follows OMP_NUM_THREADS, threadpoolctl and joblib's workers."""
    return max((pool["num_threads"] for pool in _libraries().info()), default=1)


def in_strips(work: Callable[[int, int], object], n_columns: int, size: int) -> None:
    """Call ``work(start, stop)`` for ranges of columns side by side; BLAS gets one thread each."""
    workers = min(n_threads(), max(1, size // WORTH_A_THREAD))
    if workers == 1:
        work(0, n_columns)
        return
    edges = np.linspace(0, n_columns, workers + 1).astype(int)
    with _one_blas_thread, ThreadPoolExecutor(workers) as pool:
        list(pool.map(work, edges[:-1].tolist(), edges[1:].tolist()))


def side_by_side(
    work: Callable[[Item], Result], items: Sequence[Item], size: int
) -> Iterator[Result]:
    """``work(item)`` in the order of the items, done side by side; BLAS gets one thread each.

    ``size`` is how many numbers all of them are.
    """
    workers = min(n_threads(), len(items), max(1, size // WORTH_A_THREAD))
    if workers == 1:
        yield from map(work, items)
        return
    with _one_blas_thread, ThreadPoolExecutor(workers) as pool:
        yield from pool.map(work, items)


class _OneBlasThread:
    """While any thread is in here, BLAS uses one thread of its own per caller."""

    def __init__(self) -> None:
        self._lock, self._inside = Lock(), 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._limit = _libraries().limit(limits=1)
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._limit.restore_original_limits()


_one_blas_thread = _OneBlasThread()


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
    size = np.array([len(array) if weights is None else np.sum(weights)], dtype=np.float64)
    everything = (np.array([0, len(array)]), size)
    means, squares = _group_moments(array, _NO_ORDER, *everything, weights, low, high)
    return means[0], squares[0] / size


def group_moments(
    array: np.ndarray,
    codes: np.ndarray,
    n_groups: int,
    weights: np.ndarray | None,
    low: np.ndarray | None = None,
    high: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The same for every group of rows, none of them empty: of shape (n_groups, n_features)."""
    small = codes.astype(np.int16) if n_groups < 1 << 15 else codes  # sorted by counting
    order = np.argsort(small, kind="stable")
    bounds = np.searchsorted(small[order], np.arange(n_groups + 1))
    sizes = np.bincount(codes, weights=weights, minlength=n_groups).astype(np.float64)
    means, squares = _group_moments(array, order, bounds, sizes, weights, low, high)
    return means, squares / sizes[:, None]


_NO_ORDER = np.empty(0, dtype=np.int64)  # rows as they come


def _group_moments(array, order, bounds, sizes, weights, low, high):
    """Means and sums of squared deviations of rows order[bounds[g]:bounds[g + 1]]."""
    from . import _stream_kernels as kernels

    n_samples, n_features = array.shape
    means, squares = np.empty((len(sizes), n_features)), np.empty((len(sizes), n_features))
    groups = (order, bounds, _leaders(order, bounds, weights), sizes)
    by_row = array.flags.c_contiguous
    kernel: Any
    given: tuple
    if by_row and weights is None and low is None:
        kernel, given = kernels.moments_by_row, (array, groups)
    else:
        if low is None or high is None:
            high = np.full(n_features, np.inf, dtype=array.dtype)
            low = -high
        factors = np.ones(n_samples) if weights is None else np.asarray(weights, np.float64)
        kernel = kernels.clipped_moments_by_row if by_row else kernels.clipped_moments_by_column
        given = (array, low, high, factors, groups)
    in_strips(
        lambda start, stop: kernel(*given, start, stop, means, squares), n_features, array.size
    )
    return means, squares


def _leaders(order: np.ndarray, bounds: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """The heaviest row of every group, or the first."""
    places = bounds[:-1].copy()
    if weights is not None:
        for g, (start, stop) in enumerate(pairwise(bounds)):
            rows = order[start:stop] if len(order) else slice(start, stop)
            places[g] += int(np.argmax(weights[rows]))
    return order[places] if len(order) else places
