"""Columns of a few values, each of which occurs in one class only, in whatever order."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from .columns import CHANCE, chunks, full_columns
from .leaks import Leak

MAX_VALUES = 12
LEAST = 5  # samples of a value
_SAMPLES = 200  # looked at first


def value_leaks(X: Any, columns: np.ndarray, codes: np.ndarray) -> list[Leak]:
    """Columns without gaps whose value says the class, where its order need not.

    A column that is 0 in one class and -1 or 1 in the other repeats the classes as well as one that
    is larger in one of them.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.diagnosis.value_leaks import value_leaks
    >>> x = np.tile([0.0, 1.0, 0.0, -1.0], 15)
    >>> [leak.column for leak in value_leaks(x[:, None], np.arange(1), np.abs(x).astype(int))]
    [0]
    """
    counts = np.bincount(codes)
    n, n_classes = len(codes), len(counts)
    columns = full_columns(X, columns, 0.4 * (n - counts.max()))
    first = np.sort(np.random.default_rng(0).permutation(n)[:_SAMPLES])
    likely = [_has_few_values(x) for _, part in chunks(X, columns, first) for x in part.T]
    columns = columns[np.asarray(likely, dtype=bool)]
    ways = special.gammaln(n + 1) - special.gammaln(counts + 1).sum()
    found = []
    for some, values in chunks(X, columns, np.arange(n)):
        for column, x in zip(some, values.T, strict=True):
            n_values = _pure_values(x, codes, n_classes) if _has_few_values(x) else 0
            noise = n_values * math.log(n_classes) - ways + math.log(X.shape[1])
            if n_values and noise < math.log(CHANCE):
                found.append(Leak(int(column), 0, n))
    return found


def _has_few_values(x: np.ndarray) -> bool:
    return len(np.unique(x)) <= MAX_VALUES


def _pure_values(x: np.ndarray, codes: np.ndarray, n_classes: int) -> int:
    """How many values there are if each is of one class and has enough samples, else 0.

    Classes with an interval of their own are left to others, who ask what a measurement can do.
    """
    values, places = np.unique(x, return_inverse=True)
    table = np.bincount(places * n_classes + codes, minlength=len(values) * n_classes)
    table = table.reshape(len(values), n_classes)
    is_pure = ((table > 0).sum(axis=1) == 1).all() and table.sum(axis=1).min() >= LEAST
    n_intervals = 1 + np.count_nonzero(np.diff(table.argmax(axis=1)))
    return len(values) if is_pure and n_intervals > n_classes else 0
