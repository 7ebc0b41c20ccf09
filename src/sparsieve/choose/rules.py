"""Rules that choose a number of features from the scores of a cross-validation."""

from __future__ import annotations

import numpy as np


def best(ks: np.ndarray, scores: np.ndarray) -> int:
    """Index of the highest mean score, of the smallest k among equals.

    ``scores`` has one row per k and one column per split, as in all rules.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.choose.rules import best
    >>> best(np.array([1, 2, 4]), np.array([[0.5, 0.7], [0.8, 0.8], [0.7, 0.9]]))
    1
    """
    # Means that differ by rounding are equal.
    return int(np.argmax(np.round(scores.mean(axis=1), 12)))


def one_se(ks: np.ndarray, scores: np.ndarray) -> int:
    """Index of the smallest k within one standard error of the highest mean score.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.choose.rules import one_se
    >>> one_se(np.array([1, 2, 4]), np.array([[0.5, 0.5], [0.7, 0.8], [0.7, 0.9]]))
    1
    """
    top = best(ks, scores)
    n_splits = scores.shape[1]
    error = scores[top].std(ddof=1) / np.sqrt(n_splits) if n_splits > 1 else 0.0
    means = scores.mean(axis=1)
    return int(np.flatnonzero(means >= means[top] - error - 1e-12)[0])


def elbow(ks: np.ndarray, scores: np.ndarray) -> int:
    """Index where the curve rises most above the straight line from its start to its top.

    The curve is the running maximum of the mean scores, so that a dip is not taken for a bend.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.choose.rules import elbow
    >>> elbow(np.array([1, 2, 3, 10]), np.array([[0.5], [0.8], [0.9], [0.95]]))
    2
    """
    top = best(ks, scores)
    if top == 0:
        return 0
    curve = np.maximum.accumulate(scores.mean(axis=1)[: top + 1])
    share = (ks[: top + 1] - ks[0]) / (ks[top] - ks[0])
    above = curve - (curve[0] + share * (curve[-1] - curve[0]))
    return int(np.argmax(np.round(above, 12)))


RULES = {"best": best, "one_se": one_se, "elbow": elbow}
