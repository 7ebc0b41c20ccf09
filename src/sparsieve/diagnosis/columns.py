"""Single columns that are too good or good for nothing, found in a pass or two over X."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse, stats
from scipy.spatial import cKDTree

from ..selectors.target import Target

ALIKE = 0.999  # correlation above which two columns, or a column and the target, are the same
CHANCE = 0.01  # expected number of columns that noise would show, above which nothing is said
_DIRECTIONS = 10
_MOST_COLUMNS = 100_000  # beyond this the search for copies takes longer than a selection
_VALUES = 20_000_000  # of candidate pairs that are correlated at once


def spread(X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(lowest, highest, standard deviation) of every column; NaN where a value is missing."""
    if sparse.issparse(X):
        low, high = X.min(axis=0).toarray().ravel(), X.max(axis=0).toarray().ravel()
        mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
        square = np.asarray(X.multiply(X).mean(axis=0), dtype=np.float64).ravel()
        return low, high, np.sqrt(np.maximum(square - mean**2, 0.0))
    return X.min(axis=0), X.max(axis=0), X.std(axis=0, dtype=np.float64)


def separating(X: Any, target: Target) -> np.ndarray:
    """Columns in which every class has an interval of its own."""
    counts = np.bincount(target.codes)
    n_samples, n_classes = int(counts.sum()), len(counts)
    # How likely noise sorts the classes into blocks, in any order of the classes.
    log_chance = math.lgamma(n_classes + 1) - math.lgamma(n_samples + 1)
    log_chance += sum(math.lgamma(count + 1) for count in counts)
    if log_chance + math.log(X.shape[1]) > math.log(CHANCE):
        return np.empty(0, dtype=np.intp)
    lows, highs = [], []
    for label in range(n_classes):
        part = X[np.flatnonzero(target.codes == label)]
        low, high = part.min(axis=0), part.max(axis=0)
        lows.append(low.toarray().ravel() if sparse.issparse(low) else low)
        highs.append(high.toarray().ravel() if sparse.issparse(high) else high)
    order = np.argsort(lows, axis=0)
    low = np.take_along_axis(np.array(lows), order, axis=0)
    high = np.take_along_axis(np.array(highs), order, axis=0)
    return np.flatnonzero((high[:-1] < low[1:]).all(axis=0))


def repeating(X: Any, values: np.ndarray, std: np.ndarray) -> np.ndarray:
    """Columns that are the same as one of several targets, up to scale and sign."""
    n_samples = len(values)
    centred = values - values.mean(axis=0)
    scale = np.linalg.norm(centred, axis=0)
    if n_samples < 3 or _pair_chance(n_samples) * X.shape[1] > CHANCE:
        return np.empty(0, dtype=np.intp)
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = np.abs(X.T @ centred) / (np.sqrt(n_samples) * std[:, None] * scale)
    return np.flatnonzero((correlation > ALIKE).any(axis=1))


def numbering(X: Any) -> np.ndarray:
    """Columns that rise or fall with every row."""
    n_samples, n_features = X.shape
    if math.log(2 * n_features) - math.lgamma(n_samples + 1) > math.log(CHANCE):
        return np.empty(0, dtype=np.intp)
    found = np.arange(n_features)
    if sparse.issparse(X):  # at most one value of such a column is zero
        found = np.flatnonzero(np.bincount(X.indices, minlength=n_features) >= n_samples - 1)
    for size in (10, n_samples):  # few columns pass the first rows
        part = X[:size][:, found]
        part = part.toarray() if sparse.issparse(part) else part
        step = np.diff(part, axis=0)
        found = found[(step > 0).all(axis=0) | (step < 0).all(axis=0)]
    return found


def copies(X: Any, std: np.ndarray, columns: np.ndarray) -> list[tuple[int, int]]:
    """(column, the one before it that it repeats) up to scale and sign.

    Equal columns have equal projections on any direction, so the nearest neighbour among the
    projections on a few random ones is the only pair to look at.
    """
    n_samples = X.shape[0]
    if (
        not 2 <= len(columns) <= _MOST_COLUMNS
        or _pair_chance(n_samples) * len(columns) ** 2 > CHANCE
    ):
        return []
    directions = np.random.default_rng(0).standard_normal((n_samples, _DIRECTIONS))
    directions -= directions.mean(axis=0)
    directions /= np.linalg.norm(directions, axis=0)
    part = X[:, columns] if len(columns) < X.shape[1] else X
    seen = np.asarray(part.T @ directions) / std[columns, None]
    radius = 3.0 * np.sqrt(2.0 * (1.0 - ALIKE) * _DIRECTIONS)
    tree = cKDTree(seen)
    _, same = tree.query(seen, k=2, distance_upper_bound=radius)
    _, turned = tree.query(-seen, k=1, distance_upper_bound=radius)
    rows = np.arange(len(columns))
    # The first of two neighbours is the column itself, unless it has a double.
    other = np.where(same[:, 0] == rows, same[:, 1], same[:, 0])
    pairs = [
        (i, j)
        for i, j in [*zip(rows, other, strict=True), *zip(rows, turned, strict=True)]
        if j < len(columns) and i != j
    ]
    ends = np.unique(np.sort(np.array(pairs, dtype=np.intp).reshape(-1, 2), axis=1), axis=0)
    found: dict[int, int] = {}
    at_once = max(1, _VALUES // n_samples)
    for start in range(0, len(ends), at_once):
        first, second = ends[start : start + at_once].T
        for i, j in zip(*_alike(part, first, second), strict=True):
            found.setdefault(int(columns[j]), int(columns[i]))
    return sorted(found.items())


def _alike(X: Any, first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if sparse.issparse(X):
        one, two = X[:, first].astype(np.float64), X[:, second].astype(np.float64)
        mean_one, mean_two, product = (
            np.asarray(part.mean(axis=0)).ravel() for part in (one, two, one.multiply(two))
        )
        products = np.abs(product - mean_one * mean_two)
        norms = spread(one)[2] * spread(two)[2]
    else:
        one, two = X[:, first].astype(np.float64), X[:, second].astype(np.float64)
        one, two = one - one.mean(axis=0), two - two.mean(axis=0)
        products = np.abs((one * two).sum(axis=0))
        norms = np.linalg.norm(one, axis=0) * np.linalg.norm(two, axis=0)
    alike = products > ALIKE * norms
    return first[alike], second[alike]


def _pair_chance(n_samples: int) -> float:
    """How likely two columns of noise are as alike as that."""
    if n_samples < 3:
        return 1.0
    t = ALIKE * math.sqrt((n_samples - 2) / (1.0 - ALIKE**2))
    return float(2.0 * stats.t.sf(t, n_samples - 2))
