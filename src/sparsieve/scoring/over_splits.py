"""Is one method better than another over the splits of one data set?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from .folds import error_over_splits
from .statistics import LEVEL


class SplitDifference(NamedTuple):
    """How much higher one score is than another on the same splits.

    Attributes
    ----------
    mean : float
        First minus second.
    error : float
        Its standard error, corrected for training parts that overlap.
    p_value : float
        One-sided: of a difference as large if first were no higher.

    See Also
    --------
    sparsieve.scoring.split_difference : Two methods on the splits of one data set.

    Examples
    --------
    >>> from sparsieve.scoring import split_difference
    >>> split_difference([0.9, 0.8, 0.9], [0.7, 0.6, 0.7], test_share=0.5).mean
    0.2
    """

    mean: float
    error: float
    p_value: float


def split_difference(first: ArrayLike, second: ArrayLike, test_share: float) -> SplitDifference:
    """Compare two scores on the splits of one data set: the corrected resampled t-test.

    Parameters
    ----------
    first, second : array of shape (n_splits,)
        Scores on the same splits, in the same order.
    test_share : float
        Samples to test on per sample to train on, 1/4 for five folds: training parts that
        overlap make plain standard errors too small (Nadeau and Bengio 2003).

    Returns
    -------
    difference : SplitDifference
        ``mean`` of first minus second, its standard ``error``, and the one-sided ``p_value`` of a
        difference as large if first were no higher; 1/2 where both are the same everywhere.

    See Also
    --------
    sparsieve.scoring.paired_wilcoxon : All pairs of methods over several data sets.
    sparsieve.compare : Several methods on the same folds.

    Examples
    --------
    >>> from sparsieve.scoring import split_difference
    >>> found = split_difference([0.9, 0.8, 0.9, 0.9], [0.7, 0.7, 0.6, 0.8], test_share=1 / 3)
    >>> round(found.mean, 3), round(found.error, 3), round(found.p_value, 3)
    (0.175, 0.073, 0.048)
    """
    differences = np.subtract(first, second, dtype=np.float64)
    if differences.ndim != 1 or len(differences) < 2 or not np.isfinite(differences).all():
        raise ValueError("two lists of finite scores on the same two or more splits are needed")
    mean = float(np.round(differences.mean(), 12))
    error = float(np.round(error_over_splits(differences, test_share), 12))
    if error == 0:
        p_value = 0.5 if mean == 0 else float(mean < 0)
    else:
        p_value = float(stats.t.sf(mean / error, len(differences) - 1))
    return SplitDifference(mean, error, p_value)


def score_of_choosing(scores: np.ndarray, repeats: np.ndarray | None) -> float | None:
    """Mean score of the method that is best on the other splits of a repeat, on each split.

    The highest of several means is too high on average: noise is one reason why it is highest.
    Where the splits that choose and the one that scores have no test sample in common, it is not.

    Parameters
    ----------
    scores : ndarray of shape (n_methods, n_splits)
        Larger is better.
    repeats : ndarray of int of shape (n_splits,) or None
        Which repeat every split belongs to; those of one repeat hold out different samples.

    Returns
    -------
    score : float or None
        None for one method, or where a repeat has fewer than three splits.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.scoring.over_splits import score_of_choosing
    >>> scores = np.array([[0.9, 0.5, 0.5], [0.6, 0.6, 0.6]])
    >>> round(score_of_choosing(scores, np.zeros(3, dtype=int)), 3)
    0.533
    """
    if repeats is None or len(scores) < 2 or len(repeats) != scores.shape[1]:
        return None
    found = []
    for repeat in np.unique(repeats):
        part = scores[:, repeats == repeat]
        if part.shape[1] < 3:
            return None
        others = part.sum(axis=1, keepdims=True) - part
        tied = others >= others.max(axis=0) - 1e-12
        found += ((part * tied).sum(axis=0) / tied.sum(axis=0)).tolist()
    return float(np.mean(found))


@dataclass(frozen=True)
class MethodComparison:
    """Methods on the same splits of one data set, or on the same data sets.

    Attributes
    ----------
    means : dict of str to float
        Mean score by method, the highest first.
    behind : dict of str to SplitDifference
        How much lower every method but the first scores than the first.
    margins : dict of str to float
        Half the width of the interval of these differences. The intervals hold simultaneously,
        and leave out zero exactly where a method is separable.
    separable : list of str
        Methods that score lower than the first, beyond what chance explains.

    See Also
    --------
    sparsieve.scoring.over_splits.compare_methods : Makes it.
    """

    means: dict[str, float]
    behind: dict[str, SplitDifference]
    margins: dict[str, float]
    separable: list[str]

    @property
    def best(self) -> str:
        """The method with the highest mean, which may be chance."""
        return next(iter(self.means))

    @property
    def p_values(self) -> dict[str, float]:
        """Of every method but the first: two-sided, corrected for all pairs of methods."""
        n_pairs = math.comb(len(self.means), 2)
        return {n: min(1.0, 2.0 * gap.p_value * n_pairs) for n, gap in self.behind.items()}


def compare_methods(scores: Mapping[str, np.ndarray], test_share: float = 0.0) -> MethodComparison:
    """Compare methods by their scores on the same splits: which are lower than the best?

    The best is found by the same scores, so that any two methods may turn out to be compared.
    Therefore the p-values, two-sided and by the corrected resampled t-test, are corrected by
    Bonferroni's level for all pairs of methods: the chance to call any two methods different that
    are not is at most 5 %, however many there are.

    Parameters
    ----------
    scores : dict of str to array of shape (n_splits,)
        Larger is better. With one split nothing is separable.
    test_share : float, default=0.0
        Samples to test on per sample to train on, see :func:`split_difference`; 0 for scores on
        different data sets, which share no samples.

    Examples
    --------
    >>> from sparsieve.scoring.over_splits import compare_methods
    >>> found = compare_methods(
    ...     {"a": [0.8, 0.9, 0.7], "b": [0.8, 0.8, 0.8], "c": [0.3, 0.4, 0.21]}, 0.5
    ... )
    >>> found.best, found.separable
    ('a', ['c'])
    """
    means = {name: float(np.mean(values)) for name, values in scores.items()}
    order = sorted(means, key=lambda name: -means[name])
    n_splits = len(scores[order[0]])
    if n_splits < 2:
        gaps = {n: SplitDifference(means[order[0]] - means[n], math.inf, 1.0) for n in order[1:]}
        margins = dict.fromkeys(gaps, math.inf)
        return MethodComparison({name: means[name] for name in order}, gaps, margins, [])
    pairs = list(combinations(order, 2))
    found = [split_difference(scores[one], scores[other], test_share) for one, other in pairs]
    # Bonferroni's level for all pairs: that of Holm's later steps would reject a little more, but
    # intervals of that width miss some difference in 19 of 100 comparisons, not in 5.
    width = float(stats.t.isf(LEVEL / len(pairs) / 2, n_splits - 1)) if pairs else 0.0
    first = slice(0, len(order) - 1)  # the pairs with the best come first
    behind = dict(zip(order[1:], found[first], strict=True))
    margins = {name: width * gap.error for name, gap in behind.items()}
    return MethodComparison(
        {name: means[name] for name in order},
        behind,
        margins,
        [name for name, gap in behind.items() if gap.mean > margins[name]],
    )
