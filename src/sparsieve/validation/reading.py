"""Whether one column of targets holds classes or quantities."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from .order import order_in
from .survival import is_survival

# Of so few different whole numbers nobody asks whether they are quantities.
FEW_VALUES = 5
# More than this, on average with fewer samples each than that, are quantities.
MAX_CLASSES = 20
MIN_SAMPLES_PER_CLASS = 5
# Samples that are sorted together; the values of more are merged.
SORTED_SAMPLES = 1 << 20


def read_task(y: Any, X: Any = None, option: str = 'task="{}"') -> tuple[str, str]:
    """How one column of targets is read where nobody said it, and a sentence in case of doubt.

    Text, booleans, categories and whole numbers (also as floats) are classes, numbers with
    fractions are quantities. More than five different whole numbers are quantities where their
    order shows in X (:func:`~sparsieve.validation.order.order_in`), and where they are more than
    20 with fewer than five samples each on average, unless they are codes whose order does not
    show. Codes begin with 0 or 1 and leave none out. Said are quantities, and classes that are no
    codes, have fewer than five samples or could be ordered. Read the whole of y and hand the
    answer on to folds and subsamples.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
    X : matrix of shape (n_samples, n_features), default=None
        Is looked at where it is in memory; otherwise the values of y decide alone.
    option : str
        How a reader says the task, with braces for its value.

    Returns
    -------
    task : {"classification", "regression", "survival"}
    sentence : str
        Empty where there is no doubt.

    Examples
    --------
    >>> from sparsieve.validation.reading import read_task
    >>> read_task(["ill", "well", "ill"])
    ('classification', '')
    >>> task, sentence = read_task(range(18, 90))
    >>> print(sentence)
    y holds 72 different whole numbers in 72 samples and is treated as numeric; pass \
task="classification" if they are classes
    """
    if is_categorical(y):
        return "classification", ""
    if is_survival(y):
        return "survival", ""
    y = np.asarray(y)
    y = as_numbers if (as_numbers := number_objects(y)) is not None else y
    return read_values(y, *distinct(y), X, option)


def read_values(
    y: np.ndarray, values: np.ndarray, counts: np.ndarray, X: Any, option: str
) -> tuple[str, str]:
    """What :func:`read_task` says of a column whose different values are known."""
    natural = natural_task(values)
    if natural == "regression" or values.dtype.kind not in "iuf" or len(values) <= FEW_VALUES:
        return natural, ""
    is_many = len(values) > MAX_CLASSES and len(y) < MIN_SAMPLES_PER_CLASS * len(values)
    are_codes = bool(values[0] in (0, 1) and values[-1] - values[0] == len(values) - 1)
    order = None if X is None else order_in(X, values, counts, places(y, values))
    has_order = order is not None and order.is_possible
    could_be_codes = are_codes and counts.min() > 1 and order is not None and not has_order
    held = f"y holds {len(values)} different whole numbers in {len(y)} samples and is treated as"
    if (order is not None and order.is_clear) or (is_many and not could_be_codes):
        other = option.format("classification")
        return "regression", f"{held} numeric; pass {other} if they are classes"
    if are_codes and counts.min() >= MIN_SAMPLES_PER_CLASS and not has_order:
        return "classification", ""
    return "classification", (
        f"{held} classes, the smallest of {counts.min()}; pass {option.format('regression')} if "
        "they are quantities, such as ages"
    )


def is_categorical(y: Any) -> bool:
    """Whether y has the type of pandas for categories, whatever their labels are."""
    return type(getattr(y, "dtype", None)).__name__ == "CategoricalDtype"


def natural_task(values: np.ndarray) -> str:
    """How these different values are read where nothing but fractions counts."""
    has_fractions = values.dtype.kind == "f" and not (values == np.rint(values)).all()
    return "regression" if has_fractions else "classification"


def number_objects(y: np.ndarray) -> np.ndarray | None:
    """Python numbers or truth values in an object array as a plain one; None for anything else."""
    if y.dtype.kind != "O":
        return None
    if y.size and all(isinstance(value, bool | np.bool_) for value in y.ravel()):
        return y.astype(bool)
    if not all(isinstance(v, Real) and not isinstance(v, bool | np.bool_) for v in y.ravel()):
        return None
    try:
        return y.astype(np.int64 if all(isinstance(v, Integral) for v in y.ravel()) else np.float64)
    except OverflowError:
        return y.astype(np.float64)


def distinct(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sorted different values and how often each occurs, as ``numpy.unique`` has them.

    Sorting a copy of all samples takes the time and memory of several passes over them.
    """
    values, counts = np.unique(y[:SORTED_SAMPLES], return_counts=True)
    for start in range(SORTED_SAMPLES, len(y), SORTED_SAMPLES):
        if len(values) > SORTED_SAMPLES // 2:  # nearly all of them are different
            return np.unique(y, return_counts=True)
        others, more = np.unique(y[start : start + SORTED_SAMPLES], return_counts=True)
        values, place = np.unique(np.concatenate([values, others]), return_inverse=True)
        counts = np.bincount(place, weights=np.concatenate([counts, more])).astype(np.int64)
    return values, counts


def places(y: np.ndarray, values: np.ndarray, dtype: Any = np.intp) -> np.ndarray:
    """Where every sample's value stands among the sorted ones."""
    found = np.empty(len(y), dtype=dtype)
    for start in range(0, len(y), SORTED_SAMPLES):
        found[start : start + SORTED_SAMPLES] = np.searchsorted(
            values, y[start : start + SORTED_SAMPLES]
        )
    return found


def smallest_integer(count: int) -> np.dtype:
    """The smallest signed type of the numbers below ``count``."""
    return np.min_scalar_type(-max(count, 1))
