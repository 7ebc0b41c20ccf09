"""How a study reads y: as classes or as numbers, and how it says so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsieve.datasets.load import encode_labels
from sparsieve.validation.reading import read_task
from sparsieve.validation.survival import as_survival, check_informative, is_survival
from sparsieve.validation.target import encode_target

from .kinds import StudyError, shortened


@dataclass(frozen=True)
class StudyTarget:
    """A target as it was read.

    Attributes
    ----------
    y : ndarray
        Codes 0, 1, ... of classes, float64 numbers, in several columns where there are, or
        survival times as ``as_survival`` returns them.
    task : {"classification", "regression", "counts", "survival"}
    read_as : str
        What a reader is told: "3 classes", "numbers", "2 columns of numbers".
    hint : str
        One sentence where nobody said the task and whole numbers could be classes or quantities.
    """

    y: np.ndarray
    task: str
    read_as: str
    hint: str = ""


def read_target(y: Any, class_names: Any, task: str | None, owner: str) -> StudyTarget:
    """Decide on the whole of y how it is read; the rule is that of ``read_task``.

    Parameters
    ----------
    y : array of shape (n_samples,) or (n_samples, n_outputs)
    class_names : array or None
        Names of the codes in y. Readers of files make codes of all whole numbers; such names are
        the numbers themselves.
    task : {"classification", "regression", "counts", "survival"} or None
        None lets the values decide.
    owner : str
        For messages.

    Examples
    --------
    >>> from sparsieve_experiments.studies.targets import read_target
    >>> read_target(["ill", "well", "ill"], None, None, "data set 'a'").read_as
    '2 classes'
    >>> read_target([0.5, 2.5, 1.0], None, None, "data set 'b'").task
    'regression'
    """
    if task == "survival" or is_survival(y):
        return _survival(y, task, owner)
    y = _plain(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim == 2:
        if task == "classification":
            raise StudyError(
                f"{owner} has {y.shape[1]} target columns; classes are read from one column"
            )
        return StudyTarget(_numbers(y, owner), "regression", f"{y.shape[1]} columns of numbers")
    values = _without_codes(y, class_names)
    hint = ""
    if task is None:
        task, hint = read_task(values, option='task = "{}"')
    if task == "regression":
        return StudyTarget(_numbers(values, owner), task, "numbers", hint)
    if task == "counts":
        found = encode_target(_numbers(values, owner), task=task, dtype=np.float64, owner=owner)
        return StudyTarget(found.Y[:, 0], task, "counts")
    codes, names = encode_labels(y)
    if names is None:
        raise StudyError(
            f'{owner} has a target of numbers with fractions; set task = "regression", or bin them '
            "into classes"
        )
    return StudyTarget(codes, task, f"{len(names)} classes", hint)


def _survival(y: Any, task: str | None, owner: str) -> StudyTarget:
    if task not in (None, "survival"):
        raise StudyError(f'{owner} has survival times; leave out task = "{task}"')
    try:
        y = as_survival(y)
        check_informative(y)
    except ValueError as error:
        raise StudyError(f"{owner}: {error}") from None
    events = int(y["event"].sum())
    return StudyTarget(y, "survival", f"survival times with {events} events")


def _plain(y: Any) -> np.ndarray:
    y = np.asarray(y)
    y = np.array(y.tolist()) if y.dtype.kind == "O" else y
    if y.dtype.kind == "O" or y.ndim not in (1, 2) or not y.size:
        raise StudyError(
            f"a target must be a column of numbers or text, or several of numbers, got "
            f"{shortened(y.ravel()[:3].tolist())}"
        )
    return y


def _without_codes(y: np.ndarray, class_names: Any) -> np.ndarray:
    """What the codes stand for."""
    if class_names is None or y.dtype.kind not in "iu":
        return y
    names = np.asarray(class_names).astype(str)
    if not len(y) or y.min() < 0 or y.max() >= len(names):
        return y
    try:
        values = names.astype(np.float64)
    except ValueError:
        return names[y]
    return values[y]


def _numbers(y: np.ndarray, owner: str) -> np.ndarray:
    try:
        values = y.astype(np.float64)
    except (TypeError, ValueError):
        some = shortened(y.ravel()[0]) if y.size else "nothing"
        raise StudyError(
            f'{owner} is to be read as numbers (task = "regression"), but its target holds '
            f"{some}; name a column of numbers"
        ) from None
    if y.dtype.kind in "USOT":  # numbers as text, such as ids: nobody meant to measure with them
        raise StudyError(
            f'{owner} is to be read as numbers (task = "regression"), but its target holds text'
        )
    if not np.isfinite(values).all():
        raise StudyError(f"the target of {owner} has missing or infinite values; drop those rows")
    return values


def read_times(values: Any, owner: str) -> np.ndarray:
    """When samples were taken: numbers, or dates such as 2026-01-31, also with a time.

    Examples
    --------
    >>> from sparsieve_experiments.studies.targets import read_times
    >>> read_times(["2026-01-31", "2025-12-01"], "data set 'a'").argsort().tolist()
    [1, 0]
    """
    values = _plain(values)
    if values.ndim == 1 and values.dtype.kind in "biufM":
        times = values
    else:
        try:
            times = np.ravel(values).astype(str).astype("datetime64[us]")
        except ValueError:
            raise StudyError(
                f"the times of {owner} must be numbers or dates such as 2026-01-31, got "
                f"{shortened(values.ravel()[:1].tolist())}"
            ) from None
    if np.isnat(times).any() if times.dtype.kind == "M" else not np.isfinite(times).all():
        raise StudyError(f"some times of {owner} are missing; drop those rows")
    return times
