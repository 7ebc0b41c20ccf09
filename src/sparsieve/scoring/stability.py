"""How much a selection changes when the data do: agreement of several selections."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from scipy.stats import norm

from .folds import error_over_splits
from .statistics import LEVEL


class Stability(NamedTuple):
    """Nogueira's stability index and its confidence interval.

    Attributes
    ----------
    value : float
        1 for equal selections, 0 on average for random ones.
    low, high : float
        Ends of the interval.

    See Also
    --------
    sparsieve.scoring.nogueira_stability : Stability with an interval, for any sizes.

    Examples
    --------
    >>> from sparsieve.scoring import nogueira_stability
    >>> nogueira_stability([[1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 0, 0]]).value
    1.0
    """

    value: float
    low: float
    high: float


def nogueira_stability(supports: ArrayLike, confidence_level: float = 0.95) -> Stability:
    """Stability index of Nogueira, Sechidis and Brown (2018) with its confidence interval.

    One minus the ratio of the observed variance of every feature's selection to the variance
    under random selection of as many features. It is 1 when all selections are the same, 0 on
    average when they are random, and the selections may differ in size.

    Parameters
    ----------
    supports : array of bool of shape (n_selections, n_features)
        Masks such as ``support_``, one per resampling of the data.
    confidence_level : float, default=0.95
        Of the asymptotic interval.

    Returns
    -------
    stability : Stability
        ``value``, ``low``, ``high``; NaN when nothing or everything is selected everywhere,
        which says nothing about stability.

    See Also
    --------
    sparsieve.scoring.jaccard_stability : Common over united features.
    sparsieve.scoring.kuncheva_stability : Corrected for chance, for selections of one size.

    References
    ----------
    Nogueira, Sechidis, Brown, "On the stability of feature selection algorithms", JMLR 18
    (2018).

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.scoring import nogueira_stability
    >>> nogueira_stability(np.array([[1, 1, 0, 0]] * 3)).value
    1.0
    """
    Z = _masks(supports)
    if not 0 < confidence_level < 1:
        raise ValueError(f"confidence_level must lie in (0, 1), got {confidence_level!r}")
    n_selections, n_features = Z.shape
    frequency = Z.mean(axis=0)
    share = frequency.mean()  # mean number of selected features / n_features
    random_variance = share * (1 - share)
    if random_variance == 0:
        return Stability(np.nan, np.nan, np.nan)
    variance = n_selections / (n_selections - 1) * (frequency * (1 - frequency)).mean()
    index = 1 - variance / random_variance

    # What every single selection contributes; their spread gives the variance of the index.
    shares = Z.mean(axis=1)
    contributions = (
        Z @ frequency / n_features
        - shares * share
        + index / 2 * (2 * share * shares - shares - share + 1)
    ) / random_variance
    deviation = 2 / n_selections * np.linalg.norm(contributions - contributions.mean())
    margin = norm.ppf((1 + confidence_level) / 2) * deviation
    return Stability(float(index), float(index - margin), float(index + margin))


def kuncheva_stability(supports: ArrayLike) -> float:
    """Consistency index of Kuncheva, averaged over all pairs of selections of one size.

    Parameters
    ----------
    supports : array of bool of shape (n_selections, n_features)
        Masks that all select the same number of features.

    Returns
    -------
    index : float
        1 for equal selections, 0 on average for random ones; NaN when nothing or everything is
        selected.

    See Also
    --------
    sparsieve.scoring.nogueira_stability : Stability with an interval, for any sizes.
    sparsieve.scoring.jaccard_stability : Common over united features.

    Examples
    --------
    >>> from sparsieve.scoring import kuncheva_stability
    >>> kuncheva_stability([[1, 1, 0, 0], [1, 0, 1, 0]])
    0.0
    """
    Z = _masks(supports)
    sizes = Z.sum(axis=1)
    if np.ptp(sizes) > 0:
        raise ValueError(
            "Kuncheva's index needs selections of one size, got sizes from "
            f"{int(sizes.min())} to {int(sizes.max())}; use nogueira_stability"
        )
    size, n_features = sizes[0], Z.shape[1]
    if size in (0, n_features):
        return float("nan")
    common = _pairs(Z @ Z.T)
    return float(np.mean((common * n_features - size**2) / (size * (n_features - size))))


def jaccard_stability(supports: ArrayLike) -> float:
    """Mean Jaccard index (common / united features) over all pairs of selections.

    Unlike the other two it is not corrected for chance: large selections agree more.

    Parameters
    ----------
    supports : array of bool of shape (n_selections, n_features)
        Masks of the selections.

    Returns
    -------
    index : float
        Between 0 and 1; two empty selections agree.

    See Also
    --------
    sparsieve.scoring.nogueira_stability : Stability with an interval, for any sizes.
    sparsieve.scoring.kuncheva_stability : Corrected for chance, for selections of one size.

    Examples
    --------
    >>> from sparsieve.scoring import jaccard_stability
    >>> jaccard_stability([[1, 1, 0, 0], [1, 0, 0, 0]])
    0.5
    """
    Z = _masks(supports)
    sizes = Z.sum(axis=1)
    common = _pairs(Z @ Z.T)
    united = _pairs(sizes[:, None] + sizes[None, :]) - common
    return float(np.mean(np.where(united > 0, common / np.maximum(united, 1), 1.0)))


def _masks(supports: ArrayLike) -> np.ndarray:
    Z = np.asarray(supports)
    if Z.ndim != 2 or len(Z) < 2:
        raise ValueError(
            "supports must hold at least two masks as rows (n_selections, n_features), got shape "
            f"{Z.shape}"
        )
    if Z.dtype.kind != "b" and not np.isin(Z, (0, 1)).all():
        raise ValueError("supports must hold masks of True/False or 1/0, not feature indices")
    return Z.astype(np.float64)


def _pairs(matrix: np.ndarray) -> np.ndarray:
    return matrix[np.tril_indices(len(matrix), -1)]


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
    >>> from sparsieve.scoring.stability import score_of_choosing
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
    sparsieve.scoring.stability.compare_methods : Makes it.
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
    >>> from sparsieve.scoring.stability import compare_methods
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
