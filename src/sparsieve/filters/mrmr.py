"""Minimum redundancy, maximum relevance: greedy selection by pairwise comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np

from .._checks import check_choice
from .._saved import Floats
from .._wings import load_entry
from ..design import DesignMatrix, standardise_columns, without_samples
from ..selectors.base import DEFAULT_COUNT, BaseSelector, FeatureScores, TrainingData
from ..selectors.groups import open_groups
from ..selectors.path_selector import entry_path
from ..selectors.preparation import of_several_columns
from ..solvers.base import Path
from ..validation.feature_groups import FeatureGroups
from .base import constant_columns, correlations
from .criteria import (
    CFS,
    Correlation,
    Criterion,
    GroupCorrelation,
    InformationCriterion,
    best_first,
)
from .information import Information, check_discretisation, target_codes
from .statistics import f_statistics

CORRELATION_CRITERIA = ("fcq", "fcd")
INFORMATION_CRITERIA = ("mid", "miq", "jmi", "cife", "cmim")
CRITERIA = (*CORRELATION_CRITERIA, *INFORMATION_CRITERIA, "cfs")
SEARCHES = ("forward", "best-first")

_MEANINGS = {
    "fcq": "F statistic divided by the mean absolute correlation with the features selected before",
    "fcd": "F statistic minus the mean absolute correlation with the features selected before",
    "mid": "Mutual information with the class minus the mean with the features selected before",
    "miq": (
        "Mutual information with the class divided by the mean with the features selected before"
    ),
    "jmi": "Mean joint information about the class with each feature selected before, in nats",
    "cife": (
        "Mutual information with the class, plus conditional minus marginal information "
        "shared with the features selected before, in nats"
    ),
    "cfs": (
        "Merit of the set with this feature: correlation with the target relative to "
        "correlation within the set"
    ),
    "cmim": "Smallest information about the class given any one feature selected before, in nats",
}


@dataclass(eq=False, repr=False, kw_only=True)
class MRMRSelector(BaseSelector):
    """Add features that are relevant to the target and not redundant, one at a time (mRMR).

    In short: Adds features one at a time: related to the target, but not to those already selected.

    Criteria for feature x, given the selected features S:

    ======== ==================================================================================
    "fcq"    F statistic divided by the mean of ``|correlation|`` over S
    "fcd"    F statistic minus that mean
    "mid"    I(x; y) minus the mean of I(x; s) over S
    "miq"    I(x; y) divided by that mean
    "jmi"    mean of I(x, s; y) over S
    "cife"   I(x; y) plus the sum of I(x; s | y) - I(x; s) over S
    "cmim"   minimum of I(x; y | s) over S
    "cfs"    merit of S and x together: ``k r / sqrt(k + k (k - 1) q)`` for k features with the
             mean correlation r with the target and q among each other (Hall 2000)
    ======== ==================================================================================

    The first feature is the most relevant one. Correlations of "cfs" are symmetrical uncertainties
    2 I(a; b) / (H(a) + H(b)) of discretised features, or absolute correlations for real-valued
    targets. Its merit decreases when further features are redundant, so with
    ``n_features_to_select=None`` it keeps the set with the largest merit: along the forward path,
    or found by Hall's best-first search, which returns to sets set aside earlier and ends after
    five steps without improvement. F statistics and correlations use the original numbers; in "fcq"
    correlations below 0.001 count as 0.001, and copies of selected features are not added. Mutual
    information is computed from discretised features, in nats, as in Brown et al. (2012). Every
    step costs one pass over the data; ties are broken by column order.

    The search stops at ``n_features_to_select`` features, and :meth:`at` accepts no more. The
    others are ranked by their score at the last step, constant ones last.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or None, default=None
        Number or fraction of features to keep. None keeps ten, or with "cfs" the number with the
        largest merit.
    max_correlation : float or None, default=None
        Pass over a feature whose absolute correlation with a kept one is at least this, until all
        others are used up; ``passed_over_`` names it. 1 passes over exact copies only, None none.
    always_keep : list of int or str, or mask, default=None
        Columns that are always kept, such as known covariates: selected before the first step, so
        that the others must not be redundant given them. They count towards
        ``n_features_to_select`` and rank first.
    never_keep : list of int or str, or mask, default=None
        Columns that are never kept; the others are ranked as if X did not have them.
    criterion : {"fcq", "fcd", "mid", "miq", "jmi", "cife", "cmim", "cfs"}, default="fcq"
        What to maximise; see above. Mutual information with a target of numbers is that with
        ``n_bins`` levels of equal size.
    search : {"forward", "best-first"}, default="forward"
        How to search. "best-first" works only with "cfs" and finds the number of features itself.
    discretize : {"std", "mdl", "frequency"} or None, default="std"
        How to discretise numbers. For the criteria based on mutual information, as in
        :class:`InfoGainSelector`.
    n_bins : int, default=5
        Number of bins of "frequency", and of a target of numbers.
    task : {"auto", "classification", "regression"}, default="auto"
        How to interpret y. "auto" treats text, booleans, categories and whole numbers as classes
        and numbers with fractions as quantities; more than five different whole
        numbers are quantities where their order shows in X, with a warning.
    feature_groups : array-like, dict, list of lists, transformer or "categories", default=None
        Columns that are kept or left out together: one label per column; ``{name: columns}`` or a
        list of lists, by name or position; a fitted ``ColumnTransformer`` or ``OneHotEncoder`` that
        made the columns; "categories" for columns from :func:`~sparsieve.make_preprocessor`.
        Columns in no group stand alone, and groups may overlap. ``n_features_to_select`` then
        counts groups. F statistics and correlations are means over the directions of a group,
        information is that of the combinations of its levels.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Value of the criterion when the feature was added; for features that were not, at the last
        step. The first value has no redundancy term, so do not compare it with the others.
    path_ : Path
        ``path_.features`` are the features in the order in which they were added.
    path_scores_ : ndarray
        Their scores in that order.
    relevance_ : ndarray of shape (n_features,)
        F statistic or mutual information with the target of every feature.
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature, 1 for the best.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    classes_ : ndarray of shape (n_classes,)
        Class labels (classification only).

    See Also
    --------
    sparsieve.FStatisticSelector : F statistics, with p-values.
    sparsieve.RidgeForwardSelector : Forward selection for ridge regression; the default.

    References
    ----------
    C. Ding, H. Peng (2005). Minimum redundancy feature selection from microarray gene
    expression data. Journal of Bioinformatics and Computational Biology 3, 185-205.

    M. A. Hall (2000). Correlation-based feature selection for discrete and numeric class machine
    learning. International Conference on Machine Learning 17, 359-366.

    G. Brown, A. Pocock, M.-J. Zhao, M. Lujan (2012). Conditional likelihood maximisation: a
    unifying framework for information theoretic feature selection. JMLR 13, 27-66.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import MRMRSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> MRMRSelector(n_features_to_select=3).fit(X, y).path_.features
    array([ 6,  9, 12])
    """

    criterion: str = "fcq"
    search: str = "forward"
    discretize: str | None = "std"
    n_bins: int = 5
    task: str = "auto"
    feature_groups: Any = None

    relevance_: Annotated[Floats, "features"] = field(init=False)

    _purposes: ClassVar[tuple[str, ...]] = ("panel",)
    _adjusts_for_kept: ClassVar[bool] = True
    _scale_free: ClassVar[bool | None] = True

    @property
    def score_meaning(self) -> str:
        """One sentence that explains ``scores_``."""
        return (
            f"{_MEANINGS[self.criterion]}, when the feature was added or, if it was not selected, "
            "at the last step; the first value has no redundancy term."
        )

    def _check_parameters(self) -> None:
        check_choice("criterion", self.criterion, CRITERIA)
        check_choice("search", self.search, SEARCHES)
        if self.search == "best-first":
            if self.criterion != "cfs":
                raise ValueError(
                    'search="best-first" needs criterion="cfs", got '
                    f'criterion={self.criterion!r}; pass criterion="cfs" or search="forward"'
                )
            if self.n_features_to_select is not None:
                raise ValueError(
                    'search="best-first" finds the number of features itself; leave '
                    'n_features_to_select=None, or pass search="forward"'
                )
        check_discretisation(self.discretize, self.n_bins)

    @property
    def _accepts_external(self) -> bool:  # type: ignore[override]
        # The others want the levels of all columns, or directions of groups.
        return self.criterion in CORRELATION_CRITERIA and self.feature_groups is None

    def _fit(self, data: TrainingData) -> FeatureScores:
        fixed, groups = data.choices, of_several_columns(data.groups)
        n_units = len(fixed.always)
        judged_as_sets = self.criterion == "cfs"
        default = min(n_units, len(data.target.Y)) if judged_as_sets else DEFAULT_COUNT
        count = fixed.own_count(self.n_features_to_select, default)
        criterion = self._criterion(data)
        relevance, constant = criterion.relevance, constant_columns(data)
        if groups is not None:
            constant = open_groups(data, groups, constant)[1]
        candidates = (relevance > 0) & ~constant & ~fixed.either
        kept = np.flatnonzero(fixed.always).tolist()
        own_end = judged_as_sets and self.n_features_to_select is None
        if self.search == "best-first":
            assert isinstance(criterion, CFS)
            candidates &= np.isin(np.arange(n_units), best_first(criterion, candidates, kept))
            own_end = False  # all of the set, in the order of a forward search within it
        path, path_scores, last = greedy(criterion, candidates, count, kept, until_worse=own_end)
        self.relevance_ = relevance if groups is None else groups.scores_of_columns(relevance)
        self.path_: Path = entry_path(groups, path)
        self.path_scores_: np.ndarray = path_scores
        scores = np.array(last, dtype=np.float64)
        scores[path] = path_scores
        return FeatureScores(
            scores,
            n_kept=len(path) if judged_as_sets else min(DEFAULT_COUNT, len(path)),
            order=path,
            constant=constant,
            complete=False,
        )

    def _criterion(self, data: TrainingData) -> Criterion:
        groups = of_several_columns(data.groups)
        if self.criterion in CORRELATION_CRITERIA:
            if groups is not None:
                return GroupCorrelation(data, groups, self.criterion)
            relevance = f_statistics(data)[0]
            design = _standardise(data)
            if design.is_on_device:
                kind = load_entry("sparsieve.device", "mrmr")
                return kind(design, data.total_weight, relevance, self.criterion)
            return Correlation(design, data.total_weight, relevance, self.criterion)
        if data.target.codes is None and self.criterion == "cfs":
            return _numeric_cfs(data, groups)
        several = target_codes(data, self.n_bins)
        if len(several) > 1:
            raise ValueError(
                f"criterion={self.criterion!r} needs one column of y, but there are "
                f'{len(several)}; pass one of them, or criterion="fcq"'
            )
        information = Information(data, several[0], self.discretize, self.n_bins, groups)
        if self.criterion == "cfs":
            return CFS(information.uncertainty, information.conditional_uncertainty)
        return InformationCriterion(information, self.criterion)


def _numeric_cfs(data: TrainingData, groups: FeatureGroups | None) -> CFS:
    """Absolute correlations with the target (of several the largest) and among the features."""
    if groups is not None:
        found = GroupCorrelation(data, groups, "fcd")
        return CFS(np.sqrt(found.shares.max(axis=1)), found.with_others)
    relevance = np.abs(correlations(data)[0]).max(axis=1)
    among = Correlation(_standardise(data), data.total_weight, relevance, "fcd")
    return CFS(relevance, among.with_others)


def _standardise(data: TrainingData) -> DesignMatrix:
    """Columns whose inner products are their correlations, times the total weight."""
    weights = data.sample_weight
    nothing = np.zeros((data.design.shape[0], 0))
    few = without_samples(data.design, nothing, centre=True, scale=True, sample_weight=weights)
    if few is not None:
        return few[0].design
    return standardise_columns(data.design, centre=True, scale=True, sample_weight=weights).design


def greedy(
    criterion: Criterion,
    candidates: np.ndarray,
    count: int,
    kept: Sequence[int] = (),
    *,
    until_worse: bool = False,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pick up to ``count`` of the candidates; (path, their scores, scores at the last step).

    Features that are ``kept`` are there from the start. With ``until_worse`` the search ends where
    the best score falls below the last one.
    """
    path: list[int] = []
    picked_at: list[float] = []
    free, started = candidates.copy(), False
    last = -np.inf
    for feature in kept:
        last = float(criterion.current(started)[feature]) if until_worse else last
        criterion.add(feature)
        started = True
    for _ in range(min(count, int(candidates.sum()))):
        if path:
            criterion.add(path[-1])
            started = True
        best, score = criterion.best(free, started)
        if until_worse and score <= last:
            break
        path.append(best)
        picked_at.append(score)
        last = score
        free[best] = False
    return np.array(path, dtype=np.intp), np.array(picked_at), criterion.current(started)
