"""The one way in: from a user's X, y and weights to validated training data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight, validate_data

from .._checks import check_dimensions, check_finite
from .._frames import frame_library
from ..design import DesignMatrix, RowBlockedDesign, as_design, foreign_design
from ..device import check_same_device
from .class_weights import class_weights
from .fixed import FixedColumns
from .foreign import check_foreign
from .magnitudes import check_target_size, check_weight_size, sizes_at_once, with_usual_columns
from .plain import canonical, naming_arguments, plain_matrix, plain_vector
from .target import NO_TARGET, Target, encode_target, is_categorical


@dataclass(frozen=True)
class TrainingData:
    """Validated training data as handed to a model.

    ``sample_weight`` already includes the class weights; it is None when all samples count the
    same, and never holds zeros: such samples were dropped, and ``used`` are the places in the
    user's X of those left, None where these are all. ``fixed`` are the columns that
    ``always_keep`` and ``never_keep`` name.
    """

    design: DesignMatrix
    target: Target
    sample_weight: np.ndarray | None
    fixed: FixedColumns
    used: np.ndarray | None = None

    @property
    def rows(self) -> np.ndarray:
        """The places in the user's X of the samples."""
        return np.arange(self.design.shape[0]) if self.used is None else self.used

    @property
    def total_weight(self) -> float:
        """The number of samples, counted with their weights."""
        if self.sample_weight is None:
            return float(self.design.shape[0])
        return float(self.sample_weight.sum())


def training_data(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    accept_sparse: bool = True,
    accept_regression: bool = True,
    accept_nan: bool = False,
    accept_foreign: bool = False,
    accept_device: bool = False,
    needs_target: bool = True,
    knows: str = "both",
    holder: str = "",
) -> TrainingData:
    """Validate for an estimator; sets ``classes_``, ``n_features_in_`` and the feature names.

    The parameters ``task``, ``class_weight``, ``always_keep`` and ``never_keep`` are read where
    the estimator has them; ``knows`` and ``holder`` are those of ``encode_target``. Without
    ``needs_target`` y is not looked at, whatever it is.
    """
    if not needs_target:
        return _data_without_target(
            estimator, X, accept_sparse=accept_sparse, accept_nan=accept_nan
        )
    check_same_device(X, {"y": y, "sample_weight": sample_weight})
    task = getattr(estimator, "task", "auto")
    if task == "auto" and is_categorical(y):
        task = "classification"
    y, sample_weight = plain_vector("y", y), plain_vector("sample_weight", sample_weight)
    foreign = foreign_design(X)
    if foreign is not None and isinstance(X, np.ndarray) and not accept_foreign:
        foreign = None  # a memory-mapped array serves as well as any other
    if foreign is not None and (here := foreign.in_memory()) is not None:
        X, foreign = here, None
    sizes = None
    if foreign is None:
        checks = {"accept_sparse": accept_sparse, "accept_nan": accept_nan}
        X, y, sizes = _validated(estimator, X, y, **checks)
    else:
        accepted = accept_device if foreign.is_on_device else accept_foreign
        X, y = check_foreign(estimator, foreign, y, accepted=accepted)
    _check_finite_target(y)
    rows = None
    if sample_weight is not None:
        as_many = np.broadcast_to(np.int8(0), (X.shape[0], 1))
        sample_weight = _check_sample_weight(
            sample_weight, as_many, dtype=np.float64, ensure_non_negative=True
        )
        used = sample_weight > 0
        if not used.any():
            raise ValueError("sample_weight is zero for every sample; nothing is left to fit")
        if not used.all():
            y, sample_weight, rows = y[used], sample_weight[used], np.flatnonzero(used)
            X = X[used] if foreign is None else X.rows(rows)
            sizes = None
        check_weight_size(sample_weight)
    name = type(estimator).__name__
    unit = None
    if foreign is None:
        X, unit = with_usual_columns(
            X, scale_free=is_scale_free(estimator), owner=name, sizes=sizes
        )
    with np.errstate(over="ignore"):  # of float32, and refused below
        target = encode_target(
            y,
            task=task,
            dtype=X.dtype,
            owner=name,
            knows=knows if accept_regression else "classes",
            holder=holder,
            coded=isinstance(X, RowBlockedDesign),
        )
    if target.task == "regression":
        check_target_size(y, X.dtype)
    if target.task != "classification" and not accept_regression:
        raise ValueError(
            f"Unknown label type: {name} needs one column of class labels, but y looks like "
            f"{target.task}; bin y into classes or use a selector for regression such as "
            "RidgeForwardSelector"
        )
    if target.classes is not None:
        estimator.classes_ = target.classes
    elif hasattr(estimator, "classes_"):
        del estimator.classes_  # of an earlier fit on labels
    weights = _combined_weights(sample_weight, getattr(estimator, "class_weight", None), target)
    fixed = FixedColumns.of(estimator, X.shape[1])
    design = as_design(X)
    if unit is not None:
        design.unit = unit
    return TrainingData(design, target, weights, fixed, rows)


def _data_without_target(
    estimator: Any, X: Any, *, accept_sparse: bool, accept_nan: bool
) -> TrainingData:
    """What a selector that looks at X alone gets: a target of no columns."""
    foreign = None if isinstance(X, np.ndarray) else foreign_design(X)
    if foreign is not None:
        X = foreign.in_memory()
        if X is None:
            check_foreign(estimator, foreign, None, accepted=False)  # says what to do instead
    checks = {"accept_sparse": accept_sparse, "accept_nan": accept_nan}
    X, _, sizes = _validated(estimator, X, None, **checks)
    name = type(estimator).__name__
    X, unit = with_usual_columns(X, scale_free=is_scale_free(estimator), owner=name, sizes=sizes)
    if hasattr(estimator, "classes_"):
        del estimator.classes_  # of an earlier fit that used labels
    n_samples, n_features = X.shape
    design = as_design(X)
    if unit is not None:
        design.unit = unit
    target = Target(NO_TARGET, np.empty((n_samples, 0), dtype=X.dtype))
    fixed = FixedColumns.of(estimator, n_features)
    return TrainingData(design, target, None, fixed)


def _validated(
    estimator: Any, X: Any, y: Any, *, accept_sparse: bool, accept_nan: bool
) -> tuple[Any, Any, np.ndarray | None]:
    """X in memory, as an array or a sparse matrix, y, where the estimator needs one, and sizes.

    These are of the columns of a large X, because the pass that finds out whether all values are
    numbers finds them too.
    """
    X = plain_matrix(X)
    check_dimensions(X)
    estimator._frame_library = frame_library(X)  # what tables of the result are made with
    checks: Any = {
        "accept_sparse": ("csr", "csc") if accept_sparse else False,
        "dtype": (np.float64, np.float32),
        "ensure_all_finite": False,
        "ensure_min_samples": 2,
    }
    with naming_arguments():
        if y is None and not estimator.__sklearn_tags__().target_tags.required:
            X = validate_data(estimator, X, **checks)
        else:
            X, y = validate_data(estimator, X, y, multi_output=True, **checks)
    sizes = sizes_at_once(X)
    if sizes is None:
        is_frame = estimator._frame_library is not None
        check_finite(
            X,
            getattr(estimator, "feature_names_in_", None),
            allow_nan=accept_nan,
            **({"imputer": "sparsieve.make_preprocessor(X)"} if is_frame else {}),
        )
    return canonical(X), y, sizes


def is_scale_free(estimator: Any) -> bool:
    """Whether the unit of a column makes no difference to what an estimator finds."""
    declared = getattr(estimator, "_scale_free", None)
    return bool(getattr(estimator, "standardize", False) if declared is None else declared)


def _check_finite_target(y: np.ndarray) -> None:
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        bad = int((~np.isfinite(y)).sum())
        raise ValueError(f"Input y contains NaN or infinite values ({bad} of {y.size}); drop them")


def _combined_weights(sample_weight, class_weight, target: Target) -> np.ndarray | None:
    if class_weight is None:
        return sample_weight
    if target.classes is None:
        raise ValueError(
            "class_weight is for class labels, but y is used as numbers; leave class_weight=None "
            "and pass sample_weight instead"
        )
    weights = class_weights(class_weight, target, sample_weight)[target.codes]
    if sample_weight is not None:
        weights = weights * sample_weight
    check_weight_size(weights, "class_weight times sample_weight")
    return weights
