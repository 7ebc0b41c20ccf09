"""Compiled bookkeeping of a step of forward selection on very many features."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._compiled import compiled

STRIP = 8192  # features whose sums stay in the first-level cache

_options: dict[str, Any] = {
    "nogil": True,
    "fastmath": {"contract", "reassoc"},
    "error_model": "numpy",
}


@compiled(**_options)
def winner(squares, residual, ridge, open_, score):
    """Set every feature's score, what it would gain, and find the best."""
    best = 0
    for j in range(len(score)):
        gain = squares[j] / (residual[j] + ridge)
        keep = open_[j] and gain > 0
        score[j] = gain if keep else 0
    for j in range(len(score)):
        if score[j] > score[best]:
            best = j
    return best


@compiled(**_options)
def advance(p, r, C, squares, residual):
    """Take a direction with products p and responses r out of all features."""
    power = 0.0
    for k in range(len(r)):
        power += r[k] * r[k]
    for first in range(0, len(p), STRIP):
        last = min(first + STRIP, len(p))
        seen = np.zeros(last - first, C.dtype)
        part = p[first:last]
        for k in range(len(r)):
            column, response = C[first:last, k], r[k]
            for j in range(last - first):
                seen[j] += column[j] * response
                column[j] -= part[j] * response
        square, rest = squares[first:last], residual[first:last]
        for j in range(last - first):
            square[j] += part[j] * (part[j] * C.dtype.type(power) - 2 * seen[j])
            rest[j] -= part[j] * part[j]
