"""Covariates of a selection: always in the model, never counted and never ranked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import t
from sklearn.base import clone

from .._checks import listed, resolve_count, suggestion, too_many
from ..meta import SelectorCV
from ..meta.held_out import HeldOutCheck, held_out_check
from ..preprocessing.covariates import BesideCovariates, beside, covariate_columns
from ..preprocessing.given import is_annotated, obs_column
from ..preprocessing.kept_columns import numbers_at
from ..preprocessing.prepare import preparation, takes_gaps, takes_logarithms
from ..registry import name_of
from ..report.wording import listed_names
from ..scoring.folds import error_over_splits
from ..scoring.selections import best_first
from ..scoring.statistics import LEVEL
from ..selectors.least_squares.ridge_forward import RidgeForwardSelector
from ..selectors.likelihood.forward import LikelihoodForwardSelector
from ..selectors.preparation import groups_of, kept_words
from ..selectors.trees import BoostedTreesSelector
from ..validation.columns import columns_mask
from ..validation.containers import plain_vector
from ..validation.dataframes import opened
from ..validation.feature_groups import feature_groups
from ..validation.survival import is_survival
from ..validation.target import with_task
from .checks import asked_of
from .own import unrouted

if TYPE_CHECKING:
    from .raw import Ready
    from .result import SelectedFeatures


@dataclass(frozen=True)
class Covariates:
    """What was said to be covariates.

    Attributes
    ----------
    names : tuple of str
        As they were given.
    values : dict of str to array or None
        Where they were not columns of the data frame X.
    places : tuple of int
        Their columns among those that the selector sees, once that is known.
    """

    names: tuple[str, ...] = ()
    values: Mapping[str, Any] | None = None
    places: tuple[int, ...] = ()

    @property
    def apart(self) -> bool:
        """Whether they were given apart from X."""
        return self.values is not None

    @property
    def words(self) -> str:
        """Their names."""
        return listed_names(self.names[:5], len(self.names) - 5)


def covariates_given(X: Any, covariates: Any) -> Covariates:
    """Read what ``covariates`` of :func:`~sparsieve.select` may be, before X is looked at."""
    if covariates is None:
        return Covariates()
    if isinstance(covariates, str):
        covariates = [covariates]
    frame = opened(covariates)
    if frame is not None:
        covariates = {name: frame.get_column(name).to_numpy() for name in frame.columns}
    if isinstance(covariates, Mapping):
        values = {str(name): values for name, values in covariates.items()}
        return Covariates(tuple(values), values)
    if isinstance(covariates, list | tuple) and all(isinstance(one, str) for one in covariates):
        names = tuple(dict.fromkeys(covariates))
        if is_annotated(X):
            return Covariates(names, {name: obs_column(X, name) for name in names})
        if (known := _known(X, None)) is None:
            raise TypeError(
                f"covariates={list(names)!r} names columns, but X is of type {type(X).__name__}, "
                "which has no named columns; pass their values, such as a data frame"
            )
        for name in names:
            if name not in known:
                raise ValueError(f"X has no column {name!r}{suggestion(name, known)}")
        return Covariates(names)
    table = np.asarray(covariates)
    if table.ndim not in (1, 2) or table.dtype.kind not in "biufUO":
        raise TypeError(
            "covariates must be names of columns, a data frame, a dict of columns or an array, got "
            f"{type(covariates).__name__}"
        )
    columns = table.reshape(len(table), -1).T
    made = {f"covariate {j}": column for j, column in enumerate(columns, 1)}
    return Covariates(tuple(made), made)


def with_covariates(
    raw: Ready, given: Covariates, names: Any, k: Any
) -> tuple[Ready, Any, Covariates]:
    """(what the selection starts from, names of columns, the covariates with their places)."""
    if not given.names:
        return raw, names, given
    X, notes, prepare = raw.X, list(raw.notes), raw.prepare
    if given.values is not None:
        made, columns_made, gaps = covariate_columns(given.values)
        made_names = [name for column in columns_made for name in column.outputs]
        if len(made) != X.shape[0]:
            raise ValueError(f"covariates have {len(made)} rows, but X has {X.shape[0]}")
        n_own = X.shape[1]
        if names is not None and (twice := set(names) & set(made_names)):
            raise ValueError(
                f"a covariate and a feature are both called {min(twice)!r}; rename one"
            )
        X = beside(X, made, made_names)
        places = tuple(range(n_own, n_own + len(made_names)))
        if names is None and opened(X) is None:
            names = [f"x{j}" for j in range(n_own)]
        names = None if names is None else np.array([*names, *made_names], dtype=object)
        if gaps and not takes_gaps(prepare):
            prepare = preparation(["impute", prepare])
            notes.append(f"filled the missing values of {listed(gaps)} with the median")
    else:
        known = _known(X, None)
        columns = [one for name in given.names for one in raw.sources.get(name, [name])]
        places = tuple(known.index(one) for one in columns)
    if prepare is not None and takes_logarithms(prepare):
        prepare = BesideCovariates(prepare, places)
    selector = _adjusted(raw.selector, places, X.shape[1], _known(X, names), k)
    made_ready = replace(raw, selector=selector, X=X, prepare=prepare, notes=tuple(notes))
    return made_ready, names, Covariates(given.names, given.values, places)


def _adjusted(selector: Any, places: tuple[int, ...], n_columns: int, names: Any, k: Any) -> Any:
    """The selector that always keeps these columns, and k features beside them."""
    inner = selector
    while hasattr(getattr(inner, "selector", None), "get_params"):
        inner = inner.selector
    if not selector._adjusts_for_kept:
        raise ValueError(
            f"{name_of(inner)} judges every feature alone and cannot adjust for covariates; "
            "leave method out, or use a linear method such as ridge-forward"
        )
    known = None if names is None else list(names)
    own = np.flatnonzero(columns_mask("always_keep", selector.always_keep, n_columns, known))
    selector.set_params(always_keep=[int(j) for j in dict.fromkeys([*places, *own])])
    if k is None or isinstance(k, str):
        return selector
    total, n_units, _ = units_chosen_from(selector, places, n_columns, known)
    if isinstance(k, float | np.floating):
        if not 0 < k < 1:
            return selector  # refused by the selector itself
        k = max(1, int(k * (total - n_units)))
    return selector.set_params(n_features_to_select=int(k) + n_units)


def units_chosen_from(
    selector: Any, places: Sequence[int], n_columns: int, names: Any
) -> tuple[int, int, str]:
    """(features or feature groups of X, how many of them are covariates, what they are)."""
    together = getattr(selector, "feature_groups", None)
    while together is None and hasattr(inner := getattr(selector, "selector", None), "get_params"):
        selector, together = inner, getattr(inner, "feature_groups", None)
    if together is None:
        return n_columns, len(places), "feature"
    groups = feature_groups(together, n_columns, None if names is None else list(names))
    n_given = sum(bool(set(some.tolist()) & set(places)) for some in groups.columns)
    return groups.n_groups, n_given, "feature group"


def _known(X: Any, names: Any) -> Any:
    """What the columns of X are called, by itself or by ``names``."""
    frame = opened(X)
    return names if frame is None else [str(name) for name in frame.columns]


def check_k(k: Any, selector: Any, X: Any, names: Any, given: Covariates) -> None:
    """Refuse a number of features that X does not have, in the words of ``select``."""
    if k is None or isinstance(k, str):
        return
    shape = _shape(X)
    if len(shape) != 2:
        return  # which the selector refuses
    total, n_given, unit = units_chosen_from(selector, given.places, shape[1], _known(X, names))
    resolve_count(k, total - n_given, total, name="k")
    if said := too_many(k, total - n_given, unit, "k"):
        raise ValueError(f"{said}; ask for at most {total - n_given:,}")


def own_units(selector: Any, X: Any, names: Any, given: Covariates) -> tuple[int, int]:
    """(features or feature groups of X, how many of them are covariates)."""
    return units_chosen_from(selector, given.places, _shape(X)[1], _known(X, names))[:2]


def _shape(X: Any) -> tuple[int, ...]:
    return tuple(X.shape) if hasattr(X, "shape") else np.shape(X)


def leave_uncounted(search: Any, X: Any, names: Any, given: Covariates) -> None:
    """Let a search for the number of features speak of numbers without covariates."""
    if given.places:
        known = _known(X, names)
        search._n_beside = units_chosen_from(search, given.places, X.shape[1], known)[1]


def without_covariates(
    columns: dict[str, np.ndarray], selector: Any, given: Covariates
) -> dict[str, np.ndarray]:
    """The rows of a table of selected features without those of the covariates."""
    if not given.names:
        return columns
    rows = ~np.isin(best_first(selector), given.places)
    made = {name: values[rows] for name, values in columns.items()}
    ranks = np.unique(made["rank"], return_inverse=True)[1] + 1
    return {**made, "rank": ranks.astype(columns["rank"].dtype)}


def words_kept(selector: Any, given: Covariates) -> str:
    """How much is kept beside the covariates, in words."""
    if not given.names:
        return kept_words(selector)
    return f"{own_words(selector, given)} in addition to {given.words}"


def own_words(selector: Any, given: Covariates) -> str:
    """How much is kept of how much, without the covariates and without columns, in words."""
    support, groups = selector.get_support(), groups_of(selector)
    is_own = ~np.isin(np.arange(len(support)), given.places)
    if groups is None:
        kept, total, unit = int((support & is_own).sum()), int(is_own.sum()), "features"
    else:
        own = [bool(is_own[some].all()) for some in groups.columns]
        found = getattr(selector, "selector_", selector).group_support_
        kept, total, unit = int((found & own).sum()), sum(own), "feature groups"
    return f"{kept} of {total:,} {unit}"


def padded(X: Any, given: Covariates, names: Any) -> Any:
    """X with columns of zeros in the place of covariates that were given apart from it."""
    n_samples = X.shape[0]
    made = list(names[list(given.places)]) if names is not None else []
    if not made:
        columns = covariate_columns(given.values or {})[1]
        made = [name for column in columns for name in column.outputs]
    return beside(X, np.zeros((n_samples, len(given.places))), [str(name) for name in made])


@dataclass(frozen=True)
class CovariatesAlone:
    """How well the covariates predict without the features, on the same folds.

    Attributes
    ----------
    score : float
        Mean over the folds, in the units of the score of the check.
    p_value : float
        Of the test that the features add nothing: a t-test of the differences of the folds, with
        the variance corrected for the overlap of their training samples.
    adds : bool
        Whether they add something, at the 5 % level.
    sentence : str
    """

    score: float
    p_value: float
    adds: bool
    sentence: str

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"score": self.score, "p_value": self.p_value, "features_add": self.adds}


def covariates_alone(selected: SelectedFeatures) -> CovariatesAlone | None:
    """The check of the covariates without the features; None where there is no check."""
    check, places = selected.check, list(selected.covariates.places)
    if check is None or not places:
        return None
    X = selected.X
    few = numbers_at(X, places)
    few = np.asarray(few.toarray() if hasattr(few, "toarray") else few, dtype=np.float64)
    prepare = preparation("impute") if np.isnan(few).any() else None
    made: Any = RidgeForwardSelector(len(places))
    if isinstance(selected.method, BoostedTreesSelector):
        made = BoostedTreesSelector(len(places))  # judged by the same kind of model
    elif selected.task in ("survival", "counts"):
        made = LikelihoodForwardSelector(len(places))
    is_column = is_survival(selected.y) or np.ndim(plain_vector("y", selected.y)) == 1
    keeps_all = with_task(made, selected.task if is_column else "auto")
    with unrouted():
        if isinstance(selected.selector, SelectorCV):
            search = clone(selected.selector).set_params(
                selector=keeps_all,
                ks=[len(places)],
                prepare=prepare,
                feature_groups=None,
                always_keep=None,
                never_keep=None,
                verbose=0,
            )
            weights = selected.own.sample_weight
            search.fit(few, selected.y, groups=selected.groups, sample_weight=weights)
            alone = HeldOutCheck.of(search)
        else:
            how = asked_of(selected) | {"prepare": prepare, "n_kept": len(places)}
            alone = held_out_check(keeps_all, few, selected.y, **how)
    gains = np.asarray(check.folds) - np.asarray(alone.folds)
    gains = gains[np.isfinite(gains)] * (-1.0 if check.measure.lower_is_better else 1.0)
    p_value = _one_sided(gains, check.test_share)
    adds = p_value < LEVEL
    said = "add to that" if adds else "add nothing to that beyond chance"
    unit = check.unit.replace("feature group", "feature")
    sentence = (
        f"With {selected.covariates.words} alone: {check.measure.title} "
        f"{check.shown(alone.score)}; the {unit}s {said} (p = {p_value:.2g})."
    )
    return CovariatesAlone(alone.score, p_value, adds, sentence)


def _one_sided(gains: np.ndarray, test_share: float) -> float:
    """P-value of a mean above zero; folds share training samples (Nadeau and Bengio)."""
    n = len(gains)
    if n < 2:
        return 1.0
    error = float(error_over_splits(gains[None, :], test_share)[0])
    if error == 0.0:
        return 0.0 if gains.mean() > 0 else 1.0
    return float(t.sf(gains.mean() / error, n - 1))
