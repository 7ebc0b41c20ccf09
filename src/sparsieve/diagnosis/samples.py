"""Samples that are in X several times, exactly or nearly, with the same target.

Rows are compared by their projections on random directions, half of which see one half of the
columns and half the other. Copies are near each other in all of them, and much nearer than
to anything else: at some distance, from a share of the usual one down to none. In a table of few
levels, or with few columns, rows are near each other as well, but then there are many more such
pairs, and fewer different rows, when half of the columns is left out. Of rows that are equal in few
columns single columns are asked, see ``coincidence``.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist
from scipy.stats import rankdata
from sklearn.utils import gen_batches

# Distances of copies that are looked for, relative to that of any two samples.
COPY_DISTANCES = (0.15, 0.03, 5e-3, 5e-4, 1e-7)
_EXACT_DISTANCE = COPY_DISTANCES[-1]  # what is nearer is the same but for rounding
_MIN_AGREEMENT = 0.9  # of near copies, that have the same target
_MIN_AGREEMENT_OF_EQUALS = 0.5  # the same of equal rows, beyond what chance gives
_DIRECTIONS = 10  # for each half
_MAX_SAMPLES = 10_000
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
    share_targets : bool
        Whether copies have the same target, as a rule.
    """

    samples: np.ndarray
    pair: tuple[int, int]
    n_looked_at: int
    groups: np.ndarray | None
    share_targets: bool


def copied_samples(
    X: Any, mean: np.ndarray, std: np.ndarray, y: np.ndarray, *, classes: bool
) -> Copies | None:
    """Look for samples that are copies of others.

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
    used = np.flatnonzero(std)
    if X.shape[0] < 4 or not len(used):
        return None
    seen = _projections(X, mean, std)
    rows = _slab(seen[:, -1])
    seen = seen[rows]
    space, *halves = (_Space.from_points(part) for part in (seen, *np.split(seen, 2, axis=1)))
    if space is None:
        return None
    values = _dense(X[rows][:, used]) if len(used) <= MAX_COLUMNS else None
    # Classes that lie in heaps of their own are no copies: there are few heaps.
    least = 3 * (int(y.max()) + 1 if classes else 3)
    other_targets = None
    for radius in COPY_DISTANCES:
        first, second, apart = space.nearest(radius)
        if len(first) < 6:  # a near pair may be chance; the same twice is none
            equal = apart < min(1e-4, radius)
            first, second, apart = first[equal], second[equal], apart[equal]
        enough = max(2, 0.01 * len(rows))
        if len(first) < enough:
            continue
        exact = radius <= _EXACT_DISTANCE
        if not exact and np.mean(apart <= _EXACT_DISTANCE) > 0.1:
            continue  # equal rows are looked at by themselves
        agree = _agreement(y[rows[first]], y[rows[second]], y, classes=classes)
        if agree.beyond_chance < 0.2:
            continue
        if space.n_pairs(radius, different=True) > 2_000_000:
            continue
        share = _stand_out(space, first, radius)
        if share < 0.5 or share * len(first) < enough:
            continue
        groups = space.components(radius)
        if groups.max() + 1 < least:
            continue
        if not _are_copies(space, halves, radius, groups, values if exact else None):
            continue
        same = (
            agree.beyond_chance >= _MIN_AGREEMENT_OF_EQUALS
            if exact
            else agree.share >= _MIN_AGREEMENT
        )
        found = Copies(
            np.sort(rows[first]),
            (int(rows[first[0]]), int(rows[second[0]])),
            len(rows),
            groups if len(rows) == X.shape[0] else None,
            same,
        )
        if same:
            return found
        other_targets = other_targets or found
    return other_targets


def _are_copies(
    space: _Space,
    halves: list[_Space | None],
    radius: float,
    groups: np.ndarray,
    values: np.ndarray | None,
) -> bool:
    """Whether near rows are no chance; ``values`` are those of few columns, of equal rows."""
    if values is not None:
        return is_no_chance(values, groups)
    most, n_groups = HALVES * space.n_pairs(radius) + 2, int(groups.max()) + 1
    for half in halves:
        if half is None or half.n_pairs(radius) > most:
            return False
        if half.components(radius).max() + 1 < MIN_DISTINCT * n_groups:
            return False
    return True


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
    """Points whose usual distance is 1, and a tree of the different ones."""

    points: np.ndarray
    tree: Any
    place: np.ndarray  # in the tree, of every point
    count: np.ndarray  # of equal points, by place

    @staticmethod
    def from_points(points: np.ndarray) -> _Space | None:
        pairs = np.random.default_rng(0).integers(len(points), size=(2, 2000))
        one, two = pairs[:, pairs[0] != pairs[1]]
        apart = ((points[one] - points[two]) ** 2).sum(axis=1)
        usual = float(np.median(apart[apart > 0])) if (apart > 0).any() else 0.0
        if not np.isfinite(usual) or usual == 0.0:
            return None
        points = points / np.sqrt(usual)
        different, place, count = np.unique(points, axis=0, return_inverse=True, return_counts=True)
        return _Space(points, cKDTree(different), place.ravel(), count)

    def n_pairs(self, radius: float, *, different: bool = False) -> int:
        """How many pairs of points, or of different ones, are near each other."""
        if different:
            return (int(self.tree.count_neighbors(self.tree, radius)) - len(self.count)) // 2
        weights = self.count.astype(np.float64)
        near = self.tree.count_neighbors(self.tree, radius, weights=(weights, weights))
        return (round(float(near)) - len(self.points)) // 2

    def nearest(self, radius: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The points that have a near one, the nearest of each and its distance."""
        order = np.argsort(self.place, kind="stable")
        first = order[np.searchsorted(self.place[order], np.arange(len(self.count)))]
        last = order[np.searchsorted(self.place[order], np.arange(len(self.count)), "right") - 1]
        apart, found = (
            each[:, 1] for each in self.tree.query(self.tree.data, k=2, distance_upper_bound=radius)
        )
        twice = self.count > 1
        rows = np.arange(len(self.points))
        other = np.append(first, len(rows))[found][self.place]
        apart = np.where(twice, 0.0, apart)[self.place]
        twin = np.where(first[self.place] == rows, last[self.place], first[self.place])
        other = np.where(twice[self.place], twin, other)
        has = other < len(rows)
        return rows[has], other[has], apart[has]

    def components(self, radius: float) -> np.ndarray:
        """A label for every point, the same for those that are near each other."""
        one, two = self.tree.query_pairs(radius, output_type="ndarray").T
        n = len(self.count)
        graph = sparse.coo_array((np.ones(len(one), dtype=bool), (one, two)), shape=(n, n))
        return connected_components(graph, directed=False)[1][self.place]


def _stand_out(space: _Space, rows: np.ndarray, radius: float) -> float:
    """Share of these points whose near ones are much nearer than the next one."""
    some = np.random.default_rng(0).permutation(rows)[:200]
    clear = 0
    for part in gen_batches(len(some), max(1, _VALUES // len(space.points))):
        apart = np.sort(cdist(space.points[some[part]], space.points), axis=1)[:, 1:]
        apart = np.maximum(apart, 1.0 / 15.0 * radius)  # nearer ones are the same
        further = np.column_stack([apart[:, 1:], np.full(len(apart), np.inf)])
        clear += int(((apart <= radius) & (further >= 4.0 * apart)).any(axis=1).sum())
    return clear / max(len(some), 1)


class _Agreement(NamedTuple):
    """How often pairs have the same target: as a share, and beyond what any two samples have."""

    share: float
    beyond_chance: float


def _agreement(one: np.ndarray, two: np.ndarray, y: np.ndarray, *, classes: bool) -> _Agreement:
    if classes:
        share, chance = float(np.mean(one == two)), float(((np.bincount(y) / len(y)) ** 2).sum())
        return _Agreement(share, (share - chance) / max(1.0 - chance, 1e-12))
    any_two = 2.0 * max(float(y.var(axis=0).sum()), 1e-300)
    share = 1.0 - float(((one - two) ** 2).sum(axis=-1).mean()) / any_two
    return _Agreement(share, share)


def _dense(values: Any) -> np.ndarray:
    values = values.toarray() if sparse.issparse(values) else values
    return np.asarray(values, dtype=np.float64)


MAX_COLUMNS = 100  # of more, halves of the columns tell as much
HALVES = 1.5  # pairs that may be near in half of the columns, per pair that is so in all
MIN_DISTINCT = 0.8  # share of different samples that half of the columns tell apart as well
_MIN_UNIQUE = 0.5  # share of the equal rows whose values no other row has
_ROUNDING = 1e-7  # relative to the spread: smaller differences of steps are none


def is_no_chance(values: np.ndarray, labels: np.ndarray) -> bool:
    """Whether columns show that equal rows are copies: one, two together, or two halves of them.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_columns)
        NaN where they are missing.
    labels : ndarray of int of shape (n_samples,)
        The same for rows that are equal.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.diagnosis.samples import is_no_chance
    >>> rng = np.random.default_rng(0)
    >>> rows, numbers = rng.standard_normal((50, 1)), np.arange(50)
    >>> is_no_chance(np.tile(rows, (2, 1)), np.tile(numbers, 2))
    True
    >>> ages = rng.integers(20, 90, size=(100, 1)) * 1.0
    >>> is_no_chance(ages, np.unique(ages[:, 0], return_inverse=True)[1])
    False
    """
    codes = np.array([np.unique(column, return_inverse=True)[1] for column in values.T])
    meeting = np.array([_chance_of_meeting(column) for column in values.T])
    sizes, n_pairs, n = np.bincount(labels), _pairs(labels), len(labels)
    most = n_pairs / (3.0 * n * (n - 1) / 2)  # chance of meeting that would not explain them
    fine = meeting <= most
    twins = sizes[labels] > 1
    if fine.any() and (fine.all() or _pairs(_join_codes(codes[~fine])) > n_pairs):
        alone = [np.bincount(code)[code] <= sizes[labels] for code in codes[fine]]
        if np.any(alone, axis=0)[twins].mean() >= _MIN_UNIQUE:
            return True
    coarse = np.flatnonzero(~fine)
    for j, k in combinations(coarse[np.argsort(meeting[coarse], kind="stable")][:10], 2):
        if 3.0 * meeting[j] * meeting[k] > most:
            continue
        both = _join_codes(codes[[j, k]])
        if (np.bincount(both)[both] <= sizes[labels])[twins].mean() >= _MIN_UNIQUE and all(
            _tells_more(_pairs(both), _pairs(code), n_pairs, values[:, [j, k]])
            for code in codes[[j, k]]
        ):
            return True
    return _halves_tell_all(codes[coarse], labels)


def _halves_tell_all(codes: np.ndarray, labels: np.ndarray) -> bool:
    """Whether each of two halves of coarse columns tells the rows apart, but no single one does."""
    n_rows, n_pairs = int(labels.max()) + 1, _pairs(labels)
    if len(codes) < 2 or any(int(code.max()) + 1 >= n_rows for code in codes):
        return False
    order = np.random.default_rng(0).permutation(len(codes))
    halves = [_join_codes(codes[half]) for half in np.array_split(order, 2)]
    return all(
        _pairs(half) <= HALVES * n_pairs + 2 and int(half.max()) + 1 >= MIN_DISTINCT * n_rows
        for half in halves
    )


def _pairs(code: np.ndarray) -> int:
    """How many pairs of samples have the same code."""
    sizes = np.bincount(code)
    return int((sizes * (sizes - 1) // 2).sum())


def _join_codes(codes: np.ndarray) -> np.ndarray:
    """One code for what several tell together."""
    joined = codes[0]
    for code in codes[1:]:
        joined = np.unique(joined * (int(code.max()) + 1) + code, return_inverse=True)[1]
    return joined


def _tells_more(n_both: int, n_one: int, n_pairs: int, values: np.ndarray) -> bool:
    """Whether of two columns the other one is no function of this one, by the pairs that meet."""
    met = n_one - n_pairs  # in this column, of different rows
    if met >= 5:
        return n_both - n_pairs <= 0.5 * met
    values = values[np.isfinite(values).all(axis=1)]
    if len(values) < 4 or (np.ptp(values, axis=0) == 0).any():
        return False
    # Beyond it they may be two ways to write one.
    return bool(abs(np.corrcoef(rankdata(values, axis=0).T)[0, 1]) <= 0.9)


def _chance_of_meeting(values: np.ndarray) -> float:
    """How likely two samples have the same value, by how finely values are written."""
    there = values[np.isfinite(values)]
    different = np.unique(there)
    # Where most samples have one value the others say how far values go.
    spreads = [np.ptp(np.quantile(one, [0.25, 0.75])) for one in (there, different) if len(one)]
    spread = next((float(one) for one in spreads if one > 0), 0.0)
    if not spread:
        return 1.0
    steps = np.round(np.diff(different) / (_ROUNDING * spread))
    steps, times = np.unique(steps[steps > 0], return_counts=True)
    repeated = times > 1
    if times[repeated].sum() > 0.05 * times.sum():  # few are equal by chance
        steps = steps[repeated]
    elif times.sum() >= 9:  # of fewer values nobody knows
        return 1e-6  # a column that was not rounded
    return min(1.0, 0.5 * float(steps.min(initial=1.0 / _ROUNDING)) * _ROUNDING)
