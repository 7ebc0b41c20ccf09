"""Logarithms of p-values, also of those that are too small for a floating-point number."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

# Above it the functions of SciPy are precise; a smaller p-value is on its way to 0.
SMALLEST = 1e-290
MAX_TERMS = 10_000
ACCURACY = 1e-15
TINY = 1e-300


def log_f_tail(numerator: ArrayLike, denominator: ArrayLike, statistic: ArrayLike) -> np.ndarray:
    """Log P(F >= statistic) with these degrees of freedom; t with nu is F = t^2 with 1 and nu.

    Examples
    --------
    >>> from sparsieve.filters.tails import log_f_tail
    >>> float(log_f_tail(1, 100, 1e9).round(3))
    -808.436
    """
    a, b, statistic = np.broadcast_arrays(*_floats(denominator, numerator, statistic))
    a, b = a / 2.0, b / 2.0

    def logarithm(rows):
        return _log_beta_tail(a[rows], b[rows], statistic[rows])

    return _log_tail(special.fdtrc(2.0 * b, 2.0 * a, statistic), statistic, logarithm)


def log_chi_square_tail(degrees: ArrayLike, statistic: ArrayLike) -> np.ndarray:
    """Log P(chi-square >= statistic) with these degrees of freedom.

    Examples
    --------
    >>> from sparsieve.filters.tails import log_chi_square_tail
    >>> float(log_chi_square_tail(2, 1e4))
    -5000.0
    """
    degrees, statistic = np.broadcast_arrays(*_floats(degrees, statistic))

    def logarithm(rows):
        a, x = degrees[rows] / 2.0, statistic[rows] / 2.0
        # Gamma(a, x) = e^-x x^a / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...))
        fraction = _continued_fraction(x + 1.0 - a, lambda i: (i * (a - i), x + 2.0 * i + 1.0 - a))
        return a * np.log(x) - x - special.gammaln(a) - np.log(fraction)

    return _log_tail(special.chdtrc(degrees, statistic), statistic, logarithm)


def _log_beta_tail(a, b, statistic) -> np.ndarray:
    """Log I_x(a, b) at x = a / (a + b F), by the continued fraction of the incomplete beta."""
    growth = np.log1p(b / a * statistic)  # -log x
    x = np.exp(-growth)

    def terms(i):
        k = i // 2
        if i % 2:
            top = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1))
        else:
            top = k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k))
        return top, np.ones_like(x)

    fraction = _continued_fraction(np.ones_like(x), terms)
    front = -a * growth + b * np.log1p(-x) - np.log(a) - special.betaln(a, b)
    return front - np.log(fraction)


def _continued_fraction(first, terms) -> np.ndarray:
    """The continued fraction first + top_1 / (bottom_1 + ...), by the modified Lentz method."""
    value = np.where(first == 0.0, TINY, first)
    C, D = value, np.zeros_like(value)
    for i in range(1, MAX_TERMS):
        top, bottom = terms(i)
        D = bottom + top * D
        C = bottom + top / C
        D = 1.0 / np.where(D == 0.0, TINY, D)
        C = np.where(C == 0.0, TINY, C)
        value = value * C * D
        if np.all(np.abs(C * D - 1.0) < ACCURACY):
            break
    return value


def _log_tail(pvalues, statistic, logarithm) -> np.ndarray:
    """Log of the p-values; ``logarithm(rows)`` of those that are too small."""
    with np.errstate(divide="ignore"):
        logs = np.array(np.log(pvalues))
    rows = (pvalues < SMALLEST) & np.isfinite(statistic)
    if rows.any():
        logs[rows] = logarithm(rows)
    return logs


def _floats(*values):
    return [np.asarray(value, dtype=np.float64) for value in values]
