"""Are the values raw counts, as of reads or words, that want a logarithm?"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

_MIN_COLUMNS = 50  # the totals of fewer are no measure of depth
_GREY_LEVELS = 300  # pictures have values up to 255
_MIN_LARGEST = 10  # below which whole numbers are answers or genotypes rather than counts
_CEILING = 0.01  # share of columns that reach the largest value of a scale that ends there
_DECADES = 10.0  # between columns with many and with few counts
_MIN_RATIO = 1.1  # between the totals of a large and a small sample
_MIN_RATIO_OF_SMALL = 1.5  # the same where no value is large: words of texts of about one length
_SAMPLES = 500


def raw_counts(
    X: Any, low: np.ndarray, high: np.ndarray, mean: np.ndarray
) -> tuple[float, float] | None:
    """Whether X holds whole numbers from 0 over several decades, in samples of unequal totals.

    Numbers below 300 may be grey levels or points: counts have no largest value that many columns
    reach.

    ``low``, ``high`` and ``mean`` are those of every column. Returns the largest value, and by
    which factor the totals of samples differ (of four in five).
    """
    if len(mean) < _MIN_COLUMNS or not (low >= 0).all() or not high.max() >= _MIN_LARGEST:
        return None
    at_the_top = int((high == high.max()).sum())
    if high.max() < _GREY_LEVELS and at_the_top > max(2, _CEILING * len(high)):
        return None  # a scale with an end: pictures, points, answers
    few, many = np.quantile(mean[mean > 0], [0.1, 0.9])
    some = X[np.sort(np.random.default_rng(0).permutation(X.shape[0])[:_SAMPLES])]
    values = some.data if sparse.issparse(some) else some
    if many < _DECADES * few or not (values == np.rint(values)).all():
        return None
    totals = np.asarray(X.sum(axis=1), dtype=np.float64).ravel()
    small, large = np.maximum(np.quantile(totals, [0.1, 0.9]), 1.0)
    least = _MIN_RATIO if high.max() >= _GREY_LEVELS else _MIN_RATIO_OF_SMALL
    return (float(high.max()), large / small) if large >= least * small else None
