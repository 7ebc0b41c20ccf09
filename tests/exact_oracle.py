"""The best supports of tiny least-squares problems in exact arithmetic, from the data as given.

Floating-point numbers are fractions, so means, variances, inner products and eliminations are
computed without any rounding. Nothing is shared with the package: not its standardisation, not
its factorisations.
"""

from fractions import Fraction
from itertools import combinations

import numpy as np

CONSTANT = Fraction(1, 10**13)  # standard deviation of a constant column, relative to its size


class Oracle:
    """min ||sqrt(D) (Y - b - Z B - X_S W)||^2 + ridge n ||W||^2 for all S at once.

    X is standardised where asked for; ``always`` are the columns Z. ``values[S]`` is the exact
    objective of the support S, a sorted tuple of columns.
    """

    def __init__(self, X, Y, ridge, *, weights=None, always=(), intercept=True, standardize=True):
        X = [[Fraction(float(x)) for x in column] for column in np.asarray(X).T]
        Y = [[Fraction(float(y)) for y in column] for column in np.atleast_2d(np.asarray(Y).T)]
        w = [Fraction(1)] * len(Y[0]) if weights is None else [Fraction(float(v)) for v in weights]
        total = sum(w)
        means = [sum(map(_times, w, column)) / total for column in X]
        scales = [Fraction(1)] * len(X)
        constant = set()
        for j, column in enumerate(X):
            variance = sum(v * (x - means[j]) ** 2 for v, x in zip(w, column, strict=True)) / total
            # "Constant up to rounding", as the documentation has it, is not a feature.
            if variance <= (CONSTANT * (abs(means[j]) + Fraction(float(variance) ** 0.5))) ** 2:
                constant.add(j)
            elif standardize:
                scales[j] = variance
        self.open = [j for j in range(len(X)) if j not in always]
        if intercept:
            self.open = [j for j in self.open if j not in constant]
        first = [[Fraction(1)] * len(w)] if intercept else []
        columns = [*first, *(X[j] for j in always), *(X[j] for j in self.open), *Y]
        weighted = [list(map(_times, w, column)) for column in columns]
        M = [[Fraction(0)] * len(columns) for _ in columns]
        for i, mine in enumerate(weighted):
            for j in range(i, len(columns)):
                M[i][j] = M[j][i] = sum(map(_times, mine, columns[j]))
        n_free = len(first) + len(always)
        for step in range(n_free):
            M = _swept(M, step)
        M = [row[n_free:] for row in M[n_free:]]
        strength = Fraction(float(ridge)) * total
        for i, j in enumerate(self.open):
            M[i][i] += strength * scales[j]
        self.values = {}
        self._fill(M, (), 0, len(self.open))

    def _fill(self, M, support, start, count) -> None:
        self.values[support] = sum(M[i][i] for i in range(count, len(M)))
        for place in range(start, count):
            self._fill(_swept(M, place), (*support, self.open[place]), place + 1, count)

    @property
    def power(self) -> Fraction:
        return self.values[()]

    def value(self, support) -> Fraction:
        return self.values[tuple(sorted(int(j) for j in support))]

    def best(self, k: int) -> Fraction:
        return min(self.values[s] for s in combinations(self.open, min(k, len(self.open))))


def _times(a, b):
    return a * b


def _swept(M, place):
    """What the column at ``place`` leaves of the inner products of all others."""
    pivot = M[place][place]
    if pivot == 0:  # it adds nothing to those swept before
        return M
    factors = [row[place] / pivot for row in M]
    top = M[place]
    return [
        [a - factor * b for a, b in zip(row, top, strict=True)] if factor else row
        for row, factor in zip(M, factors, strict=True)
    ]
