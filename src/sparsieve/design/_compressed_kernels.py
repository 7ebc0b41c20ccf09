"""Loops over a compressed sparse matrix. Indices are unsigned: no sign is asked for at every entry.

``lines`` are the rows of a CSR matrix or the columns of a CSC matrix, ``starts`` where they begin.
Several outputs are packed side by side, so that what belongs to an entry is read at once.
"""

from __future__ import annotations

from .._compiled import compiled

FUSED = {"nogil": True, "error_model": "numpy", "fastmath": {"contract"}}


@compiled(**FUSED)
def gather(values, places, starts, v, first, last, out):
    """out[line] = sum of the line's entries times v at their places."""
    for line in range(first, last):
        total = values.dtype.type(0)
        for at in range(starts[line], starts[line + 1]):
            total += values[at] * v[places[at]]
        out[line] = total


@compiled(**FUSED)
def gather_four(values, places, starts, V, first, last, out):
    """The same for four outputs, those of a line in a row; out begins with the first line."""
    for line in range(first, last):
        a = values.dtype.type(0)
        b, c, d = a, a, a
        for at in range(starts[line], starts[line + 1]):
            value, place = values[at], places[at]
            a += value * V[place, 0]
            b += value * V[place, 1]
            c += value * V[place, 2]
            d += value * V[place, 3]
        out[line - first, 0] = a
        out[line - first, 1] = b
        out[line - first, 2] = c
        out[line - first, 3] = d


@compiled(**FUSED)
def spread(values, places, starts, v, out):
    """Add every line's entries times v[line] to out at their places."""
    for line in range(len(starts) - 1):
        share = v[line]
        for at in range(starts[line], starts[line + 1]):
            out[places[at]] += values[at] * share


@compiled(**FUSED)
def spread_four(values, places, starts, V, out):
    """The same for four outputs."""
    for line in range(len(starts) - 1):
        a, b, c, d = V[line, 0], V[line, 1], V[line, 2], V[line, 3]
        for at in range(starts[line], starts[line + 1]):
            value, place = values[at], places[at]
            out[place, 0] += value * a
            out[place, 1] += value * b
            out[place, 2] += value * c
            out[place, 3] += value * d
