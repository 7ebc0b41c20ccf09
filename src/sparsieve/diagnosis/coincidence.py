"""Can rows that are equal in every column be equal by chance?

In a table of few levels they are. What speaks against chance are columns whose values are written
so finely that so many samples would not meet in them; how finely is seen from the steps between
different values, which are multiples of one another where values were rounded. A column may look
fine because it was computed from coarse ones, as the body mass index was: where coarse columns
alone tell all different rows apart, the fine ones say nothing of their own.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.stats import rankdata

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
    >>> from sparsieve.diagnosis.coincidence import is_no_chance
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
