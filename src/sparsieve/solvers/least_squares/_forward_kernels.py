"""Compiled bookkeeping of a step of forward selection on very many features.

Outputs are the rows of C, which holds the products of the features with what is left of them.
Every pass ends with what each feature has left to gain, so that the best comes along with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiled import PART, compiled
from ...design._product_kernels import STRIP, end_of_strip, product_of_rows

BLOCK = 2048  # features whose sums stay in the first-level cache

_options: dict[str, Any] = {
    "nogil": True,
    "fastmath": {"contract", "reassoc"},
    "error_model": "numpy",
}
_part: dict[str, Any] = _options | PART


@compiled(**_options)
def advance(p, r, C, residual, least, ridge, start, stop):
    """Take a direction with products p and responses r out of features start to stop.

    Returns the best of those of which more than ``least`` is left, and what it would gain.
    """
    room = np.empty(BLOCK, C.dtype)
    best, most = start, C.dtype.type(0)
    for first in range(start, stop, BLOCK):
        last = min(first + BLOCK, stop)
        best, most = _step(p[first:last], r, C, residual, least, ridge, first, room, best, most)
    return best, most


@compiled(**_options)
def advance_along(rows, u, total, r, C, residual, least, ridge, start, stop):
    """The same for a direction in X by its rows: its products are never stored whole."""
    sums, room = np.empty(STRIP, C.dtype), np.empty(BLOCK, C.dtype)
    best, most = start, C.dtype.type(0)
    begin = start
    while begin < stop:
        end = end_of_strip(rows.clip, begin, stop)
        product_of_rows(rows, u, total, begin, sums[: end - begin])
        for first in range(begin, end, BLOCK):
            p = sums[first - begin : min(first + BLOCK, end) - begin]
            best, most = _step(p, r, C, residual, least, ridge, first, room, best, most)
        begin = end
    return best, most


@compiled(**_part)
def _step(p, r, C, residual, least, ridge, first, room, best, most):
    last = first + len(p)
    squares, left, limit = room[: len(p)], residual[first:last], least[first:last]
    for k in range(len(r)):
        _take_out(p, r[k], C[k, first:last], squares, k == 0)
    for j in range(len(p)):
        left[j] -= p[j] * p[j]
    if any_gains_more(squares, left, limit, ridge, most):
        for j in range(len(squares)):
            gain = squares[j] / (left[j] + ridge)
            if left[j] > limit[j] and gain > most:
                best, most = first + j, gain
    return best, most


@compiled(**_part)
def _take_out(p, response, column, squares, is_first):
    """Take a direction out of the products with one output, and add their squares up."""
    if is_first:
        for j in range(len(p)):
            left = column[j] - p[j] * response
            column[j] = left
            squares[j] = left * left
    else:
        for j in range(len(p)):
            left = column[j] - p[j] * response
            column[j] = left
            squares[j] += left * left


@compiled(**_part)
def any_gains_more(squares, left, least, ridge, best):
    """Whether any feature of which enough is left gains more than the best known.

    Without a division, and without asking which: this is what compilers make fast.
    """
    found = False
    for j in range(len(squares)):
        found |= (squares[j] > best * (left[j] + ridge)) & (left[j] > least[j])
    return found
