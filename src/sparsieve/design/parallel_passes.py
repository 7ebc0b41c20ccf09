"""Passes over a large dense array by compiled code, on as many threads as the user allows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, partial
from itertools import pairwise
from threading import Lock
from typing import Any, NamedTuple, TypeVar

import numpy as np

# So many outputs are cheaper by matrix products of clipped blocks than by a pass for each: of
# rows that are contiguous, and of columns.
GEMM_MIN_OUTPUTS = {True: 12, False: 4}
GEMM_BLOCK = (256, 512)  # rows and columns of such a block, which stays in the second-level cache
# Values outside their bounds are kept while they are one of this many, with places that two bytes
# each can hold: a thirtieth of X at most. With more of them clipping itself is as fast.
MIN_VALUES_PER_CLIPPED = 64
MAX_TWO_BYTE_ROWS = 1 << 16
MIN_TILE_COLUMNS = 128  # columns of the narrowest tile
ALIGNED = 64  # columns at multiples of which threads begin where nothing else decides
# Fewer numbers than this are not worth a second thread.
MIN_WORK_PER_THREAD = 1 << 21

Item = TypeVar("Item")
Result = TypeVar("Result")


@cache
def _libraries():
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


_allowed: ContextVar[int | None] = ContextVar("threads of passes", default=None)


def n_threads() -> int:
    """What BLAS may use now: follows OMP_NUM_THREADS, threadpoolctl and joblib's workers."""
    allowed = _allowed.get()
    if allowed is not None:
        return allowed
    return max((pool["num_threads"] for pool in _libraries().info()), default=1)


@contextmanager
def blas_alone() -> Iterator[None]:
    """BLAS uses one thread in here, passes over X as many as before.

    For work between passes that is too small for a second thread: those of BLAS stay busy for a
    while after every call, waiting for more, and passes have to share the processor with them.
    """
    before = _allowed.set(n_threads())
    try:
        with _one_blas_thread:
            yield
    finally:
        _allowed.reset(before)


def in_strips(
    work: Callable[[int, int], Result], n_columns: int, size: int, unit: int = 1
) -> list[Result]:
    """``work(start, stop)`` for ranges of columns side by side; BLAS gets one thread each.

    Ranges begin at multiples of ``unit``.
    """
    n_units = -(-n_columns // unit)
    workers = min(n_units, size // MIN_WORK_PER_THREAD)
    if workers <= 1 or (workers := min(workers, n_threads())) <= 1:
        return [work(0, n_columns)]
    edges = np.minimum(np.linspace(0, n_units, workers + 1).astype(int) * unit, n_columns)
    with _one_blas_thread, ThreadPoolExecutor(workers) as pool:
        return list(pool.map(work, edges[:-1].tolist(), edges[1:].tolist()))


def side_by_side(
    work: Callable[[Item], Result], items: Sequence[Item], size: int
) -> Iterator[Result]:
    """``work(item)`` in the order of the items, done side by side; BLAS gets one thread each.

    ``size`` is how many numbers all of them are.
    """
    workers = min(n_threads(), len(items), max(1, size // MIN_WORK_PER_THREAD))
    if workers <= 1:
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


class Clip(NamedTuple):
    """The bounds of every column, and what clipping takes away where that is little.

    ``values`` are what the entries of X at ``rows`` and ``columns`` exceed their bound by. Those of
    tile s of the columns, counted from where it begins, are from s * ``capacity`` on and end
    before ``ends[s]``, which is negative where they are too many. Without any clipping all arrays
    are empty.
    """

    low: np.ndarray
    high: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    ends: np.ndarray
    capacity: int
    width: int  # of a tile, in columns


def no_clip(dtype: np.dtype) -> Clip:
    """Columns as they are."""
    places, values = np.empty(0, np.uint16), np.empty(0, dtype)
    return Clip(values, values, places, places, values, np.empty(0, np.int64), 0, ALIGNED)


def clip_of(array: np.ndarray, low: np.ndarray, high: np.ndarray) -> Clip:
    """Find in one pass what clipping takes from X, whose rows are contiguous."""
    from . import _product_kernels as kernels

    n_samples, n_features = array.shape
    # As many strips as threads may want, of the width that loops work with or parts of it.
    width = kernels.STRIP
    while width > MIN_TILE_COLUMNS and n_features < 8 * width:
        width //= 2
    ends = np.full(-(-n_features // width), -1, dtype=np.int64)
    capacity = width * n_samples // MIN_VALUES_PER_CLIPPED if n_samples <= MAX_TWO_BYTE_ROWS else 0
    # Only what is written to takes up memory.
    rows, columns = np.empty((2, capacity * len(ends)), dtype=np.uint16)
    clip = Clip(low, high, rows, columns, np.empty(len(rows), array.dtype), ends, capacity, width)
    if capacity:
        work = partial(kernels.find_excess, array, clip)
        in_strips(work, n_features, array.size, width)
    return clip


def products(array: np.ndarray, clip: Clip, U: np.ndarray) -> np.ndarray:
    """clip(X)' U for X with contiguous rows, of shape (n_features, n_outputs) in Fortran order."""
    from . import _product_kernels as kernels

    n_features, n_outputs = array.shape[1], U.shape[1]
    if n_outputs >= GEMM_MIN_OUTPUTS[True]:
        return _products_of_blocks(array, clip.low, clip.high, U)
    if n_outputs == 1:
        kernel, rows = kernels.products_by_row, np.ascontiguousarray(U[:, 0], dtype=array.dtype)
    else:  # four at a time, or two: three cost as much as four
        n_rows = 2 if n_outputs == 2 else -(-n_outputs // 4) * 4
        kernel, rows = kernels.several_products_by_row, np.zeros((n_rows, len(array)), array.dtype)
        rows[:n_outputs] = U.T
    out = np.empty((*rows.shape[:-1], n_features), dtype=array.dtype)
    work = partial(_strip, kernel, (array, clip, rows), out)
    in_strips(work, n_features, array.size, clip.width)
    return out.reshape(-1, n_features)[:n_outputs].T


def products_by_column(
    array: np.ndarray, low: np.ndarray, high: np.ndarray, U: np.ndarray
) -> np.ndarray:
    """The same for X with contiguous columns."""
    if U.shape[1] >= GEMM_MIN_OUTPUTS[False]:
        return _products_of_blocks(array, low, high, U)
    from . import _product_kernels as kernels

    out = np.empty((array.shape[1], U.shape[1]), dtype=array.dtype, order="F")
    for k in range(U.shape[1]):
        u = np.ascontiguousarray(U[:, k], dtype=array.dtype)
        work = partial(_strip, kernels.products_by_column, (array, low, high, u), out[:, k])
        in_strips(work, array.shape[1], array.size)
    return out


def _products_of_blocks(array, low, high, U: np.ndarray) -> np.ndarray:
    n_samples, n_features = array.shape
    out = np.empty((n_features, U.shape[1]), dtype=array.dtype, order="F")
    height, width = GEMM_BLOCK

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


def moments_after(
    clip: Clip, array: np.ndarray, moments: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Means and variances of clipped columns, from those of the columns as they are."""
    from . import _product_kernels as kernels
    from ._moment_kernels import clipped_moments_by_row

    n_samples, n_features = array.shape
    means, squares = moments[0].copy(), n_samples * moments[1]
    kernels.settle_excess(array, clip, 0, n_features, means, squares)
    everything = (
        _NO_ORDER,
        np.array([0, n_samples]),
        np.zeros(1, int),
        np.array([n_samples], float),
    )
    given = (array, clip.low, clip.high, np.ones(n_samples), everything)

    def anew(strip: int) -> None:
        start, stop = strip * clip.width, min((strip + 1) * clip.width, n_features)
        clipped_moments_by_row(*given, start, stop, means[None], squares[None])

    unknown = np.flatnonzero(clip.ends < 0).tolist()
    list(side_by_side(anew, unknown, len(unknown) * clip.width * n_samples))
    return means, squares / n_samples


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
    from . import _moment_kernels as kernels

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


def column_sizes(array: np.ndarray) -> np.ndarray:
    """Largest absolute value of every column of an X with contiguous rows.

    Infinite or NaN where a column holds what is no number.
    """
    from ._moment_kernels import largest_by_row

    bits = array.view(np.dtype(f"u{array.itemsize}"))
    sign = bits.dtype.type(1 << (8 * array.itemsize - 1))
    out = np.empty(array.shape[1], bits.dtype)
    in_strips(
        lambda start, stop: largest_by_row(bits, sign, start, stop, out), array.shape[1], array.size
    )
    return out.view(array.dtype)
