"""How many features? Cross-validate the number along one selection path per fold."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable
from dataclasses import replace
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
from ..frames.prepare import fitted_on, preparation
from ..selectors.base import Count, FeatureScores, RandomState, TrainingData
from ..selectors.foreign import is_tensor
from ..selectors.least_squares.ridge_forward import RidgeForwardSelector
from ..selectors.target import Target, with_task
from .base import (
    MetaSelector,
    arrays_of,
    check_weighted_classes,
    for_numbers_only,
    jobs_for,
    prepared,
    routed,
    weighted,
)
from .final_model import FinalModel
from .folds import CurveWork, FoldScores, score_fold
from .guess import against_guess
from .progress import followed, with_callbacks
from .ridge_curve import default_estimator, score_without_features
from .rules import RULES, CountCurve, choices, describe
from .trials import (
    check_folds,
    grouped_folds,
    is_number_of_folds,
    learnable,
    numbers_to_try,
    splitter,
)


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
        Which k to take from the curve. A k is as good as the highest mean score if it is behind
        by no more than one standard error of the paired differences over the folds, fewer
        features also by no more than an eighth of what the curve rises; so must be all k between
        it and the highest. "best" lies nine tenths of the way from the fewest of these to the
        most, in logarithm: where the top of a flat curve lies is a matter of chance, and on
        average more features predict better. It passes over k that can gain no more than 1 % of
        the rise on fewer features, and where no k is clearly better than a guess without features
        it is what "one_se" takes. "one_se" is the fewest that are as good. "elbow" is the k where
        the curve bends most, seen from the line between its start and its top.
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
    prepare : "log-cpm", transformer or None, default=None
        What is done to X first, fitted on the training part of every fold: "log-cpm" is
        :class:`~sparsieve.LogCPM`, for raw counts. It must keep the columns. ``transform`` and
        ``predict`` then take X as it was given, and select from what is made of it.

    Attributes
    ----------
    best_k_ : int
        The number of features that ``rule`` chose.
    best_score_ : float
        Mean score at ``best_k_``.
    k_by_rule_ : dict
        The number of features each rule would choose.
    plateau_ : tuple of int
        The smallest and the largest number of features that are as good as the highest mean
        score, see ``rule``.
    beats_guess_ : bool or None
        Whether predictions of held-out samples are better than a guess without features, by a
        test at the level of 5 % that no choice of k enters; None where that is not known, with an
        ``estimator`` or ``scoring`` of your own.
    p_value_ : float or None
        Of that test.
    guess_ : float or None
        Score of a guess without features: the share of the largest class, or 0 for R squared.
    selected_in_folds_ : ndarray of int of shape (n_splits, best_k)
        The ``best_k_`` features that every fold selects, best first.
    ks_ : ndarray of shape (n_ks,)
        The numbers of features tried.
    cv_results_ : dict of ndarrays
        ``param_k``, ``params``, ``split0_test_score``, ..., ``mean_test_score``,
        ``std_test_score``, ``rank_test_score`` and ``error_test_score`` (standard errors of the
        means, with the samples that training parts share taken into account: Nadeau and Bengio
        2003), one value per k; ``mean_fit_time`` and ``mean_score_time`` are seconds of a fold's
        selection and of all its models.
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
    prepare_ : transformer or None
        What ``prepare`` stands for, fitted on all samples.
    n_splits_ : int
        Number of folds.
    n_samples_ : int
        Number of samples.

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
    (5, 25)
    >>> search.transform(X).shape
    (569, 5)
    >>> bool(search.score(X, y) > 0.9)
    True
    >>> print(search.summary())
    The mean score over 20 folds is highest, 0.955 (standard error 0.011), at 12 features;
    anything from 5 (0.954) to 30 (0.953) features is as good, behind by no more than one
    standard error of the paired differences. Chosen by rule: best 25 (0.954), one_se 5 (0.954),
    elbow 2 (0.942). Kept: 5 (rule 'one_se').
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
        prepare: Any = None,
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
        self.prepare = prepare

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

    def _for_numbers_only(self) -> bool:
        scores_numbers = self.estimator is not None and for_numbers_only(self.estimator)
        return scores_numbers or super()._for_numbers_only()

    def _members_with_task(self, task: str) -> dict[str, Any]:
        return {"selector": with_task(self._models()[0], task)}

    def _check_parameters(self) -> None:
        super()._check_parameters()
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
        if self.prepare is not None and is_tensor(X):
            raise TypeError("prepare= needs X in the memory of the host; pass X.cpu().numpy()")
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="The least populated class")
            given = arguments.splitter.split
            if is_number_of_folds(self.cv) and given.get("groups") is not None:
                folds = grouped_folds(*repeated, data.target, given["groups"])
            else:
                folds = list(splitter(*repeated, data.target).split(X, y, **given))
                folds = check_folds(folds, X.shape[0])
                if is_number_of_folds(self.cv):
                    folds = learnable(folds, data.target.codes)
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
            prepare=preparation(self.prepare),
        )
        tasks = (delayed(score_fold)(work, train, test, self.verbose) for train, test in folds)
        results = followed(self, tasks, len(folds), name="fold", n_jobs=jobs_for(X, self.n_jobs))
        self.n_splits_, self.n_samples_ = len(folds), X.shape[0]
        test_share = float(np.mean([len(test) / len(train) for train, test in folds]))
        curve = CountCurve(self.ks_, np.array([r.scores for r in results]).T, test_share)
        self._compare_with_guess(curve, results, data.target, folds, given.get("groups"))
        self._choose(curve, results)
        return self._refit_on_all(work)

    def _compare_with_guess(
        self, curve: CountCurve, results: list[FoldScores], target: Target, folds: list, groups: Any
    ) -> None:
        """Whether anything predicts better than a guess, where the default model says it."""
        self.guess_ = self.p_value_ = self.beats_guess_ = None
        self._warning = ""
        votes = [result.votes for result in results if result.votes is not None]
        if len(votes) < len(results):
            return
        groups = None if groups is None else np.asarray(groups)
        test = against_guess(votes, target.Y, folds, groups)
        self.guess_, self.p_value_ = score_without_features(target), test.p_value
        top = float(curve.means[curve.top])
        self.beats_guess_ = test.passed(top, self.guess_)
        metric = "R squared" if target.codes is None else "accuracy"
        self._warning = test.sentence(top, self.guess_, metric)

    def _choose(self, curve: CountCurve, results: list[FoldScores]) -> None:
        scores = curve.scores
        means = curve.means
        self.cv_results_ = {
            "param_k": self.ks_.copy(),
            "params": [{"k": int(k)} for k in self.ks_],
            **{f"split{i}_test_score": column for i, column in enumerate(scores.T)},
            "mean_test_score": means,
            "std_test_score": scores.std(axis=1),
            "rank_test_score": 1 + (means[None, :] > means[:, None] + 1e-12).sum(axis=1),
            "error_test_score": curve.standard_errors,
            "mean_fit_time": np.full(len(means), np.mean([r.select_seconds for r in results])),
            "mean_score_time": np.full(len(means), np.mean([r.model_seconds for r in results])),
        }
        chosen = choices(curve, beats_guess=self.beats_guess_)
        self.k_by_rule_ = {name: int(self.ks_[i]) for name, i in chosen.items()}
        self.best_k_ = self.k_by_rule_[self.rule]
        self.best_score_ = float(means[chosen[self.rule]])
        first, last = curve.plateau
        self.plateau_ = (int(self.ks_[first]), int(self.ks_[last]))
        self.selected_in_folds_ = np.array([r.order[: self.best_k_] for r in results])
        self._told = describe(curve, chosen, self._warning)

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
        return self._warning

    def summary(self) -> str:
        """Say in words how the score depends on the number of features."""
        check_is_fitted(self)
        return fill(f"{self._told} Kept: {self.best_k_} (rule {self.rule!r}).", 92)

    def _refit_on_all(self, work: CurveWork) -> FeatureScores:
        self.prepare_, X = fitted_on(work.prepare, work.X, slice(None))
        work = replace(work, X=X, prepare=None)
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

    def transform(self, X: Any) -> Any:
        """Reduce X, prepared if ``prepare`` says so, to the selected features."""
        check_is_fitted(self)
        if getattr(self, "prepare_", None) is None:
            return super().transform(X)
        return self._prepared(X)[:, self.support_]

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
        if count != self.best_k_ and hasattr(self, "estimator_"):
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
