"""Products with a large compressed sparse matrix, on as many threads as the user allows.

SciPy uses one thread, and adds what every entry gives to the outputs in memory. Here four outputs
at a time are summed in registers. Results do not depend on the number of threads: every number is
summed by one of them, in the order of the entries.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from . import stream

# Entries from which on it pays to compile.
LARGE = 1 << 20
# An entry costs as much as so many numbers of a dense array, which come one after the other.
COST = 4
PACKED = 4  # outputs that share a reading
# With more outputs SciPy is as fast: it takes all of an entry at once, many at a time if small.
MOST = {np.dtype(np.float32): 12}


def serves(matrix: Any, V: np.ndarray) -> bool:
    """Whether these products are for such operands."""
    n_outputs = V.shape[1]
    return 0 < n_outputs <= MOST.get(matrix.dtype, n_outputs) and matrix.dtype == V.dtype


def along(matrix: Any, V: np.ndarray) -> np.ndarray:
    """X V of a CSR matrix, X'V of a CSC matrix: threads take different lines."""
    from ._compressed_kernels import gather, gather_four

    entries = _unsigned(matrix)
    result = np.empty((V.shape[1], len(matrix.indptr) - 1), dtype=V.dtype)
    groups = _groups(V.shape[1])
    packed = [_packed(V, group) for group in groups]

    def work(lines: tuple[int, int]) -> None:
        first, last = lines
        for group, v in zip(groups, packed, strict=True):
            if v.ndim == 1:
                gather(*entries, v, first, last, result[group.start])
                continue
            out = np.empty((last - first, PACKED), dtype=V.dtype)
            gather_four(*entries, v, first, last, out)
            result[group, first:last] = out[:, : group.stop - group.start].T

    size = COST * matrix.nnz * len(groups)
    list(stream.side_by_side(work, _even_ranges(matrix.indptr, stream.n_threads()), size))
    return result.T


def across(matrix: Any, V: np.ndarray) -> np.ndarray:
    """X'V of a CSR matrix, X V of a CSC matrix: threads take different outputs."""
    from ._compressed_kernels import spread, spread_four

    entries = _unsigned(matrix)
    length = matrix.shape[1 if matrix.format == "csr" else 0]
    result = np.zeros((V.shape[1], length), dtype=V.dtype)
    groups = _groups(V.shape[1])

    def work(group: slice) -> None:
        v = _packed(V, group)
        if v.ndim == 1:
            spread(*entries, v, result[group.start])
            return
        out = np.zeros((length, PACKED), dtype=V.dtype)
        spread_four(*entries, v, out)
        result[group] = out[:, : group.stop - group.start].T

    list(stream.side_by_side(work, groups, COST * matrix.nnz * len(groups)))
    return result.T


def _packed(V: np.ndarray, group: slice) -> np.ndarray:
    """An output as it is, or up to four of them side by side."""
    n_outputs = group.stop - group.start
    if n_outputs == 1:
        return np.ascontiguousarray(V[:, group.start])
    packed = np.zeros((len(V), PACKED), dtype=V.dtype)
    packed[:, :n_outputs] = V[:, group]
    return packed


def _groups(n_outputs: int) -> list[slice]:
    """Four at a time, what is left one by one if that is less than three: three cost like four."""
    packed = n_outputs - n_outputs % PACKED if n_outputs % PACKED < 3 else n_outputs
    groups = [slice(at, min(at + PACKED, n_outputs)) for at in range(0, packed, PACKED)]
    return groups + [slice(at, at + 1) for at in range(packed, n_outputs)]


def _even_ranges(starts: np.ndarray, n_ranges: int) -> list[tuple[int, int]]:
    """Ranges of lines with about as many entries each."""
    wanted = np.linspace(0, starts[-1], n_ranges + 1)[1:-1]
    edges = [0, *np.searchsorted(starts, wanted).tolist(), len(starts) - 1]
    return list(pairwise(edges))


def _unsigned(matrix: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values, their places in a line and where lines start."""
    places, starts = (
        index.view(np.dtype(f"u{index.itemsize}")) for index in (matrix.indices, matrix.indptr)
    )
    return matrix.data, places, starts
