"""Samples that are in X several times, exactly or nearly, with the same target.

Rows are compared by their projections on random directions, half of which see one half of the
columns and half the other. Copies are near each other in all of them, and much nearer than
to anything else. In a table of few levels, or with few columns, rows are near each other as well,
but then there are many more such pairs, and fewer different rows, when half of the columns is left
out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree
from sklearn.utils import gen_batches

NEAR = 0.15  # distance of near copies, relative to that of any two samples
_JUMP = 4.0  # how much further away the next sample is
_SAME = 0.01  # distances below this, relative as well, are none
_HALVES = 1.5  # pairs that may be near in half of the columns, per pair that is so in all
_KEPT = 0.8  # share of the different samples that are different in half of the columns as well
_SHARE = 0.01  # of samples that have copies, below which nothing is said
_MIN_NEAR = 6  # samples that are near others, below which only equal ones count
_EQUAL = 1e-4
_AGREE = 0.9  # of copies, that have the same target
_DISTINCT = 3  # different samples per class that there must be
_DIRECTIONS = 10  # for each half
_MAX_SAMPLES = 10_000
_MAX_PAIRS = 2_000_000
_LOOKED_AT = 200
_VALUES = 2_000_000


@dataclass(frozen=True)
class Copies:
    """Samples that have copies.

    Attributes
    ----------
    samples : ndarray of int
        Those found, in order.
    pair : tuple of int
        Two of them that are copies of each other.
    n_looked_at : int
        Samples among which copies were looked for.
    groups : ndarray of int or None
        A label for every sample, the same for copies; None where not all were looked at.
    """

    samples: np.ndarray
    pair: tuple[int, int]
    n_looked_at: int
    groups: np.ndarray | None


def copied_samples(
    X: Any, mean: np.ndarray, std: np.ndarray, y: np.ndarray, *, classes: bool
) -> Copies | None:
    """Look for samples that are copies of others, target included.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_samples, n_features)
    mean, std : ndarray of shape (n_features,)
        Of the values that are there; columns with a standard deviation of 0 are not looked at.
    y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        Codes of classes, or numbers.
    classes : bool
        Which of the two.
    """
    if X.shape[0] < 4 or np.count_nonzero(std) < 2:
        return None
    seen = _projections(X, mean, std)
    rows = _slab(seen[:, 0])
    seen = seen[rows]
    space = _Space.of(seen)
    if space is None:
        return None
    first, second, apart = space.nearest()
    if len(first) < _MIN_NEAR:  # a near pair may be chance; the same twice is none
        first, second = first[apart < _EQUAL], second[apart < _EQUAL]
    if len(first) < max(2, _SHARE * len(rows)):
        return None
    if not _agree(y[rows[first]], y[rows[second]], y, classes=classes):
        return None
    share = _stand_out(space, first)
    if share < 0.5 or share * len(first) < max(2, _SHARE * len(rows)):
        return None
    n_pairs = space.n_pairs
    halves = [_Space.of(half) for half in np.split(seen, 2, axis=1)]
    if n_pairs > _MAX_PAIRS or any(h is None or h.n_pairs > _HALVES * n_pairs + 2 for h in halves):
        return None
    groups = space.components()
    n_groups = int(groups.max()) + 1
    if any(half.components().max() + 1 < _KEPT * n_groups for half in halves if half):
        return None
    # Classes that lie in heaps of their own are no copies: there are few heaps.
    if n_groups < _DISTINCT * (int(y.max()) + 1 if classes else 3):
        return None
    return Copies(
        np.sort(rows[first]),
        (int(rows[first[0]]), int(rows[second[0]])),
        len(rows),
        groups if len(rows) == X.shape[0] else None,
    )


def _projections(X: Any, mean: np.ndarray, std: np.ndarray) -> np.ndarray:
    """Standardised rows seen from random directions; gaps are at the mean."""
    rng = np.random.default_rng(0)
    n_samples, n_features = X.shape
    with np.errstate(divide="ignore"):
        weights = np.where(std > 0, 1.0 / std, 0.0)
    used = rng.permutation(np.flatnonzero(weights > 0))
    directions = np.zeros((n_features, 2 * _DIRECTIONS))
    half = len(used) // 2
    for columns, place in ((used[:half], 0), (used[half:], _DIRECTIONS)):
        drawn = rng.standard_normal((len(columns), _DIRECTIONS)) * weights[columns, None]
        directions[columns, place : place + _DIRECTIONS] = drawn
    if sparse.issparse(X):
        if not np.isfinite(X.data).all():
            X = X.copy()
            X.data = np.nan_to_num(X.data, nan=0.0, posinf=0.0, neginf=0.0)
        return np.asarray(X @ directions) - np.where(weights > 0, mean, 0.0) @ directions
    seen = np.empty((n_samples, 2 * _DIRECTIONS))
    at_once = max(1, _VALUES // n_features)
    for rows in gen_batches(n_samples, at_once):
        part = X[rows].astype(np.float64) - mean
        seen[rows] = np.nan_to_num(part, nan=0.0, posinf=0.0, neginf=0.0) @ directions
    return seen


def _slab(seen: np.ndarray) -> np.ndarray:
    """All rows, or where there are very many those in the middle of a direction.

    Copies lie beside each other in any direction, so a slab holds all copies of what it holds.
    """
    if len(seen) <= _MAX_SAMPLES:
        return np.arange(len(seen))
    order = np.argsort(seen, kind="stable")
    start = (len(seen) - _MAX_SAMPLES) // 2
    return np.sort(order[start : start + _MAX_SAMPLES])


@dataclass(frozen=True)
class _Space:
    """Points whose usual distance is 1, and a tree of them."""

    points: np.ndarray
    tree: Any

    @staticmethod
    def of(points: np.ndarray) -> _Space | None:
        pairs = np.random.default_rng(0).integers(len(points), size=(2, 2000))
        one, two = pairs[:, pairs[0] != pairs[1]]
        usual = float(np.median(((points[one] - points[two]) ** 2).sum(axis=1)))
        if not np.isfinite(usual) or usual == 0.0:
            return None
        points = points / np.sqrt(usual)
        return _Space(points, cKDTree(points))

    @property
    def n_pairs(self) -> int:
        """How many pairs are near each other."""
        return (int(self.tree.count_neighbors(self.tree, NEAR)) - len(self.points)) // 2

    def nearest(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The points that have a near one, the nearest of each and its distance."""
        rows = np.arange(len(self.points))
        apart, found = self.tree.query(self.points, k=2, distance_upper_bound=NEAR)
        second = (found[:, 0] == rows).astype(np.intp)  # the first is the point itself, mostly
        other = found[rows, second]
        has = other < len(rows)
        return rows[has], other[has], apart[rows, second][has]

    def components(self) -> np.ndarray:
        """A label for every point, the same for those that are near each other."""
        one, two = self.tree.query_pairs(NEAR, output_type="ndarray").T
        n = len(self.points)
        graph = sparse.coo_array((np.ones(len(one), dtype=bool), (one, two)), shape=(n, n))
        return connected_components(graph, directed=False)[1]


def _stand_out(space: _Space, rows: np.ndarray) -> float:
    """Share of these points whose near ones are much nearer than the next one."""
    some = np.random.default_rng(0).permutation(rows)[:_LOOKED_AT]
    clear = 0
    for row in some:
        apart = np.sort(np.sqrt(((space.points - space.points[row]) ** 2).sum(axis=1)))[1:]
        apart = np.append(np.maximum(apart, _SAME), np.inf)
        inside = apart[:-1] <= NEAR
        clear += bool((apart[1:] >= _JUMP * apart[:-1])[inside].any())
    return clear / max(len(some), 1)


def _agree(one: np.ndarray, two: np.ndarray, y: np.ndarray, *, classes: bool) -> bool:
    """Whether copies have the same target."""
    if classes:
        return bool(np.mean(one == two) >= _AGREE)
    spread = y.var(axis=0).sum()
    return bool(((one - two) ** 2).sum(axis=-1).mean() <= (1.0 - _AGREE) * 2.0 * spread)
