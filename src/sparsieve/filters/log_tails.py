"""Logarithms of p-values that are too small for a floating-point number."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

_SMALL = 1e-280  # below this a p-value loses digits
_TINY = 1e-300
_MAX_TERMS = 10_000


def log_beta(a: Any, b: Any, log_x: Any) -> np.ndarray:
    """Log of the regularised incomplete beta function I_x(a, b), the tail of F and Wilks tests.

    For an F statistic with d1 and d2 degrees of freedom, x = d2 / (d2 + d1 F), a = d2 / 2 and
    b = d1 / 2.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.filters.log_tails import log_beta
    >>> [round(float(log_beta(50.0, 0.5, np.log(x))), 2) for x in (0.5, 1e-10)]
    [-36.85, -1153.8]
    """
    a, b, log_x = np.broadcast_arrays(*(np.asarray(v, dtype=np.float64) for v in (a, b, log_x)))
    with np.errstate(divide="ignore"):
        found = np.array(np.log(special.betainc(a, b, np.exp(log_x))))
    far = (found < np.log(_SMALL)) & np.isfinite(log_x)
    if far.any():
        a, b, log_x = a[far], b[far], log_x[far]
        found[far] = a * log_x + b * np.log(-np.expm1(log_x)) - np.log(a) - special.betaln(a, b)
        found[far] += np.log(_beta_fraction(a, b, np.exp(log_x)))
    return found


def log_chi_square(degrees: Any, statistic: Any) -> np.ndarray:
    """Log of the probability that a chi-square variable exceeds the statistic.

    Examples
    --------
    >>> from sparsieve.filters.log_tails import log_chi_square
    >>> [round(float(log_chi_square(2.0, x)), 2) for x in (10.0, 1e4)]
    [-5.0, -5000.0]
    """
    a, z = np.broadcast_arrays(np.asarray(degrees, float) / 2.0, np.asarray(statistic, float) / 2.0)
    with np.errstate(divide="ignore"):
        found = np.array(np.log(special.gammaincc(a, z)))
    far = (found < np.log(_SMALL)) & np.isfinite(z)
    if far.any():
        a, z = a[far], z[far]
        found[far] = a * np.log(z) - z - special.gammaln(a)
        found[far] += np.log(_gamma_fraction(a, z))
    return found


def _gamma_fraction(a: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Continued fraction of the upper incomplete gamma function."""
    return _fraction(z + 1.0 - a, lambda k: -k * (k - a), lambda k: z + 2.0 * k + 1.0 - a)


def _beta_fraction(a: np.ndarray, b: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Continued fraction of the incomplete beta function (converges fast for x < a / (a + b))."""

    def numerator(k: int) -> np.ndarray:
        m = k // 2
        if k % 2:
            return -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        return m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))

    one = np.ones_like(x)
    return _fraction(one, numerator, lambda k: one)


def _fraction(first: np.ndarray, numerator: Any, denominator: Any) -> np.ndarray:
    """1 / (first + n_1 / (d_1 + n_2 / (d_2 + ...))), by Lentz's method."""
    value = first.copy()
    c, d = first.copy(), np.zeros_like(first)
    for k in range(1, _MAX_TERMS):
        n, e = numerator(k), denominator(k)
        d = e + n * d
        c = e + n / c
        d = 1.0 / np.where(np.abs(d) < _TINY, _TINY, d)
        c = np.where(np.abs(c) < _TINY, _TINY, c)
        value = value * c * d
        if np.abs(c * d - 1.0).max() < 1e-15:
            break
    return 1.0 / value
