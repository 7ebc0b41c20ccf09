"""From a user's y to the matrix Y that the models regress on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils.multiclass import type_of_target

from .._checks import warn_user
from ..design import Coded, RowBlockedDesign
from .containers import check_target_size
from .reading import (
    distinct,
    is_categorical,
    natural_task,
    number_objects,
    places,
    read_values,
    smallest_integer,
)
from .survival import (
    HOW,
    Survival,
    check_informative,
    is_survival,
    may_be_survival,
    survival_parts,
)

TASKS = ("auto", "classification", "regression", "counts", "survival")
NO_TARGET = "unsupervised"  # what the task is called where y is not looked at


@dataclass(frozen=True)
class Target:
    """An encoded target.

    Attributes
    ----------
    task : {"classification", "multilabel", "regression", "counts", "survival", "unsupervised"}
        Of the last two, Y has no columns.
    Y : ndarray or Coded, of shape (n_samples, n_outputs)
        0/1 one-hot columns in the order of ``classes``, the 0/1 indicator matrix, or the values.
        Coded are the classes of an X that is read in blocks.
    classes : ndarray or None
        Sorted class labels (classification only).
    codes : ndarray or None
        Index into ``classes`` for every sample (classification only).
    events : structured ndarray or None
        Times and events (survival only), as ``as_survival`` returns them.
    """

    task: str
    Y: Any
    classes: Any = None
    codes: Any = None
    events: Any = None

    @property
    def survival(self) -> Survival:
        """Times, events, entry times and strata of a survival target."""
        return survival_parts(self.events)

    def rows(self, index: np.ndarray) -> Target:
        """The target of these samples; classes keep their columns."""
        codes = None if self.codes is None else self.codes[index]
        events = None if self.events is None else self.events[index]
        return Target(self.task, self.Y[index], self.classes, codes, events)


def with_task(selector: Any, task: str) -> Any:
    """A copy that reads every part of y as the whole was read, where it is left to decide.

    Reaches the steps of a Pipeline and the selectors that others wrap. Selectors for classes
    only have nothing to decide.

    Examples
    --------
    >>> from sparsieve import RidgeForwardSelector
    >>> from sparsieve.validation.target import with_task
    >>> with_task(RidgeForwardSelector(), "regression").task
    'regression'
    """
    selector = clone(selector)
    if task not in ("classification", "regression", "counts", "survival"):
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


def check_varies(y: Any) -> None:
    """Refuse numbers that are all the same, where something is to be predicted.

    Examples
    --------
    >>> from sparsieve.validation.target import check_varies
    >>> check_varies([1.5, 2.5])
    """
    if y is None or is_survival(y) or is_categorical(y):
        return
    values = np.asarray(y)
    if values.dtype.kind not in "iuf" or len(values) < 2:
        return
    if (values == values[:1]).all():
        shown = f"{values.flat[0]:g}" if values.ndim == 1 else "the same"
        raise ValueError(
            f"y is {shown} in all {len(values):,} samples, so that there is nothing to predict"
        )


def requested_task(estimator: Any, y: Any) -> str:
    """How the estimator was asked to read y, which must still be as the user gave it."""
    task: str = getattr(estimator, "_asked_task", "") or getattr(estimator, "task", "auto")
    if task == "auto" and is_categorical(y):
        return "classification"
    if is_survival(y):
        if task not in ("auto", "survival"):
            raise ValueError(
                f'y holds survival times, but {type(estimator).__name__} was given task="{task}"; '
                'pass task="survival", or one column of y'
            )
        return "survival"
    return task


def training_task(fitted: Any, y: Any) -> str:
    """How a fitted selector read the y that it was fitted on."""
    if is_survival(y):
        return "survival"
    if getattr(fitted, "classes_", None) is not None:
        return "classification"
    return "counts" if requested_task(fitted, None) == "counts" else "regression"


def estimator_target(estimator: Any, y: np.ndarray | None, task: str, X: Any) -> Target:
    """The target of an estimator for a validated X and y; sets ``classes_``.

    Without a y that the estimator looks at it has no columns.
    """
    name = type(estimator).__name__
    if not estimator._needs_target:
        target = Target(NO_TARGET, np.empty((X.shape[0], 0), dtype=X.dtype))
    elif task == "survival":
        assert y is not None
        if not estimator._accepts_survival:
            raise ValueError(
                f"Unknown label type: {name} cannot select for survival times; use "
                "LikelihoodForwardSelector or LikelihoodL21Selector, which fit Cox models"
            )
        check_informative(y)
        target = Target("survival", np.empty((X.shape[0], 0), dtype=X.dtype), events=y)
    else:
        assert y is not None
        several = y.ndim == 2 and estimator._accepts_several_targets
        asked = task == "regression" and estimator._accepts_regression_if_asked
        takes_numbers = several or asked or estimator._accepts_regression
        knows = "numbers" if estimator._needs_numbers else "both"
        with np.errstate(over="ignore"):  # of float32, and refused below
            target = encode_target(
                y,
                task=task,
                dtype=X.dtype if estimator._rounds_target else np.dtype(np.float64),
                owner=name,
                knows=knows if takes_numbers else "classes",
                holder=estimator._holder_of_task,
                coded=isinstance(X, RowBlockedDesign),
                X=X,
            )
        if target.task in ("regression", "counts"):
            check_target_size(y, X.dtype)
        takes_numbers |= target.task == "counts" and estimator._accepts_counts
        if task == "auto" and target.task == "regression" and may_be_survival(target.Y):
            _say_survival(estimator, takes_numbers)
        if target.task != "classification" and not takes_numbers:
            remedy = "use a selector that supports it, such as RidgeForwardSelector"
            model = getattr(estimator, "estimator", None)
            if hasattr(model, "__sklearn_tags__") and is_classifier(model):
                remedy = (
                    f"pass a model that predicts numbers in the place of {type(model).__name__}"
                )
            raise ValueError(
                f"Unknown label type: {name} needs one column of class labels, but y is a "
                f"{target.task} target; bin y into classes or {remedy}"
            )
    if target.classes is not None:
        estimator.classes_ = target.classes
    elif hasattr(estimator, "classes_"):
        del estimator.classes_  # of an earlier fit on labels
    return target


def _say_survival(estimator: Any, takes_numbers: bool) -> None:
    """Where two columns may be times and events: warn of regressing on both, or refuse them."""
    held = "y has two columns, one of 0 and 1 and one of numbers from 0 on"
    others = "" if estimator._accepts_survival else ", to select or LikelihoodForwardSelector"
    if takes_numbers:
        warn_user(
            f"{held}, and is read as two quantities; if they are survival times, {HOW}{others}; "
            'otherwise pass task="regression"'
        )
        return
    raise ValueError(
        f"Unknown label type: {type(estimator).__name__} needs one column of class labels, but "
        f"{held}; if they are survival times, {HOW}{others}"
    )


def encode_target(
    y: np.ndarray,
    *,
    task: str,
    dtype: Any,
    owner: str,
    knows: str = "both",
    holder: str = "",
    coded: bool = False,
    X: Any = None,
) -> Target:
    """Encode a validated y; ``owner`` is named in messages.

    ``knows`` is "classes", "numbers" or "both": what the owner can make of whole numbers where
    ``task`` is "auto"; then X decides too, and what is decided is said where there is doubt.
    ``holder`` has the parameter ``task``, if not the owner. With ``coded`` classes take a few
    bytes per sample.
    """
    if task not in TASKS:
        raise ValueError(f"task must be one of {', '.join(map(repr, TASKS))}, got {task!r}")
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    y = as_numbers if (as_numbers := number_objects(y)) is not None else y
    if y.ndim == 2 or y.dtype.kind == "O":
        kind = type_of_target(y, input_name="y")
        if kind == "unknown":
            raise ValueError(
                f"Unknown label type: {owner} cannot use y of type {y.dtype}; pass "
                "class labels or numbers"
            )
    if task == "counts":
        return Target("counts", _as_counts(y, dtype))
    if y.ndim == 2:
        return _encode_columns(y, kind, task, dtype)
    if task == "regression" and knows != "classes":
        return Target("regression", _as_numbers(y, dtype)[:, None])
    values, counts = distinct(y)
    natural = natural_task(values)
    if task == "auto":
        task = natural
        if knows == "both":
            task, doubt = read_values(y, values, counts, X, f'task="{{}}" to {holder or owner}')
            if doubt:
                warn_user(doubt)
        if knows == "numbers" and values.dtype.kind in "biuf":
            task = "regression"
    if task == "classification" or (knows == "classes" and natural == "classification"):
        if natural == "regression":
            raise ValueError(
                f'Unknown label type: continuous. {owner} was given task="classification" but y '
                "contains numbers with fractions; bin them into classes or convert them to text"
            )
        return _encode_classes(y, values, dtype, coded=coded)
    return Target("regression", _as_numbers(y, dtype)[:, None])


def _encode_classes(y, classes, dtype, *, coded: bool) -> Target:
    n_samples, n_classes = len(y), len(classes)
    if n_samples == 1:
        raise ValueError("Cannot select features from one sample (n_samples = 1)")
    if n_classes == 1:
        raise ValueError(
            f"y has only one class ({classes.tolist()[0]!r}); at least 2 classes are needed"
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


def _as_counts(y, dtype) -> np.ndarray:
    """One column of whole numbers from zero on, not all of them zero."""
    if y.ndim != 1:
        raise ValueError(
            f'task="counts" needs one column of counts, but y has {y.shape[1]}; pass one of them'
        )
    values = _as_numbers(y, np.float64)
    odd = values[(values < 0) | (values != np.rint(values))]
    if len(odd):
        raise ValueError(
            f'task="counts" needs whole numbers from 0 on, but y holds {odd[0]:g} ({len(odd)} of '
            f'{len(values)} values are no counts); pass task="regression" for other quantities'
        )
    if not values.any():
        raise ValueError("all counts in y are 0, so there is nothing to learn from")
    return values.astype(dtype)[:, None]


def _as_numbers(y, dtype) -> np.ndarray:
    try:
        return np.asarray(y).astype(dtype)
    except (TypeError, ValueError):
        raise ValueError(
            'y contains text where numbers are needed; pass task="classification" for class labels'
        ) from None
