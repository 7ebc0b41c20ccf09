"""Inner products of the columns of every group of features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...design import DesignMatrix

# Bytes of columns that are unpacked at a time.
BLOCK_BYTES = 1 << 26
# Numbers that the inner products within all groups may be.
MAX_PRODUCTS = 200_000_000


def group_products(
    design: DesignMatrix, groups: Sequence[np.ndarray]
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """(groups, their columns, X_g'X_g) for every size of a group; empty ones are left out."""
    sizes = np.array([len(columns) for columns in groups])
    if float((sizes.astype(float) ** 2).sum()) > MAX_PRODUCTS:
        raise ValueError(
            f"the feature groups are too large (up to {sizes.max()} columns) for inner products "
            "of all their columns; divide them into smaller groups"
        )
    for size in np.unique(sizes[sizes > 0]).tolist():
        members = np.flatnonzero(sizes == size)
        columns = np.array([groups[int(g)] for g in members])
        if size == 1:
            norms = np.asarray(design.column_sq_norms(), dtype=np.float64)
            yield members, columns, norms[columns][:, :, None]
            continue
        products = np.empty((len(members), size, size))
        step = max(1, BLOCK_BYTES // (8 * design.shape[0] * size))
        for first in range(0, len(members), step):
            part = columns[first : first + step]
            X = np.asarray(design.dense_columns(part.ravel()), dtype=np.float64)
            X = X.T.reshape(len(part), size, -1)
            products[first : first + step] = X @ X.transpose(0, 2, 1)
        yield members, columns, products


def group_ranks(design: DesignMatrix, groups: Sequence[np.ndarray], tol: float) -> np.ndarray:
    """The rank of the columns of every group, as far as ``tol`` of their squared norms tells."""
    ranks = np.zeros(len(groups), dtype=np.int64)
    for members, _, products in group_products(design, groups):
        values = np.linalg.eigvalsh(products)
        ranks[members] = (values > tol * values[:, -1:]).sum(axis=1)
    return ranks
