"""A path that near copies of its features are kept away from, at next to no cost."""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas

from .forward_scores import Features
from .redundancy import Company, Redundancy, correlation

# What rounding may take from the residual of a column, or from a correlation.
SLACK = 1e-3


class DistinctPath:
    """Says of the next feature of a path whether it is a near copy of one that was taken.

    Most often it is not, which what a step knows anyway tells. Of a column with the correlation r
    with a column s that was taken, the directions have taken out at least r^2 ||s||^2 / (||s||^2 +
    ridge), as a share of its squared norm; and its products with the directions are also those with
    the columns taken, which are combinations of them. Only where these come close to the limit are
    two columns compared, in double precision.

    Parameters
    ----------
    features : Features
        Before the first step.
    redundancy : Redundancy
    """

    features: Features
    redundancy: Redundancy

    def __init__(self, features: Features, redundancy: Redundancy) -> None:
        self.features, self.redundancy = features, redundancy
        self._company = None
        if not redundancy.is_plain:  # products are no correlations: all columns are compared
            self._company = Company(redundancy)
            return
        norms = features.norms
        redundancy.squares = norms.astype(np.float64, copy=False)
        self._shortest = float(redundancy.lengths[features.open].min(initial=np.inf))
        taken = redundancy.limit**2 / (1.0 + features.ridge / self._shortest**2)
        self._most_left: np.ndarray = (1.0 - taken + SLACK) * norms
        self._order: list[int] = []
        self._columns: list[np.ndarray] = []
        self._place_of_largest = blas.idamax if norms.dtype == np.float64 else blas.isamax

    def passes_over(
        self, j: int, column: np.ndarray, along: np.ndarray, factor: np.ndarray
    ) -> bool:
        """Close near copies of a feature that was taken if j is one of them; take it if not.

        ``along`` are the products of its column with the directions, which times ``factor`` are the
        columns taken.
        """
        company = self._company
        if company is not None:
            columns = column[:, None] if self.redundancy.weights is None else None
            near = company.closest(j, columns)
            if near is None:
                company.add(j, columns)
        else:
            near = self._nearest(j, column, along, factor)
            if near is None:
                self._order.append(j)
                self._columns.append(column)
        if near is not None:
            self.features.pass_over(self.redundancy.copies(near))
        return near is not None

    def _nearest(
        self, j: int, column: np.ndarray, along: np.ndarray, factor: np.ndarray
    ) -> int | None:
        if not self._order or self.features.residual[j] > self._most_left[j]:
            return None
        limit, lengths = self.redundancy.limit, self.redundancy.lengths
        products, least = along @ factor, (limit - SLACK) * float(lengths[j])
        if abs(products[self._place_of_largest(products)]) < least * self._shortest:
            return None
        sizes = np.abs(products) / lengths[self._order]
        place = int(np.argmax(sizes))
        if sizes[place] < least:
            return None
        near, strength = self._order[place], correlation(self._columns[place], column)
        if abs(strength) < limit:
            return None
        self.redundancy.found.setdefault(near, {})[j] = strength
        return near
