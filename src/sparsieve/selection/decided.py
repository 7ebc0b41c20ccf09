"""Labels of rows by a threshold of their probabilities, a rate of positives, or a cost."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._checks import listed


def decided(
    shares: np.ndarray,
    classes: np.ndarray,
    *,
    threshold: float | None = None,
    rate: float | None = None,
    cost: float | None = None,
    positive: Any = None,
) -> np.ndarray:
    """Labels of rows with these probabilities, as ``decide`` of a selection says.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.selection.decided import decided
    >>> shares = np.array([[0.9, 0.1], [0.7, 0.3], [0.6, 0.4]])
    >>> decided(shares, np.array(["no", "yes"]), cost=2.0).tolist()
    ['no', 'no', 'yes']
    """
    given = {"threshold": threshold, "positive_rate": rate, "cost_of_missing": cost}
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        raise ValueError(
            f"decide needs exactly one of {', '.join(given)}, got {' and '.join(named) or 'none'}"
        )
    value = float(given[named[0]] or 0.0)
    most = np.inf if cost is not None else 1.0
    if not 0.0 <= value <= most or value == np.inf:
        between = "a number that is not negative" if cost is not None else "between 0 and 1"
        raise ValueError(f"{named[0]} must be {between}, got {given[named[0]]!r}")
    place = positive_place(classes, positive)
    own = shares[:, place]
    if rate is not None:
        n_most = int(np.floor(value * len(own) + 1e-9))
        # Rows of equal probability are positive together, or not at all.
        bar = np.sort(own)[::-1][n_most] if n_most < len(own) else -np.inf
        is_positive = own > bar
    else:
        is_positive = own >= (1.0 / (1.0 + value) if cost is not None else value)
    others = shares.copy()
    others[:, place] = -np.inf
    return np.asarray(classes)[np.where(is_positive, place, others.argmax(axis=1))]


def positive_place(classes: np.ndarray, positive: Any = None) -> int:
    """Where the positive class is among the classes: the second of two if nothing is said."""
    labels = np.asarray(classes).tolist()
    if positive is None:
        if len(labels) == 2:
            return 1
        raise ValueError(
            f"there are {len(labels)} classes ({listed(labels)}): say which one is positive with "
            "positive="
        )
    if positive in labels:
        return labels.index(positive)
    texts = [str(label) for label in labels]
    if str(positive) in texts:  # as it is written on a command line
        return texts.index(str(positive))
    raise ValueError(f"positive={positive!r} is none of the classes, which are {listed(labels)}")
