"""Means and variances of columns in one pass over an array, a few rows at a time.

Means are plain sums, so that those of equal numbers are equal, whatever came first. Squares are of
deviations from one row, the heaviest or the first. That row may be an outlier and still
serve: no square of a deviation from the mean of n rows exceeds n times their variance, so that
going over to the mean afterwards costs at most log10(n) of sixteen digits.
"""

from __future__ import annotations

import numpy as np

from .base import slices

# Numbers that are worked on while they are in the cache.
BLOCK, STRIP = 1 << 16, 1 << 11


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
    if array.flags.f_contiguous and not array.flags.c_contiguous:
        for columns in slices(d, max(1, BLOCK // max(n, 1))):
            part = array.T[columns] if rows is None else array.T[columns][:, rows]
            part = part.astype(np.float64, copy=False)
            means[columns] = part @ w
            block = part - leader[columns, None]
            sums[columns] = block @ w
            squares[columns] = np.einsum("ji,ji,i->j", block, block, w)
    else:
        for columns in slices(d, STRIP):
            strip, start = array[:, columns], leader[columns]
            height = max(1, BLOCK // max(len(start), 1))
            held = np.empty((min(height, n), len(start)))
            for some in slices(n, height):
                part = strip[some] if rows is None else strip[rows[some]]
                part = part.astype(np.float64, copy=False)
                means[columns] += w[some] @ part
                block = np.subtract(part, start, out=held[: len(part)])
                sums[columns] += w[some] @ block
                squares[columns] += w[some] @ np.square(block, out=block)
    total = w.sum()
    return means / total, np.maximum(squares / total - (sums / total) ** 2, 0.0)
