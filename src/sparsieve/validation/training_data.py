"""The one way in: from a user's X, y and weights to validated training data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import is_classifier
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import validate_data

from .._checks import warn_user
from ..design import DesignMatrix, as_design
from ..design.dense import DenseDesign
from ..design.sparse import SparseDesign
from .columns import FixedColumns
from .containers import plain_matrix, plain_vector
from .external import check_same_device, checked_design, resolved_place
from .feature_groups import FeatureGroups
from .samples import combined_weights, positive_weights
from .survival import as_survival
from .target import Target, estimator_target, requested_task
from .values import (
    canonical,
    check_finite_target,
    checked_values,
    naming_arguments,
    with_usual_columns,
)


class Capabilities:
    """Defaults; a class overrides them by values, or by properties where its parameters decide."""

    _accepts_sparse: ClassVar[bool] = True
    _accepts_nan: ClassVar[bool] = False
    _accepts_regression: ClassVar[bool] = True  # False: y must hold class labels
    _accepts_regression_if_asked: ClassVar[bool] = False  # also where y is class labels otherwise
    # Whether several columns of targets pass even where single ones must be class labels.
    _accepts_several_targets: ClassVar[bool] = False
    _accepts_survival: ClassVar[bool] = False  # times until an event, some of them censored
    _accepts_counts: ClassVar[bool] = False  # also where other quantities are refused
    _needs_numbers: ClassVar[bool] = False  # y is a quantity, also where it holds whole numbers
    _rounds_target: ClassVar[bool] = True  # False: y stays in double precision beside float32
    _needs_target: ClassVar[bool] = True  # False: y is not looked at, and need not be given
    # Whether X may be out of memory: only products with it are used, and few of its columns.
    _accepts_external: ClassVar[bool] = False
    _accepts_device: ClassVar[bool] = False  # whether X may be on a GPU, as external ones may be
    # A smaller X on a GPU is fetched: the host does most of the work, and would wait for products.
    _fetched_bytes: ClassVar[int] = 0
    _external_hint: ClassVar[str] = ""  # what to do where an external X is not accepted
    # Whether the unit of a column makes no difference; None: as far as it is standardised.
    _scale_free: ClassVar[bool | None] = None
    _holder_of_task: ClassVar[str] = ""  # who has the parameter ``task``, if not the estimator


def is_scale_free(estimator: Any) -> bool:
    """Whether the unit of a column makes no difference to what an estimator finds."""
    declared = getattr(estimator, "_scale_free", None)
    return bool(getattr(estimator, "standardize", False) if declared is None else declared)


@dataclass(frozen=True)
class TrainingData:
    """Validated training data as handed to a model.

    ``sample_weight`` already includes the class weights; it is None when all samples count the
    same, and never holds zeros: such samples were dropped, and ``used`` are the places in the
    user's X of those left, None where these are all. ``fixed`` are the columns that
    ``always_keep`` and ``never_keep`` name, whole groups where there are ``groups``.
    """

    design: DesignMatrix
    target: Target
    sample_weight: np.ndarray | None
    fixed: FixedColumns
    used: np.ndarray | None = None
    groups: FeatureGroups | None = None

    @property
    def choices(self) -> FixedColumns:
        """What is chosen and counted: the columns, or the groups of them."""
        return self.fixed if self.groups is None else self.groups.choices(self.fixed)

    @property
    def allowed_design(self) -> DesignMatrix:
        """X without the columns of ``never_keep``: those at the places ``fixed.allowed``."""
        fixed = self.fixed
        return self.design.columns(fixed.candidates) if fixed.never.any() else self.design

    @property
    def rows(self) -> np.ndarray:
        """The places in the user's X of the samples."""
        return np.arange(self.design.shape[0]) if self.used is None else self.used

    def arrays(self) -> tuple[Any, Any]:
        """(X, y) as an estimator of scikit-learn takes them: a matrix, and labels or numbers."""
        design: Any = self.design
        if isinstance(design, SparseDesign):
            X = design.matrix
        elif isinstance(design, DenseDesign):
            X = design.array
        elif design.is_on_device and design.is_resident:
            X = design.tensor
        else:
            raise TypeError(
                "selectors that wrap other selectors accept X as a NumPy array, SciPy sparse "
                f"matrix or tensor, not as a {type(design).__name__}; convert X first"
            )
        return X, self._plain_target

    def samples(self) -> tuple[Any, Any]:
        """(X, y) as :meth:`arrays`, for who fits others on some of the samples.

        X on a device is its design, whose rows :func:`~sparsieve.validation.external.take_rows`
        takes without a copy. All of its values are looked at here.
        """
        design: Any = self.design
        if not (design.is_on_device and design.is_resident):
            return self.arrays()
        design.device_moments()  # which refuses values that are no numbers
        return design, self._plain_target

    @property
    def _plain_target(self) -> Any:
        target = self.target
        if target.events is not None:
            return target.events
        if target.classes is not None:
            return target.classes[target.codes]
        return target.Y[:, 0] if target.Y.shape[1] == 1 else target.Y

    @property
    def total_weight(self) -> float:
        """The number of samples, counted with their weights."""
        if self.sample_weight is None:
            return float(self.design.shape[0])
        return float(self.sample_weight.sum())


def training_data(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> TrainingData:
    """Validate for an estimator; sets ``classes_``, ``n_features_in_`` and the feature names.

    What the estimator takes are its ``Capabilities``; its parameters ``task``, ``class_weight``,
    ``always_keep`` and ``never_keep`` are read where it has them.
    """
    if not estimator._needs_target:
        y = sample_weight = None
    check_same_device(X, {"y": y, "sample_weight": sample_weight})
    task = requested_task(estimator, y)
    if getattr(y, "shape", ())[1:] == (1,) and is_classifier(estimator):
        # In the words that scikit-learn's own checks look for.
        warn_user(
            "A column-vector y was passed when a 1d array was expected; pass y.ravel()",
            DataConversionWarning,
        )
    is_timed = task == "survival" and y is not None
    y = as_survival(y) if is_timed else plain_vector("y", y)
    check_finite_target(y)  # before scikit-learn, which names no remedy
    sample_weight = plain_vector("sample_weight", sample_weight)
    X, known = resolved_place(estimator, X), None
    in_memory = not isinstance(X, DesignMatrix)
    if in_memory:
        X, y, known = checked_values(estimator, plain_matrix(X), y)
    else:
        X, y = checked_design(estimator, X, y)
    if y is not None:
        check_finite_target(y)
    sample_weight, used = positive_weights(sample_weight, X.shape[0])
    if used is not None:
        X, y = X[used] if in_memory else X.rows(used), y[used]
    unit = None
    if in_memory:
        X, unit = with_usual_columns(
            X, scale_free=is_scale_free(estimator), owner=type(estimator).__name__, known=known
        )
    target = estimator_target(estimator, y, task, X)
    weights = combined_weights(sample_weight, getattr(estimator, "class_weight", None), target)
    fixed, groups = (
        FixedColumns.from_selector(estimator, X.shape[1]),
        FeatureGroups.from_selector(estimator, X.shape[1]),
    )
    if groups is not None:
        fixed = groups.widen(fixed)
    design = as_design(X)
    if unit is not None:
        design.unit = unit
    return TrainingData(design, target, weights, fixed, used, groups)


def transform_data(estimator: Any, X: Any, *, min_samples: int = 1) -> Any:
    """X in memory with the features of the fit, for ``transform`` and ``predict``."""
    X = plain_matrix(X)
    with naming_arguments():
        X = validate_data(
            estimator,
            X,
            reset=False,
            accept_sparse=("csr", "csc") if estimator._accepts_sparse else False,
            dtype=(np.float64, np.float32),
            ensure_all_finite="allow-nan" if estimator._accepts_nan else True,
            ensure_min_samples=min_samples,
        )
    return canonical(X)
