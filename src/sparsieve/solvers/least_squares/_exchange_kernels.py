"""Compiled search for the best changes of a support, and what a change does to the table.

Outputs are the rows of C = X'R, and features of the support the rows of Z.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiled import PART, compiled
from ...design._product_kernels import STRIP, end_of_strip, product_of_rows
from ._forward_kernels import any_gains_more

BLOCK = 1024  # features worked on together: their scratch stays in the first-level cache

_options: dict[str, Any] = {
    "nogil": True,
    "fastmath": {"contract", "reassoc", "nsz"},
    "error_model": "numpy",
}
_part: dict[str, Any] = _options | PART


@compiled(**_part)
def _add_to(total, factor, values):
    for i in range(len(total)):
        total[i] += factor * values[i]


@compiled(**_options)
def best_changes(C, Z, nu, least, places, W, h, costs, ridge, begin, end):
    """Best of the features begin to end to add, and best exchange for one of ``places``.

    Only features of which more than ``least`` is left may come. Row k of ``Z`` holds the
    coefficients z_ik; ``W``, ``h`` and ``costs`` hold w_j, h_jj and ||w_j||^2 / h_jj of the
    features at ``places`` (rows of Z). Returns (feature, gain, feature that enters, index into
    places, decrease).
    """
    n_outputs = len(C)
    number = C.dtype.type  # plain numbers would make all of this double precision
    room, more_room = np.empty(BLOCK, C.dtype), np.empty(BLOCK, C.dtype)
    best_add, best_in, best_out = -1, -1, -1
    best_gain, best_decrease = number(0), number(-np.inf)
    for start in range(begin, end, BLOCK):
        stop = min(start + BLOCK, end)
        squares, inner = room[: stop - start], more_room[: stop - start]
        rest, limit = nu[start:stop], least[start:stop]
        for k in range(n_outputs):
            column = C[k, start:stop]
            for i in range(len(column)):
                squares[i] = column[i] * column[i] + (squares[i] if k else number(0))
        if any_gains_more(squares, rest, limit, ridge, best_gain):
            for i in range(len(squares)):
                gain = squares[i] / (rest[i] + ridge)
                if rest[i] > limit[i] and gain > best_gain:
                    best_gain, best_add = gain, start + i
        for p in range(len(places)):
            z, scale, length = Z[places[p], start:stop], number(1) / h[p], number(0)
            for k in range(n_outputs):
                column, twice = C[k, start:stop], number(2) * W[p, k]
                length += W[p, k] * W[p, k]
                for i in range(len(column)):
                    inner[i] = twice * column[i] + (inner[i] if k else number(0))
            best = best_decrease + costs[p]
            best = best if best > number(0) else number(0)
            found = False
            for i in range(len(z)):
                share = z[i] * scale
                left = rest[i] + share * z[i]
                power = squares[i] + share * (inner[i] + share * length)
                found |= (power > best * (left + ridge)) & (left > limit[i])
            if not found:
                continue
            for i in range(len(z)):
                share = z[i] * scale
                left = rest[i] + share * z[i]
                gain = (squares[i] + share * (inner[i] + share * length)) / (left + ridge)
                if left > limit[i] and gain > best:
                    best, best_in, best_out = gain, start + i, p
                    best_decrease = gain - costs[p]
    return best_add, best_gain, best_in, best_out, best_decrease


# -- changes ---------------------------------------------------------------------------------------


@compiled(**_part)
def _entered(q, pivot, r, z, C, nu, Z, first):
    """Take a column with the products q out of the table, and give it the next row of Z."""
    last = first + len(q)
    for k in range(len(r)):
        _add_to(C[k, first:last], -r[k], q)
    for p in range(len(z)):
        _add_to(Z[p, first:last], -z[p], q)
    rest, own = nu[first:last], Z[len(z), first:last]
    for i in range(len(q)):
        own[i] = q[i] / pivot
        rest[i] -= q[i] * own[i]


@compiled(**_options)
def enter(q, pivot, r, z, C, nu, Z, start, stop):
    """Let a column enter, with z its coefficients divided by the pivot."""
    for first in range(start, stop, STRIP):
        _entered(q[first : min(first + STRIP, stop)], pivot, r, z, C, nu, Z, first)


@compiled(**_options)
def enter_along(rows, u, total, pivot, r, z, C, nu, Z, start, stop):
    """The same for a direction in X by its rows: its products are never stored whole."""
    room = np.empty(STRIP, C.dtype)
    first = start
    while first < stop:
        last = end_of_strip(rows.clip, first, stop)
        q = room[: last - first]
        product_of_rows(rows, u, total, first, q)
        _entered(q, pivot, r, z, C, nu, Z, first)
        first = last


@compiled(**_options)
def leave(place, h, w, row, C, nu, Z, start, stop):
    """Let a feature leave, with w and ``row`` divided by h; the last takes its place."""
    room = np.empty(STRIP, C.dtype)
    count = len(row)
    for first in range(start, stop, STRIP):
        last = min(first + STRIP, stop)
        z, rest = room[: last - first], nu[first:last]
        own, moved = Z[place, first:last], Z[count, first:last]
        for i in range(len(z)):
            z[i] = own[i]
            rest[i] += z[i] * (z[i] / h)
            own[i] = moved[i]
        for k in range(len(w)):
            _add_to(C[k, first:last], w[k], z)
        for p in range(count):
            _add_to(Z[p, first:last], -row[p], z)
