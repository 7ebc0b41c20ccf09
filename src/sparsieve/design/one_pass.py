"""Means and variances of columns in one pass over an array, a few rows at a time.

Means are plain sums, so that those of equal numbers are equal, whatever came first. Squares are of
deviations from one row, the heaviest or the first. That row may be an outlier and still
serve: no square of a deviation from the mean of n rows exceeds n times their variance, so that
going over to the mean afterwards costs at most log10(n) of sixteen digits.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from .base import slices

# Numbers that are worked on while they are in the cache.
BLOCK, STRIP = 1 << 16, 1 << 11


def blocks(shape: tuple[int, int], by_column: bool) -> Iterator[tuple[slice, slice]]:
    """(rows, columns) of blocks that fit the cache, in the order in which an array lies."""
    n, d = shape
    if by_column:
        height = max(1, min(n, BLOCK))
        yield from product(slices(n, height), slices(d, max(1, BLOCK // height)))
    else:
        for columns in slices(d, STRIP):
            height = max(1, BLOCK // max(1, columns.stop - columns.start))
            yield from ((rows, columns) for rows in slices(n, height))


def moments(
    array: np.ndarray, weights: np.ndarray | None = None, rows: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Weighted mean and variance of every column over some rows, in double precision.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.design.one_pass import moments
    >>> [found.tolist() for found in moments(np.array([[1.0, 5.0], [3.0, 5.0]]))]
    [[2.0, 5.0], [1.0, 0.0]]
    """
    n, d = len(array) if rows is None else len(rows), array.shape[1]
    w = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
    first = 0 if weights is None else int(np.argmax(w))
    leader = array[first if rows is None else rows[first]].astype(np.float64)
    means, sums, squares = np.zeros((3, d))
    by_column = array.flags.f_contiguous and not array.flags.c_contiguous
    for some, columns in blocks((n, d), by_column):
        part = array[some, columns] if rows is None else array[rows[some], columns]
        part, v = part.astype(np.float64, copy=False), w[some]
        means[columns] += v @ part
        part = part - leader[columns]
        sums[columns] += v @ part
        squares[columns] += v @ np.square(part, out=part)
    total = w.sum()
    return means / total, np.maximum(squares / total - (sums / total) ** 2, 0.0)
