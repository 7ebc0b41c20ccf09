"""What estimators of other packages, and functions, say about features."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import attrgetter
from typing import Any

import numpy as np
from scipy import sparse
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import RFE, RFECV, SelectFromModel
from sklearn.pipeline import Pipeline

from .._checks import warn_user
from ..registry import find_selector
from ..validation.columns import FixedColumns, columns_mask
from .around import last_step
from .base import DEFAULT_COUNT, BaseSelector
from .groups import configure, reconfigure
from .origins import NotTraced, call_with_views, origins, put_back, transform_by_step, unwrap_model


@dataclass(frozen=True)
class Judgement:
    """What a fitted estimator, or a function, says about every feature.

    Attributes
    ----------
    scores : ndarray of shape (n_features,)
        Larger is better; NaN of what it could not judge.
    meaning : str
        One sentence for the reader of the scores.
    ranks : ndarray of shape (n_features,) or None
        1 for the best; several features may share one.
    ties : ndarray of shape (n_features,) or None
        Larger is better among features that share a rank.
    """

    scores: np.ndarray
    meaning: str
    ranks: np.ndarray | None = None
    ties: np.ndarray | None = None

    @property
    def order(self) -> np.ndarray:
        """Features by rank, the best first; equals in the order of the columns."""
        assert self.ranks is not None
        return np.lexsort((*(() if self.ties is None else (-self.ties,)), self.ranks))

    def put_back(self, places: np.ndarray, n_features: int) -> Judgement:
        """The same about the features of X, of whose columns the model saw those at the places."""
        ranks, ties = self.ranks, self.ties
        last = 0 if ranks is None else ranks.max(initial=0) + 1
        return Judgement(
            put_back(self.scores, places, n_features, np.nan),
            self.meaning,
            None if ranks is None else put_back(ranks, places, n_features, last),
            None if ties is None else put_back(ties, places, n_features, -np.inf),
        )

    def needs_order(self) -> np.ndarray:
        """Whether the order of the columns decides which are the best 1, 2, ... features."""
        apart = np.zeros(len(self.scores), dtype=bool)
        if self.ranks is not None:
            for key in (self.ranks,) if self.ties is None else (self.ranks, self.ties):
                apart[:-1] |= np.diff(key[self.order]) != 0
            apart = ~apart
            apart[-1] = False
        return apart

    def explains(self, support: np.ndarray) -> bool:
        """Whether features of this support are better than the others, as far as this tells."""
        if support.all() or not support.any():
            return True
        values = np.nan_to_num(self.scores if self.ranks is None else -self.ranks, nan=-np.inf)
        return bool(values[support].min() >= values[~support].max())


def guest_name(guest: Any) -> str:
    """What a guest is called in tables and messages: its class, or the name of the function."""
    while isinstance(guest, partial):
        guest = guest.func
    last = last_step(guest)
    return last.__name__ if hasattr(last, "__name__") else type(last).__name__


def trace_columns(fitted: Any, X: Any, y: Any) -> np.ndarray:
    """The column of X behind every column that the end of a guest, fitted to X and y, sees.

    Refused in a sentence where there is none.
    """
    (steps, model), name = unwrap_model(fitted), guest_name(fitted)
    try:
        places = origins(steps, X.shape[1])
    except NotTraced as error:
        otherwise = " or say by get_feature_names_out which they are" if error.is_silent else ""
        raise ValueError(
            f"{error.step}, a step before {name}, {error.what}, so that what {name} says of its "
            "columns is not about features of X; use steps that scale, fill, drop or reorder "
            f"single columns{otherwise}"
        ) from None
    if getattr(model, "n_features_in_", len(places)) != len(places):
        raise ValueError(
            f"{name} saw {model.n_features_in_} columns, but the steps before it say that they "
            f"make {len(places)}, so that nobody knows which features they are"
        )
    if isinstance(model, SelectFromModel | RFE) and isinstance(model.estimator, Pipeline):
        _check_inside(model, reduce(transform_by_step, steps, X), y)
    return places


def check_columns_by_number(guest: Any) -> None:
    """Refuse a guest that will look for columns by name: it gets X as an array."""
    first = guest
    while isinstance(first, Pipeline):
        first = first.steps[0][1]
    if not isinstance(first, ColumnTransformer):
        return
    for _, _, columns in first.transformers:
        named = [columns] if isinstance(columns, str) else columns
        names = [one for one in named if isinstance(one, str)] if isinstance(named, list) else []
        if names:
            raise ValueError(
                f"the ColumnTransformer before {guest_name(guest)} looks for the column "
                f"{names[0]!r}, but methods get X as an array without names; give it the numbers "
                "of the columns"
            )


def _check_inside(model: SelectFromModel | RFE, X: Any, y: Any) -> None:
    """Refuse a selector that goes by the end of a pipeline whose steps move columns."""
    # What was fitted within an RFE has seen the last few columns only.
    inside, last = unwrap_model(clone(model.estimator))
    try:
        moved = not np.array_equal(
            call_with_views(partial(_origins_inside, inside), X, y), range(X.shape[1])
        )
    except NotTraced:
        moved = True
    if moved:
        name = type(model).__name__
        raise ValueError(
            f"the pipeline inside {name} moves or mixes columns before {type(last).__name__} sees "
            f"them, so that {name} selects by the values of other columns; put these steps before "
            f"{name}"
        )


def _origins_inside(steps: list[Any], X: Any, y: Any) -> np.ndarray:
    made = X
    for step in steps:
        if hasattr(step, "transform"):
            made = step.fit(made, y).transform(made)
    return origins(steps, X.shape[1])


def judge_features(model: Any, n_features: int) -> Judgement | None:
    """What a fitted model says about the columns it saw; None where it only selects some."""
    name = guest_name(model)
    if isinstance(model, SelectFromModel):
        getter, inner = model.importance_getter, model.estimator_
        if getter == "auto":
            judged = judge_features(inner, n_features)
            if judged is None or judged.ranks is not None or np.ndim(_coef(inner)) != 2:
                return judged
            # Over classes it goes by a norm of its own.
            return replace(judged, scores=_sizes(_coef(inner), model.norm_order))
        get = attrgetter(getter) if isinstance(getter, str) else getter
        values = _sizes(get(inner), model.norm_order)
        return Judgement(values, f"The importance that {name} goes by: larger is better.")
    if (path := coefficient_path(model, n_features)) is not None:
        entered = np.where(path != 0, model.alphas_, 0.0).max(axis=1)
        ranks = rankdata(-entered, method="min").astype(np.int64)
        return Judgement(entered, _MEANINGS["alphas_"].format(name), ranks, np.abs(path[:, -1]))
    offered: dict[str, np.ndarray] = {}
    for attribute in ("ranking_", "scores_", "feature_importances_", "variances_", "coef_"):
        if getattr(model, attribute, None) is not None:
            values = getattr(model, attribute)
            offered[attribute] = _sizes(values) if attribute == "coef_" else _numbers(values)
    sound = {key: values for key, values in offered.items() if values.shape == (n_features,)}
    if offered and not sound and support_mask(model, n_features) is None:
        raise ValueError(
            f"{name} judges {max(map(len, offered.values()))} features but was given {n_features}, "
            "so that nobody knows which of them it means"
        )
    ranks = sound.pop("ranking_", None)
    if ranks is not None:
        history = getattr(model, "importance_history_", None)  # of BorutaPy, by round
        return Judgement(
            sound.get("scores_", ranks.max() + 1 - ranks),
            f"The scores of {name}: larger is better."
            if "scores_" in sound
            else f"The ranks that {name} gives, read backwards: larger is better.",
            ranks,
            None if history is None else _mean_of_rounds(np.asarray(history, dtype=np.float64)),
        )
    for attribute, scores in sound.items():
        return Judgement(scores, _MEANINGS[attribute].format(name))
    return None


_MEANINGS = {
    "scores_": "The scores of {}: larger is better.",
    "feature_importances_": "The importance of the feature in {}: larger is better.",
    "alphas_": "The penalty strength at which the feature entered {}: larger is better.",
    "variances_": "The variance of the feature: larger is better.",
    "coef_": "The size of the coefficients of {}: larger is better where features have one scale.",
}


def _numbers(values: Any) -> np.ndarray:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return np.empty(0)


def _coef(model: Any) -> Any:
    """The coefficients that tell how important features are, where nothing else does."""
    told = getattr(model, "feature_importances_", None)
    return getattr(model, "coef_", None) if told is None else None


def _sizes(coef: Any, order: float = 2) -> np.ndarray:
    """One number for every feature: a norm over classes or targets."""
    coef = coef.toarray() if sparse.issparse(coef) else np.asarray(coef, dtype=np.float64)
    return np.abs(coef) if coef.ndim == 1 else np.linalg.norm(coef, axis=0, ord=order)


def coefficient_path(model: Any, n_features: int) -> np.ndarray | None:
    """Coefficients by feature and strength, where no strength was chosen, as in Coxnet."""
    alphas, coef = getattr(model, "alphas_", None), getattr(model, "coef_", None)
    if alphas is None or coef is None or hasattr(model, "alpha_"):
        return None
    return np.asarray(coef) if np.shape(coef) == (n_features, len(alphas)) else None


def _mean_of_rounds(history: np.ndarray) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of features that no round judged
        return np.nan_to_num(np.nanmean(np.atleast_2d(history), axis=0), nan=-np.inf)


def support_mask(model: Any, n_features: int) -> np.ndarray | None:
    """The columns that a fitted selector keeps as a mask; None of a model that selects none."""
    if hasattr(model, "get_support"):
        support = np.asarray(model.get_support())
    elif getattr(model, "support_", None) is not None:
        support = np.asarray(model.support_)
    else:
        return None
    is_mask = support.dtype == bool and support.shape == (n_features,)
    return support if is_mask else None  # the support vectors of a machine, for example


def told_to_keep(guest: BaseSelector, fixed: FixedColumns) -> BaseSelector:
    """A selector of this package that keeps what is always kept around it."""
    if not fixed.n_always:
        return guest
    kept = np.flatnonzero(fixed.always[fixed.candidates])
    own = columns_mask("always_keep", guest.always_keep, fixed.n_available, None)
    both = np.union1d(kept, np.flatnonzero(own)).tolist()
    return clone(guest).set_params(always_keep=both)


def are_constant(X: Any) -> np.ndarray:
    """Whether every column holds one value only."""
    ends = X.max(axis=0), X.min(axis=0)
    most, least = (end.toarray().ravel() if sparse.issparse(end) else end for end in ends)
    return np.asarray(most == least)


def call_score_function(function: Callable[..., Any], X: Any, y: Any) -> tuple[np.ndarray, Any]:
    """(scores, p-values or None) that a function gives the features; refused in a sentence."""
    name, n_features = guest_name(function), X.shape[1]
    found, pvalues = call_with_views(function, X, y), None
    if isinstance(found, tuple) and len(found) == 2:  # as scores of scikit-learn
        found, pvalues = found
    expected = f"one number for each of the {n_features} features of X"
    try:
        values = np.asarray(found)
        scores = values.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must return {expected}, got {type(found).__name__}") from None
    if values.dtype == bool:
        raise ValueError(
            f"{name} returned True and False, which rank nothing; it must return {expected}"
        )
    if scores.shape != (n_features,):
        raise ValueError(f"{name} must return {expected}, got an array of shape {scores.shape}")
    unknown = np.isnan(scores)
    if unknown.all():
        raise ValueError(f"{name} returned NaN for every feature; it must return {expected}")
    lost = int((unknown & ~are_constant(X)).sum())
    if lost:
        warn_user(f"{name} returned NaN for {lost} of {n_features} features; they are ranked last")
    known = scores[~unknown]
    if len(known) > 1 and (known == known[0]).all():
        warn_user(
            f"{name} returned the same score for every feature, so that they are ranked in the "
            "order of the columns"
        )
    elif (known < 0).any() and (known > 0).any():
        warn_user(
            f"{name} returned a negative score for {int((known < 0).sum())} of {n_features} "
            "features, which ranks them below those at zero; return absolute values if the sign "
            "does not matter"
        )
    pvalues = None if pvalues is None else _numbers(pvalues)
    return scores, pvalues if pvalues is not None and pvalues.shape == scores.shape else None


# -- what a user calls a method --------------------------------------------------------------------


def resolve_method(method: Any, params: Mapping[str, Any] | None = None) -> Any:
    """The estimator or function that is meant, with its parameters set."""
    if isinstance(method, str):
        method = find_selector(method)
    if isinstance(method, type) and issubclass(method, BaseSelector):
        return configure(method, params or {})
    if isinstance(method, type) and hasattr(method, "fit"):
        return _construct(method, params or {})
    if hasattr(method, "guest_name") and params:  # an adapter, whose guest they are for
        return clone(method).set_params(selector=resolve_method(method.selector, params))
    if hasattr(method, "fit"):
        return reconfigure(clone(method), params) if params else method
    if callable(method) and not isinstance(method, type):
        return partial(method, **params) if params else method
    given = method.__name__ if isinstance(method, type) else repr(method)
    raise TypeError(
        f"a method must be a name, a selector or model with fit, or a function (X, y) -> scores, "
        f"got {given}; sparsieve.all_selectors() lists the selectors of this package"
    )


def _construct(cls: type, params: Mapping[str, Any]) -> Any:
    try:
        return cls(**params)
    except TypeError as error:
        said = str(error).replace("__init__() ", "")
        raise TypeError(
            f"{cls.__name__} cannot be made from these parameters: {said}; pass an instance "
            "instead of the class"
        ) from None


NUMBER = "n_features_to_select"  # by which selectors of other packages take it


def own_count(last: Any, given: Any, n_features: int) -> int:
    """How many features a model keeps by itself: fitted, and as it was given."""
    asked, support = getattr(last_step(given), NUMBER, None), support_mask(last, n_features)
    if isinstance(last, RFE) and not isinstance(last, RFECV):
        if asked is None:
            return max(1, n_features // 2)
        return int(asked * n_features) if isinstance(asked, float) else int(asked)
    if support is not None:
        return int(support.sum())
    if isinstance(asked, int) and not isinstance(asked, bool):
        return min(asked, n_features)
    if (path := coefficient_path(last, n_features)) is not None:  # its last model predicts
        return max(1, int((path[:, -1] != 0).sum()))
    try:  # scikit-learn's rule for models: larger than the mean, or not zero with an l1 penalty
        return int(SelectFromModel(last, prefit=True).get_support().sum())
    except (AttributeError, TypeError, ValueError):
        return min(DEFAULT_COUNT, n_features)


def chooses_number(guest: Any) -> bool:
    """Whether a guest finds the number of features itself, by fits that others do not need."""
    return isinstance(last_step(guest), RFECV)


def takes_number(guest: Any) -> bool:
    """Whether a guest can be told how many features to keep."""
    last = last_step(guest)
    return isinstance(last, RFE) or (
        hasattr(last, "get_params") and NUMBER in last.get_params(deep=False)
    )


def with_number(guest: Any, k: int) -> Any:
    """An unfitted copy that will keep k features, of a guest that can be told so."""
    last = last_step(guest)
    if isinstance(last, RFECV):  # which chooses the number itself
        known = {key: getattr(last, key) for key in ("step", "importance_getter", "verbose")}
        last = RFE(clone(last.estimator), **known)
    return _replace_last_step(guest, clone(last).set_params(**{NUMBER: k}))


def to_fit(guest: Any, count: int | None, n_features: int) -> Any:
    """An unfitted copy that will say as much as it can about ``count`` features and fewer."""
    last = last_step(guest)
    if hasattr(last, "reaching"):
        return _replace_last_step(guest, clone(last) if count is None else last.reaching(count))
    if isinstance(last, RFE):  # only ranks what it eliminates
        return with_number(guest, 1)
    if count is None or not takes_number(guest):
        return clone(guest, safe=False)
    # All features are not a choice, which some refuse.
    return with_number(guest, min(count, max(n_features - 1, 1)))


def _replace_last_step(guest: Any, last: Any) -> Any:
    if not isinstance(guest, Pipeline):
        return last
    name, end = guest.steps[-1]
    return clone(guest).set_params(**{name: _replace_last_step(end, last)})
