"""The chi-square test of counts, one feature or feature group at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .._checks import format_names
from .._saved import Maybe
from ..design import code_sizes
from ..selectors.base import DEFAULT_COUNT, BaseSelector, FeatureScores, TrainingData
from ..selectors.preparation import of_several_columns
from .base import constant_columns
from .dependence import PValuesMixin
from .group_tests import chi_square_tests, class_basis, log_chi_square


@dataclass(eq=False, repr=False, kw_only=True)
class ChiSquareSelector(PValuesMixin, BaseSelector):
    """Keep the features whose counts depend most on the class.

    In short: For counts (reads, words): features that occur more often in some classes than
    expected by chance.

    X holds counts or other non-negative amounts, as for scikit-learn's ``chi2``. The statistic
    compares the sum of a feature in every class with the sum expected from the size of the class.
    In a feature group the statistics of the columns and their degrees of freedom add up; for the
    0/1 columns of a category this is Pearson's test of independence. Groups are ranked by their
    p-values.

    ``groups`` of ``fit`` says which samples depend on each other, such as those of a patient.
    P-values then divide the statistic by how much this, and counts that spread more than
    independent events do, inflate it (Rao and Scott). Without it, samples that are nearly copies
    of each other are found and treated so, in an X in memory with up to 3,000 samples.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or None, default=None
        Number or fraction of features to keep. None keeps the ten best.
    max_correlation : float or None, default=None
        Pass over a feature whose absolute correlation with a kept one is at least this, until all
        others are used up; ``passed_over_`` names it. 1 passes over exact copies only, None none.
        Of groups it is the multiple correlation: how well the kept group explains the other one,
        adjusted for its number of columns.
    always_keep : list of int or str, or mask, default=None
        Columns that are always kept, such as known covariates. They count towards
        ``n_features_to_select`` and rank first; the others are scored as without this.
    never_keep : list of int or str, or mask, default=None
        Columns that are never kept; the others are ranked as if X did not have them.
    feature_groups : array-like, dict, list of lists, transformer or "categories", default=None
        Columns that are kept or left out together: one label per column; ``{name: columns}`` or a
        list of lists, by name or position; a fitted ``ColumnTransformer`` or ``OneHotEncoder`` that
        made the columns; "categories" for columns from :func:`~sparsieve.make_preprocessor`.
        Columns in no group stand alone, and groups may overlap. ``n_features_to_select`` then
        counts groups.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Chi-square statistic of the sums per class against those expected from class sizes; about
        the number of classes minus one for random counts. With ``feature_groups``: minus the
        logarithm (base 10) of the p-value of the group.
    pvalues_, log_pvalues_ : ndarray of shape (n_features,)
        P-values, not corrected for the number of features, and their natural logarithms, which
        stay finite where a p-value is too small for a floating-point number. Of the columns of a
        group, those of the group.
    assumed_ : str
        Which samples were taken to belong together, in a sentence; empty where p-values count all
        of them as independent.
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature, 1 for the best.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    classes_ : ndarray of shape (n_classes,)
        Class labels.

    See Also
    --------
    sparsieve.FStatisticSelector : F statistics, with p-values.
    sparsieve.InfoGainSelector : Mutual information with the class.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sparsieve import ChiSquareSelector
    >>> X, y = load_digits(return_X_y=True)
    >>> ChiSquareSelector(n_features_to_select=3).fit(X, y).get_support(indices=True)
    array([33, 42, 43])
    """

    feature_groups: Any = None

    _total_weight: Maybe[float] = field(init=False)

    _purposes: ClassVar[tuple[str, ...]] = ("p-values",)
    _accepts_regression: ClassVar[bool] = False
    _accepts_external: ClassVar[bool] = True
    _score_meaning: ClassVar[str] = (
        "Chi-square statistic of the sums per class against those expected from class sizes; "
        "about the number of classes minus one for random counts."
    )

    def _fit(self, data: TrainingData) -> FeatureScores:
        codes, n_classes = data.target.codes, len(data.target.classes)
        observed = data.design.group_sums(codes, n_classes, data.sample_weight).T
        self._check_positive(data)
        sums = observed.sum(axis=1, keepdims=True)
        expected = sums * (code_sizes(codes, n_classes, data.sample_weight) / data.total_weight)
        with np.errstate(invalid="ignore"):
            terms = np.where(sums > 0, (observed - expected) ** 2 / expected, 0.0)
        scores = terms.sum(axis=1)
        self._total_weight = data.total_weight
        if (found := self._inflations(data, lambda: [class_basis(data)])) is not None:
            self._inflation = found[0] * _dispersion(data)
        if (groups := of_several_columns(data.groups)) is not None:
            inflation = vars(self).get("_inflation")
            return chi_square_tests(data, groups, scores, observed, inflation)
        return FeatureScores(scores, n_kept=DEFAULT_COUNT, constant=constant_columns(data))

    def _log_pvalues(self, inflation: np.ndarray | None) -> np.ndarray:
        degrees = len(self.classes_) - 1
        scores = self.scores_ if inflation is None else self.scores_ / inflation
        return log_chi_square(degrees, scores, vars(self).get("_total_weight", 0.0), inflation)

    def _check_positive(self, data: TrainingData) -> None:
        low = data.design.column_minima()
        low[data.fixed.never] = 0
        if not (low < 0).any():
            return
        where = np.flatnonzero(low < 0)
        names = getattr(self, "feature_names_in_", where)
        labels = [names[j] for j in where] if names is not where else where.tolist()
        raise ValueError(
            f"Negative values in data passed to ChiSquareSelector: {len(where)} "
            f"column{'s' * (len(where) != 1)} ({format_names(labels)}); the chi-square "
            "statistic needs "
            "counts or other non-negative amounts"
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


def _dispersion(data: TrainingData) -> np.ndarray:
    """Variance over mean of every column, 1 at least: that of independent events is 1."""
    means, variances = data.design.column_moments(data.sample_weight)
    return np.maximum(np.divide(variances, means, out=np.ones_like(means), where=means > 0), 1.0)
