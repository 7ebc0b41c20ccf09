"""The one way in: from a user's X, y and weights to validated training data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import is_classifier
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import validate_data

from .._checks import format_names, warn_user
from .._sklearn import check_sample_weight
from ..design import DesignMatrix, as_design
from ..design.dense import DenseDesign
from ..design.sparse import SparseDesign
from .columns import FixedColumns, check_same_device, checked_design, resolved_place
from .containers import (
    canonical,
    check_finite_target,
    checked_values,
    naming_arguments,
    plain_matrix,
    plain_vector,
    with_usual_columns,
)
from .feature_groups import FeatureGroups
from .survival import as_survival
from .target import Target, estimator_target, requested_task


def group_codes(groups: Any, n_samples: int) -> np.ndarray:
    """Groups as numbers 0, 1, ...: one for every sample, none missing.

    Examples
    --------
    >>> from sparsieve.validation.training_data import group_codes
    >>> group_codes(["b", "a", "b"], 3).tolist()
    [1, 0, 1]
    """
    groups = np.asarray(groups)
    if groups.shape != (n_samples,):
        raise ValueError(
            f"groups must say for each of the {n_samples} samples where it belongs, got shape "
            f"{groups.shape}"
        )
    missing = np.array([value is None or value != value for value in groups.tolist()], dtype=bool)
    if missing.any():
        times = int(missing.sum())
        raise ValueError(
            f"the group of {times} sample{'s' * (times != 1)} is missing (first of sample "
            f"{int(np.argmax(missing))}); give every sample its group, if need be one of its own"
        )
    labels = groups.astype(str) if groups.dtype == object else groups
    return np.unique(labels, return_inverse=True)[1]


def check_weights(sample_weight: Any, n_samples: int, labels: Sequence[Any] | None = None) -> None:
    """Refuse weights that are no numbers from 0 on, one for each sample, in one sentence.

    ``labels`` are what the rows are called; they are counted from 1 without.

    Examples
    --------
    >>> from sparsieve.validation.training_data import check_weights
    >>> check_weights([1.0, -2.0], 2, labels=["p1", "p2"])
    Traceback (most recent call last):
        ...
    ValueError: sample_weight is negative in row 'p2' (-2); weights are numbers from 0 on
    """
    if sample_weight is None or np.ndim(sample_weight) == 0:
        return
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("sample_weight holds text or objects; weights are numbers") from None
    if weights.ndim != 1 or len(weights) != n_samples:
        raise ValueError(
            f"sample_weight has {'shape ' * (weights.ndim != 1)}"
            f"{weights.shape if weights.ndim != 1 else f'{len(weights):,} values'}, but X has "
            f"{n_samples:,} rows; give one weight for each row"
        )
    for what, wrong in (
        ("is missing", np.isnan(weights)),
        ("is infinite", np.isinf(weights)),
        ("is negative", weights < 0),
    ):
        if not wrong.any():
            continue
        first = int(np.flatnonzero(wrong)[0])
        row = f"row {first + 1}" if labels is None else f"row {labels[first]!r}"
        value = f" ({weights[first]:g})" if what == "is negative" else ""
        more = f" and {n_more:,} more" if (n_more := int(wrong.sum()) - 1) else ""
        raise ValueError(
            f"sample_weight {what} in {row}{value}{more}; weights are numbers from 0 on"
        )


def positive_weights(
    sample_weight: Any, n_samples: int
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """(weights without zeros, the samples that they belong to); None stands for all samples."""
    if sample_weight is None:
        return None, None
    check_weights(sample_weight, n_samples)
    as_many = np.broadcast_to(np.int8(0), (n_samples, 1))
    weights = check_sample_weight(
        sample_weight, as_many, dtype=np.float64, ensure_non_negative=True
    )
    used = weights > 0
    if not used.any():
        raise ValueError("sample_weight is zero for every sample; nothing is left to fit")
    check_weight_size(weights[used])
    return (weights, None) if used.all() else (weights[used], np.flatnonzero(used))


def combined_weights(
    sample_weight: np.ndarray | None, class_weight: Any, target: Target
) -> np.ndarray | None:
    """The weight of every sample with that of its class; None where all count the same."""
    if class_weight is None:
        return sample_weight
    if target.classes is None:
        raise ValueError(
            "class_weight needs class labels, but y is numeric; leave class_weight=None and pass "
            "sample_weight instead"
        )
    weights = class_weights(class_weight, target, sample_weight)[target.codes]
    if sample_weight is not None:
        weights = weights * sample_weight
    check_weight_size(weights, "class_weight times sample_weight")
    return weights


def check_weight_size(weights: np.ndarray, name: str = "sample_weight") -> None:
    """Refuse positive weights of which sums and products are no numbers."""
    low, high = 1e-50, 1e15  # linear programs take 1e20 for infinity
    for value in (float(weights.max()), float(weights.min())):
        if not low <= value <= high:
            raise ValueError(
                f"{name} holds {value:.3g}; scale the weights to lie between {low:g} and {high:g} "
                "(a weight of 2 means two copies of a sample), or pass 0 to leave a sample out"
            )


def class_weights(
    class_weight: Any, target: Target, sample_weight: np.ndarray | None = None
) -> np.ndarray:
    """The weight of every class of the target, in their order.

    "balanced" weighs classes by the inverse of their sizes; sizes count samples with their
    weights, so that a sample of weight two counts as two samples. A class that a dict does not
    name weighs one; labels that y does not hold are a mistake unless all of its classes are named
    (a part of the samples may lack a class).
    """
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise ValueError(
                f'class_weight must be a dict, "balanced" or None, got {class_weight!r}'
            )
        sizes = np.bincount(target.codes, weights=sample_weight)
        return sizes.sum() / (len(sizes) * sizes)
    if not isinstance(class_weight, Mapping):
        raise TypeError(
            'class_weight must be a dict from class labels to weights, "balanced" or None, got a '
            f"{type(class_weight).__name__}"
        )
    labels = target.classes.tolist()
    unknown = [label for label in class_weight if label not in labels]
    if unknown and any(label not in class_weight for label in labels):
        raise ValueError(
            f"class_weight contains {format_names(unknown)}, but the classes of y are "
            f"{format_names(labels)}; "
            "use these labels"
        )
    for label, weight in class_weight.items():
        if isinstance(weight, bool | np.bool_) or not isinstance(weight, Real):
            raise TypeError(f"class_weight of {label!r} must be a number, got {weight!r}")
        if not 0.0 < float(weight) < math.inf:
            raise ValueError(
                f"class_weight of {label!r} must be positive and finite, got {weight!r}; to "
                "ignore a class, drop its samples"
            )
    return np.array([float(class_weight.get(label, 1.0)) for label in labels])


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

        X on a device is its design, whose rows :func:`~sparsieve.validation.columns.take_rows`
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
