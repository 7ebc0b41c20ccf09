"""From numbers to a few levels per feature, column block by column block."""

from __future__ import annotations

import numpy as np

from ..design import DesignMatrix

METHODS = ("mdl", "frequency", "std")
MAX_LEVELS = 256

# Columns are sorted in blocks of about this many values.
BLOCK_VALUES = 1 << 19


def discretize(
    design: DesignMatrix,
    method: str | None,
    *,
    n_bins: int,
    classes: np.ndarray,
    sample_weight: np.ndarray | None = None,
) -> np.ndarray:
    """Cut every column into levels.

    Parameters
    ----------
    design : DesignMatrix
        The features.
    method : {"mdl", "frequency", "std"} or None
        "mdl": recursive cuts of least class entropy while the gain pays for its description
        (Fayyad and Irani 1993); "frequency": ``n_bins`` levels of equal size, fewer where
        one value fills several (equal values are never separated); "std": three levels cut at the
        mean plus and minus half a standard deviation; None: the values are levels already.
    n_bins : int
        Levels of "frequency".
    classes : ndarray of int
        Class of every sample, used by "mdl".
    sample_weight : ndarray or None
        Weights of the samples; a weight of two counts as the sample given twice.

    Returns
    -------
    levels : ndarray of uint8, shape (n_features, n_samples)
        Level of every sample, features in rows.
    """
    n_samples, n_features = design.shape
    weights = np.ones(n_samples) if sample_weight is None else sample_weight
    codes = np.empty((n_features, n_samples), dtype=np.uint8)
    step = max(1, BLOCK_VALUES // n_samples)
    for start in range(0, n_features, step):
        stop = min(start + step, n_features)
        block = design.dense_columns(np.arange(start, stop)).T  # features in rows, contiguous
        if method == "std":
            codes[start:stop] = _std_levels(block, weights)
        elif method == "frequency":
            codes[start:stop] = _frequency_levels(block, weights, n_bins)
        elif method == "mdl":
            codes[start:stop] = _mdl_levels(block, weights, classes)
        else:
            codes[start:stop] = _own_levels(block, start)
    return codes


def _std_levels(block, weights) -> np.ndarray:
    block = block.astype(np.float64, copy=False)
    total = weights.sum()
    # Deviations from the first sample: a constant column has mean and deviation exactly zero.
    block = block - block[:, :1]
    means = (block @ weights / total)[:, None]
    half = np.sqrt((block - means) ** 2 @ weights / total)[:, None] / 2
    return 1 + (block > means + half).astype(np.uint8) - (block < means - half)


def _frequency_levels(block, weights, n_bins: int) -> np.ndarray:
    order = np.argsort(block, axis=1, kind="stable")
    ordered = np.take_along_axis(block, order, axis=1)
    reached = np.cumsum(weights[order], axis=1)
    reached = np.hstack(
        [np.zeros((len(block), 1)), reached]
    )  # before the first, ..., after the last
    total = reached[:, -1:]
    levels = np.zeros(block.shape, dtype=np.uint8)
    for k in range(1, n_bins):
        # The smallest value that k / n_bins of the samples do not exceed.
        place = (reached[:, 1:] * n_bins >= k * total).argmax(axis=1)[:, None]
        edge = np.take_along_axis(ordered, place, axis=1)
        first = (ordered < edge).sum(axis=1, keepdims=True)
        last = (ordered <= edge).sum(axis=1, keepdims=True)
        below = np.take_along_axis(reached, first, axis=1)
        through = np.take_along_axis(reached, last, axis=1)
        # A value that fills more than a level is cut off on the nearer side: cutting above it
        # always would leave rare low values together with it.
        heavy = (through - below) * n_bins > total
        before = heavy & (k * total - below * n_bins < through * n_bins - k * total)
        levels += np.where(before, block >= edge, block > edge)
    return levels


def _mdl_levels(block, weights, classes) -> np.ndarray:
    from ._information_kernels import mdl_levels

    order = np.argsort(block, axis=1, kind="stable")
    ordered = np.take_along_axis(block, order, axis=1).astype(np.float64, copy=False)
    levels = np.empty(block.shape, dtype=np.uint8)
    n_classes = int(classes.max()) + 1
    scratch = np.empty(block.shape[1] + 1, dtype=np.int64), np.empty(n_classes), np.empty(n_classes)
    mdl_levels(ordered, order, classes, weights, levels, *scratch)
    return levels


def _own_levels(block, first: int) -> np.ndarray:
    levels = np.empty(block.shape, dtype=np.uint8)
    for j, column in enumerate(block):
        values, codes = np.unique(column, return_inverse=True)
        if len(values) > MAX_LEVELS:
            raise ValueError(
                f"column {first + j} has {len(values)} different values, more than the "
                f"{MAX_LEVELS} that are possible without discretisation; pass "
                f"discretize={', '.join(map(repr, METHODS))}"
            )
        levels[j] = codes
    return levels
