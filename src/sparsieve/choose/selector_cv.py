"""How many features? Cross-validate the number along one selection path per fold."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable
from textwrap import fill
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.parallel import delayed
from sklearn.utils.validation import check_is_fitted

from .._checks import MOST_REPEATS, check_choice, check_integer, resolve_count
from ..selectors.base import Count, FeatureScores, RandomState, TrainingData
from ..selectors.least_squares.ridge_forward import RidgeForwardSelector
from ..selectors.target import with_task
from .base import (
    MetaSelector,
    arrays_of,
    check_weighted_classes,
    jobs_for,
    prepared,
    routed,
    weighted,
)
from .final_model import FinalModel
from .folds import CurveWork, score_fold
from .progress import followed, with_callbacks
from .ridge_curve import default_estimator, score_without_features
from .rules import RULES, CountCurve, describe, no_better, nothing_found
from .trials import check_folds, grouped_folds, is_number_of_folds, numbers_to_try, splitter


class SelectorCV(FinalModel, MetaSelector):
    """Choose the number of features by cross-validation.

    Every training fold is ranked once, and the estimator is fitted on the first k features of
    that ranking for all k: the curve over k costs one selection per fold. A rule then picks k,
    the selector is fitted on all samples, and the estimator on the selected columns, so that
    the result both transforms and predicts. Features are never chosen with the samples that
    score them.

    Parameters
    ----------
    selector : estimator or None, default=None
        A selector of this package, or an estimator that has ``ranking_``, ``scores_``,
        ``feature_importances_`` or ``coef_`` after fit; also at the end of a pipeline. Its own
        ``n_features_to_select`` is replaced. None is :class:`RidgeForwardSelector`.
    estimator : estimator or None, default=None
        The model that scores the selections. None is ridge regression on standardised columns
        with a strength of a tenth of the number of samples (``RidgeClassifier`` for classes),
        whose scores at all k come from one factorisation per fold.
    ks : "auto" or array-like of int, default="auto"
        Numbers of features to try; "auto" takes up to 20 between 1 and 100, evenly spaced in
        logarithm.
    rule : {"best", "one_se", "elbow"}, default="best"
        Which k to take from the curve, smoothed over neighbouring k. "best" is the middle of all
        k that are as good as the highest score: where the top of a flat curve lies is a matter
        of chance, its middle is not; where no k is clearly better than a guess without features
        it is what "one_se" takes. "one_se" is the smallest k within one standard error of
        the highest score. "elbow" is the k where the curve bends most, seen from the line
        between its start and its top.
    cv : int, splitter or iterable, default=5
        An integer is the number of folds, shuffled and, for classes, stratified; where ``fit``
        gets ``groups``, these stay together. A splitter or an iterable of (train, test) is used
        as it is.
    n_repeats : int, default=4
        How often an integer ``cv`` is repeated with other folds. Every fold costs a fit of the
        selector, so the default is 20 of them, and one for all samples.
    scoring : str, callable or None, default=None
        As in scikit-learn; None is the score of the estimator.
    random_state : int, RandomState instance or None, default=0
        Seed of what is random.
    n_jobs : int or None, default=None
        Number of parallel jobs; None is 1 and -1 is all cores.
    verbose : int, default=0
        1 prints every iteration; here a line per fold.

    Attributes
    ----------
    best_k_ : int
        The number of features that ``rule`` chose.
    best_score_ : float
        Mean score at ``best_k_``.
    k_by_rule_ : dict
        The number of features each rule would choose.
    plateau_ : tuple of int
        The smallest and the largest number of features that are as good as the highest score:
        they give away no more than 4 % of it and no more than one standard error of the
        difference.
    beats_guess_ : bool or None
        Whether the highest score is more than two standard errors above that of a guess without
        features; None where that is not known, with an ``estimator`` or ``scoring`` of your own.
    ks_ : ndarray of shape (n_ks,)
        The numbers of features tried.
    cv_results_ : dict of ndarrays
        ``param_k``, ``params``, ``split0_test_score``, ..., ``mean_test_score``,
        ``std_test_score``, ``rank_test_score``, ``smooth_test_score`` (the curve that the rules
        see) and ``error_test_score`` (standard errors of the means, with the samples that
        training parts share taken into account), one value per k; ``mean_fit_time`` and
        ``mean_score_time`` are seconds of a fold's selection and of all its models.
    selector_ : estimator
        The selector fitted on all samples.
    estimator_ : estimator
        The model fitted on the selected columns of all samples.
    scores_, ranking_ : ndarray of shape (n_features,)
        Of ``selector_``; where it has only a ranking, the scores are the ranks read backwards.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    scorer_ : callable
        What scored the models.
    n_splits_ : int
        Number of folds.

    See Also
    --------
    sparsieve.AccuracyCurveDisplay : Draws the scores, with ``from_estimator(search)``.

    Notes
    -----
    ``groups`` goes to the splitter and ``sample_weight`` to the selector and the estimator;
    with ``sklearn.set_config(enable_metadata_routing=True)`` each goes where it is requested.
    Weights count in the scores only where the scorer requests them, as in scikit-learn.

    On 16 data sets that no setting was chosen on (linear SVM on samples held out), "best" kept 60
    features on average and was 0.8 points of accuracy (standard error 0.6) below always keeping
    100; "one_se" kept 36 and was 2.4 (0.9) below, no better than always keeping 30 (2.1, 1.0).
    Keeping fewer features costs accuracy: rules that take the smallest k within two paired
    standard errors and 2, 3 or 4 % of the top were 1.4, 1.4 and 2.1 points below at 52, 45 and 42
    features.

    Without an ``estimator`` the object does not know before ``fit`` whether it classifies, so
    ``cross_val_score`` around it needs ``cv=StratifiedKFold()`` to get stratified folds.

    With scikit-learn 1.9 and later, callbacks such as ``sklearn.callback.ProgressBar`` are told of
    every fold: ``SelectorCV().set_callbacks(ProgressBar()).fit(X, y)``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sparsieve import SelectorCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> search = SelectorCV(rule="one_se").fit(X, y)
    >>> search.best_k_, search.k_by_rule_["best"]
    (4, 15)
    >>> search.transform(X).shape
    (569, 4)
    >>> bool(search.score(X, y) > 0.9)
    True
    >>> print(search.report())
    The mean score is highest, 0.954 (standard error 0.011), at 30 features; anything from 7 to
    30 features is as good. Best: 15 features with 0.953, about the middle of these. Smallest
    adequate: 4 with 0.944, within one standard error of the highest. Kept: 4 (rule 'one_se').
    """

    def __init__(
        self,
        selector: Any = None,
        *,
        estimator: Any = None,
        ks: str | Iterable[int] = "auto",
        rule: str = "best",
        cv: Any = 5,
        n_repeats: int = 4,
        scoring: Any = None,
        random_state: RandomState = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.selector = selector
        self.estimator = estimator
        self.ks = ks
        self.rule = rule
        self.cv = cv
        self.n_repeats = n_repeats
        self.scoring = scoring
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    # Made again from ``scoring`` where a file is loaded.
    _not_saved: ClassVar[tuple[str, ...]] = (*MetaSelector._not_saved, "scorer_")

    def _restored(self) -> None:
        """Complete what was loaded from a file."""
        if hasattr(self, "support_"):
            model = getattr(self, "estimator_", None) or self._models()[1]
            self.scorer_ = check_scoring(model, self.scoring)

    def _models(self, data: TrainingData | None = None) -> tuple:
        """The selector and the estimator, as given or by default."""
        selector, estimator = self.selector, self.estimator
        if selector is None:
            selector = weighted(RidgeForwardSelector())
        if estimator is None:
            target, n_samples = (data.target, data.design.shape[0]) if data else (None, 1)
            estimator = weighted(default_estimator(target, n_samples))
        return selector, estimator

    def _members(self):
        # The estimator's own needs show in its own messages; it may sit in a pipeline.
        return [self._models()[0]]

    @property
    def _scale_free(self):  # type: ignore[override]
        return False  # the estimator may not be, and predicts from the columns as they are

    @property
    def _accepts_regression(self) -> bool:  # type: ignore[override]
        scores_classes = self.estimator is not None and is_classifier(self.estimator)
        return super()._accepts_regression and not scores_classes

    def _members_with_task(self, task: str) -> dict[str, Any]:
        return {"selector": with_task(self._models()[0], task)}

    def _check_parameters(self) -> None:
        check_choice("rule", self.rule, RULES)
        check_integer("n_repeats", self.n_repeats, maximum=MOST_REPEATS)

    @with_callbacks
    def fit(self, X: Any, y: Any, **params: Any) -> SelectorCV:  # type: ignore[override]
        """Score all numbers of features on every fold, choose one, fit on all samples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Class labels or targets.
        **params : dict
            ``groups`` for the splitter and ``sample_weight`` for the models.

        Returns
        -------
        self : object
            The fitted object.
        """
        self._check_parameters()
        found = self._fit(self._training_data(X, y, None), params)
        self.scores_ = found.scores
        self.support_ = self.ranking_ <= found.n_kept
        return self

    def _fit(self, data: TrainingData, params=None) -> FeatureScores:
        selector, estimator = self._models(data)
        check_weighted_classes(params or {}, data.target)
        self.ks_ = numbers_to_try(self.ks, data.design.shape[1])
        self.scorer_ = check_scoring(estimator, self.scoring)
        task = data.target.task
        repeated = self.cv, self.n_repeats, self.random_state
        arguments = routed(
            self,
            params or {},
            weighted_members={"selector": selector, "estimator": estimator},
            direct={"groups": ("splitter", "split")},
        )
        X, y = arrays_of(data)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="The least populated class")
            given = arguments.splitter.split
            if is_number_of_folds(self.cv) and given.get("groups") is not None:
                folds = grouped_folds(*repeated, data.target, given["groups"])
            else:
                folds = list(splitter(*repeated, data.target).split(X, y, **given))
                folds = check_folds(folds, X.shape[0])
        work = CurveWork(
            X,
            y,
            data.target,
            prepared(selector, int(self.ks_[-1]), task),
            estimator,
            self.scorer_,
            self.ks_,
            arguments,
            ours=self.estimator is None,
            # The shortcut knows accuracy and R squared, not the exact matches of label sets.
            fast=self.estimator is None and self.scoring is None and task != "multilabel",
        )
        tasks = (delayed(score_fold)(work, train, test, self.verbose) for train, test in folds)
        results = followed(self, tasks, len(folds), name="fold", n_jobs=jobs_for(X, self.n_jobs))
        self.n_splits_ = len(folds)
        test_share = float(np.mean([len(test) / len(train) for train, test in folds]))
        self._choose(
            results, test_share, score_without_features(data.target) if work.fast else None
        )
        return self._refit_on_all(work)

    def _choose(self, results: list, test_share: float, guess: float | None) -> None:
        scores = np.array([scores for scores, *_ in results]).T
        if np.isnan(scores).any():
            raise ValueError(
                "some scores of the cross-validation are NaN; choose folds with more samples or "
                "another scoring"
            )
        curve = CountCurve(self.ks_, scores, test_share)
        means = scores.mean(axis=1)
        self.cv_results_ = {
            "param_k": self.ks_.copy(),
            "params": [{"k": int(k)} for k in self.ks_],
            **{f"split{i}_test_score": column for i, column in enumerate(scores.T)},
            "mean_test_score": means,
            "std_test_score": scores.std(axis=1),
            "rank_test_score": 1 + (means[None, :] > means[:, None] + 1e-12).sum(axis=1),
            "smooth_test_score": curve.smooth,
            "error_test_score": curve.standard_errors,
            "mean_fit_time": np.full(len(means), np.mean([r[1] for r in results])),
            "mean_score_time": np.full(len(means), np.mean([r[2] for r in results])),
        }
        chosen = {name: rule(curve) for name, rule in RULES.items()}
        self.beats_guess_ = None if guess is None else not no_better(curve, guess)
        self._guess = guess
        if self.beats_guess_ is False:
            # The middle of a curve that chance drew is no number to keep features by.
            chosen["best"] = chosen["one_se"]
        self.k_by_rule_ = {name: int(self.ks_[i]) for name, i in chosen.items()}
        self.best_k_ = self.k_by_rule_[self.rule]
        self.best_score_ = float(means[chosen[self.rule]])
        first, last = curve.as_good
        self.plateau_ = (int(self.ks_[first]), int(self.ks_[last]))
        self._told = describe(curve, chosen, guess)

    @property
    def score_meaning(self) -> str:
        """What ``scores_`` say, in one sentence for their reader."""
        fitted = getattr(self, "selector_", None)
        if fitted is not None and not hasattr(fitted, "scores_"):
            return "The ranks read backwards: the best feature has the largest number."
        return getattr(fitted or self._models()[0], "score_meaning", self._score_meaning)

    @property
    def nothing_found(self) -> str:
        """A sentence for the user where no number of features beats a guess, else nothing."""
        check_is_fitted(self)
        if self._guess is None or self.beats_guess_:
            return ""
        return nothing_found(self._guess)

    def report(self) -> str:
        """Say in words how the score depends on the number of features."""
        check_is_fitted(self)
        return fill(f"{self._told} Kept: {self.best_k_} (rule {self.rule!r}).", 92)

    def _refit_on_all(self, work: CurveWork) -> FeatureScores:
        # The same long path as in the folds, so that the curve speaks of this selection.
        fitted, self.ranking_ = work.rank(slice(None))
        columns = self.ranking_ <= self.best_k_
        self.selector_ = fitted.at(self.best_k_) if hasattr(fitted, "at") else fitted
        fit_params = work.arguments.estimator.fit
        self.estimator_ = clone(work.estimator).fit(
            work.columns(slice(None), columns), work.y, **fit_params
        )
        backwards = len(self.ranking_) + 1.0 - self.ranking_
        scores = np.asarray(getattr(fitted, "scores_", backwards), dtype=np.float64)
        return FeatureScores(scores, n_kept=self.best_k_)

    def at(self, n_features: Count) -> SelectorCV:
        """Return this selection at another number of features, without refitting.

        Parameters
        ----------
        n_features : int, float or None
            A number up to the largest of ``ks`` (or any, where the selector ranks all features),
            a fraction, or None for the number that the rule chose.

        Returns
        -------
        selector : SelectorCV
            A fitted copy with another ``support_``. It transforms but does not predict, because
            its model was fitted on other columns.
        """
        check_is_fitted(self)
        count = resolve_count(n_features, len(self.ranking_), self.best_k_)
        other = copy.copy(self)
        other.support_ = self.ranking_ <= count
        if hasattr(self.selector_, "at"):
            other.selector_ = self.selector_.at(count)
        if count != self.best_k_:
            del other.estimator_
        return other

    # -- scikit-learn --------------------------------------------------------------------

    def get_metadata_routing(self):
        """Who gets ``groups``, ``sample_weight`` and other metadata."""
        selector, estimator = self._models()
        mapping = {
            "selector": (selector, "fit"),
            "estimator": (estimator, "fit"),
            "splitter": (splitter(self.cv, self.n_repeats, self.random_state), "split"),
            "scorer": (check_scoring(estimator, self.scoring), "score"),
        }
        router = MetadataRouter(owner=self)
        for name, (member, method) in mapping.items():
            router.add(
                **{name: member}, method_mapping=MethodMapping().add(caller="fit", callee=method)
            )
        return router

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        if self.estimator is not None:
            of_model = get_tags(self.estimator)
            tags.estimator_type = of_model.estimator_type
            tags.target_tags.multi_output &= of_model.target_tags.multi_output
            tags.classifier_tags = copy.deepcopy(of_model.classifier_tags)
            if tags.classifier_tags is not None:
                tags.classifier_tags.multi_label &= tags.target_tags.multi_output
            tags.regressor_tags = copy.deepcopy(of_model.regressor_tags)
        return tags
