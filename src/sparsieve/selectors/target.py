"""From a user's y to the matrix Y that the models regress on."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.multiclass import type_of_target

TASKS = ("auto", "classification", "regression")


@dataclass(frozen=True)
class Target:
    """An encoded target.

    Attributes
    ----------
    task : {"classification", "multilabel", "regression"}
    Y : ndarray of shape (n_samples, n_outputs)
        0/1 one-hot columns in the order of ``classes``, the 0/1 indicator matrix, or the values.
    classes : ndarray or None
        Sorted class labels (classification only).
    codes : ndarray or None
        Index into ``classes`` for every sample (classification only).
    """

    task: str
    Y: np.ndarray
    classes: Any = None
    codes: Any = None

    def rows(self, index) -> Target:
        """The target of these samples; classes keep their columns."""
        codes = None if self.codes is None else self.codes[index]
        return Target(self.task, self.Y[index], self.classes, codes)


def encode_target(y: np.ndarray, *, task: str, dtype, owner: str) -> Target:
    """Encode a validated y; ``owner`` is named in messages."""
    if task not in TASKS:
        raise ValueError(f"task must be one of {', '.join(map(repr, TASKS))}, got {task!r}")
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    kind = type_of_target(y, input_name="y")
    if kind == "unknown":
        raise ValueError(f"Unknown label type: {owner} cannot read y of type {y.dtype}")
    if y.ndim == 2:
        return _encode_columns(y, kind, task, dtype)
    labels = kind in ("binary", "multiclass") if task == "auto" else task == "classification"
    if labels:
        if kind == "continuous":
            raise ValueError(
                f'Unknown label type: continuous. {owner} was given task="classification" but y '
                "holds real numbers; bin them into classes first"
            )
        target = _encode_classes(y, dtype)
        if task == "auto":
            _hint_at_regression(y, len(target.classes))
        return target
    return Target("regression", _as_numbers(y, dtype)[:, None])


def _encode_classes(y, dtype) -> Target:
    classes, codes = np.unique(y, return_inverse=True)
    n_samples, n_classes = len(y), len(classes)
    if n_samples == 1:
        raise ValueError("Cannot select features from one sample (n_samples = 1)")
    if n_classes == 1:
        raise ValueError(
            f"y has only one class ({classes[0]!r}); at least 2 classes are needed to select "
            "features that tell them apart"
        )
    if n_classes == n_samples:
        raise ValueError(
            f"y has {n_classes} classes for {n_samples} samples: every class has a single sample; "
            'give at least one class two samples, or pass task="regression" if y holds numbers'
        )
    Y = np.zeros((n_samples, n_classes), dtype=dtype)
    Y[np.arange(n_samples), codes] = 1.0
    return Target("classification", Y, classes, codes)


def _hint_at_regression(y, n_classes: int) -> None:
    """Counts and ages are whole numbers too: say so when classes would be many and small."""
    if y.dtype.kind in "iuf" and n_classes > max(20, 0.2 * len(y)):
        warnings.warn(
            f"y holds whole numbers and is read as {n_classes} classes; pass "
            'task="regression" if they are quantities, task="classification" to hide this hint',
            UserWarning,
            stacklevel=5,
        )


def _encode_columns(y, kind, task, dtype) -> Target:
    if task == "classification" and kind != "multilabel-indicator":
        raise ValueError(
            f'task="classification" needs one column of labels or a 0/1 indicator matrix; y has '
            f"{y.shape[1]} columns of other values"
        )
    values = _as_numbers(y, dtype)
    is_indicator = kind == "multilabel-indicator" and task != "regression"
    return Target("multilabel" if is_indicator else "regression", values)


def _as_numbers(y, dtype) -> np.ndarray:
    try:
        return np.asarray(y).astype(dtype)
    except (TypeError, ValueError):
        raise ValueError(
            'y holds text but is used as numbers; pass task="classification" for class labels'
        ) from None
