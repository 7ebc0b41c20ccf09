"""Passes over a large dense array by compiled code, on as many threads as the user allows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from threading import Lock
from typing import Any, TypeVar

import numpy as np

STRIP = 8192  # columns whose sums in double precision stay in the cache
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
def limit_blas() -> Iterator[None]:
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


def read_only(array: np.ndarray) -> np.ndarray:
    """The same array, not to be written to: compiled loops then know one kind, whoever owns it."""
    view = array.view()
    view.flags.writeable = False
    return view


def moments(
    array: np.ndarray,
    weights: np.ndarray | None,
    low: np.ndarray | None = None,
    high: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Weighted mean and variance of every (clipped) column, in double precision."""
    size = np.array([len(array) if weights is None else np.sum(weights)], dtype=np.float64)
    everything = (np.arange(len(array)), np.array([0, len(array)]), size)
    means, squares = squares_around_means(array, *everything, weights, low, high)
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
    means, squares = squares_around_means(array, order, bounds, sizes, weights, low, high)
    return means, squares / sizes[:, None]


def squares_around_means(
    array: np.ndarray,
    order: np.ndarray,
    bounds: np.ndarray,
    sizes: np.ndarray,
    weights: np.ndarray | None,
    low: np.ndarray | None,
    high: np.ndarray | None,
    ranges: Sequence[tuple[int, int]] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Means of rows order[bounds[g]:bounds[g + 1]], and sums of squared deviations from them.

    Of all columns, or of those in ``ranges`` alone.
    """
    from . import _moment_kernels as kernels

    n_samples, n_features = array.shape
    array, leaders = read_only(array), _leaders(order, bounds, weights)
    order, bounds = _in_fours(order, bounds, leaders)
    rows = array[leaders]
    given: tuple = (array,)
    by_row = array.flags.c_contiguous
    kernel: Any = kernels.add_deviations if by_row else kernels.deviations_by_column
    if weights is not None or low is not None:
        if low is None or high is None:
            high = np.full(n_features, np.inf, dtype=array.dtype)
            low = -high
        factors = np.ones(n_samples) if weights is None else np.array(weights, np.float64)
        rows = np.clip(rows, low, high)
        given = (array, low, high, factors)
        kernel = kernels.add_clipped_deviations if by_row else kernels.clipped_deviations_by_column
    rows = rows.astype(np.float64)
    means, squares = np.zeros(rows.shape), np.zeros(rows.shape)

    def work(start: int, stop: int) -> None:
        for first in range(start, stop, STRIP):
            last = min(first + STRIP, stop)
            for g in np.flatnonzero(sizes).tolist():
                own = (order, bounds[g], bounds[g + 1], first, last)
                kernel(*given, *own, rows[g], means[g], squares[g])

    if ranges is None:
        in_strips(work, n_features, array.size)
    else:
        size = n_samples * sum(stop - start for start, stop in ranges)
        list(side_by_side(lambda place: work(*place), ranges, size))
    with np.errstate(all="ignore"):  # what is no number stays none
        drifts = means / np.where(sizes, sizes, 1.0)[:, None]
        squares -= means * drifts
        return rows + drifts, np.maximum(squares, 0.0, out=squares)


def _leaders(order: np.ndarray, bounds: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """The heaviest row of every group, or the first; any row of one that is empty."""
    places = np.minimum(bounds[:-1], len(order) - 1)
    if weights is not None:
        for g in np.flatnonzero(np.diff(bounds)):
            places[g] += int(np.argmax(weights[order[bounds[g] : bounds[g + 1]]]))
    return order[places]


def _in_fours(
    order: np.ndarray, bounds: np.ndarray, leaders: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Groups of a multiple of four rows: filled up with their leaders, which deviate by nothing."""
    missing = -np.diff(bounds) % 4
    order = np.insert(order, np.repeat(bounds[1:], missing), np.repeat(leaders, missing))
    return order, bounds + np.concatenate([[0], np.cumsum(missing)])
