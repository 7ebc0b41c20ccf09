"""Two columns that are one and the same, or that give the target away together.

Columns that are the same have the same projections on any direction. Columns a and b of which the
target is a combination, y = s a + t b + u, are the same up to scale once what y explains is taken
from both. So the nearest neighbours among the projections on a few random directions orthogonal
to y are the only pairs to look at, in both searches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree

from .columns import CHANCE, Extent, chunks, pair_chance, read_column, spread
from .leaks import SAME_CORRELATION

MAX_COLUMNS = 100_000  # beyond this the search takes longer than a selection
_DIRECTIONS = 10
_VALUES = 20_000_000  # of candidate pairs that are correlated at once
_SAMPLES = 1000  # looked at first


@dataclass(frozen=True)
class Views:
    """The columns of X seen from a few directions.

    Attributes
    ----------
    X : array or CSC matrix of shape (n_samples, n_columns)
        Without gaps and constants.
    basis : ndarray of shape (n_samples, n_outputs + 1)
        Orthonormal: the constant, then what the targets add to it.
    seen : ndarray of shape (n_columns, n_directions)
        Products with random directions orthogonal to the basis.
    norm : ndarray of shape (n_columns,)
        Of the centred columns.
    rest : ndarray of shape (n_columns,)
        Of what the targets leave of them; 0 where that is next to nothing.
    """

    X: Any
    basis: np.ndarray
    seen: np.ndarray
    norm: np.ndarray
    rest: np.ndarray

    @staticmethod
    def from_data(X: Any, std: np.ndarray, Y: np.ndarray) -> Views:
        """One pass over X."""
        n_samples, norm = X.shape[0], np.sqrt(X.shape[0]) * std
        basis = _basis(Y)
        directions = np.random.default_rng(0).standard_normal((n_samples, _DIRECTIONS))
        directions -= basis @ (basis.T @ directions)
        directions /= np.maximum(np.linalg.norm(directions, axis=0), 1e-300)
        products = _products(X, np.column_stack([directions, basis[:, 1:]]))
        seen, along = products[:, :_DIRECTIONS], products[:, _DIRECTIONS:]
        left = norm**2 - (along**2).sum(axis=1)
        return Views(X, basis, seen, norm, np.sqrt(np.where(left > 1e-6 * norm**2, left, 0.0)))

    def neighbours(self, norm: np.ndarray, level: float) -> np.ndarray:
        """Pairs of columns that may be correlated above the level in size, the nearest first."""
        places = np.flatnonzero(norm > 0)
        n_samples, n_columns = self.X.shape[0], len(places)
        noise = pair_chance(n_samples - self.basis.shape[1] + 1, level) * n_columns**2
        if n_columns < 2 or noise > CHANCE:
            return np.empty((0, 2), dtype=np.intp)
        seen = self.seen[places] / norm[places, None]
        radius = 3.0 * np.sqrt(2.0 * (1.0 - level) * _DIRECTIONS / n_samples)
        tree = cKDTree(seen)
        near, same = tree.query(seen, k=2, distance_upper_bound=radius)
        away, turned = tree.query(-seen, k=1, distance_upper_bound=radius)
        rows = np.arange(n_columns)
        # The first of two neighbours is the column itself, unless it has a double.
        second = (same[:, 0] == rows).astype(np.intp)
        ends = np.column_stack(
            [np.tile(rows, 2), np.append(same[rows, second], turned)],
        )
        apart = np.append(near[rows, second], away)
        real = (ends[:, 1] < n_columns) & (ends[:, 0] != ends[:, 1])
        ends, apart = np.sort(ends[real], axis=1), apart[real]
        ends, first = np.unique(ends, axis=0, return_index=True)
        return places[ends[np.argsort(apart[first], kind="stable")]]


def _basis(Y: np.ndarray) -> np.ndarray:
    left, size, _ = np.linalg.svd(Y - Y.mean(axis=0), full_matrices=False)
    kept = left[:, size > 1e-10 * size.max(initial=0.0)]
    kept = kept if kept.shape[1] <= 10 else kept[:, :0]
    return np.column_stack([np.full(len(Y), len(Y) ** -0.5), kept])


def _products(X: Any, directions: np.ndarray) -> np.ndarray:
    """``X.T @ directions`` in double precision, without a copy of X."""
    if sparse.issparse(X) or X.dtype == np.float64:
        return np.asarray(X.T @ directions)
    at_once = max(1, _VALUES // X.shape[1])
    total = np.zeros((X.shape[1], directions.shape[1]))
    for start in range(0, X.shape[0], at_once):
        rows = slice(start, start + at_once)
        total += X[rows].astype(np.float64).T @ directions[rows]
    return total


def copies(views: Views) -> list[tuple[int, int]]:
    """(column, the one before it that it repeats) up to scale and sign."""
    found: dict[int, int] = {}
    ends = views.neighbours(views.norm, SAME_CORRELATION)
    ends = ends[np.lexsort((ends[:, 1], ends[:, 0]))]
    at_once = max(1, _VALUES // views.X.shape[0])
    for start in range(0, len(ends), at_once):
        first, second = ends[start : start + at_once].T
        alike = _alike(views.X, first, second)
        for i, j in zip(first[alike], second[alike], strict=True):
            found.setdefault(int(j), int(i))
    return sorted(found.items())


def _alike(X: Any, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    one, two = X[:, first].astype(np.float64), X[:, second].astype(np.float64)
    if sparse.issparse(X):
        mean_one, mean_two, product = (
            np.asarray(part.mean(axis=0)).ravel() for part in (one, two, one.multiply(two))
        )
        products = np.abs(product - mean_one * mean_two)
        norms = spread(one)[3] * spread(two)[3]
    else:
        one, two = one - one.mean(axis=0), two - two.mean(axis=0)
        products = np.abs((one * two).sum(axis=0))
        norms = np.linalg.norm(one, axis=0) * np.linalg.norm(two, axis=0)
    return products > SAME_CORRELATION * norms


def log_views(
    X: Any, extent: Extent, Y: np.ndarray, *, classes: bool
) -> tuple[np.ndarray, Views | None]:
    """(columns of positive values, views of their logarithms): ratios and products of them.

    The target is a combination as it is or, where it is positive, by its logarithm.
    """
    columns = extent.whole[extent.low[extent.whole] > 0]
    if sparse.issparse(X) or not 2 <= len(columns) <= MAX_COLUMNS:
        return columns, None
    rows = np.sort(np.random.default_rng(0).permutation(len(Y))[:_SAMPLES])
    logs = np.log(np.concatenate([part for _, part in chunks(X, columns, rows)], axis=1))
    Y = Y[rows]
    if not classes and (Y > 0).all():
        Y = np.column_stack([Y, np.log(Y)])
    return columns, Views.from_data(logs, logs.std(axis=0), Y)


def combinations(views: Views, *, classes: bool) -> list[tuple[int, int]]:
    """Pairs of columns of which the target is a sum or a difference, up to scale."""
    if views.basis.shape[1] < 2:
        return []
    found = []
    n_samples = views.X.shape[0]
    rows = np.sort(np.random.default_rng(0).permutation(n_samples)[:_SAMPLES])
    for i, j in views.neighbours(views.rest, 1.0 - 1e-5)[:500]:
        if all(
            _combine(views, i, j, some, classes=classes)
            for some in (rows, np.arange(n_samples))[: 1 + (len(rows) < n_samples)]
        ):
            found.append((int(i), int(j)))
    return sorted(found)


def _combine(views: Views, i: int, j: int, rows: np.ndarray, *, classes: bool) -> bool:
    values = np.column_stack([read_column(views.X, k)[rows] for k in (i, j)])
    # Few levels combine to classes by chance.
    if classes and min(len(np.unique(one)) for one in values.T) <= 10:
        return False
    basis = views.basis[rows]
    one, two = (values - values.mean(axis=0)).T
    design = np.column_stack([two / max(np.linalg.norm(two), 1e-300), basis])
    weights, *_ = np.linalg.lstsq(design, one, rcond=None)
    left = one - design @ weights
    explained = basis[:, 1:] @ weights[2:]
    # Without the outermost: columns that differ in one sample explain what is odd about it.
    usual = np.sort(np.abs(explained - np.median(explained)))[: max(len(rows) - 5, 0)]
    size = float(np.linalg.norm(usual))
    return bool(size > 1e-6 * np.linalg.norm(one) and np.linalg.norm(left) < 0.003 * size)
