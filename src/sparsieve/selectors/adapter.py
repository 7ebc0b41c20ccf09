"""Anybody's method as a selector of this package."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

from .._checks import warn_user
from .._saved import Bools, Floats, Ints, Maybe
from ..validation.columns import FixedColumns
from ..validation.target import with_task
from .around import AroundSelectors, last_step, weight_arguments
from .base import BaseSelector, Count, FeatureScores, TrainingData
from .guests import (
    DEFAULT_COUNT,
    Judgement,
    are_constant,
    call_score_function,
    check_columns_by_number,
    chooses_number,
    guest_name,
    judge_features,
    own_count,
    resolve_method,
    support_mask,
    takes_number,
    to_fit,
    told_to_keep,
    trace_columns,
    with_number,
)
from .least_squares.ridge_forward import RidgeForwardSelector
from .origins import (
    NO_ORIGIN,
    Refits,
    at_number,
    in_wider,
    order_to_ranks,
    put_back,
    rank_visible,
    standing,
    unwrap_model,
)


@dataclass(eq=False, repr=False, kw_only=True)
class SelectorAdapter(AroundSelectors):
    """Use a selector or model of another package, or a function, as a selector of this package.

    ``select``, ``compare``, :class:`SelectorCV` and the other places that take a method make one
    themselves. Features are ranked by what the fitted estimator offers: ``ranking_``,
    ``scores_``, ``feature_importances_``, ``variances_`` or ``coef_``. A selector that ranks
    nothing, such as ``SequentialFeatureSelector``, is fitted again for every number of features
    that :meth:`at` is asked for.

    Parameters
    ----------
    selector : estimator, function, str or None, default=None
        What selects the features: a selector of this package or its name, a selector or model of
        scikit-learn or another package, a pipeline that ends in one, or a function
        ``(X, y) -> scores`` whose larger scores are better. None is :class:`RidgeForwardSelector`.
    n_features_to_select : int, float, "all" or None, default=None
        Number or fraction of features to keep. None keeps what the estimator itself keeps; of
        models the features that ``SelectFromModel`` would keep, of functions the best 10.
    max_correlation : float or None, default=None
        Pass over a feature whose absolute correlation with a kept one is at least this, until all
        others are used up; ``passed_over_`` names it. 1 passes over exact copies only, None none.
        Only for what ranks features.
    always_keep : list of int or str, or mask, default=None
        Columns that are always kept, such as known covariates. They count towards
        ``n_features_to_select`` and rank first. A selector of this package is told of them; others
        are fitted as without this. Only for what ranks features.
    never_keep : list of int or str, or mask, default=None
        Columns that are never kept; the estimator is fitted without them.
    task : {"auto", "classification", "regression"}, default="auto"
        How to interpret y. "auto" treats text, booleans, categories and whole numbers as classes
        and numbers with fractions as quantities; more than five different whole
        numbers are quantities where their order shows in X, with a warning.

    Attributes
    ----------
    selector_ : estimator
        The fitted estimator; a function has none.
    scores_, ranking_ : ndarray of shape (n_features,)
        What the estimator says about the features. Of one that ranks nothing, 1 for the features
        that are kept and 0 for the others, at every number of features anew.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    pvalues_ : ndarray of shape (n_features,)
        Where the estimator or function has them.

    See Also
    --------
    sparsieve.check_selector : Checks a selector of your own.
    sparsieve.BaseSelector : Base of a selector of your own.

    Notes
    -----
    A selector that has to be fitted again keeps a reference to its training data, which is left
    out when it is saved or pickled.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.feature_selection import SelectKBest
    >>> from sparsieve import SelectorAdapter
    >>> X, y = load_wine(return_X_y=True)
    >>> adapted = SelectorAdapter(SelectKBest(), n_features_to_select=2).fit(X, y)
    >>> adapted.get_support(indices=True), adapted.at(1).get_support(indices=True)
    (array([ 6, 12]), array([6]))
    """

    selector: Any = field(default=None, kw_only=False)
    n_features_to_select: Count = field(default=None, kw_only=True)
    task: str = "auto"

    selector_: Maybe[Any] = field(init=False)
    pvalues_: Maybe[Annotated[Floats, "features"]] = field(init=False)
    _meaning: str = field(init=False)
    # The ranking, where no fit at a number says otherwise; whether 1, 2, ... features need a fit of
    # their own; the supports of such fits.
    _base: Annotated[Ints, "features"] = field(init=False)
    _apart: Annotated[Bools, "features"] = field(init=False)
    _supports: dict[int, Any] = field(init=False)
    # Of the columns that the guest saw, where these are not all in order.
    _places: Maybe[Ints] = field(init=False)
    _refits: Maybe[Any] = field(init=False)
    _not_saved: ClassVar[tuple[str, ...]] = ("_refits",)

    def _guest(self) -> Any:
        return RidgeForwardSelector() if self.selector is None else resolve_method(self.selector)

    def _members(self) -> list:
        return [self._guest()]

    def _members_with_task(self, task: str) -> dict[str, Any]:
        inner = self.selector
        is_estimator = hasattr(inner, "get_params") and not isinstance(inner, type)
        return {
            "selector": with_task(inner, task) if is_estimator else inner,
            "task": task if self.task == "auto" else self.task,
        }

    @property
    def guest_name(self) -> str:
        """The name of the method in tables and reports: its class, or that of the function."""
        return guest_name(self._guest())

    @property
    def score_meaning(self) -> str:
        """What ``scores_`` say, in one sentence for their reader."""
        return getattr(self, "_meaning", self._score_meaning)

    @property
    def is_ranking(self) -> bool:
        """Whether the fitted estimator ranks features; otherwise it only selects some."""
        return not self._apart[:-1].all() or len(self._apart) == 1

    def _check_parameters(self) -> None:
        self._guest()

    def fit(self, X: Any, y: Any, **params: Any) -> Self:  # type: ignore[override]
        """Fit the estimator, or ask the function, and rank the features of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Class labels or targets.
        **params : dict
            ``sample_weight`` and further arguments of the estimator's ``fit``, where it takes them.

        Returns
        -------
        self : object
            The fitted selector.
        """
        weights = params.pop("sample_weight", None)
        self._params = params
        try:
            return super().fit(X, y, weights)
        finally:
            del self._params

    def _fit(self, data: TrainingData) -> FeatureScores:
        guest, (X, y) = self._guest(), data.arrays()
        d, fixed = X.shape[1], data.fixed
        whole, X = X, replace(data, design=data.allowed_design).arrays()[0]
        self._supports, self._apart = {}, np.zeros(d, dtype=bool)
        if not hasattr(guest, "fit"):
            weight_arguments(guest, data.sample_weight)  # refuses them
            scores, pvalues = call_score_function(guest, X, y)
            said = f"What {self.guest_name} returns for the feature: larger is better."
            told = Judgement(scores, said).put_back(fixed.candidates, d)
            pvalues = None if pvalues is None else fixed.spread(pvalues, np.nan)
            return self._rank(told, DEFAULT_COUNT, whole, pvalues)
        check_columns_by_number(guest)
        asked = self.n_features_to_select
        count = None if asked is None else fixed.count(asked, 0)
        if hasattr(guest, "get_params"):
            guest = with_task(guest, data.target.task)
        if isinstance(guest, BaseSelector):
            guest = told_to_keep(guest, fixed)
        refits = Refits(X, y, {**self._params, **weight_arguments(guest, data.sample_weight)})
        self.selector_ = fitted = refits.fit(to_fit(guest, count, X.shape[1]))
        places = self._visible_features(fitted, X, y, count, fixed)
        if hasattr(last := last_step(fitted), "at"):  # a selector of this package, or like one
            return self._as_it_goes(last, places, d, fixed)
        model, m = unwrap_model(fitted)[1], len(places)
        judged, support = judge_features(model, m), support_mask(model, m)
        if judged is None and support is None:
            other = "; PermutationSelector(estimator=...) measures it for any model that predicts"
            raise ValueError(
                f"{self.guest_name} does not say how important features are; a selector needs "
                "ranking_, scores_, feature_importances_, coef_ or get_support() after fit"
                f"{other if hasattr(model, 'predict') else ''}"
            )
        own = unwrap_model(refits.fit(guest))[1] if chooses_number(guest) else model
        kept = count or own_count(own, guest, m)
        if takes_number(guest):
            self._refits = refits
        if support is not None and (judged is None or not judged.explains(support)):
            found = self._selected_only(put_back(support, places, d, False), kept)
            return rank_visible(found, places)
        assert judged is not None
        pvalues = getattr(model, "pvalues_", None)
        if pvalues is not None and np.shape(pvalues) == (m,):
            pvalues = put_back(np.asarray(pvalues, dtype=np.float64), places, d, np.nan)
        judged = judged.put_back(places, d)
        self._apart = judged.needs_order()
        return rank_visible(self._rank(judged, kept, whole, pvalues), places)

    def _visible_features(
        self, fitted: Any, X: Any, y: Any, count: int | None, fixed: FixedColumns
    ) -> np.ndarray:
        """The features behind the columns that the guest saw; refused where these are too few."""
        places, d = in_wider(trace_columns(fitted, X, y), fixed.candidates), len(fixed.never)
        if not np.array_equal(places, np.arange(d)):
            self._places = places.astype(np.int64)
        n_seen = int((places != NO_ORIGIN).sum())
        if n_seen < (count or 1):
            raise ValueError(
                f"the steps before {self.guest_name} leave {n_seen} of the {d} columns of X, fewer "
                f"than the {count or 1} to select; ask for fewer features, or let the steps keep "
                "more columns"
            )
        return places

    def _selected_only(self, support: np.ndarray, n_kept: int) -> FeatureScores:
        """Of a guest that ranks nothing."""
        if not support.any():
            raise ValueError(
                f"{self.guest_name} keeps none of the {len(support)} features and does not rank "
                "them, so that nothing can be selected by it; change its own parameters"
            )
        self._meaning = (
            f"1 for the features that {self.guest_name} keeps, 0 for the others: it does not "
            "rank them."
        )
        self._apart[:-1], self._supports = True, {int(support.sum()): support}
        return FeatureScores(support.astype(np.float64), n_kept=n_kept)

    def _rank(self, judged: Judgement, n_kept: int, X: Any, pvalues: Any) -> FeatureScores:
        unknown, self._meaning = np.isnan(judged.scores), judged.meaning
        scores = np.where(unknown, np.min(judged.scores[~unknown], initial=0.0), judged.scores)
        if pvalues is not None and np.shape(pvalues) == scores.shape:
            self.pvalues_ = np.asarray(pvalues, dtype=np.float64)
        order = None if judged.ranks is None else judged.order
        # Of features with the same score, those come first that carry any information.
        ties = (~are_constant(X)).astype(np.float64)
        return FeatureScores(scores, n_kept=n_kept, order=order, ties=ties, constant=unknown)

    def _as_it_goes(
        self, last: Any, places: np.ndarray, d: int, fixed: FixedColumns
    ) -> FeatureScores:
        """What a selector with ``at`` says of its own number."""
        self._meaning = getattr(last, "score_meaning", self._score_meaning)
        scores, ranking = standing(last, places, d)
        reached = min(getattr(last, "n_ranked_", d), int((places != NO_ORIGIN).sum()))
        order = np.argsort(ranking)[:reached]
        n_kept = int(np.sum(last.get_support()))
        if self._adjusts_for_kept:  # which it was told of
            n_kept -= fixed.n_always
        return FeatureScores(scores, n_kept=n_kept, order=order, complete=reached >= d)

    def _set_ranking(self, scores: np.ndarray, ranking: np.ndarray) -> None:
        if not self.is_ranking:
            alone = f"{self.guest_name} only selects features and does not rank them, so that it "
            if self.max_correlation is not None:
                raise ValueError(
                    f"{alone}does not say which one takes the place of a near copy; leave "
                    "max_correlation out"
                )
            if self._fixed.n_always:
                raise ValueError(
                    f"{alone}does not say which ones to keep beside those of always_keep; leave "
                    "always_keep out"
                )
        super()._set_ranking(scores, ranking)
        self._base = self.ranking_

    def _set_support(self) -> None:
        count = self._fixed.count(self.n_features_to_select, self._n_kept)
        scores = self.scores_
        knows_kept = hasattr(getattr(self, "selector_", None), "at")
        if self.max_correlation is not None or (self._fixed.n_always and not knows_kept):
            ranking = self._base
        elif hasattr(last_step(getattr(self, "selector_", None)), "at"):
            self.selector_ = at_number(self.selector_, count)
            d = len(self._base)
            places = getattr(self, "_places", np.arange(d))
            scores, ranking = standing(last_step(self.selector_), places, d)
            ranking = self._fixed.rank(ranking)
        elif self._apart[count - 1] and (support := self._refit_support(count)) is not None:
            if not self.is_ranking:
                scores = support.astype(np.float64)
            ranking = order_to_ranks(np.lexsort((self._base, ~support)))
        else:
            ranking = self._base
        self.scores_: NDArray[np.floating[Any]] = scores
        self.ranking_: NDArray[np.int64] = ranking
        self.support_: NDArray[np.bool_] = ranking <= count

    def _refit_support(self, k: int) -> np.ndarray | None:
        """The features of a fit for this number; None where only the columns' order decides."""
        if k in self._supports:
            return self._supports[k]
        name, guest = self.guest_name, self._guest()
        if not takes_number(guest):
            if self.is_ranking:
                warn_user(
                    f"{name} gives several features the same rank; which of them are among the "
                    f"{k} best is decided by the order of the columns"
                )
                return None
            n_own = sum(map(np.sum, self._supports.values()))
            raise ValueError(
                f"{name} keeps {n_own} features and cannot be asked for {k}: it has neither "
                "a ranking nor the parameter n_features_to_select"
            )
        if getattr(getattr(self, "_refits", None), "X", None) is None:
            raise ValueError(
                f"{name} has to be fitted again for {k} features, but a selector that was saved, "
                "pickled or sent to another process has no training data; fit it again"
            )
        d, fitted = len(self._base), self._refits.fit(with_number(guest, k))
        places = trace_columns(fitted, self._refits.X, self._refits.y)
        places = in_wider(places, self._fixed.candidates)
        support = support_mask(unwrap_model(fitted)[1], len(places))
        support = None if support is None else put_back(support, places, d, False)
        if support is None or support.sum() != k:
            kept = "does not say which features it keeps"
            kept = kept if support is None else f"keeps {support.sum()} features"
            raise ValueError(f"{name} {kept} although it was told n_features_to_select={k}")
        self._supports[k] = support
        return support

    def _fit_counts(self, counts: Iterable[int | None]) -> None:
        """Fit for every number of features that needs it, and tell what that costs."""
        open_ones = [k for k in counts if k and self._apart[k - 1] and k not in self._supports]
        if not open_ones or not takes_number(self._guest()):
            return
        why, which = "has no ranking", "every number of features"
        if self.is_ranking:
            why = "gives several features the same rank"
            which = f"{len(open_ones)} of the numbers of features"
        warn_user(
            f"{self.guest_name} {why}; it is fitted again for {which} ({len(open_ones) + 1} fits "
            "instead of 1)"
        )
        for k in open_ones:
            self._refit_support(k)

    def get_metadata_routing(self) -> MetadataRouter:
        """Who gets ``sample_weight`` and other metadata."""
        router, guest = MetadataRouter(owner=self), self._guest()
        if hasattr(guest, "fit"):
            router.add(
                selector=guest, method_mapping=MethodMapping().add(caller="fit", callee="fit")
            )
        return router
