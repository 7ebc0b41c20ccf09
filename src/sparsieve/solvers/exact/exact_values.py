"""Least squares in exact arithmetic: floating-point numbers are integers times powers of two.

Where columns depend on each other within rounding, no factorisation in floating point can say
what they explain together. Inner products of integers and elimination without fractions (Bareiss)
can, in a fraction of a millisecond for a handful of columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from operator import mul

import numpy as np

# Inner products of more samples than this take too long.
MAX_SAMPLES = 20_000


class ExactValues:
    """min ||sqrt(D) (Y - 1 b - Z B - X_S W)||^2 for any few features S, as a fraction.

    Parameters
    ----------
    column : callable
        Gives a column of X.
    Y : ndarray of shape (n_samples, n_outputs)
    weights : ndarray of shape (n_samples,) or None
        The diagonal of D.
    free : sequence of int
        The columns Z that are always used.
    intercept : bool
        Whether there is a b.
    """

    def __init__(
        self,
        column: Callable[[int], np.ndarray],
        Y: np.ndarray,
        weights: np.ndarray | None,
        *,
        free: Sequence[int] = (),
        intercept: bool = True,
    ):
        self._column, self._n_samples = column, len(Y)
        self._weights, weight_unit = ([1], 0) if weights is None else _integers(weights)
        self._is_weighted = weights is not None
        targets = [_integers(y) for y in np.asarray(Y, dtype=np.float64).T]
        # Outputs are named by negative numbers, the intercept by None.
        self._before = [*([None] if intercept else []), *free]
        self._outputs = [-1 - i for i in range(len(targets))]
        self._units = [2 * unit + weight_unit for _, unit in targets]
        self._columns: dict[int | None, list[int]] = {
            name: values for name, (values, _) in zip(self._outputs, targets, strict=True)
        }
        self._products: dict[tuple, int] = {}

    def __call__(self, features: np.ndarray) -> Fraction:
        """The objective of these features."""
        names = [*self._before, *(int(j) for j in features)]
        M, last = self._eliminate([*names, *self._outputs], len(names))
        rest = zip(range(len(names), len(M)), self._units, strict=True)
        return sum((Fraction(M[i][i], last) * Fraction(2) ** unit for i, unit in rest), Fraction(0))

    def depends(self, feature: int) -> bool:
        """Whether a feature lies in the span of the columns that are always used."""
        names = [*self._before, int(feature)]
        return self._eliminate(names, len(self._before))[0][-1][-1] == 0

    def rank(self) -> int:
        """How many of the columns that are always used are independent."""
        M = self._eliminate(self._before, len(self._before))[0]
        return sum(M[i][i] != 0 for i in range(len(M)))

    def _eliminate(self, everything: list, n_steps: int) -> tuple[list[list[int]], int]:
        """What the first columns leave of the inner products of all, times the second."""
        M = [[self._product(a, b) for b in everything] for a in everything]
        last = 1
        for step in range(n_steps):
            pivot = M[step][step]
            if pivot == 0:  # in the span of those before: its whole row is zero
                continue
            row = M[step]
            for i in range(step + 1, len(M)):
                other = M[i]
                factor = other[step]
                M[i] = [
                    (pivot * mine - factor * theirs) // last if j > step else 0
                    for j, (mine, theirs) in enumerate(zip(other, row, strict=True))
                ]
            last = pivot
        return M, last

    def _product(self, a, b) -> int:
        key = (a, b)
        if key not in self._products:
            weighted = self._values(a)
            if self._is_weighted:
                weighted = list(map(mul, weighted, self._weights))
            self._products[key] = self._products[b, a] = sum(map(mul, weighted, self._values(b)))
        return self._products[key]

    def _values(self, name) -> list[int]:
        if name not in self._columns:
            values = np.ones(self._n_samples) if name is None else self._column(name)
            self._columns[name] = _integers(values)[0]
        return self._columns[name]


def _integers(values: np.ndarray) -> tuple[list[int], int]:
    """Integers m and an exponent e with values = m 2^e, exactly."""
    mantissas, exponents = np.frexp(np.asarray(values, dtype=np.float64))
    whole = np.ldexp(mantissas, 53).astype(np.int64)
    exponents = np.where(whole == 0, 0, exponents - 53)
    least = int(exponents[whole != 0].min(initial=0)) if (whole != 0).any() else 0
    shifts = np.where(whole == 0, 0, exponents - least)
    return [m << s for m, s in zip(whole.tolist(), shifts.tolist(), strict=True)], least
