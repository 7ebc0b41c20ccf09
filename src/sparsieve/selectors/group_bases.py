"""Orthonormal bases of the columns of feature groups."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..design import DesignMatrix
from ..solvers.searches.redundancy import RANK_TOL
from ..validation.feature_groups import FeatureGroups

_BLOCK = 1 << 24  # values of X in memory at a time


def group_bases(
    design: DesignMatrix, groups: FeatureGroups, dtype: np.dtype
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """(some groups of one size, their bases, their ranks), until all groups had their turn.

    Bases are an array (group, sample, column), with columns of zeros beyond the rank. ``dtype`` is
    that of the data, whose rounding decides what is dependent.
    """
    sizes = np.diff(groups.starts)
    n_samples = design.shape[0]
    for size in np.unique(sizes):
        alike = np.flatnonzero(sizes == size)
        step = max(1, _BLOCK // (n_samples * int(size)))
        for start in range(0, len(alike), step):
            some = alike[start : start + step]
            columns = np.concatenate([groups.columns[g] for g in some])
            values = np.asarray(design.dense_columns(columns), dtype=np.float64)
            blocks = np.moveaxis(values.reshape(n_samples, len(some), size), 1, 0)
            bases, spread, _ = np.linalg.svd(blocks, full_matrices=False)
            # The columns of a category, say, add up to one.
            inside = spread > RANK_TOL[np.dtype(dtype)] * np.maximum(spread[:, :1], 1.0)
            yield some, bases * inside[:, None, :], inside.sum(axis=1)
