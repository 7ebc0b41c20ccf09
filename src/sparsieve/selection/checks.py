"""What is asked about a selection after the fit: held-out samples, the data, and claims."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from .._checks import warn_user
from ..diagnosis import Diagnosis, diagnose
from ..diagnosis.null import looks_at_target
from ..meta import SelectorCV
from ..meta.held_out import HeldOutCheck, check_selector
from ..scoring import likelihood_models
from ..scoring.engine import read_columns
from ..scoring.outcomes import best_first
from ..selectors.around import without_routing
from ..selectors.least_squares.fdr import FDRSelector
from ..selectors.preparation import find_groups
from ..validation.containers import plain_matrix
from ..validation.dataframes import frame_library
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
    return find_claims(
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


def warn_of_groups(groups: Any, what: str, instead: str = "") -> None:
    """Warn who reads p-values that do not know which samples belong together."""
    if groups is not None:
        warn_user(
            f"{what} need independent samples, but groups says that some belong together; p-values "
            f"are too small unless every group has one sample{instead}"
        )
