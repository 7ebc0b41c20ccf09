"""Compiled search for the best changes of a support.

Outputs are the rows of C = X'R, and features of the support the rows of Z.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._numba import VIEWS, compiled

BLOCK = 1024  # features worked on together: their scratch stays in the first-level cache

_options: dict[str, Any] = {
    "nogil": True,
    "fastmath": {"contract", "reassoc", "nsz"},
    "error_model": "numpy",
    **VIEWS,
}


@compiled(**_options)
def best_changes(C, Z, nu, least, places, W, h, costs, ridge, scratch, begin, end):
    """Best of the features begin to end to add, and best exchange for one of ``places``.

    Only features of which more than ``least`` is left may come. Row k of ``Z`` holds the
    coefficients z_ik; ``W``, ``h`` and ``costs`` hold w_j, h_jj and ||w_j||^2 / h_jj of the
    features at ``places`` (rows of Z). Returns (feature, gain, feature that enters, index into
    places, decrease). ``scratch`` is space for two rows of BLOCK numbers: to make it here, or to
    search in functions of their own, would take half as long again to compile.
    """
    n_outputs = len(C)
    number = C.dtype.type  # plain numbers would make all of this double precision
    best_add, best_in, best_out = -1, -1, -1
    best_gain, best_decrease = number(0), number(-np.inf)
    for start in range(begin, end, BLOCK):
        stop = start + BLOCK if start + BLOCK < end else end
        squares, inner = scratch[0, : stop - start], scratch[1, : stop - start]
        rest, limit = nu[start:stop], least[start:stop]
        for k in range(n_outputs):
            column = C[k, start:stop]
            for i in range(len(column)):
                squares[i] = column[i] * column[i] + (squares[i] if k else number(0))
        # Whether any gains more, without a division and without asking which, is what compilers
        # make fast.
        found = False
        for i in range(len(squares)):
            found |= (squares[i] > best_gain * (rest[i] + ridge)) & (rest[i] > limit[i])
        if found:
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
