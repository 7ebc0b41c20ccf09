"""Are the values raw counts, as of reads or words, that want a logarithm?"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

_GREY_LEVELS = 300  # pictures have values up to 255


def raw_counts(
    X: Any, low: np.ndarray, high: np.ndarray, mean: np.ndarray
) -> tuple[float, float] | None:
    """Whether X holds whole numbers from 0 over several decades, in samples of unequal totals.

    Numbers below 300 may be grey levels or points: counts have no largest value that many columns
    reach.

    ``low``, ``high`` and ``mean`` are those of every column. Returns the largest value, and by
    which factor the totals of samples differ (of four in five).
    """
    if len(mean) < 50 or not (low >= 0).all() or not high.max() >= 10:
        return None  # totals of few columns say nothing of depth; answers and genotypes
    at_the_top = int((high == high.max()).sum())
    if high.max() < _GREY_LEVELS and at_the_top > max(2, 0.01 * len(high)):
        return None  # a scale with an end: pictures, points, answers
    few, many = np.quantile(mean[mean > 0], [0.1, 0.9])
    some = X[np.sort(np.random.default_rng(0).permutation(X.shape[0])[:500])]
    values = some.data if sparse.issparse(some) else some
    if many < 10.0 * few or not (values == np.rint(values)).all():
        return None
    totals = np.asarray(X.sum(axis=1), dtype=np.float64).ravel()
    small, large = np.maximum(np.quantile(totals, [0.1, 0.9]), 1.0)
    # Where no value is large: words of texts of about one length.
    least = 1.1 if high.max() >= _GREY_LEVELS else 1.5
    return (float(high.max()), large / small) if large >= least * small else None
