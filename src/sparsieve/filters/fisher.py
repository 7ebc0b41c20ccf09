"""The Fisher score: between-class over within-class variance, feature by feature or jointly."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from .._beside import to_numpy, where
from .._checks import check_flag, check_real
from ..design import Coded, code_sizes, standardise_columns, without_samples
from ..selectors.base import DEFAULT_COUNT, BaseSelector, ClassWeight, FeatureScores, TrainingData
from ..selectors.preparation import project_fixed_out
from ..solvers.base import LeastSquares, Path
from ..solvers.searches.forward import ForwardSelection
from .base import class_moments, ratio
from .dependence import PValuesMixin, log_f_with_fewer
from .group_tests import class_basis


@dataclass(eq=False, repr=False, kw_only=True)
class FisherSelector(PValuesMixin, BaseSelector):
    """Fisher score: keep features whose class means are far apart compared with their spread.

    In short: Scores each feature separately: distance between class means compared with the spread
    within classes.

    The score of feature j is sum_k n_k (mu_kj - mu_j)^2 / sum_k n_k var_kj; the F statistic of
    a one-way analysis of variance is this score times (n - c) / (c - 1), so the ranking is the
    same. A feature that separates the classes perfectly (no spread within any class) scores
    infinity.

    Scored separately, redundant features are all kept. The generalised Fisher score evaluates a set
    of features S jointly: on standardised columns it is

        tr[(S_t + ridge I)^-1 S_b]

    with the total and between-class covariance matrices of the features in S. It is maximised
    greedily: every step adds the feature that increases it most. (Gu, Li and Han solve a convex
    relaxation for a fixed number of features instead; the greedy sets are nested, so one fit covers
    every number.) For one feature it is s / ((1 + s) (1 + ridge)) with s the Fisher score, so the
    first feature is the same. Features that were not added are ranked by what they would add next.

    ``groups`` of ``fit`` says which samples depend on each other, such as those of a patient. It
    makes no difference to scores; p-values then count as many samples as are independent. Without
    it, samples that are nearly copies of each other are found and treated so, in an X in memory
    with up to 3,000 samples.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or None, default=None
        Number or fraction of features to keep. None keeps the ten best.
    max_correlation : float or None, default=None
        Pass over a feature whose absolute correlation with a kept one is at least this, until all
        others are used up; ``passed_over_`` names it. 1 passes over exact copies only, None none.
    always_keep : list of int or str, or mask, default=None
        Columns that are always kept, such as known covariates. They count towards
        ``n_features_to_select`` and rank first; the others are scored as without this, or with
        ``generalized`` by what they add to these, which have no ridge.
    never_keep : list of int or str, or mask, default=None
        Columns that are never kept; the others are ranked as if X did not have them.
    generalized : bool, default=False
        Select features jointly by the generalised Fisher score.
    ridge : float, default=0.1
        Ridge of the generalised score, relative to the unit variance of the columns; 0 uses the
        covariance matrix unchanged. Ignored by the plain score.
    class_weight : dict, "balanced" or None, default=None
        Class weights in the loss.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Between-class variance divided by within-class variance. Generalised: what the feature
        added, as a fraction of the largest possible score ((c - 1) / (1 + ridge) for c classes);
        for features that were not added, what they would add next.
    pvalues_, log_pvalues_ : ndarray of shape (n_features,)
        P-values of the F test, not corrected for the number of features, and their natural
        logarithms; for the plain score without ``class_weight``.
        :func:`~sparsieve.permutation_null` gives p-values of the others.
    assumed_ : str
        Which samples were taken to belong together, in a sentence; empty where p-values count all
        of them as independent.
    path_ : Path
        Features in the order in which they were added, and c - 1 minus the generalised score after
        each (generalised only).
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature, 1 for the best.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    classes_ : ndarray of shape (n_classes,)
        Class labels.

    See Also
    --------
    sparsieve.FStatisticSelector : F statistics, with p-values.
    sparsieve.MRMRSelector : Relevant features that are not redundant.

    References
    ----------
    Q. Gu, Z. Li, J. Han (2011). Generalized Fisher score for feature selection. Uncertainty in
    Artificial Intelligence 27, 266-273.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import FisherSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> FisherSelector(n_features_to_select=3).fit(X, y).get_support(indices=True)
    array([ 6, 11, 12])
    >>> FisherSelector(3, generalized=True).fit(X, y).get_support(indices=True)
    array([0, 6, 9])
    """

    generalized: bool = False
    ridge: float = 0.1
    class_weight: ClassWeight = None

    _total_weight: float = field(init=False)

    _purposes: ClassVar[tuple[str, ...]] = ("p-values",)
    _scale_free: ClassVar[bool | None] = True
    _accepts_external: ClassVar[bool] = True
    _accepts_regression: ClassVar[bool] = False

    @property
    def _adjusts_for_kept(self) -> bool:  # type: ignore[override]
        return bool(self.generalized)

    @property
    def score_meaning(self) -> str:
        """One sentence that explains ``scores_``."""
        if self.generalized:
            return (
                "What the feature added to the generalised Fisher score, as a fraction of the "
                "largest possible score; for features that were not selected, what they would "
                "add next."
            )
        return "Fisher score: between-class variance divided by within-class variance."

    def _check_parameters(self) -> None:
        check_flag("generalized", self.generalized)
        check_real("ridge", self.ridge, minimum=0)

    def _fit(self, data: TrainingData) -> FeatureScores:
        self._total_weight = data.total_weight
        if self.generalized:
            self.assumed_ = ""
            return self._fit_jointly(data)
        if (found := self._inflations(data, lambda: [class_basis(data)])) is not None:
            (self._inflation,) = found
        moments = class_moments(data)
        scores = where(moments.constant, 0.0, ratio(moments.between, moments.within_squares))
        constant = to_numpy(moments.constant)
        return FeatureScores(to_numpy(scores), n_kept=DEFAULT_COUNT, constant=constant)

    def _log_pvalues(self, inflation: np.ndarray | None) -> np.ndarray:
        if self.generalized or self.class_weight is not None:
            raise AttributeError(
                "FisherSelector has p-values for the plain score without class_weight; "
                "permutation_null gives them for others"
            )
        between = len(self.classes_) - 1
        within = self._total_weight - between - 1
        return log_f_with_fewer(between, within, self.scores_ * within / between, inflation)

    def _fit_jointly(self, data: TrainingData) -> FeatureScores:
        """Forward selection for ridge regression on Y (Y'Y)^(-1/2): the same objective.

        With centred X and H = Y (Y'Y)^(-1/2), X'H H'X is the between-class scatter, and
        tr[(X'X + g I)^-1 X'H H'X] is what a ridge regression of H on X explains.
        """
        weights = data.sample_weight
        n_classes = len(data.target.classes)
        sizes = code_sizes(data.target.codes, n_classes, weights)
        table = (np.eye(n_classes) - sizes / data.total_weight) / np.sqrt(sizes)
        members = Coded(data.target.codes, table)
        few = without_samples(data.design, members, centre=True, scale=True, sample_weight=weights)
        if few is not None:
            view, H = few
        else:
            H = np.asarray(members)
            view = standardise_columns(data.design, centre=True, scale=True, sample_weight=weights)
            if weights is not None:
                H *= np.sqrt(weights)[:, None]
        left = project_fixed_out(view.design, H, data.fixed)
        problem = LeastSquares(
            left.design,
            left.Y.astype(view.design.dtype),
            ridge=float(self.ridge) * data.total_weight,
            eligible=~(view.constant | left.blank),
        )
        count = data.fixed.own_count(self.n_features_to_select, DEFAULT_COUNT)
        found = ForwardSelection(count).solve(problem).solution
        self.path_: Path = found.path
        order = found.path.features
        scores = found.remaining.copy()
        scores[order] = found.gains
        scores *= (1.0 + float(self.ridge)) / float(np.vdot(H, H))
        return FeatureScores(
            scores,
            n_kept=min(DEFAULT_COUNT, len(order)),
            order=order,
            constant=view.constant,
            complete=False,
        )
