"""Shared ground of the linear selectors: their parameters, and problems in standard units."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np

from .._checks import check_flag, check_integer, check_real
from .._saved import Floats, Maybe
from .base import BaseSelector, ClassWeight, TrainingData
from .predictions import LinearPredictions
from .preparation import Prepared, prepare


@dataclass(eq=False, repr=False, kw_only=True)
class LinearSelector(LinearPredictions, BaseSelector):
    """Base of selectors with a linear model: ``fit_intercept``, ``standardize``, ``coef_``.

    The problems handed to the models know nothing of ``always_keep`` and ``never_keep``: their
    columns are zero and marked as ``constant``, and coefficients of covariates come back with
    the units of the user.
    """

    fit_intercept: bool = True
    standardize: bool = True
    class_weight: ClassWeight = None

    coef_: Maybe[Annotated[Floats, "outputs", "features"]] = field(init=False)
    intercept_: Maybe[Annotated[Floats, "outputs"]] = field(init=False)

    # Whether the model sees coefficients and residuals through the l2 norms of their rows alone
    # (or their squares). Only then may the outputs be rotated, which `compress` of `prepare` does.
    _purposes: ClassVar[tuple[str, ...]] = ("panel",)
    _adjusts_for_kept: ClassVar[bool] = True
    _invariant_to_rotations: ClassVar[bool] = True

    def _n_own(self, data: TrainingData, default: int) -> int:
        """How many features the model has to choose itself; by default at most ``default``."""
        return data.choices.own_count(self.n_features_to_select, default)

    def _keep_coefficients(self, coef: np.ndarray, intercept: np.ndarray) -> None:
        """Keep the model, in the units of X."""
        self.coef_, self.intercept_ = coef, intercept

    def _check_parameters(self) -> None:
        check_flag("fit_intercept", self.fit_intercept)
        check_flag("standardize", self.standardize)
        if hasattr(self, "max_iter"):
            check_integer("max_iter", self.max_iter)
        if hasattr(self, "tol"):
            check_real("tol", self.tol, minimum=0, strict=True)

    def _make_problem(self, data: TrainingData, **options: Any) -> Prepared:
        """The problem in standard units."""
        options.setdefault("compress", self._invariant_to_rotations)
        return prepare(
            data, fit_intercept=self.fit_intercept, standardize=self.standardize, **options
        )
