"""What is known of samples: the group that each belongs to, and how much it counts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from .._checks import format_names
from .._sklearn import check_sample_weight
from .target import Target


def group_codes(groups: Any, n_samples: int) -> np.ndarray:
    """Groups as numbers 0, 1, ...: one for every sample, none missing.

    Examples
    --------
    >>> from sparsieve.validation.samples import group_codes
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
    >>> from sparsieve.validation.samples import check_weights
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
