"""Which columns belong together."""

from __future__ import annotations

from typing import Any

import numpy as np

SEPARATOR = "="


def group_labels(groups: Any, n_features: int, names: Any = None) -> tuple[np.ndarray, list]:
    """(number of the group of every column, labels of the groups in order of appearance).

    Parameters
    ----------
    groups : "names" or array-like of shape (n_features,)
        "names": columns with the same text before ``=`` belong together; without names every
        column is alone. Else the label of every column's group.
    n_features : int
    names : sequence of str or None
        Names of the columns.

    Examples
    --------
    >>> from sparsieve.preprocessing.groups import group_labels
    >>> group_labels("names", 3, ["sex=f", "sex=m", "age"])
    (array([0, 0, 1]), ['sex', 'age'])
    """
    if isinstance(groups, str):
        if groups != "names":
            raise ValueError(f'groups must be "names" or a label for every column, got {groups!r}')
        if names is None:
            names = [f"x{j}" for j in range(n_features)]
        labels = [str(name).partition(SEPARATOR)[0] for name in names]
    else:
        labels = list(np.asarray(groups, dtype=object).ravel())
        if len(labels) != n_features:
            raise ValueError(f"groups holds {len(labels)} labels for {n_features} columns of X")
        if any(label is None or label != label for label in labels):
            raise ValueError("groups has missing labels; every column needs one")
    known: dict[Any, int] = {}
    numbers = np.array([known.setdefault(label, len(known)) for label in labels], dtype=np.int64)
    return numbers, list(known)
