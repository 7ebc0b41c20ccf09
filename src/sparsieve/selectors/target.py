"""From a user's y to the matrix Y that the models regress on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.multiclass import type_of_target

from .._checks import warn_user
from ..design import Coded
from .distinct import distinct, places, smallest_integer

TASKS = ("auto", "classification", "regression")
NO_TARGET = "unsupervised"  # what the task is called where y is not looked at
MANY_CLASSES = 20  # more than this are worth a word

_told = ContextVar("_told", default=False)


@dataclass(frozen=True)
class Target:
    """An encoded target.

    Attributes
    ----------
    task : {"classification", "multilabel", "regression", "unsupervised"}
        Of the last, Y has no columns.
    Y : ndarray or Coded, of shape (n_samples, n_outputs)
        0/1 one-hot columns in the order of ``classes``, the 0/1 indicator matrix, or the values.
        Coded are the classes of an X that is read in blocks.
    classes : ndarray or None
        Sorted class labels (classification only).
    codes : ndarray or None
        Index into ``classes`` for every sample (classification only).
    """

    task: str
    Y: Any
    classes: Any = None
    codes: Any = None

    def rows(self, index) -> Target:
        """The target of these samples; classes keep their columns."""
        codes = None if self.codes is None else self.codes[index]
        return Target(self.task, self.Y[index], self.classes, codes)


def decide_task(y: Any) -> str:
    """How ``task="auto"`` reads one column of targets: "classification" or "regression".

    Booleans, text, categories and two distinct values are classes. Whole numbers (also as
    floats) with u distinct values in n samples are classes if u <= sqrt(n), or if u <= 20 and
    n >= 3 u, or if the values are exactly 0..u-1 or 1..u with at least 5 samples each; all other
    numbers are quantities. Decide on the whole of y and hand the answer on to folds and
    subsamples, in which the counts would be others.

    Examples
    --------
    >>> from sparsieve.selectors.target import decide_task
    >>> decide_task(["ill", "well", "ill"])
    'classification'
    >>> decide_task([25, 31, 44, 52, 60, 71])
    'regression'
    """
    y = np.asarray(y)
    y = as_numbers if (as_numbers := _number_objects(y)) is not None else y
    if y.dtype.kind not in "iuf":
        return "classification"
    return _task_of(*distinct(y))


def _task_of(values: np.ndarray, counts: np.ndarray) -> str:
    """How one column of these different values, so often each, is read."""
    if values.dtype.kind not in "iuf":
        return "classification"
    u, n = len(values), int(counts.sum())
    if u <= 2:
        return "classification"
    if values.dtype.kind == "f" and not (
        np.isfinite(values).all() and (values == np.rint(values)).all()
    ):
        return "regression"
    first = float(values[0])
    consecutive = first in (0.0, 1.0) and float(values[-1]) == first + u - 1
    few = u * u <= n or (u <= 20 and n >= 3 * u) or (consecutive and counts.min() >= 5)
    return "classification" if few else "regression"


def with_task(selector: Any, task: str) -> Any:
    """A copy that reads every part of y as the whole was read, where it is left to decide.

    Reaches the steps of a Pipeline and the selectors that others wrap. Selectors for classes
    only have nothing to decide.

    Examples
    --------
    >>> from sparsieve import RidgeForwardSelector
    >>> from sparsieve.selectors.target import with_task
    >>> with_task(RidgeForwardSelector(), "regression").task
    'regression'
    """
    selector = clone(selector)
    if task not in ("classification", "regression"):
        return selector  # columns of targets say themselves what they are
    if isinstance(selector, Pipeline):
        steps = {name: with_task(step, task) for name, step in selector.steps if _is_model(step)}
        return selector.set_params(**steps)
    if hasattr(selector, "_members_with_task"):
        return selector.set_params(**selector._members_with_task(task))
    if _is_model(selector) and selector.get_params(deep=False).get("task") == "auto":
        selector.set_params(task=task)
    return selector


def _is_model(step: Any) -> bool:
    return hasattr(step, "get_params") and hasattr(step, "fit")


@contextmanager
def already_told() -> Iterator[None]:
    """While parts of a y are fitted, whose reading has been spoken of once."""
    token = _told.set(True)
    try:
        yield
    finally:
        _told.reset(token)


def _number_objects(y: np.ndarray) -> np.ndarray | None:
    """Python numbers in an object array as a plain array; None for anything else."""
    if y.dtype.kind != "O":
        return None
    if not all(isinstance(v, Real) and not isinstance(v, bool | np.bool_) for v in y.ravel()):
        return None
    try:
        return y.astype(np.int64 if all(isinstance(v, Integral) for v in y.ravel()) else np.float64)
    except OverflowError:
        return y.astype(np.float64)


def encode_target(
    y: np.ndarray,
    *,
    task: str,
    dtype: Any,
    owner: str,
    classes_only: bool = False,
    coded: bool = False,
) -> Target:
    """Encode a validated y; ``owner`` is named in messages.

    With ``classes_only`` whole numbers are classes however many they are; with ``coded`` classes
    take a few bytes per sample.
    """
    if task not in TASKS:
        raise ValueError(f"task must be one of {', '.join(map(repr, TASKS))}, got {task!r}")
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    y = as_numbers if (as_numbers := _number_objects(y)) is not None else y
    if y.ndim == 2 or y.dtype.kind == "O":
        kind = type_of_target(y, input_name="y")
        if kind == "unknown":
            raise ValueError(f"Unknown label type: {owner} cannot read y of type {y.dtype}")
    if y.ndim == 2:
        return _encode_columns(y, kind, task, dtype)
    values, counts = distinct(y)
    kind = type_of_target(values, input_name="y")
    natural = _task_of(values, counts)
    guess = natural if task == "auto" else task
    forced = guess == "regression" and classes_only and kind != "continuous"
    guess = "classification" if forced else guess
    if task == "auto" and not _told.get():
        sentence = _how_read(values, counts, classes_only_owner=owner if classes_only else "")
        if sentence:
            warn_user(sentence)
    if guess == "classification":
        if kind == "continuous" and natural == "regression":
            raise ValueError(
                f'Unknown label type: continuous. {owner} was given task="classification" but y '
                "holds real numbers; bin them into classes first"
            )
        return _encode_classes(y, values, dtype, coded=coded)
    return Target("regression", _as_numbers(y, dtype)[:, None])


def how_read(y: Any, *, option: str = 'task="{}"', classes_only_owner: str = "") -> str:
    """One sentence where another reading of y is near at hand, else nothing.

    Parameters
    ----------
    y : array of shape (n_samples,)
    option : str
        How a reader says the task, with braces for its value.
    classes_only_owner : str, default=""
        Who reads it, if that knows classes only.
    """
    y = np.asarray(y)
    y = as_numbers if (as_numbers := _number_objects(y)) is not None else y
    return _how_read(*distinct(y), option=option, classes_only_owner=classes_only_owner)


def _how_read(
    values: np.ndarray,
    counts: np.ndarray,
    *,
    option: str = 'task="{}"',
    classes_only_owner: str = "",
) -> str:
    n_values = len(values)
    if _task_of(values, counts) == "regression":
        if values.dtype.kind == "f" and not (values == np.rint(values)).all():
            return ""
        held = f"y holds {n_values} different whole numbers in {counts.sum()} samples"
        if classes_only_owner:
            return (
                f"{held}; {classes_only_owner} is for classes and reads each as one; use a "
                "selector for regression if they are quantities"
            )
        return (
            f"{held} and is read as numbers; pass {option.format('classification')} if they are "
            f"classes, {option.format('regression')} to hide this hint"
        )
    if n_values <= MANY_CLASSES:
        return ""
    numbers = f"numbers and {option.format('regression')}"
    held = f"y holds {n_values} different {_kind_of_values(values)}"
    if classes_only_owner:
        return (
            f"{held} and is read as {n_values} classes; "
            "use a selector for regression if they are quantities"
        )
    return (
        f"{held} and is read as {n_values} classes; "
        f"pass {numbers} if they are quantities, {option.format('classification')} to hide this "
        "hint"
    )


def _kind_of_values(y: np.ndarray) -> str:
    return "numbers as text" if _is_numeric_text(y) else "values"


def _is_numeric_text(y: np.ndarray) -> bool:
    if y.dtype.kind not in "OUST":
        return False
    try:
        np.asarray(y, dtype=str).astype(np.float64)
    except ValueError:
        return False
    return True


def _encode_classes(y, classes, dtype, *, coded: bool) -> Target:
    n_samples, n_classes = len(y), len(classes)
    if n_samples == 1:
        raise ValueError("Cannot select features from one sample (n_samples = 1)")
    if n_classes == 1:
        raise ValueError(
            f"y has only one class ({classes.tolist()[0]!r}); at least 2 classes are needed to "
            "select features that tell them apart"
        )
    if n_classes == n_samples:
        raise ValueError(
            f"y has {n_classes} classes for {n_samples} samples: every class has a single sample; "
            'give at least one class two samples, or pass task="regression" if y holds numbers'
        )
    if coded:
        codes = places(y, classes, smallest_integer(n_classes))
        return Target(
            "classification", Coded(codes, np.eye(n_classes, dtype=dtype)), classes, codes
        )
    codes = places(y, classes)
    Y = np.zeros((n_samples, n_classes), dtype=dtype)
    Y[np.arange(n_samples), codes] = 1.0
    return Target("classification", Y, classes, codes)


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
