"""Tests of whole feature groups: do the columns of a group together depend on the target?

F values of groups of different sizes cannot be compared, p-values can. A score is minus the
logarithm (to base 10) of the p-value, which noise of any size exceeds equally often.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._checks import format_names, warn_user
from ..design import code_sizes, standardise_columns
from ..selectors.base import DEFAULT_COUNT, FeatureScores, TrainingData
from ..selectors.groups import group_bases
from ..solvers.claims.group_distillation import wilks_freedom
from ..validation.feature_groups import FeatureGroups
from .base import centred_target, constant_columns
from .tails import log_chi_square_tail, log_f_tail

MEANING = (
    "Minus the logarithm (base 10) of the p-value of the feature group, tested as a whole: 2 means "
    "that noise does as well in 1 of 100 groups, whatever their size."
)
# An unexplained share below this is rounding: the columns determine the target.
_PERFECT = {np.dtype(np.float64): 1e-13, np.dtype(np.float32): 1e-6}


def group_maxima(values: np.ndarray, groups: FeatureGroups) -> np.ndarray:
    """The largest value of a column of every group."""
    return np.maximum.reduceat(values[groups.members], groups.starts[:-1])


def f_tests(
    data: TrainingData, groups: FeatureGroups, inflation: np.ndarray | None = None
) -> FeatureScores:
    """Minus log10 p of every group: F for numbers, Wilks for classes.

    For numbers this is the F test of the regression on the columns of the group; of several
    targets the smallest p-value counts, times their number. For classes it is the multivariate
    analysis of variance, with Rao's F approximation of Wilks' lambda, which is exact for one or two
    columns and for two or three classes. Where samples belong together, the largest inflation of a
    column of the group says how many count.
    """
    view = standardise_columns(
        data.design, centre=True, scale=True, sample_weight=data.sample_weight, dtype=np.float64
    ).design
    is_classes = data.target.codes is not None
    target = class_basis(data) if is_classes else centred_target(data)
    total = np.full(groups.n_groups, data.total_weight)
    if inflation is not None:
        total /= group_maxima(inflation, groups)
    dtype = np.dtype(data.design.dtype)
    log_p, ranks = np.zeros(groups.n_groups), np.zeros(groups.n_groups, dtype=np.int64)
    for some, bases, ranks[some] in group_bases(view, groups, dtype):
        shares = np.swapaxes(bases, 1, 2) @ target
        log_p[some] = _log_p(shares, ranks[some], total[some], is_classes, _PERFECT[dtype])
    n_targets = target.shape[1] if is_classes else 1
    _warn_of_large(groups, ranks, data.total_weight - 1 - n_targets)
    return _scores(log_p, ranks == 0)


def _log_p(
    shares: np.ndarray, ranks: np.ndarray, total: np.ndarray, is_classes: bool, rounding: float
) -> np.ndarray:
    """Log p of groups from the products of their bases with those of the target."""
    p = np.maximum(ranks, 1).astype(np.float64)
    if is_classes:
        correlations = np.linalg.svd(shares, compute_uv=False)
        left, q = 1.0 - correlations**2, shares.shape[2]
    else:
        left, q = 1.0 - (shares**2).sum(axis=1), 1
    with np.errstate(divide="ignore"):
        log_left = np.log(np.where(left <= rounding, 0.0, left))
    if is_classes:  # Wilks' lambda, one for all classes
        log_left = log_left.sum(axis=1, keepdims=True)
    power, inner = wilks_freedom(p, q, total - 1.0)
    found = np.zeros_like(log_left)
    able = (inner > 0) & (total - 1.0 - q - p + 1.0 > 0) & (ranks > 0)
    above, below = (p * q)[able][:, None], inner[able][:, None]
    with np.errstate(over="ignore"):
        explained = np.expm1(np.maximum(-log_left / power[:, None], 0.0))[able]
    found[able] = log_f_tail(above, below, explained * below / above)
    return found.min(axis=1) + np.log(len(found.T))  # of several targets the best was chosen


def _warn_of_large(groups: FeatureGroups, ranks: np.ndarray, most: float) -> None:
    large = np.flatnonzero(ranks > most)
    if len(large):
        warn_user(
            f"{len(large)} feature group{'s' * (len(large) != 1)} "
            f"({format_names([groups.names[g] for g in large])}) cannot be tested, because so few "
            f"samples allow at most {max(int(most), 0)} independent columns per group; the p-value "
            "is set to 1; make the groups smaller"
        )


def chi_square_tests(
    data: TrainingData,
    groups: FeatureGroups,
    terms: np.ndarray,
    observed: np.ndarray,
    inflation: np.ndarray | None = None,
) -> FeatureScores:
    """Minus log10 p of every group from the chi-square statistics of its columns.

    The statistics of the columns add up, and so do their degrees of freedom. Where the columns of
    a group add up to the same number in every sample, as those of a category do, one column
    follows from the others: this is Pearson's test of independence.

    Parameters
    ----------
    data : TrainingData
    groups : FeatureGroups
    terms : ndarray of shape (n_features,)
        Chi-square statistic of every column.
    observed : ndarray of shape (n_features, n_classes)
        Sum of every column in every class.
    inflation : ndarray of shape (n_features,) or None
        Of every statistic, where samples belong together.
    """
    terms = terms if inflation is None else terms / inflation
    varies = ~constant_columns(data)
    statistic = np.add.reduceat(np.where(varies, terms, 0.0)[groups.members], groups.starts[:-1])
    n_columns = np.add.reduceat(varies[groups.members].astype(np.int64), groups.starts[:-1])
    sizes = code_sizes(data.target.codes, observed.shape[1], data.sample_weight)
    sums = np.add.reduceat(observed[groups.members], groups.starts[:-1], axis=0)
    per_sample = sums.sum(axis=1, keepdims=True) / data.total_weight
    candidates = np.isclose(sums, per_sample * sizes, rtol=1e-6, atol=0.0).all(axis=1)
    candidates &= n_columns > 1
    dependent = np.zeros(groups.n_groups, dtype=np.int64)
    for g in np.flatnonzero(candidates):
        rows = np.asarray(data.design.dense_columns(groups.columns[g])).sum(axis=1)
        dependent[g] = np.ptp(rows) <= 1e-6 * np.abs(rows).max()
    degrees = (n_columns - dependent) * (observed.shape[1] - 1)
    log_p = np.zeros(groups.n_groups)
    able = degrees > 0
    largest = None if inflation is None else group_maxima(inflation, groups)[able]
    log_p[able] = log_chi_square(degrees[able], statistic[able], data.total_weight, largest)
    return _scores(log_p, n_columns == 0)


def log_chi_square(
    degrees: Any, statistic: np.ndarray, total: float, inflation: np.ndarray | None
) -> np.ndarray:
    """Log of the p-values of chi-square statistics that were divided by their inflation.

    The inflation is estimated from n / inflation samples, as a variance is, so that the statistic
    over its degrees of freedom has an F distribution (Rao and Scott's test, as Thomas and Rao
    corrected it for few clusters).
    """
    if inflation is None:
        return log_chi_square_tail(degrees, statistic)
    left = total / inflation - degrees - 1.0
    able = left > 0
    return np.where(able, log_f_tail(degrees, np.where(able, left, 1.0), statistic / degrees), 0.0)


def _scores(log_p: np.ndarray, constant: np.ndarray) -> FeatureScores:
    """No p-value is above 1, but those that would be still have an order."""
    scores = np.abs(np.minimum(log_p, 0.0)) / np.log(10.0)
    return FeatureScores(scores, n_kept=DEFAULT_COUNT, ties=-log_p, constant=constant)


def class_basis(data: TrainingData) -> np.ndarray:
    """Orthonormal columns that span the centred 0/1 columns of the classes, rows weighted."""
    left = np.linalg.svd(centred_target(data), full_matrices=False)[0]
    return left[:, : len(data.target.classes) - 1]
