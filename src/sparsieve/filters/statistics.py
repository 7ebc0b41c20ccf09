"""Classical tests, one feature or feature group at a time: F and t."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np

from .._beside import to_numpy, where
from .._checks import check_flag
from .._saved import Floats, Maybe
from ..selectors.base import DEFAULT_COUNT, BaseSelector, FeatureScores, TrainingData
from ..selectors.preparation import of_several_columns
from .base import centred_target, check_degrees, class_moments, correlations, ratio
from .dependence import PValuesMixin, log_f_with_fewer
from .group_tests import class_basis, f_tests
from .tails import log_f_tail

FEW_SAMPLES = 8  # of fewer, a variance is not known well enough for Welch's p-values
# 1 - r^2 below this is rounding: the feature is the target, up to a line.
PERFECT_FIT_TOL = {np.dtype(np.float64): 1e-14, np.dtype(np.float32): 1e-6}


@dataclass(eq=False, repr=False, kw_only=True)
class FStatisticSelector(PValuesMixin, BaseSelector):
    """Keep the features with the largest F statistic.

    In short: Scores each feature separately: ANOVA F statistic for classes, correlation for a
    numeric target.

    For classes, the one-way analysis of variance as in scikit-learn's ``f_classif``, with sample
    weights and without loss of precision for columns with a large offset. For real-valued targets,
    r^2 / (1 - r^2) (n - 2) with the correlation r, as in ``f_regression``; with several targets,
    the largest statistic counts. A feature without spread within the classes, or perfectly
    correlated, scores infinity.

    A feature group is tested as a whole: for classes by Wilks' lambda of its columns, for numbers
    by the F test of the regression on them. Groups are ranked by their p-values, because F values
    of groups of different sizes cannot be compared.

    ``groups`` of ``fit`` says which samples depend on each other, such as those of a patient.
    P-values then count as many samples as are independent, given how much the feature and the
    target have in common within groups. Without it, samples that are nearly copies of each other
    are found and treated so, in an X in memory with up to 3,000 samples.

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
    task : {"auto", "classification", "regression"}, default="auto"
        How to interpret y. "auto" treats text, booleans, categories and whole numbers as classes
        and numbers with fractions as quantities; more than five different whole
        numbers are quantities where their order shows in X, with a warning.
    feature_groups : array-like, dict, list of lists, transformer or "categories", default=None
        Columns that are kept or left out together: one label per column; ``{name: columns}`` or a
        list of lists, by name or position; a fitted ``ColumnTransformer`` or ``OneHotEncoder`` that
        made the columns; "categories" for columns from :func:`~sparsieve.make_preprocessor`.
        Columns in no group stand alone, and groups may overlap. ``n_features_to_select`` then
        counts groups.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        F statistic: explained over unexplained variance, each per degree of freedom; about 1 for
        noise. With ``feature_groups``: minus the logarithm (base 10) of the p-value of the group.
    pvalues_, log_pvalues_ : ndarray of shape (n_features,)
        P-values, not corrected for the number of features, and their natural logarithms, which
        stay finite where a p-value is too small for a floating-point number. With several targets
        the smallest p-value counts, times the number of targets. Of the columns of a group, those
        of the group.
    degrees_of_freedom_ : tuple of float
        Degrees of freedom of the explained and the unexplained variance (without groups).
    assumed_ : str
        Which samples were taken to belong together, in a sentence; empty where p-values count all
        of them as independent.
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature, 1 for the best.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    classes_ : ndarray of shape (n_classes,)
        Class labels (classification only).

    See Also
    --------
    sparsieve.TTestSelector : Two-sample t-test of each class against the others.
    sparsieve.ChiSquareSelector : For counts, with p-values.
    sparsieve.FisherSelector : Fisher score: between-class over within-class variance.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import FStatisticSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> FStatisticSelector(n_features_to_select=3).fit(X, y).get_support(indices=True)
    array([ 6, 11, 12])
    """

    task: str = "auto"
    feature_groups: Any = None

    _purposes: ClassVar[tuple[str, ...]] = ("p-values",)
    _scale_free: ClassVar[bool | None] = True
    _accepts_external: ClassVar[bool] = True
    _score_meaning: ClassVar[str] = (
        "F statistic: explained over unexplained variance, each per degree of freedom; about 1 "
        "for noise."
    )
    degrees_of_freedom_: Maybe[tuple[float, float]] = field(init=False)
    _n_targets: int = field(init=False)

    def _fit(self, data: TrainingData) -> FeatureScores:
        is_classes = data.target.codes is not None
        self._n_targets = 1 if is_classes else data.target.Y.shape[1]

        def targets() -> list[np.ndarray]:
            if is_classes:
                return [class_basis(data)]
            return np.hsplit(centred_target(data), self._n_targets)

        if (found := self._inflations(data, targets)) is not None:
            self._inflation = np.max(found, axis=0)
        if (groups := of_several_columns(data.groups)) is not None:
            return f_tests(data, groups, vars(self).get("_inflation"))
        scores, constant, degrees = f_statistics(data)
        self.degrees_of_freedom_ = degrees
        return FeatureScores(scores, n_kept=DEFAULT_COUNT, constant=constant)

    def _log_pvalues(self, inflation: np.ndarray | None) -> np.ndarray:
        explained, unexplained = self.degrees_of_freedom_
        logs = log_f_with_fewer(explained, unexplained, self.scores_, inflation)
        return np.minimum(logs + np.log(self._n_targets), 0.0)


def f_statistics(data: TrainingData) -> tuple[np.ndarray, np.ndarray, tuple[float, float]]:
    """F of every feature (0 for constant ones), the constant columns, degrees of freedom."""
    if data.target.codes is None:
        return _correlation_f(data)
    moments = class_moments(data)
    n_classes = len(moments.sizes)
    degrees = (n_classes - 1, data.total_weight - n_classes)
    check_degrees(degrees[1], data.total_weight, f"the {n_classes} classes")
    scores = ratio(moments.between / degrees[0], moments.within_squares / degrees[1])
    scores = where(moments.constant, 0.0, scores)
    return to_numpy(scores), to_numpy(moments.constant), degrees


def _correlation_f(data: TrainingData) -> tuple[np.ndarray, np.ndarray, tuple[float, float]]:
    degrees = data.total_weight - 2
    check_degrees(degrees, data.total_weight, "2 samples")
    found, constant = correlations(data)
    explained = (found**2).max(axis=1)
    unexplained = 1.0 - explained
    unexplained[unexplained <= PERFECT_FIT_TOL[np.dtype(data.design.dtype)]] = 0.0
    scores = ratio(explained, unexplained) * degrees
    return np.where(constant, 0.0, scores), constant, (1, degrees)


@dataclass(eq=False, repr=False, kw_only=True)
class TTestSelector(PValuesMixin, BaseSelector):
    """Keep the features with the largest t statistic between a class and the others.

    In short: Scores each feature separately: t-test of each class against all the others.

    Every class is compared with all other samples, and the largest ``|t|`` counts; with two classes
    this is the ordinary two-sample test. If one side is a single sample, its variance is unknown,
    and the pooled test is used for that comparison.

    ``groups`` of ``fit`` says which samples depend on each other, such as those of a patient.
    P-values then count as many samples as are independent, given how much the feature and the
    class have in common within groups. Without it, samples that are nearly copies of each other
    are found and treated so, in an X in memory with up to 3,000 samples.

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
    equal_var : bool, default=False
        False uses Welch's test; True pools the variances (Student's test).
    feature_groups : array-like, dict, list of lists, transformer or "categories", default=None
        Columns that are kept or left out together: one label per column; ``{name: columns}`` or a
        list of lists, by name or position; a fitted ``ColumnTransformer`` or ``OneHotEncoder`` that
        made the columns; "categories" for columns from :func:`~sparsieve.make_preprocessor`.
        Columns in no group stand alone, and groups may overlap. ``n_features_to_select`` then
        counts groups; each
        may have one column only, as the test compares single columns.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Largest absolute t statistic of one class against the others: the difference of means in
        standard errors; infinity if neither side has any spread.
    pvalues_, log_pvalues_ : ndarray of shape (n_features,)
        Two-sided p-values, not corrected for the number of features, and their natural logarithms,
        which stay finite where a p-value is too small for a floating-point number. With more than
        two classes the p-value is that of the largest statistic times the number of classes.
        Where a side has fewer than 8 samples or no spread, Welch's p-values are too small; there
        the larger one of Welch's and Student's test counts.
    degrees_of_freedom_ : ndarray of shape (n_features,)
        Degrees of freedom of the largest statistic, after Welch and Satterthwaite unless
        ``equal_var``; where samples belong together, of as many as are independent.
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
    sparsieve.FisherSelector : Fisher score: between-class over within-class variance.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import TTestSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> TTestSelector(n_features_to_select=3).fit(X, y).get_support(indices=True)
    array([ 6, 11, 12])
    """

    equal_var: bool = False
    feature_groups: Any = None
    degrees_of_freedom_: Annotated[Floats, "features"] = field(init=False)
    # What p-values are made of: t, Student's t where that counts too, and its degrees of freedom.
    _statistic: Annotated[Floats, "features"] = field(init=False)
    _pooled: Annotated[Floats, "features"] = field(init=False)
    _pooled_freedom: Annotated[Floats, "features"] = field(init=False)

    _purposes: ClassVar[tuple[str, ...]] = ("markers", "p-values")
    _single_columns_only: ClassVar[bool] = True
    _scale_free: ClassVar[bool | None] = True
    _accepts_external: ClassVar[bool] = True
    _accepts_regression: ClassVar[bool] = False
    _score_meaning: ClassVar[str] = (
        "Largest absolute t statistic of one class against the others: the difference of means "
        "in standard errors."
    )

    def _check_parameters(self) -> None:
        check_flag("equal_var", self.equal_var)

    def _fit(self, data: TrainingData) -> FeatureScores:
        if of_several_columns(data.groups) is not None:
            raise ValueError(
                "TTestSelector compares one column at a time and cannot test feature_groups of "
                "several columns; use FStatisticSelector"
            )
        check_degrees(data.total_weight - 2, data.total_weight, "2 samples")
        moments = class_moments(data).to_numpy()
        n_classes = len(moments.sizes)
        inflations = self._inflations(data, lambda: np.hsplit(centred_target(data), n_classes))
        n_features = data.design.shape[1]
        found = _Largest.none(n_features, data.total_weight - 2)
        fewer = _Largest.none(n_features, data.total_weight - 2)
        for k in range(n_classes if n_classes > 2 else 1):
            rest = np.arange(len(moments.sizes)) != k
            sizes = moments.sizes[rest]
            mean = sizes @ moments.means[rest] / sizes.sum()
            squares = moments.squares[rest].sum(axis=0)
            squares += sizes @ (moments.means[rest] - mean) ** 2
            squares = np.array([moments.squares[k], squares])
            squares[squares <= moments.rounding] = 0.0
            counts = np.array([[moments.sizes[k]], [sizes.sum()]])
            gap = np.abs(moments.means[k] - mean)
            found.compare(gap, counts, squares, self.equal_var)
            if inflations is not None:
                less = inflations[k]
                fewer.compare(gap, counts / less, squares / less, self.equal_var)
        tested = found if inflations is None else fewer
        self.degrees_of_freedom_, self._pooled = tested.freedom, tested.pooled
        self._pooled_freedom = tested.pooled_freedom
        self._statistic = np.where(moments.constant, 0.0, tested.statistic)
        scores = np.where(moments.constant, 0.0, found.statistic)
        return FeatureScores(scores, n_kept=DEFAULT_COUNT, constant=moments.constant)

    def _log_pvalues(self, inflation: np.ndarray | None) -> np.ndarray:
        logs = np.maximum(
            log_f_tail(1, self.degrees_of_freedom_, self._statistic**2),
            log_f_tail(1, self._pooled_freedom, self._pooled**2),
        )
        n_classes = len(self.classes_)
        return np.minimum(logs + np.log(n_classes if n_classes > 2 else 1), 0.0)


@dataclass
class _Largest:
    """The largest t statistic of every feature so far, and what its p-value needs.

    ``pooled`` is Student's statistic where that counts too, and infinite elsewhere.
    """

    statistic: np.ndarray
    freedom: np.ndarray
    pooled: np.ndarray
    pooled_freedom: np.ndarray

    @classmethod
    def none(cls, n_features: int, freedom: float) -> _Largest:
        own = np.full((2, n_features), freedom)
        return cls(np.zeros(n_features), own[0], np.full(n_features, np.inf), own[1])

    def compare(self, gap: Any, counts: Any, squares: np.ndarray, equal_var: bool) -> None:
        """Compare two sides of so many samples, which may differ by feature."""
        together = np.broadcast_to(counts.sum(axis=0) - 2.0, gap.shape)
        pooled = squares.sum(axis=0) / np.maximum(together, 1e-9)
        error, student = np.sqrt(pooled * (1 / counts).sum(axis=0)), np.full(gap.shape, np.inf)
        freedom = together
        if not equal_var:
            known = np.broadcast_to(counts.min(axis=0) > 1, gap.shape)  # variances of both sides
            parts = squares / np.where(known, (counts - 1) * counts, 1.0)
            variance = parts.sum(axis=0)
            spread = (parts**2 / np.where(known, counts - 1, 1.0)).sum(axis=0)
            with np.errstate(invalid="ignore", divide="ignore"):
                welch = np.where(spread > 0, variance**2 / spread, together)
            doubtful = (counts.min(axis=0) < FEW_SAMPLES) | (squares == 0.0).any(axis=0)
            student = np.where(doubtful, ratio(gap, error), np.inf)
            error = np.where(known, np.sqrt(variance), error)
            freedom = np.where(known, welch, together)
        larger = (statistic := ratio(gap, error)) > self.statistic
        larger &= together > 0  # two samples that count say nothing
        self.statistic = np.where(larger, statistic, self.statistic)
        self.freedom = np.where(larger, freedom, self.freedom)
        self.pooled = np.where(larger, student, self.pooled)
        self.pooled_freedom = np.where(larger, together, self.pooled_freedom)
