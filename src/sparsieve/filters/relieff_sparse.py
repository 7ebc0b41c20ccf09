"""ReliefF on sparse X: the same numbers as on a dense X, from a few dense rows at a time.

Two tiles of samples (2 x 256 x n_features numbers) or a narrow block of columns are dense at any
time, never X. An entry that is not stored is a zero like any other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from .missing import IncompleteColumns
from .relieff import _Features, half_smallest_gaps


@dataclass(frozen=True)
class SparseFeatures(_Features):
    """The columns that vary, scaled when they are read; ``X`` is held by rows and by columns."""

    by_column: sparse.csc_array

    def scaled(self, samples, start: int = 0, stop: int | None = None) -> np.ndarray:
        """These samples of the complete columns start..stop, transposed."""
        part = slice(start, self.n_complete if stop is None else stop)
        columns = self.order[part]
        if isinstance(samples, slice) and samples == slice(None):
            block = self.by_column[:, columns].toarray().T
        else:
            block = self.X[samples][:, columns].toarray().T
        block = block - self.low[part, None]
        block /= self.span[part, None]
        return np.ascontiguousarray(block)


def sparse_features(X, discrete: np.ndarray, groups: np.ndarray) -> SparseFeatures:
    """What ``_prepare`` makes of a dense X."""
    by_row, by_column = sparse.csr_array(X), sparse.csc_array(X)
    low, high = (
        extreme(axis=0).toarray().ravel().astype(np.float64)
        for extreme in (by_column.nanmin, by_column.nanmax)
    )
    span = high - low
    varies = span > 0
    if discrete.any():
        codes = by_column[:, np.flatnonzero(discrete)].toarray()
        span[discrete] = half_smallest_gaps(codes, varies[discrete])
    missing = np.zeros(len(span), dtype=bool)
    missing[np.unique(by_row.indices[np.isnan(by_row.data)])] = True
    numeric = np.flatnonzero(varies & ~missing & ~discrete)
    coded = np.flatnonzero(varies & ~missing & discrete)
    gaps = np.flatnonzero(varies & missing)
    incomplete = None
    if len(gaps):
        values = (by_column[:, gaps].toarray() - low[gaps]) / span[gaps]
        incomplete = IncompleteColumns(values, discrete[gaps], groups)
    order = np.concatenate([numeric, coded, gaps])
    return SparseFeatures(
        by_row,
        order,
        low[order],
        span[order],
        len(numeric),
        len(numeric) + len(coded),
        X.shape[0],
        incomplete,
        by_column,
    )
