"""Products X'U with a large dense array, clipped or not, by compiled loops and BLAS.

Clipping costs a quarter of a product, although few values lie outside their bounds. Where they
are few, what clipping takes from them is known: X'u is taken, and their share subtracted. Values
so far away that this would cost digits are rare, since no value of n lies further from the mean
than the root of n standard deviations: where there is one, its strip is clipped after all.

Sums of single precision over many rows are collected in double precision now and then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from .parallel_passes import STRIP, in_strips, read_only, squares_around_means

# So many outputs are cheaper by matrix products of clipped blocks than by a pass for each: of
# rows that are contiguous, and of columns.
GEMM_MIN_OUTPUTS = {True: 12, False: 4}
GEMM_BLOCK = (256, 512)  # rows and columns of such a block, which stays in the second-level cache
# Values outside their bounds are kept while they are one of this many, with places that two bytes
# each can hold: a thirtieth of X at most. With more of them clipping itself is as fast.
MIN_VALUES_PER_CLIPPED = 64
MAX_TWO_BYTE_ROWS = 1 << 16
MIN_TILE_COLUMNS = 128  # columns of the narrowest tile
FLOAT32_CHUNK = 1024  # rows of single precision between two collections in double
# What lies further outside of the interval than so many widths of it is clipped after all, beyond
# rounding: this share of the bounds themselves, where a column is constant.
MAX_EXCESS_WIDTHS, MAX_EXCESS_SHARE = 8.0, 1e-3
ALIGNED = 64  # columns at multiples of which threads begin where nothing else decides


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


def find_clip_excess(array: np.ndarray, low: np.ndarray, high: np.ndarray) -> Clip:
    """Find in one pass what clipping takes from X, whose rows are contiguous."""
    n_samples, n_features = array.shape
    # As many strips as threads may want, of the width that loops work with or parts of it.
    width = STRIP
    while width > MIN_TILE_COLUMNS and n_features < 8 * width:
        width //= 2
    ends = np.full(-(-n_features // width), -1, dtype=np.int64)
    capacity = width * n_samples // MIN_VALUES_PER_CLIPPED if n_samples <= MAX_TWO_BYTE_ROWS else 0
    # Only what is written to takes up memory.
    rows, columns = np.empty((2, capacity * len(ends)), dtype=np.uint16)
    clip = Clip(low, high, rows, columns, np.empty(len(rows), array.dtype), ends, capacity, width)
    if capacity:
        work = partial(_find_excess, read_only(array), clip)
        in_strips(work, n_features, array.size, width)
    return clip


def _find_excess(array: np.ndarray, clip: Clip, start: int, stop: int) -> None:
    """Fill the tables of ``clip``: its values outside their bounds, tile by tile.

    Nothing is known of a tile that has more of them than there is room for, or will have by the
    look of the first rows, or that has one far away.
    """
    from ._product_kernels import find_outside

    n_samples, capacity = len(array), clip.capacity
    step = max(1, n_samples // 64)
    for first in range(start, stop, clip.width):
        last, tile = min(first + clip.width, stop), first // clip.width
        own = slice(tile * capacity, (tile + 1) * capacity)
        rows, columns, found = clip.rows[own], clip.columns[own], 0
        for begin in range(0, n_samples, step):
            end = min(begin + step, n_samples)
            where = (begin, end, first, last)
            found = find_outside(array, clip.low, clip.high, *where, rows, columns, found)
            if found > min(capacity, capacity // 8 + capacity * end // n_samples):
                break
        else:
            places = first + columns[:found].astype(np.intp)
            values, low, high = array[rows[:found], places], clip.low[places], clip.high[places]
            excess = values - np.where(values < low, low, high)
            if not np.any(
                np.abs(excess) > MAX_EXCESS_WIDTHS * (high - low) + MAX_EXCESS_SHARE * np.abs(high)
            ):
                clip.values[own][:found] = excess
                clip.ends[tile] = tile * capacity + found


def _excess(clip: Clip, tile: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, columns and values of what clipping takes from a tile of which that is known."""
    own = slice(tile * clip.capacity, clip.ends[tile])
    return clip.rows[own], clip.columns[own], clip.values[own]


def moments_after(
    clip: Clip, array: np.ndarray, moments: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Means and variances of clipped columns, from those of the columns as they are.

    With x - m the deviation of a value from its mean and e its excess, squares around m fall by
    e (2 (x - m) - e), and going over to the new mean m - sum(e) / n takes n times the square
    of the step.
    """
    n_samples, n_features = array.shape
    means, squares = moments[0].copy(), n_samples * moments[1]
    for tile in np.flatnonzero(clip.ends >= 0).tolist():
        own = slice(tile * clip.width, min((tile + 1) * clip.width, n_features))
        mean, square, low, high = means[own], squares[own], clip.low[own], clip.high[own]
        rows, columns, _ = _excess(clip, tile)
        values = array[:, own][rows, columns].astype(np.float64)  # the excess was rounded
        excess = values - np.where(values > high[columns], high[columns], low[columns])
        fall = excess * (2.0 * (values - mean[columns]) - excess)
        square -= np.bincount(columns, fall, len(square))
        step = np.bincount(columns, excess, len(square)) / n_samples
        mean -= step
        square[:] = np.maximum(square - n_samples * step * step, 0.0)
    unknown = np.flatnonzero(clip.ends < 0)
    if len(unknown):
        firsts = (unknown * clip.width).tolist()
        ranges = [(first, min(first + clip.width, n_features)) for first in firsts]
        everything = (np.arange(n_samples), np.array([0, n_samples]), np.array([n_samples], float))
        found = squares_around_means(array, *everything, None, clip.low, clip.high, ranges)
        for first, last in ranges:
            means[first:last], squares[first:last] = (x[0, first:last] for x in found)
    return means, squares / n_samples


def products(array: np.ndarray, clip: Clip, U: np.ndarray) -> np.ndarray:
    """clip(X)' U for X with contiguous rows, of shape (n_features, n_outputs) in Fortran order."""
    n_features, n_outputs = array.shape[1], U.shape[1]
    if n_outputs >= GEMM_MIN_OUTPUTS[True]:
        return _products_of_blocks(array, clip.low, clip.high, U)
    # Four at a time, or two: three cost as much as four.
    n_rows = 2 if n_outputs <= 2 else -(-n_outputs // 4) * 4
    rows = np.zeros((n_rows, len(array)), array.dtype)
    rows[:n_outputs] = U.T
    out = np.zeros((n_rows, n_features), array.dtype)
    work = partial(_set_products, read_only(array), clip, rows, n_outputs, out)
    in_strips(work, n_features, array.size, clip.width)
    return out[:n_outputs].T


def _set_products(
    array: np.ndarray,
    clip: Clip,
    rows: np.ndarray,
    n_outputs: int,
    out: np.ndarray,
    start: int,
    stop: int,
) -> None:
    """Columns start to stop of ``out``, which are zero, become products of ``rows`` and clip(X)."""
    n_samples = len(array)
    height = FLOAT32_CHUNK if array.dtype == np.float32 else n_samples
    for first, last, bounds in _stretches(clip, start, stop):
        add = partial(_add_one if n_outputs == 1 and bounds is None else _add_several, array, rows)
        total = out[:, first:last]
        collected = np.zeros(total.shape if n_samples > height else 0)
        for begin in range(0, n_samples, height):
            add(bounds, begin, min(begin + height, n_samples), first, last, out)
            if n_samples > height:
                collected += total
                total[...] = collected if begin + height >= n_samples else 0
        if bounds is None and len(clip.low):
            _subtract_excess(clip, rows[:n_outputs], first, last, out)


Bounds = tuple[np.ndarray, np.ndarray] | None  # those of all columns, where they count


def _stretches(clip: Clip, start: int, stop: int) -> Iterator[tuple[int, int, Bounds]]:
    """Where columns that are worked on together begin and end, and bounds where they count.

    They do not where nothing is clipped, or all is known of what clipping takes away.
    """
    known = clip.ends >= 0 if len(clip.low) else np.ones(-(-stop // clip.width), bool)
    first = start
    while first < stop:
        tile = first // clip.width
        last = first + clip.width
        while last < min(first + STRIP, stop) and known[last // clip.width] == known[tile]:
            last += clip.width
        yield first, min(last, stop), None if known[tile] else (clip.low, clip.high)
        first = last


def _add_one(array, rows, bounds, begin, end, first, last, out) -> None:
    """One output, not clipped: BLAS is as fast as any loop."""
    out[0, first:last] += rows[0, begin:end] @ array[begin:end, first:last]


def _add_several(array, rows, bounds: Bounds, begin, end, first, last, out) -> None:
    from . import _product_kernels as kernels

    whole = begin + (end - begin) // 8 * 8
    place = (begin, first, last, out)
    if whole == begin:
        pass
    elif bounds is None and len(rows) > 2:
        kernels.add_to_fours(array, _in_eights(rows[:, begin:whole], 4), *place)
    else:
        low, high = bounds or (None, None)
        kernels.add_to_pairs(array, low, high, _in_eights(rows[:, begin:whole], 2), *place)
    if whole < end:
        rest = array[whole:end, first:last]
        if bounds is not None:
            rest = np.clip(rest, bounds[0][first:last], bounds[1][first:last])
        out[:, first:last] += rows[:, whole:end] @ rest


def _in_eights(rows: np.ndarray, together: int) -> np.ndarray:
    """Coefficients of several outputs and eight samples side by side: (outputs, samples, both)."""
    n_rows, n_samples = rows.shape
    parts = rows.reshape(n_rows // together, together, n_samples // 8, 8).transpose(0, 2, 1, 3)
    return parts.reshape(n_rows // together, n_samples // 8, 8 * together)


def _subtract_excess(clip: Clip, rows: np.ndarray, first: int, last: int, out: np.ndarray) -> None:
    from ._product_kernels import subtract_excess

    for begin in range(first, last, clip.width):
        excess = _excess(clip, begin // clip.width)
        if len(excess[0]):
            for row, total in zip(rows, out[:, begin:last], strict=False):
                subtract_excess(*excess, row, total)


def products_by_column(
    array: np.ndarray, low: np.ndarray, high: np.ndarray, U: np.ndarray
) -> np.ndarray:
    """The same for X with contiguous columns."""
    if U.shape[1] >= GEMM_MIN_OUTPUTS[False]:
        return _products_of_blocks(array, low, high, U)
    from . import _product_kernels as kernels

    out = np.empty((array.shape[1], U.shape[1]), dtype=array.dtype, order="F")
    for k in range(U.shape[1]):
        u = np.array(U[:, k], dtype=array.dtype)
        given, column = (read_only(array), low, high, u, FLOAT32_CHUNK), out[:, k]
        work = partial(_set_by_column, kernels.products_by_column, given, column)
        in_strips(work, array.shape[1], array.size)
    return out


def _set_by_column(kernel: Callable, given: tuple, out: np.ndarray, start: int, stop: int) -> None:
    kernel(*given, start, stop, out)


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
