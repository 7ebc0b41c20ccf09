"""Forward selection with exchanges for likelihoods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar

import numpy as np

from ..._checks import check_integer, check_real
from ..._saved import Bools, Floats, Maybe, Savable
from ...solvers.base import Path, printer
from ...solvers.losses.cox import Cox
from ...solvers.searches.likelihood_forward import (
    EndRule,
    LikelihoodForward,
    SupportsFound,
    explainable,
)
from ...solvers.searches.likelihood_neighbours import RidgeLikelihood
from ..base import FeatureScores, TrainingData
from ..certificates import Certificate, certified_sizes
from ..groups import open_groups
from ..near_copies import make_redundancy
from ..preparation import of_several_columns
from .base import Baselines, LikelihoodSelector, StandardisedLoss
from .proof import ridge_certificate

# With fewer samples per feature than this a likelihood fits noise.
MIN_SAMPLES_PER_FEATURE = 2


@dataclass(frozen=True)
class LikelihoodSupports(Savable):
    """What the search says about all features, or groups, around the support of every size.

    Attributes
    ----------
    path : Path
        Supports.
    costs : list of ndarray
        Of every support, the shares of the null deviance that would be lost without each of them,
        less what noise would explain in a group of the size.
    alone, remaining : ndarray of shape (n_units,)
        The shares that each would explain as the first, and beyond the longest support.
    constant : ndarray of bool of shape (n_units,)
    """

    path: Path
    costs: list[Annotated[Floats, "*"]]
    alone: Annotated[Floats, "units"]
    remaining: Annotated[Floats, "units"]
    constant: Annotated[Bools, "units"]

    def scores_by_size(self, count: int) -> FeatureScores:
        """Scores and order of the features at this size."""
        place = min(count, len(self.path))
        support, longest = self.path.supports[place], self.path.features
        scores = self.remaining.copy()
        others = longest[~np.isin(longest, support)]
        scores[longest] = self.costs[-1]
        scores[support] = self.costs[place]
        return FeatureScores(
            scores,
            n_kept=len(support),
            order=np.concatenate([support, others]),
            ties=self.alone,
            constant=self.constant,
            complete=False,
        )


@dataclass(eq=False, repr=False, kw_only=True)
class LikelihoodForwardSelector(LikelihoodSelector):
    """Forward selection for survival times, counts and rare classes, by their likelihood.

    In short: Adds features one at a time by a Cox, Poisson or logistic regression, and exchanges
    them for better ones. Made for survival times, counts and rare classes.

    Every step adds the feature that improves ``-log likelihood + rho / 2 * ||W||^2`` most, by a
    score test, and fits the model anew. Then selected features are exchanged for others as long as
    that lowers the objective; the best set of every size is kept. One run covers every number of
    features, see :meth:`at`.

    For ordinary classes :class:`RidgeForwardSelector` selects as well and is faster: over 13 data
    sets a logistic loss made no difference. Use this selector for survival times, which no other
    loss treats rightly, for counts, and for classes of a tenth of the samples or less when samples
    outnumber features.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or None, default=None
        Number or fraction of features to keep. None continues while the next feature improves the
        extended Bayesian information criterion.
    max_correlation : float or None, default=None
        Pass over a feature whose absolute correlation with a kept one is at least this, until all
        others are used up; ``passed_over_`` names it. 1 passes over exact copies only, None none.
    loss : {"auto", "logistic", "multinomial", "poisson", "negative-binomial", "cox", "huber"}, \
default="auto"
        Negative log-likelihood. "auto" means logistic for two classes, multinomial for more,
        Poisson for counts (``task="counts"``), Cox for survival times, and Huber's loss, in which
        outliers count by their distance and not by its square, for other numbers
        (``task="regression"``).
    ridge : float, default=0.1
        Ridge relative to the curvature of the loss without features: rho is ``ridge`` times n p (1
        - p) for a class with share p, times the sum of the counts, or times the number of events.
        With 0 the search ends with an error as soon as the features separate the classes perfectly.
    swaps : int, default=5
        Maximum number of exchanges between two sizes; 0 is plain forward selection.
    ties : {"efron", "breslow"}, default="efron"
        Cox: how events at the same time are treated. With tied events only "breslow" treats a
        sample weight of 2 exactly like two copies of the sample.
    dispersion : float, default=1.0
        Negative binomial: the variance of a count with mean mu is mu + dispersion * mu ** 2.
    epsilon : float, default=1.35
        Huber: residuals beyond this many standard deviations of y are outliers. The standard
        deviation is estimated by the median distance of y from its median.
    fit_intercept : bool, default=True
        Fit an unpenalised intercept. A Cox model has none; there, 0 stands for a sample with
        average features.
    standardize : bool, default=True
        Scale columns to unit variance before fitting; constant columns are left unchanged.
    always_keep : list of int or str, or mask, default=None
        Columns that are always kept, such as known covariates. They are never penalised, and the
        other features are judged by what they add to these. They count towards
        ``n_features_to_select`` and rank first.
    never_keep : list of int or str, or mask, default=None
        Columns that are never kept; the model is fitted without them.
    task : {"auto", "classification", "counts", "survival", "regression"}, default="auto"
        How to interpret y. "auto" follows ``loss``, takes a structured array or a frame with the
        columns "time" and "event" as survival times, and anything else as classes.
    class_weight : dict, "balanced" or None, default=None
        Class weights in the loss.
    verbose : int, default=0
        1 prints a line per iteration.
    feature_groups : array-like, dict, list of lists, transformer or "categories", default=None
        Columns that are kept or left out together: one label per column; ``{name: columns}`` or a
        list of lists, by name or position; a fitted ``ColumnTransformer`` or ``OneHotEncoder`` that
        made the columns; "categories" for columns from :func:`~sparsieve.make_preprocessor`.
        Columns in no group stand alone, and groups may overlap. ``n_features_to_select`` then
        counts groups. Every group has a price, what noise would gain in one of its size, so that
        large groups do not win by their size.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Fraction of the null deviance that the feature explains beyond the other selected features,
        estimated by a quadratic model of the loss. For features that were not selected, the
        fraction they would add to the largest selection.
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature, 1 for the first one added; a feature that came in by an exchange has
        the rank of the one it replaced. The best sets of different sizes need not be nested:
        ``at`` with fewer features returns the set found for that number.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    path_ : sparsieve.solvers.base.Path
        The set of every size, its objective, coefficients and intercept.
    coef_ : ndarray of shape (n_outputs, n_features)
        Coefficients of the selected features in the units of X; one output, or one per class if
        there are more than two.
    intercept_ : ndarray of shape (n_outputs,)
        Intercept of every output.
    baseline_times_, baseline_hazard_ : ndarray of shape (n_events,)
        Survival only: times of events and the cumulative baseline hazard (Breslow's estimator), in
        order of strata; see :meth:`predict_survival`.
    strata_ : ndarray of shape (n_strata,)
        Survival with strata only: their labels, sorted.
    objective_ : float
        Negative log-likelihood plus ridge at ``coef_`` on the standardised data.
    optimality_ : float
        What the last Newton step could still gain, relative to half of the null deviance.
    converged_ : bool
        Whether every fit converged.
    n_iter_ : int
        Number of sets that were visited.
    history_ : list of float
        Objective for every number of features.

    See Also
    --------
    sparsieve.RidgeForwardSelector : Forward selection for ridge regression; the default.
    sparsieve.SelectorCV : Chooses the number of features by cross-validation.

    Notes
    -----
    To scikit-learn this is a classifier, a regressor with ``task="counts"``, and neither with
    ``task="survival"``: say so before ``cross_val_score``, which would stratify survival times.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve import LikelihoodForwardSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 20))
    >>> time = rng.exponential(np.exp(-X[:, 3] + X[:, 8]))
    >>> y = np.array([(t < 2, min(t, 2)) for t in time], dtype=[("event", "?"), ("time", "f8")])
    >>> selector = LikelihoodForwardSelector(n_features_to_select=2).fit(X, y)
    >>> selector.get_support(indices=True)
    array([3, 8])
    >>> selector.predict_survival(X[:1], times=[0.5, 1.0]).shape
    (1, 2)
    """

    ridge: float = 0.1
    swaps: int = 5
    feature_groups: Any = None

    _purposes: ClassVar[tuple[str, ...]] = ("panel",)
    _score_meaning: ClassVar[str] = (
        "Fraction of the deviance that the feature explains beyond the other selected features; "
        "for features that were not selected, the fraction they would add."
    )
    _meaning_of_groups: ClassVar[str] = (
        "Fraction of the deviance that the feature group explains beyond the other selected "
        "groups, minus what noise of the same size would explain; for groups that were not "
        "selected, the same if added next."
    )

    path_: Path = field(init=False)
    certificate_: Maybe[Certificate] = field(init=False)
    _by_size: LikelihoodSupports = field(init=False)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_real("ridge", self.ridge, minimum=0)
        check_integer("swaps", self.swaps, minimum=0)

    def _fit(self, data: TrainingData) -> FeatureScores:
        prepared = self._problem(data)
        problem, constant = self._group_problem(data, prepared)
        passing = make_redundancy(self.max_correlation, data)
        problem = replace(problem, redundancy=passing)
        stop, n_open = None, data.choices.n_open
        if self.n_features_to_select is None:
            stop = information_rule(problem, n_open, data.total_weight)
            n_open = max(1, min(n_open, data.design.shape[0] // MIN_SAMPLES_PER_FEATURE))
        result = LikelihoodForward(self._n_own(data, n_open), int(self.swaps), stop).solve(
            problem, callback=printer(self.verbose, type(self).__name__)
        )
        found = result.solution
        self.path_ = self._in_user_units(prepared, found)
        power, noise = explainable(prepared.loss), found.noise
        self._by_size = LikelihoodSupports(
            Path(found.path.supports),
            [(one.costs - noise[one.order]) / power for one in found.by_size],
            (found.alone - noise) / power,
            (found.remaining - noise) / power,
            constant,
        )
        baselines = None
        if isinstance(prepared.loss, Cox):
            predictors = [
                np.asarray(problem.design.dense_columns(one.columns), dtype=np.float64) @ one.W
                + problem.free @ one.free
                for one in found.by_size
            ]
            baselines = Baselines.from_predictors(prepared.loss, predictors)
        self._keep_baselines(baselines)
        self._keep_result(result)
        passed_over = None if passing is None else passing.passed_over
        return replace(self._by_size.scores_by_size(len(self.path_)), passed_over=passed_over)

    def _group_problem(
        self, data: TrainingData, prepared: StandardisedLoss
    ) -> tuple[RidgeLikelihood, np.ndarray]:
        """The problem on features or on groups, and which of them say nothing."""
        problem, groups = prepared.with_ridge(float(self.ridge)), of_several_columns(data.groups)
        if groups is None:
            return problem, prepared.constant
        own, constant = open_groups(data, groups, prepared.constant)
        return replace(problem, groups=own), constant

    def certify(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        n_features: int | Sequence[int] | None = None,
        strata: Any = None,
        entry: Any = None,
    ) -> Certificate:
        """Prove how close the selection is to the best one of the same size.

        The objective of every selection on the path is compared with a lower bound that holds for
        all selections of the same size, also those with near copies that ``max_correlation`` passes
        over. The bound comes from a convex relaxation; it is tight for a
        ridge of 1 and weak for a small one. The proof concerns the training objective, not accuracy
        on new data.

        Parameters
        ----------
        X, y, sample_weight, strata, entry : as given to ``fit``
            The data the selector was fitted on.
        n_features : int, list of int or None, default=None
            Numbers of features to certify; None means every number on the path.

        Returns
        -------
        certificate : Certificate
            Objective (half of the deviance plus the ridge), lower bound, gap and share for every
            number of features; also stored as ``certificate_``.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from sparsieve import LikelihoodForwardSelector
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> selector = LikelihoodForwardSelector(n_features_to_select=3, ridge=1.0).fit(X, y)
        >>> print(selector.certify(X, y, n_features=3))
        These 3 features explain at least 9... % of what the best 3 features could (proven ...).
        """
        data, prepared = self._seen_again(X, y, sample_weight, strata, entry)
        problem, n_always = self._group_problem(data, prepared)[0], data.choices.n_always
        sizes = certified_sizes(n_features, n_always, len(self.path_))
        supports = [self._by_size.path.supports[k] for k in sizes - n_always]
        known = np.asarray(self.path_.objective)[sizes - n_always]
        self.certificate_ = ridge_certificate(problem, sizes, n_always, supports, known)
        return self.certificate_

    def _check_certifiable(self) -> None:
        if self.ridge == 0:
            raise ValueError(
                "LikelihoodForwardSelector was fitted without a ridge, for which there is no "
                "bound; fit it with ridge=1.0"
            )

    def _in_user_units(self, prepared: StandardisedLoss, found: SupportsFound) -> Path:
        both = [prepared.in_few_columns(one.columns, one.W, one.free) for one in found.by_size]
        return Path(
            [np.array(list(dict.fromkeys(one.columns.tolist())), int) for one in found.by_size],
            objective=found.path.objective,
            coefs=[coef for coef, _ in both],
            intercepts=[intercept for _, intercept in both],
        )

    def _set_support(self) -> None:
        wanted = self._choices.count(self.n_features_to_select, self._n_kept)
        found = self._by_size.scores_by_size(wanted - self._choices.n_always)
        self._set_ranking(found.scores, found.ranking())
        super()._set_support()

    def _refit(self, n_chosen: int) -> None:
        place = min(n_chosen, len(self.path_))
        assert self.path_.coefs is not None
        assert self.path_.intercepts is not None
        assert self.path_.objective is not None
        self._keep_coefficients(self.path_.coefs[place].toarray(), self.path_.intercepts[place])
        self.objective_: float = float(self.path_.objective[place])
        self._use_baseline(place)


def information_rule(problem: RidgeLikelihood, n_open: int, n_samples: float) -> EndRule:
    """End where the extended Bayesian information criterion (gamma = 1/2) would rise.

    A feature costs (ln n + ln d) / 2 for every coefficient it brings, a group ln n / 2 for every
    direction of its columns and ln d / 2; what counts as n are the events where there are such, for
    censored samples tell little.
    """
    loss = problem.loss
    size = float(loss.observed.sum()) if isinstance(loss, Cox) else n_samples
    coefficients = loss.n_outputs - int(loss.is_redundant)
    once, each = (0.5 * coefficients * np.log(max(n, 1.0)) for n in (n_open, max(size, 2.0)))
    return lambda n_selected, gain, n_directions: gain <= once + n_directions * each
