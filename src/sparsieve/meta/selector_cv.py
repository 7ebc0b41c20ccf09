"""How many features? Cross-validate the number along one selection path per fold."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from textwrap import fill
from typing import Annotated, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import check_scoring
from sklearn.utils.parallel import delayed
from sklearn.utils.validation import check_is_fitted

from .._checks import MAX_REPEATS, check_choice, check_integer, resolve_count
from .._saved import Bools, Maybe
from ..preprocessing.prepare import preparation, takes_gaps
from ..scoring.engine import SCORE, FoldScores, columns_of, fitted_on, score_fold
from ..scoring.ridge_path import default_estimator, default_scoring
from ..scoring.selections import at_number, features_at, fit_selection, n_always_kept, ranking_of
from ..selectors.base import Count, FeatureScores, RandomState, TrainingData
from ..validation.columns import FixedColumns
from ..validation.external import is_tensor
from ..validation.target import with_task
from .base import (
    MetaSelector,
    arrays_of,
    check_weighted_classes,
    jobs_for,
    routed,
    weighted,
)
from .final_model import FinalModel
from .guess import against_guess_by_votes, score_without_features
from .progress import followed, with_callbacks
from .rules import RULES, CountCurve, choices, describe
from .trials import numbers_to_try, search_folds, splitter

MODEL = "estimator"  # what the one model is called in the scores of a fold


class SelectorCV(FinalModel):
    """Choose the number of features by cross-validation.

    The selector is fitted once on every training fold, and for all k the estimator is fitted on
    the features of its ``at(k)``: the curve over k costs one selection per fold. A rule then
    picks k, the selector is fitted on all samples, and the estimator on the selected columns, so
    that the result both transforms and predicts. Features are never chosen with the samples that
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
        whose scores at all k come from one factorisation per fold where selections are nested.
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
    prepare : str, transformer, list of these or None, default=None
        What to do to X first, as in :func:`~sparsieve.select` ("impute", "log", "log-cpm"); fitted
        on the training part of every fold. It must keep the columns. ``transform`` and ``predict``
        then prepare X in the same way.

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

    With scikit-learn 1.9 and later, callbacks such as ``sklearn.callback.ProgressBar`` follow
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

    _splits_samples = True  # fit takes ``groups``
    # Made again from ``scoring`` where a file is loaded.
    _not_saved: ClassVar[tuple[str, ...]] = (*MetaSelector._not_saved, "scorer_")

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

    selector_: BaseEstimator
    estimator_: Maybe[BaseEstimator]
    prepare_: Maybe[BaseEstimator | None]
    best_k_: int
    guess_: Maybe[float | None]
    p_value_: Maybe[float | None]
    _description: str
    _fixed: Maybe[FixedColumns]
    _n_kept: Maybe[int]
    _n_ranked: Maybe[int]
    support_: Annotated[Bools, "features"]

    def _models(self, data: TrainingData | None = None) -> tuple[Any, Any]:
        """The selector and the estimator, as given or by default."""
        estimator = self.estimator
        if estimator is None:
            is_classes = data is not None and data.target.task != "regression"
            n_samples = data.design.shape[0] if data else 1
            estimator = weighted(default_estimator(is_classes, n_samples))
        return self._selector(), estimator

    @property
    def _accepts_nan(self) -> bool:  # type: ignore[override]
        return super()._accepts_nan or takes_gaps(preparation(self.prepare))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("rule", self.rule, RULES)
        preparation(self.prepare)  # which refuses what is none
        check_integer("n_repeats", self.n_repeats, maximum=MAX_REPEATS)

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
        self._fit(self._training_data(X, y, None), params)
        return self

    def _fit(self, data: TrainingData, params: Any = None) -> FeatureScores:
        given, task = params or {}, data.target.task
        selector, estimator = self._models(data)
        check_weighted_classes(given, data.target)
        self.ks_ = numbers_to_try(self.ks, data.design.shape[1], n_always_kept(selector))
        self.scorer_ = check_scoring(estimator, self.scoring)
        arguments = routed(
            self,
            given,
            weighted_members={"selector": selector, "estimator": estimator},
            direct={"groups": ("splitter", "split")},
        )
        X, y = arrays_of(data)
        if self.prepare is not None and is_tensor(X):
            raise TypeError("prepare= needs X in the memory of the host; pass X.cpu().numpy()")
        how_often = self.cv, self.n_repeats, self.random_state
        folds = search_folds(*how_often, X, y, data.target, arguments.splitter.split)
        selector = with_task(selector, task)
        how = {
            "ks": self.ks_.tolist(),
            "prepare": preparation(self.prepare),
            "fit_params": arguments.selector.fit,
            "model_params": arguments.estimator.fit,
            "score_params": arguments.scorer.score,
            "need_all": True,
            "models": {MODEL: estimator},
            "dense": self.estimator is None,
            "scorer": self.scorer_,
        }
        if self.estimator is None and self.scoring is None:
            how |= default_scoring(estimator, data.target, folds)
        tasks = (delayed(score_fold)(selector, X, y, *fold, **how) for fold in folds)
        n_jobs, verbose = jobs_for(X, self.n_jobs), self.verbose
        results = followed(self, tasks, len(folds), name="fold", n_jobs=n_jobs, verbose=verbose)
        self.n_splits_, self.n_samples_ = len(folds), X.shape[0]
        test_share = float(np.mean([len(test) / len(train) for train, test in folds]))
        metric = how.get("metrics", [SCORE])[0]
        scores = np.array([result.curve(MODEL, metric) for result in results]).T
        curve = CountCurve(self.ks_, scores, test_share)
        self.guess_ = self.p_value_ = self.beats_guess_ = None
        self._warning = ""
        if all(result.predictions for result in results):
            target, groups = data.target, arguments.splitter.split.get("groups")
            predicted = [list(result.predictions.values()) for result in results]
            test = against_guess_by_votes(predicted, target, folds, groups)
            top = float(curve.means[curve.top])
            self.guess_, self.p_value_ = score_without_features(target), test.p_value
            self.beats_guess_ = test.passed(top, self.guess_)
            named = "R squared" if task == "regression" else "accuracy"
            self._warning = test.sentence(top, self.guess_, named)
        self._choose(curve, results)
        # The same long path as in the folds, so that the curve speaks of this selection.
        self.prepare_, X = fitted_on(how["prepare"], X, slice(None))
        largest = [int(self.ks_[-1])]
        found = fit_selection(selector, X, y, largest, fit_params=how["fit_params"], need_all=True)
        self._set_selection(found.fitted, self.best_k_)
        kept = columns_of(X, np.flatnonzero(self.support_), dense=self.estimator is None)
        self.estimator_ = clone(estimator).fit(kept, y, **how["model_params"])
        return FeatureScores(self.scores_, n_kept=self.best_k_)

    def _set_selection(self, fitted: Any, k: int) -> None:
        """Keep the features that a selector fitted on all samples has at k."""
        n_features = self.n_features_in_
        self.selector_ = at_number(fitted, k)
        self.ranking_ = ranking_of(self.selector_, n_features)
        kept = features_at(fitted, [k], n_features)[k]
        self.support_ = np.isin(np.arange(n_features), kept)
        backwards = n_features + 1.0 - self.ranking_
        self.scores_ = np.asarray(getattr(self.selector_, "scores_", backwards), dtype=np.float64)

    def _choose(self, curve: CountCurve, results: list[FoldScores]) -> None:
        self.cv_results_ = curve.results()
        seconds = np.mean([(one.selection.seconds, one.model_seconds) for one in results], axis=0)
        for name, mean in zip(("fit", "score"), seconds, strict=True):
            self.cv_results_[f"mean_{name}_time"] = np.full(len(self.ks_), mean)
        chosen = choices(curve, beats_guess=self.beats_guess_)
        self.k_by_rule_ = {name: int(self.ks_[i]) for name, i in chosen.items()}
        self.best_k_ = self.k_by_rule_[self.rule]
        self.best_score_ = float(curve.means[chosen[self.rule]])
        first, last = curve.plateau
        self.plateau_ = (int(self.ks_[first]), int(self.ks_[last]))
        self.selected_in_folds_ = np.array([r.columns[self.best_k_] for r in results])
        self._description = describe(curve, chosen, self._warning)

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
        return fill(f"{self._description} Kept: {self.best_k_} (rule {self.rule!r}).", 92)

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
        other._set_selection(self.selector_, count)
        if count != self.best_k_ and hasattr(self, "estimator_"):
            del other.estimator_
        return other

    # -- scikit-learn --------------------------------------------------------------------

    def get_metadata_routing(self):
        """Who gets ``groups``, ``sample_weight`` and other metadata."""
        selector, estimator = self._models()
        return self._router(
            selector=(selector, "fit"),
            estimator=(estimator, "fit"),
            splitter=(splitter(self.cv, self.n_repeats, self.random_state), "split"),
            scorer=(check_scoring(estimator, self.scoring), "score"),
        )
