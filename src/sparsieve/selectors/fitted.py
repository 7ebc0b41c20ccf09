"""What a fit leaves behind, declared for type checkers and editors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray

from .._saved import Maybe, Savable
from ..solvers.base import Path
from ..validation.columns import FixedColumns
from ..validation.feature_groups import FeatureGroups


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
