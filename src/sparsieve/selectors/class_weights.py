"""Weights of classes: what ``class_weight`` may be, checked once for every estimator."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from .._checks import listed
from .target import Target


def class_weights(class_weight: Any, target: Target, sample_weight=None) -> np.ndarray:
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
            f"class_weight names {listed(unknown)}, which y does not hold; its classes are "
            f"{listed(labels)}"
        )
    for label, weight in class_weight.items():
        if isinstance(weight, bool | np.bool_) or not isinstance(weight, Real):
            raise TypeError(f"class_weight of {label!r} must be a number, got {weight!r}")
        if not 0.0 < float(weight) < math.inf:
            raise ValueError(
                f"class_weight of {label!r} must be positive and finite, got {weight!r}; leave "
                "out the samples of a class that is not to count"
            )
    return np.array([float(class_weight.get(label, 1.0)) for label in labels])
