"""Covariates of a selection: always in the model, never counted and never ranked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.stats import t
from sklearn.base import clone

from .._checks import format_names, resolve_count, too_many, warn_user
from ..diagnosis import Diagnosis, diagnose
from ..diagnosis.null import looks_at_target
from ..meta import SelectorCV
from ..meta.held_out import HeldOutCheck, check_selector, held_out_check
from ..preprocessing.covariates import (
    BesideCovariates,
    Covariates,
    append_columns,
    covariate_columns,
    fills_gaps,
    preparation,
    takes_logarithms,
)
from ..preprocessing.inputs import Inputs
from ..preprocessing.kept_columns import read_numbers
from ..preprocessing.preprocessor import FramePreprocessor
from ..preprocessing.table import column_names
from ..registry import selector_name
from ..scoring import likelihood_models
from ..scoring.engine import read_columns
from ..scoring.folds import error_over_splits
from ..scoring.outcomes import best_first
from ..scoring.statistics import LEVEL
from ..selectors.around import without_routing
from ..selectors.least_squares.fdr import FDRSelector
from ..selectors.least_squares.ridge_forward import RidgeForwardSelector
from ..selectors.likelihood.forward import LikelihoodForwardSelector
from ..selectors.preparation import find_groups, kept_words
from ..selectors.trees import BoostedTreesSelector
from ..validation.columns import columns_mask
from ..validation.containers import plain_matrix, plain_vector
from ..validation.dataframes import frame_library, open_frame
from ..validation.feature_groups import feature_groups
from ..validation.raw_columns import NUMBER, VALUE, RawColumn
from ..validation.survival import is_survival
from ..validation.target import with_task
from .claims import Claims, find_claims

if TYPE_CHECKING:
    from .result import SelectedFeatures


AUTO = "auto"


def is_in_memory(X: Any) -> bool:
    """Whether X can be read again without a file, a cluster or a device."""
    held = type(X) is np.ndarray or sparse.issparse(X)
    return held or frame_library(X) in ("pandas", "polars")


def run_check(
    selected: SelectedFeatures, fit_seconds: float | None
) -> tuple[HeldOutCheck | None, str]:
    """How the selection does on held-out samples, or why that is not known."""
    if isinstance(selected.selector, SelectorCV):
        return HeldOutCheck.of(selected.selector), ""
    if not is_in_memory(selected.X):
        return None, "Not checked on held-out samples: X is not in memory."
    asked = prediction_options(selected) | {"prepare": selected.prepare, "fit_seconds": fit_seconds}
    if not looks_at_target(selected.selector):
        asked["task"] = AUTO
    with without_routing():
        return check_selector(
            selected.selector, selected.X, selected.y, how="select(..., check=True)", **asked
        )


def prediction_options(selected: SelectedFeatures) -> dict[str, Any]:
    """How held-out samples are to be predicted, as the user said."""
    named = ("groups", "scoring", "sample_weight")
    how = {name: getattr(selected.inputs, name) for name in named}
    return {**how, "task": selected.task, **selected.inputs.folds}


def hazard_columns(selected: SelectedFeatures) -> dict[str, np.ndarray]:
    """Hazard ratios of the kept columns, best first; nothing where they have no estimate."""
    if selected.y is None or selected.task != "survival" or not is_in_memory(selected.X):
        return {}
    order = best_first(selected.selector)
    if not len(order) or len(order) > likelihood_models.MAX_RATIOS:
        return {}
    X = plain_matrix(selected.prepared_X)
    X = np.asarray(X) if hasattr(X, "columns") else X
    return likelihood_models.hazard_columns(read_columns(X, order, dense=True), selected.y)


def run_diagnosis(selected: SelectedFeatures, *, try_models: bool) -> Diagnosis | None:
    """What is odd about the data; None where that cannot be looked at."""
    X, y, names = selected.X, selected.y, selected.names
    if y is None or not is_in_memory(X):
        return None  # X in a file, on a cluster or on a device is not fetched for this
    if names is None and frame_library(X) is None:
        names = selected._all_names
    return diagnose(X, y, feature_names=names, task=selected.task, try_models=try_models)


def make_claims(selected: SelectedFeatures, level: float | None, claim: str | None) -> Claims:
    """What can be claimed of the features, as :meth:`SelectedFeatures.claims` says."""
    if selected.y is None:
        raise ValueError("claims are about a target: pass y to select")
    method = selected.method
    tests = method if isinstance(method, FDRSelector) else FDRSelector()
    level = tests.level if level is None else level
    claim = tests.claim if claim is None else claim
    is_made = tests is method and (level, claim) == (tests.level, tests.claim)
    fixed = getattr(method, "_fixed", None)
    always, never = (getattr(fixed, name, None) for name in ("always", "never"))
    ranking, kept, groups = method.ranking_, selected.selector.get_support(), find_groups(method)
    left_out = np.zeros(len(kept), dtype=bool) if always is None else always
    options = {}
    if groups is not None and not groups.are_single:
        ranking, kept = method.group_ranking_, method.group_support_
        left_out = method._choices.always
        options = {"feature_groups": groups.by_place()}
    order, free = np.argsort(ranking, kind="stable"), kept & ~left_out
    found = find_claims(
        selected.prepared_X,
        selected.y,
        selected._all_names,
        level=level,
        claim=claim,
        task=selected.task,
        selected=None if is_made else order[free[order]],
        fitted=method if is_made else None,
        groups=selected.groups,
        # Covariates of the selection are those of the claims.
        always_keep=always if always is not None and always.any() else None,
        never_keep=never if never is not None and never.any() else None,
        **options,
    )
    return replace(found, of_trees=isinstance(method, BoostedTreesSelector))


def warn_of_groups(groups: Any, what: str, instead: str = "") -> None:
    """Warn who reads p-values that do not know which samples belong together."""
    if groups is not None:
        warn_user(
            f"{what} need independent samples, but groups says that some belong together; p-values "
            f"are too small unless every group has one sample{instead}"
        )


def with_covariates(selector: Any, inputs: Inputs, k: Any) -> tuple[Any, Inputs]:
    """(the selector that always keeps the covariates, inputs with their columns among those of X).

    ``k`` is the number of features beside them.
    """
    covariates = inputs.covariates
    if not covariates.names:
        return selector, inputs
    X: Any = inputs.X
    names: Any = inputs.names
    if covariates.values is not None:
        made, columns, gaps = covariate_columns(covariates.values)
        made_names = [name for column in columns for name in column.outputs]
        if len(made) != X.shape[0]:
            raise ValueError(f"covariates have {len(made)} rows, but X has {X.shape[0]}")
        n_own = X.shape[1]
        if names is not None and (twice := set(names) & set(made_names)):
            raise ValueError(
                f"a covariate and a feature are both called {min(twice)!r}; rename one"
            )
        X = append_columns(X, made, made_names)
        places = tuple(range(n_own, n_own + len(made_names)))
        if names is None and open_frame(X) is None:
            names = [f"x{j}" for j in range(n_own)]
        names = None if names is None else np.array([*names, *made_names], dtype=object)
        inputs = replace(inputs, X=X, names=names, encode=_with_encoded(inputs, columns))
        if gaps and not fills_gaps(inputs.prepare):
            note = f"filled the missing values of {format_names(gaps)} with the median"
            prepare = preparation(["impute", inputs.prepare])
            inputs = replace(inputs, prepare=prepare, notes=(*inputs.notes, note))
    else:
        known = column_names(X)
        made_names = [one for name in covariates.names for one in inputs.sources.get(name, [name])]
        places = tuple(known.index(one) for one in made_names)
    if inputs.prepare is not None and takes_logarithms(inputs.prepare):
        inputs = replace(inputs, prepare=BesideCovariates(inputs.prepare, places))
    inputs = replace(inputs, covariates=replace(covariates, places=places))
    return _keep_covariates(selector, places, X.shape[1], column_names(X, names), k), inputs


def _with_encoded(inputs: Inputs, columns: Sequence[RawColumn]) -> Any:
    """What makes the columns of a table of a file: those of its features, then its covariates."""
    if inputs.table is None:
        return inputs.encode
    if inputs.encode is None and all(one.kind == NUMBER for one in columns):
        return None
    own = inputs.table.encode or [
        RawColumn(name, NUMBER, [name], [VALUE], [None]) for name in inputs.table.feature_names
    ]
    every = [*own, *columns]
    return FramePreprocessor(every).ready([one.name for one in every])


def _keep_covariates(
    selector: Any, places: tuple[int, ...], n_columns: int, names: Any, k: Any
) -> Any:
    """The selector that always keeps these columns, and k features beside them."""
    inner = selector
    while hasattr(getattr(inner, "selector", None), "get_params"):
        inner = inner.selector
    if not selector._adjusts_for_kept:
        raise ValueError(
            f"{selector_name(inner)} judges every feature alone and cannot adjust for covariates; "
            "leave method out, or use a linear method such as ridge-forward"
        )
    known = None if names is None else list(names)
    own = np.flatnonzero(columns_mask("always_keep", selector.always_keep, n_columns, known))
    selector.set_params(always_keep=[int(j) for j in dict.fromkeys([*places, *own])])
    if k is None or isinstance(k, str):
        return selector
    total, n_units, _ = count_candidates(selector, places, n_columns, known)
    if isinstance(k, float | np.floating):
        if not 0 < k < 1:
            return selector  # refused by the selector itself
        k = max(1, int(k * (total - n_units)))
    return selector.set_params(n_features_to_select=int(k) + n_units)


def count_candidates(
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


def check_k(k: Any, selector: Any, inputs: Inputs) -> None:
    """Refuse a number of features that X does not have, in the words of ``select``."""
    if k is None or isinstance(k, str):
        return
    shape = _shape(inputs.X)
    if len(shape) != 2:
        return  # which the selector refuses
    known = column_names(inputs.X, inputs.names)
    total, n_given, unit = count_candidates(selector, inputs.covariates.places, shape[1], known)
    resolve_count(k, total - n_given, total, name="k")
    if said := too_many(k, total - n_given, unit, "k"):
        raise ValueError(f"{said}; ask for at most {total - n_given:,}")


def own_units(selector: Any, inputs: Inputs) -> tuple[int, int]:
    """(features or feature groups of X, how many of them are covariates)."""
    known = column_names(inputs.X, inputs.names)
    n_columns = _shape(inputs.X)[1]
    return count_candidates(selector, inputs.covariates.places, n_columns, known)[:2]


def _shape(X: Any) -> tuple[int, ...]:
    return tuple(X.shape) if hasattr(X, "shape") else np.shape(X)


def discount_covariates(search: Any, inputs: Inputs) -> None:
    """Let a search for the number of features speak of numbers without covariates."""
    if inputs.covariates.places:
        search._n_beside = own_units(search, inputs)[1]


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


def kept_phrase(selector: Any, given: Covariates) -> str:
    """How much is kept beside the covariates, in words."""
    if not given.names:
        return kept_words(selector)
    return f"{own_words(selector, given)} in addition to {given.words}"


def own_words(selector: Any, given: Covariates) -> str:
    """How much is kept of how much, without the covariates and without columns, in words."""
    support, groups = selector.get_support(), find_groups(selector)
    is_own = ~np.isin(np.arange(len(support)), given.places)
    if groups is None:
        kept, total, unit = int((support & is_own).sum()), int(is_own.sum()), "features"
    else:
        own = [bool(is_own[some].all()) for some in groups.columns]
        found = getattr(selector, "selector_", selector).group_support_
        kept, total, unit = int((found & own).sum()), sum(own), "feature groups"
    return f"{kept} of {total:,} {unit}"


def pad_columns(X: Any, given: Covariates, names: Any) -> Any:
    """X with columns of zeros in the place of covariates that were given apart from it."""
    n_samples = X.shape[0]
    made = list(names[list(given.places)]) if names is not None else []
    if not made:
        columns = covariate_columns(given.values or {})[1]
        made = [name for column in columns for name in column.outputs]
    return append_columns(X, np.zeros((n_samples, len(given.places))), [str(name) for name in made])


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


def check_covariates(selected: SelectedFeatures) -> CovariatesAlone | None:
    """The check of the covariates without the features; None where there is no check."""
    check, places = selected.check, list(selected.covariates.places)
    if check is None or not places:
        return None
    X = selected.X
    few = read_numbers(X, places)
    few = np.asarray(few.toarray() if hasattr(few, "toarray") else few, dtype=np.float64)
    prepare = preparation("impute") if np.isnan(few).any() else None
    made: Any = RidgeForwardSelector(len(places))
    if isinstance(selected.method, BoostedTreesSelector):
        made = BoostedTreesSelector(len(places))  # judged by the same kind of model
    elif selected.task in ("survival", "counts"):
        made = LikelihoodForwardSelector(len(places))
    is_column = is_survival(selected.y) or np.ndim(plain_vector("y", selected.y)) == 1
    keeps_all = with_task(made, selected.task if is_column else "auto")
    with without_routing():
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
            weights = selected.inputs.sample_weight
            search.fit(few, selected.y, groups=selected.groups, sample_weight=weights)
            alone = HeldOutCheck.of(search)
        else:
            how = prediction_options(selected) | {"prepare": prepare, "n_kept": len(places)}
            alone = held_out_check(keeps_all, few, selected.y, **how)
    gains = np.asarray(check.folds) - np.asarray(alone.folds)
    gains = gains[np.isfinite(gains)] * (-1.0 if check.measure.lower_is_better else 1.0)
    p_value = _one_sided_p_value(gains, check.test_share)
    adds = p_value < LEVEL
    said = "add to that" if adds else "add nothing to that beyond chance"
    unit = check.unit.replace("feature group", "feature")
    sentence = (
        f"With {selected.covariates.words} alone: {check.measure.title} "
        f"{check.shown(alone.score)}; the {unit}s {said} (p = {p_value:.2g})."
    )
    return CovariatesAlone(alone.score, p_value, adds, sentence)


def _one_sided_p_value(gains: np.ndarray, test_share: float) -> float:
    """P-value of a mean above zero; folds share training samples (Nadeau and Bengio)."""
    n = len(gains)
    if n < 2:
        return 1.0
    error = float(error_over_splits(gains[None, :], test_share)[0])
    if error == 0.0:
        return 0.0 if gains.mean() > 0 else 1.0
    return float(t.sf(gains.mean() / error, n - 1))
