"""What a fit leaves behind, and how it went.

What a fit leaves behind, declared for type checkers and editors.

How a fit went, read from a fitted selector: the way of its objective, and whether it arrived.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray

from .._saved import Maybe, Savable
from ..solvers.base import Path
from ..validation.columns import FixedColumns
from ..validation.feature_groups import FeatureGroups
from .preparation import find_groups, unit_masks, unit_phrase


@dataclass(frozen=True)
class Descent:
    """Objective values of a fit.

    Attributes
    ----------
    values : ndarray
        The objective after every step.
    first : int
        Number of the first value.
    unit : str
        What a greedy path counts: "feature" or "feature group"; empty for iterations.
    """

    values: np.ndarray
    first: int
    unit: str = ""

    @property
    def step_name(self) -> str:
        """What is counted, in words."""
        return f"number of {self.unit}s" if self.unit else "iteration"


def objective_history(selector: Any) -> Descent:
    """``history_`` of a fitted selector with its meaning."""
    values = np.asarray(selector.history_, dtype=np.float64)
    path: Any = getattr(selector, "path_", None)
    by_size = getattr(path, "objective", None)
    # The objectives of a path that grows by one feature or group a step are no iterations.
    if by_size is not None and 0 < len(values) <= len(by_size):
        steps = np.arange(len(by_size))[-len(values) :]
        is_last = np.array_equal(by_size[-len(values) :], values)
        if is_last and _counts(selector, path.supports[-len(values) :], steps):
            return Descent(values, int(steps[0]), unit_phrase(selector))
    return Descent(values, 1)


def _counts(selector: Any, supports: Sequence[np.ndarray], steps: np.ndarray) -> bool:
    """Whether the supports have so many features, or so many feature groups."""
    groups = find_groups(selector)
    if groups is None:
        return [len(support) for support in supports] == steps.tolist()
    columns = np.zeros((len(supports), groups.n_features), dtype=bool)
    for row, support in zip(columns, supports, strict=True):
        row[support] = True
    # Groups that overlap may hold others, which then count as well.
    return bool((unit_masks(groups, columns).sum(axis=1) >= steps).all())


def convergence_failure(selector: Any) -> str:
    """What kept a fitted selector from its goal, as part of a sentence; empty if it arrived."""
    if getattr(selector, "converged_", True):
        return ""
    optimality, tol = selector.optimality_, getattr(selector, "tol", None)
    if tol is None or math.isnan(optimality):
        return "it stopped early"
    return f"optimality {optimality:.2g} exceeds tol={tol:g}"


class FittedOnFeatures(Savable):
    """What scikit-learn keeps of X, and how a fit went."""

    n_features_in_: int
    feature_names_in_: Maybe[Annotated[NDArray[Any], np.object_, "features"]]
    _frame_library: Maybe[str | None]
    # Of estimators that solve a problem by iterating.
    objective_: Maybe[float]
    optimality_: Maybe[float]
    n_iter_: Maybe[int]
    converged_: Maybe[bool]
    history_: Maybe[list[float]]


class FittedAttributes(FittedOnFeatures):
    """Annotations without values: an attribute exists once ``fit`` has set it.

    A dataclass collects fields only from bases that are dataclasses themselves; this one is
    none, so nothing here becomes a parameter.
    """

    scores_: Annotated[NDArray[np.floating[Any]], np.floating, "features"]
    ranking_: Annotated[NDArray[np.int64], np.signedinteger, "features"]
    support_: Annotated[NDArray[np.bool_], np.bool_, "features"]
    classes_: Maybe[Any]
    substitutes_: Maybe[dict[Any, list[tuple[Any, float]]]]
    n_passes_: Maybe[int]  # over an X that is not in memory
    path_: Maybe[Path]
    # Of selectors that keep groups of features.
    group_names_: Maybe[Annotated[NDArray[Any], np.object_, "groups"]]
    group_scores_: Maybe[Annotated[NDArray[np.floating[Any]], np.floating, "groups"]]
    group_ranking_: Maybe[Annotated[NDArray[np.int64], np.signedinteger, "groups"]]
    group_support_: Maybe[Annotated[NDArray[np.bool_], np.bool_, "groups"]]
    _feature_groups: Maybe[FeatureGroups]
    _fixed: Annotated[FixedColumns, "features"]
    _n_kept: int
    _n_ranked: int
    _passed_over: Maybe[dict[int, dict[int, float]]]

    if TYPE_CHECKING:  # what scikit-learn, which has no annotations, adds

        def transform(self, X: Any) -> Any:
            """The selected columns of X."""

        def inverse_transform(self, X: Any) -> Any:
            """X with zeros in place of the columns that were left out."""

        def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
            """``fit`` and ``transform`` in one."""

        def get_support(self, indices: bool = False) -> NDArray[Any]:
            """Mask or indices of the selected features."""

        def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
            """Names of the selected features."""

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """Parameters by name."""
