"""What a fit leaves behind, declared for type checkers and editors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray


class FittedAttributes:
    """Annotations without values: an attribute exists once ``fit`` has set it.

    A dataclass collects fields only from bases that are dataclasses themselves; this one is
    none, so nothing here becomes a parameter.
    """

    n_features_in_: int
    feature_names_in_: NDArray[Any]
    scores_: NDArray[np.floating[Any]]
    ranking_: NDArray[np.int64]
    support_: NDArray[np.bool_]
    substitutes_: dict[Any, list[tuple[Any, float]]]
    n_passes_: int  # over an X that is not in memory
    # Of selectors that solve a problem by iterating.
    objective_: float
    optimality_: float
    n_iter_: int
    converged_: bool
    history_: list[float]

    _n_kept: int
    _n_ranked: int
    _frame_library: str | None

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
