"""How many features? Cross-validate the number along one selection path per fold."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass, field
from textwrap import fill
from typing import Any, ClassVar, Self

from sklearn.model_selection import GroupKFold
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.validation import check_is_fitted

from .._checks import MAX_REPEATS, check_choice, check_integer, resolve_count, warn_of_more
from .._saved import Maybe
from ..preprocessing.covariates import fills_gaps, preparation
from ..scoring.scorers import one_score
from ..selectors.around import estimator_tags
from ..selectors.base import Count, RandomState
from ..selectors.groups import check_keeps_signs
from ..selectors.preparation import unit_phrase
from ..validation.columns import FixedColumns
from .count_search import CountSearch
from .progress import with_callbacks
from .rules import RULES


@dataclass(eq=False, repr=False, kw_only=True)
class SelectorCV(CountSearch):
    """Choose the number of features by cross-validation.

    The selector is fitted once on every training fold, and the estimator is fitted on the features
    of its ``at(k)`` for every k, so the whole curve costs one selection per fold. A rule then
    chooses k, the selector is fitted on all samples and the estimator on the selected columns, so
    that the result can both transform and predict. Features are never selected using the samples on
    which they are scored.

    Parameters
    ----------
    selector : estimator, function, str or None, default=None
        What selects the features: a selector of this package or its name, a selector or model of
        scikit-learn or another package, a pipeline that ends in one, or a function
        ``(X, y) -> scores``, see :class:`SelectorAdapter`. Its own ``n_features_to_select`` is
        replaced. None means :class:`RidgeForwardSelector`.
    estimator : estimator or None, default=None
        The model that scores the selections and is fitted to the features that are kept. None
        means, on standardised columns, softmax regression with C=1 for classes, and ridge
        regression for numbers, whose strength is the number of columns. For accuracy a ridge model
        searches for the number of classes' features, at all numbers in one go, and the softmax
        regression is scored with those that are kept.
    ks : "auto" or array-like of int, default="auto"
        Numbers of features to try; "auto" tries every number up to 10 and 13 log-spaced ones from
        there to 100, or to what the samples can carry: a fifth of the events of survival times; for
        likelihoods a fifth of the samples outside the largest class; groups with half as many
        columns as there are samples.
    rule : {"fewest", "median", "one_se", "best", "elbow"}, default="fewest"
        How to choose k. "fewest" takes the smallest k that is as good as the best one: its mean
        score is behind the highest by no more than the standard error of the paired differences
        (the wider one, which allows for shared training samples) and than a point of a score up to
        1, or 5 % of an error or of what R squared leaves unexplained (of which a fifth is always
        allowed); so is, for classes, the log
        loss of what is said of them beside the label, calibrated by one number, of which 5 % are
        the limit, or 3 % of that of a guess if this is more (2 % are allowed in any case). Where
        predictions are not significantly better than a guess, the log loss alone is asked, or the
        score, and the standard error is the limit.
        "best" takes the k with the highest mean score, the smallest among equals.
        "median" takes the median of the best k of every repeat of the folds, the lower one of two
        in the middle, and at most the k of "best". "one_se" takes the smallest k that does as well
        as the best, as far as the folds can tell: its mean is behind the highest by no more than
        one standard error of the paired differences. Where the p-value of the test against a guess
        is above 0.2, this error is a wider one, which allows for shared training samples; and where
        it is above 0.05, and even the highest mean is no higher than that of a guess, "one_se"
        takes the smallest k of all. In both cases, and where the folds are not repeated, "median"
        is "one_se". "elbow" takes the k at which the curve bends most, measured from the line
        between its start and its top.
    cv : int, splitter or iterable, default=5
        An integer is the number of folds, shuffled and, for classes, stratified; ``groups`` passed
        to ``fit`` stay together. A splitter or an iterable of (train, test) is used unchanged, and
        refused where it has samples of one of the ``groups`` on both sides of a fold.
    n_repeats : int or "auto", default="auto"
        How often an integer ``cv`` is repeated with other folds. "auto" is 4, from 5,000 samples on
        2 and from 20,000 on 1; of unequal classes twice the samples outside the largest count, of
        survival times the events, of ``groups`` the groups. Every fold costs a fit of the selector:
        20 fits, and one on all samples, where samples are few.
    scoring : str, callable or None, default=None
        The score that chooses the number of features, as in scikit-learn: a name such as
        "roc_auc", "f1_macro" or "neg_log_loss", or ``scorer(estimator, X, y)``, where larger is
        better. None uses the estimator's own score; without an ``estimator`` that is accuracy for
        classes, and where 85 % of the samples or more are in one class the area under the ROC curve
        (balanced accuracy for three classes and more), which sees the others. Scores of class
        probabilities, such as "neg_log_loss", make softmax regression the default estimator. A fold
        on which the score is not defined is left out of the means, with a warning.
    random_state : int, RandomState instance or None, default=0
        Seed of the random number generator; an int makes results reproducible.
    n_jobs : int or None, default=None
        Number of parallel jobs; None means 1 and -1 means all cores.
    verbose : int, default=0
        1 prints a line per iteration; here per fold.
    prepare : str, transformer, list of these or None, default=None
        What to do to X first, as in :func:`~sparsieve.select` ("impute", "log", "log-cpm"); fitted
        on the training part of every fold. It must keep the columns. ``transform`` and ``predict``
        then prepare X in the same way.
    feature_groups : array-like, dict, list of lists, transformer or "categories", default=None
        Columns that are kept or left out together: one label per column; ``{name: columns}`` or a
        list of lists, by name or position; a fitted ``ColumnTransformer`` or ``OneHotEncoder`` that
        made the columns; "categories" for columns from :func:`~sparsieve.make_preprocessor`.
        Columns in no group stand alone, and groups may overlap. ``ks`` and all other
        numbers of features then count groups. Not needed where the selector inside has them.
    max_correlation : float or None, default=None
        Pass over a feature whose absolute correlation with a kept one is at least this, until all
        others are used up; ``passed_over_`` names it. 1 passes over exact copies only. None leaves
        it to the selector inside.
    always_keep : list of int or str, or mask, default=None
        Columns that are always kept, such as known covariates: by every selector inside as well,
        in the way that it describes. They count towards ``ks`` and rank first.
    never_keep : list of int or str, or mask, default=None
        Columns that are never kept; the selectors inside are fitted as if X did not have them.

    Attributes
    ----------
    best_k_ : int
        Number of features chosen by ``rule``.
    best_score_ : float
        Mean score at ``best_k_`` of the model that is kept.
    kept_scores_ : ndarray of shape (n_splits,)
        That score on every fold.
    k_by_rule_ : dict
        Number of features that each rule would choose.
    plateau_ : tuple of int
        The smallest and the largest number of features that are as good as the highest mean
        score: behind it by no more than one standard error of the paired differences over the
        folds; all numbers where even that is no higher than the score of a guess, and may well be
        noise (a p-value above 0.05).
    beats_guess_ : bool or None
        Whether predictions on held-out samples are significantly better (at the 5 % level) than
        guessing without features; the test does not depend on the choice of k, and is about the
        model that scored. None if it could not be tested: several columns of labels, or your own
        ``estimator`` of a kind that is not known.
    p_value_ : float or None
        P-value of that test.
    guess_ : float or None
        Score of guessing without features: the share of the largest class, 0 for R squared, and
        with ``scoring`` the mean over the folds of a model without features.
    selected_in_folds_ : ndarray of int of shape (n_splits, best_k)
        The ``best_k_`` features selected in every fold, best first.
    ks_ : ndarray of shape (n_ks,)
        The numbers of features tried.
    cv_results_ : dict of ndarrays
        ``param_k``, ``n_features`` (the same numbers, as :class:`~sklearn.feature_selection.RFECV`
        calls them), ``params``, ``split0_test_score``, ..., ``mean_test_score``,
        ``std_test_score``, ``rank_test_score`` and ``error_test_score`` (standard errors of the
        means, with the samples that training parts share taken into account: Nadeau and Bengio
        2003), one value per k; for classes ``mean_test_loss``, the calibrated log loss;
        ``mean_fit_time`` and ``mean_score_time`` are seconds of a fold's
        selection and of all its models.
    selector_ : BaseSelector
        The selector fitted on all samples; a guest is inside a :class:`SelectorAdapter`.
    estimator_ : estimator
        The model fitted on the selected columns of all samples.
    scores_, ranking_ : ndarray of shape (n_features,)
        Those of ``selector_``.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    scorer_ : callable
        Scorer used.
    prepare_ : transformer or None
        The transformer given by ``prepare``, fitted on all samples.
    n_splits_ : int
        Number of folds.
    n_samples_ : int
        Number of samples.

    See Also
    --------
    sparsieve.AccuracyCurveDisplay : Plots the scores, with ``from_estimator(search)``.

    Notes
    -----
    ``groups`` goes to the splitter and ``sample_weight`` to the selector, the estimator and the
    scores (the concordance of survival times counts every sample once); with
    ``sklearn.set_config(enable_metadata_routing=True)`` each goes where it is requested.

    Without an ``estimator`` and a ``task`` of the selector inside, it is not known before ``fit``
    whether this is a classifier, so ``cross_val_score`` needs ``cv=StratifiedKFold()`` to get
    stratified folds.

    With scikit-learn 1.9 and later, callbacks such as ``sklearn.callback.ProgressBar`` follow
    every fold: ``SelectorCV().set_callbacks(ProgressBar()).fit(X, y)``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sparsieve import SelectorCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> search = SelectorCV().fit(X, y)
    >>> search.best_k_, search.k_by_rule_["best"]
    (11, 3)
    >>> search.transform(X).shape
    (569, 11)
    >>> bool(search.score(X, y) > 0.9)
    True
    >>> print(search.summary())
    Kept: 11 features, the fewest that tell the classes apart as well as any; 3 score best
    (accuracy 95.3 % and 95.7 % over 20 folds, by the ridge model that searches). The softmax
    regression model on them: accuracy 97.2 % (standard error 1.0 %).
    """

    selector: Any = field(default=None, kw_only=False)
    estimator: Any = None
    ks: str | Iterable[int] = "auto"
    rule: str = "fewest"
    cv: Any = 5
    n_repeats: str | int = "auto"
    scoring: Any = None
    random_state: RandomState = 0
    n_jobs: int | None = None
    verbose: int = 0
    prepare: Any = None
    feature_groups: Any = None
    n_features_to_select: Count = field(default=None, init=False)  # ``ks`` and ``rule`` say it

    # As splitters of scikit-learn do, which get the groups of a routed fit without being asked.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"groups": True}
    _adds_up_ranks: ClassVar[bool] = False
    # Made again from ``scoring`` where a file is loaded.

    _fixed: Maybe[FixedColumns] = field(init=False)
    _n_kept: Maybe[int] = field(init=False)
    _n_ranked: Maybe[int] = field(init=False)

    @property
    def _accepts_nan(self) -> bool:  # type: ignore[override]
        if fills_gaps(preparation(self.prepare)):
            return True
        return super()._accepts_nan and estimator_tags(self._models()[1]).input_tags.allow_nan

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check_max_correlation()
        check_choice("rule", self.rule, RULES)
        check_keeps_signs(self._selector(), self.estimator)
        preparation(self.prepare)  # which refuses what is none
        if self.n_repeats != "auto":
            check_integer("n_repeats", self.n_repeats, maximum=MAX_REPEATS)

    @with_callbacks
    def fit(  # type: ignore[override]
        self, X: Any, y: Any, *, groups: Any = None, **params: Any
    ) -> Self:
        """Score all numbers of features on every fold, choose one and fit on all samples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Class labels or real-valued targets.
        groups : array-like of shape (n_samples,), default=None
            Samples that belong together, such as the rows of a patient: no fold has some of them
            in its training part and others in its test part.
        **params : dict
            ``sample_weight`` for the models and scores.

        Returns
        -------
        self : object
            The fitted object. Ctrl-C, once all samples were held out, leaves it fitted with the
            number chosen on the repeats that were done, and then raises KeyboardInterrupt.
        """
        self._check_parameters()
        self._fit(self._training_data(X, y, None), params, groups)
        if self._stopped:
            raise KeyboardInterrupt(self._stopped)
        return self

    @property
    def score_meaning(self) -> str:
        """One sentence that explains ``scores_``."""
        fitted = getattr(self, "selector_", None) or self._models()[0]
        return getattr(fitted, "score_meaning", self._score_meaning)

    @property
    def n_ranked_(self) -> int:
        """The largest number of features that :meth:`at` can be asked for."""
        return self.selector_.n_ranked_

    @property
    def nothing_found(self) -> str:
        """One sentence if no number of features beats guessing, otherwise empty."""
        check_is_fitted(self)
        return self._warning

    def summary(self) -> str:
        """Describe in words how the score depends on the number of features."""
        check_is_fitted(self)
        return fill(self._description, 92)

    def transform(self, X: Any) -> Any:
        """Reduce X to the selected features, after applying ``prepare`` if given."""
        check_is_fitted(self)
        if getattr(self, "prepare_", None) is None:
            return super().transform(X)
        return self._prepare(X)[:, self.support_]

    def at(self, n_features: Count) -> Self:
        """Return this selection at another number of features, without refitting.

        Parameters
        ----------
        n_features : int, float, "all" or None
            A number up to the largest of ``ks`` (any number if the selector ranks all features), a
            fraction, or None for the number chosen by the rule.

        Returns
        -------
        selector : SelectorCV
            A fitted copy with another ``support_``. It can transform but not predict, because its
            model was fitted on other columns.
        """
        check_is_fitted(self)
        n_units = len(vars(self).get("group_ranking_", self.ranking_))
        count = resolve_count(n_features, n_units, self.best_k_)
        warn_of_more(n_features, n_units, unit_phrase(self))
        other = copy.copy(self)
        other._set_selection(self.selector_, count)
        if count != self.best_k_ and hasattr(self, "estimator_"):
            del other.estimator_
        return other

    # -- scikit-learn --------------------------------------------------------------------

    def _routed_splitter(self) -> Any:
        """Who gets ``groups``: folds that are ours to make or to check keep groups together."""
        return self.cv if hasattr(self.cv, "get_metadata_routing") else GroupKFold()

    def get_metadata_routing(self) -> MetadataRouter:
        """Metadata routing, as in scikit-learn."""
        selector, estimator = self._models()
        return self._router(
            selector=(selector, "fit"),
            estimator=(estimator, "fit"),
            splitter=(self._routed_splitter(), "split"),
            scorer=(one_score(self._scoring, estimator).scorer, "score"),
        )
