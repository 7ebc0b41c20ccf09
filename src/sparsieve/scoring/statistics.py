"""Is one method better than another over several data sets?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

LEVEL = 0.05  # of every test whose result is put in words, all tests of a family together


class Friedman(NamedTuple):
    """Friedman's test with Nemenyi's critical difference, see :func:`friedman_nemenyi`.

    Attributes
    ----------
    statistic : float
        Of Friedman's test.
    p_value : float
        That all methods are alike.
    ranks : ndarray of shape (n_methods,)
        Average ranks; 1 is the best.
    critical_difference : float
        Methods whose average ranks differ by more are different.

    See Also
    --------
    sparsieve.scoring.friedman_nemenyi : All methods over several data sets.

    Examples
    --------
    >>> from sparsieve.scoring import friedman_nemenyi
    >>> result = friedman_nemenyi([[3, 2, 1], [3, 2, 1], [3, 1, 2], [3, 2, 1]])
    >>> result.ranks.tolist()
    [1.0, 2.25, 2.75]
    """

    statistic: float
    p_value: float
    ranks: np.ndarray
    critical_difference: float


class PairedTest(NamedTuple):
    """One pair of methods, see :func:`paired_wilcoxon`.

    Attributes
    ----------
    first, second : str
        The methods.
    median_difference : float
        First minus second.
    p_value : float
        That neither is better.
    p_holm : float
        The same, corrected for the number of pairs.

    See Also
    --------
    sparsieve.scoring.paired_wilcoxon : All pairs of methods over several data sets.

    Examples
    --------
    >>> from sparsieve.scoring import paired_wilcoxon
    >>> [test] = paired_wilcoxon([[2, 1], [4, 2], [6, 3], [8, 4], [10, 5]], ["a", "b"])
    >>> test.first, test.median_difference
    ('a', 3.0)
    """

    first: str
    second: str
    median_difference: float
    p_value: float
    p_holm: float


class Interval(NamedTuple):
    """A mean and its confidence interval.

    Attributes
    ----------
    mean : float
        Of the scores.
    low, high : float
        Ends of its interval.

    See Also
    --------
    sparsieve.scoring.bootstrap_interval : A mean with its interval.

    Examples
    --------
    >>> from sparsieve.scoring import bootstrap_interval
    >>> interval = bootstrap_interval([0.8, 0.9, 0.85, 0.95])
    >>> interval.low < interval.mean < interval.high
    True
    """

    mean: float
    low: float
    high: float


def average_ranks(scores: ArrayLike) -> np.ndarray:
    """Mean rank of every method over the data sets; 1 is the best, ties share their ranks.

    Parameters
    ----------
    scores : array of shape (n_datasets, n_methods)
        Larger is better.

    Returns
    -------
    ranks : array of shape (n_methods,)
        Average ranks.

    See Also
    --------
    sparsieve.scoring.friedman_nemenyi : All methods over several data sets.

    Examples
    --------
    >>> from sparsieve.scoring import average_ranks
    >>> average_ranks([[0.9, 0.8, 0.8], [0.7, 0.6, 0.5]]).tolist()
    [1.0, 2.25, 2.75]
    """
    return stats.rankdata(-_table(scores), axis=1).mean(axis=0)


def friedman_nemenyi(scores: ArrayLike, alpha: float = 0.05) -> Friedman:
    """Test of Friedman that all methods are alike, and Nemenyi's critical difference.

    Parameters
    ----------
    scores : array of shape (n_datasets, n_methods)
        Larger is better; at least three methods. Rows must be independent: one row per data
        set, not one per split.
    alpha : float, default=0.05
        Level of the critical difference.

    Returns
    -------
    friedman : Friedman
        ``statistic`` and ``p_value`` of the test, ``ranks`` (average ranks) and
        ``critical_difference``: two methods whose average ranks differ by more are different at
        level alpha.

    See Also
    --------
    sparsieve.scoring.paired_wilcoxon : All pairs of methods over several data sets.
    sparsieve.scoring.average_ranks : Mean ranks of methods.

    Examples
    --------
    >>> from sparsieve.scoring import friedman_nemenyi
    >>> result = friedman_nemenyi([[3, 2, 1], [3, 2, 1], [3, 1, 2], [3, 2, 1]])
    >>> round(result.p_value, 4), round(result.critical_difference, 3)
    (0.0388, 1.657)
    """
    table = _table(scores)
    n_datasets, n_methods = table.shape
    if n_methods < 3:
        raise ValueError(
            f"Friedman's test compares at least three methods, got {n_methods}; use "
            "paired_wilcoxon for two"
        )
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must lie in (0, 1), got {alpha!r}")
    if (table == table[:, :1]).all():  # all methods alike everywhere: SciPy divides by zero
        statistic, p_value = 0.0, 1.0
    else:
        statistic, p_value = stats.friedmanchisquare(*table.T)
    quantile = stats.studentized_range.ppf(1 - alpha, n_methods, np.inf) / math.sqrt(2)
    difference = quantile * math.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets))
    return Friedman(float(statistic), float(p_value), average_ranks(table), float(difference))


def groups_alike(ranks: Sequence[float] | np.ndarray, difference: float) -> list[tuple[int, int]]:
    """Largest runs of methods whose average ranks differ by no more than ``difference``.

    Parameters
    ----------
    ranks : sequence of float
        Ascending.
    difference : float

    Returns
    -------
    groups : list of (first, last)
        Positions; runs of a single method and runs inside others are left out.

    Examples
    --------
    >>> from sparsieve.scoring.statistics import groups_alike
    >>> groups_alike([1.0, 1.5, 2.4, 4.0], difference=1.0)
    [(0, 1), (1, 2)]
    """
    ranks = np.asarray(ranks, dtype=float)
    lasts = np.searchsorted(ranks, ranks + difference, side="right") - 1
    groups: list[tuple[int, int]] = []
    for first, last in enumerate(lasts):
        if last > first and (not groups or last > groups[-1][1]):
            groups.append((first, int(last)))
    return groups


def paired_wilcoxon(scores: ArrayLike, names: Sequence[str] | None = None) -> list[PairedTest]:
    """Signed-rank test by Wilcoxon of every pair of methods, with Holm's correction.

    Parameters
    ----------
    scores : array of shape (n_datasets, n_methods)
        Larger is better; one row per data set.
    names : sequence of str, default=None
        Of the methods; their positions if not given.

    Returns
    -------
    tests : list of PairedTest
        ``first``, ``second``, ``median_difference`` (first minus second), ``p_value`` and
        ``p_holm``, corrected for the number of pairs.

    See Also
    --------
    sparsieve.scoring.friedman_nemenyi : All methods over several data sets.
    sparsieve.scoring.holm : Corrects p-values for their number.

    Examples
    --------
    >>> from sparsieve.scoring import paired_wilcoxon
    >>> test, = paired_wilcoxon([[2, 1], [4, 2], [6, 3], [8, 4], [10, 5]], ["a", "b"])
    >>> test.first, test.second, test.median_difference, test.p_value
    ('a', 'b', 3.0, 0.0625)
    """
    table = _table(scores)
    names = [str(j) for j in range(table.shape[1])] if names is None else list(names)
    if len(names) != table.shape[1]:
        raise ValueError(f"got {len(names)} names for {table.shape[1]} methods")
    pairs = list(combinations(range(table.shape[1]), 2))
    differences = [table[:, i] - table[:, j] for i, j in pairs]
    p_values = [_signed_rank_p(difference[difference != 0]) for difference in differences]
    return [
        PairedTest(names[i], names[j], float(np.median(difference)), p_value, corrected)
        for (i, j), difference, p_value, corrected in zip(
            pairs, differences, p_values, holm(p_values), strict=True
        )
    ]


def _signed_rank_p(differences: np.ndarray) -> float:
    """Two-sided p-value of Wilcoxon's signed-rank test for differences without zeros."""
    n = len(differences)
    if n == 0:
        return 1.0
    if n > 50:  # where the normal approximation is as good
        return float(stats.wilcoxon(differences, method="asymptotic").pvalue)
    # Exact, also with ties: every pattern of signs is equally likely. SciPy goes through all 2^n
    # patterns when there are ties, which takes seconds a pair; counting the patterns by their
    # sum needs n additions. Doubled mid-ranks are whole numbers.
    doubled = np.rint(2 * stats.rankdata(np.abs(differences))).astype(int)
    total = int(doubled.sum())
    patterns = np.zeros(total + 1)
    patterns[0] = 1.0
    for rank in doubled:
        patterns[rank:] += patterns[:-rank].copy()
    smaller = min(int(doubled[differences > 0].sum()), int(doubled[differences < 0].sum()))
    return float(min(1.0, 2 * patterns[: smaller + 1].sum() / 2.0**n))


def holm(p_values: ArrayLike) -> list[float]:
    """Correct p-values for their number by Holm's method.

    Parameters
    ----------
    p_values : sequence of float
        Of all tests made.

    Returns
    -------
    corrected : list of float
        In the order given.

    See Also
    --------
    sparsieve.scoring.paired_wilcoxon : All pairs of methods over several data sets.

    Examples
    --------
    >>> from sparsieve.scoring import holm
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    steps = np.arange(len(p), 0, -1) * p[order]
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return corrected.tolist()


def bootstrap_interval(
    values: ArrayLike, confidence_level: float = 0.95, random_state: int | np.random.Generator = 0
) -> Interval:
    """Mean of some scores with a bias-corrected bootstrap interval.

    Parameters
    ----------
    values : array of shape (n,)
        Independent scores, such as one per data set. Scores of overlapping splits of one data
        set are not independent, and their interval is too narrow.
    confidence_level : float, default=0.95
        Share of such intervals that hold the true mean.
    random_state : int or Generator, default=0
        Seed of the resampling.

    Returns
    -------
    interval : Interval
        ``mean``, ``low``, ``high``; one point when all values are the same.

    See Also
    --------
    sparsieve.scoring.split_difference : Two methods on the splits of one data set.

    Examples
    --------
    >>> from sparsieve.scoring import bootstrap_interval
    >>> interval = bootstrap_interval([0.8, 0.9, 0.7, 0.85])
    >>> interval.low < interval.mean < interval.high
    True
    """
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        raise ValueError("values must be a non-empty list of finite numbers")
    mean = float(values.mean())
    if np.ptp(values) == 0:
        return Interval(mean, mean, mean)
    found = stats.bootstrap(
        (values,),
        np.mean,
        confidence_level=confidence_level,
        rng=np.random.default_rng(random_state),
    ).confidence_interval
    return Interval(mean, float(found.low), float(found.high))


def _table(scores: ArrayLike) -> np.ndarray:
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 2:
        raise ValueError(
            "scores must have at least two data sets as rows and two methods as columns, got "
            f"shape {table.shape}"
        )
    if not np.isfinite(table).all():
        raise ValueError(
            "scores have missing values; leave out data sets on which a method has no score"
        )
    return table
