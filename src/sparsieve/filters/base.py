"""What filters share.

What a missing value counts in ReliefF: the expected difference, given the class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._beside import here, where
from ..design import DesignMatrix, code_sizes
from ..design.standardise import CONSTANT_TOLERANCE, standards_beside
from ..selectors.base import TrainingData


class IncompleteColumns:
    """Columns with missing values (NaN) and the differences of their pairs of samples.

    A missing value of a sample of group g differs from the value of sample j by the mean
    difference between the known values of g and that value: with discrete columns this is
    1 - P(value of j | g). Where j is missing as well, the mean runs over the known values of
    both groups. A group without any known value takes those of all samples.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_columns)
        Scaled values or codes, with NaN.
    discrete : ndarray of bool, shape (n_columns,)
        Columns that count u != v instead of |u - v|.
    groups : ndarray of int, shape (n_samples,)
        Class of every sample.
    """

    def __init__(self, values: np.ndarray, discrete: np.ndarray, groups: np.ndarray):
        self.values: np.ndarray = np.asfortranarray(values)
        self.discrete = discrete
        self.groups = groups
        self.missing: np.ndarray = np.isnan(self.values)
        self._table = [self._expected(f) for f in range(values.shape[1])]

    def add_distances(self, rows: np.ndarray, columns: np.ndarray, distances: np.ndarray) -> None:
        """Add these columns to the distances between the samples ``rows`` and ``columns``."""
        for f in range(self.values.shape[1]):
            values, missing, table = self.values[:, f], self.missing[:, f], self._table[f]
            differences = self._known(f, values[rows, None], values[columns])
            unknown = np.flatnonzero(missing[columns])
            absent = columns[unknown]
            differences[:, unknown] = table[self.groups[absent][:, None], rows].T
            unknown = np.flatnonzero(missing[rows])
            absent = rows[unknown]
            differences[unknown] = table[self.groups[absent][:, None], columns]
            distances += differences

    def weighted_differences(
        self, first: np.ndarray, second: np.ndarray, weights: np.ndarray
    ) -> np.ndarray:
        """Sum over the pairs (first, second) of weight * difference, for every column."""
        sums = np.zeros(self.values.shape[1])
        for f in range(len(sums)):
            values, missing, table = self.values[:, f], self.missing[:, f], self._table[f]
            differences = self._known(f, values[first], values[second])
            for one, other in ((second, first), (first, second)):
                unknown = np.flatnonzero(missing[one])
                differences[unknown] = table[self.groups[one[unknown]], other[unknown]]
            sums[f] = weights @ differences
        return sums

    def _known(self, f: int, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        return (u != v).astype(np.float64) if self.discrete[f] else np.abs(u - v)

    def _expected(self, f: int) -> np.ndarray:
        """Expected difference of a missing value of each group to each sample."""
        values, known = self.values[:, f], ~self.missing[:, f]
        members = np.zeros((self.groups.max() + 1, len(values)))
        members[self.groups[known], np.flatnonzero(known)] = 1.0
        members[members.sum(axis=1) == 0] = known
        members /= members.sum(axis=1, keepdims=True)
        table = np.zeros_like(members)
        among = self._known(f, values[known, None], values[known])
        table[:, known] = members[:, known] @ among
        table[:, ~known] = (table @ members.T)[:, self.groups[~known]]
        return table


@dataclass(frozen=True)
class ClassMoments:
    """Weighted sizes, means and sums of squared deviations of every class and of all samples.

    Deviations are taken from the means in a second pass, so a large offset of a column does no
    harm. ``rounding`` bounds what rounding leaves of a sum of squares that is zero on paper. All
    of them are beside X: tensors where X is on a device.
    """

    sizes: Any
    means: Any
    squares: Any
    total: Any
    rounding: Any

    @property
    def within(self) -> Any:
        """Sum of squares within the classes, exactly zero where only rounding is left."""
        within = self.squares.sum(axis=0)
        return where(within <= self.rounding, 0.0, within)

    @property
    def between(self) -> Any:
        """Sum of squares between the classes."""
        centre = self.sizes @ self.means / self.sizes.sum()
        return self.sizes @ (self.means - centre) ** 2

    @property
    def constant(self) -> Any:
        """Columns that do not vary."""
        return self.total <= self.rounding

    def here(self) -> ClassMoments:
        """The same in the memory of the host."""
        return ClassMoments(
            *map(here, (self.sizes, self.means, self.squares, self.total, self.rounding))
        )


def class_moments(data: TrainingData) -> ClassMoments:
    """The moments of every column, class by class, beside X."""
    codes, weights, design = data.target.codes, data.sample_weight, data.design
    assert codes is not None
    sizes = code_sizes(codes, len(data.target.classes), weights)
    # One look at the classes tells the moments of all samples too: the spread around the common
    # mean is that within the classes and that of their means.
    class_means, spreads = design.group_moments_beside(codes, len(sizes), weights)
    sizes = design.beside(sizes)
    squares = sizes[:, None] * spreads
    centre = sizes @ class_means / data.total_weight
    total = squares.sum(axis=0) + sizes @ (class_means - centre) ** 2
    tolerance = CONSTANT_TOLERANCE[np.dtype(design.dtype)]
    deviations = (total / data.total_weight) ** 0.5
    rounding = data.total_weight * (tolerance * (abs(centre) + deviations)) ** 2
    return ClassMoments(sizes, class_means, squares, total, rounding)


def constant_columns(data: TrainingData) -> np.ndarray:
    """Columns that do not vary, up to rounding."""
    return here(standards_beside(data.design, data.sample_weight)[2])


def target_products(design: DesignMatrix, data: TrainingData) -> np.ndarray:
    """X'Y of a standardised X and the targets of :func:`centred_target`.

    These are the correlations times the square root of the total weight; 0 for a constant target.
    """
    return design.rmatmul(centred_target(data).astype(design.dtype)).astype(np.float64)


def centred_target(data: TrainingData) -> np.ndarray:
    """Targets (of classes: 0/1 columns), centred, with weighted rows, each of unit length."""
    weights = data.sample_weight
    Y = data.target.Y.astype(np.float64)
    Y -= np.average(Y, axis=0, weights=weights)
    if weights is not None:
        Y *= np.sqrt(weights)[:, None]
    lengths = np.sqrt(np.einsum("ij,ij->j", Y, Y))
    Y /= np.where(lengths > 0, lengths, 1.0)
    return Y


def ratio(numerator: Any, denominator: Any) -> Any:
    """Numerator / denominator where 0 / 0 is 0 and anything else over 0 is infinite."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return where(numerator > 0, numerator / denominator, 0.0)


def check_degrees(degrees: float, total_weight: float, needed: str) -> None:
    """Refuse weights that leave no degrees of freedom."""
    if degrees <= 0:
        raise ValueError(
            f"sample_weight adds up to {total_weight:g}, but the test needs more than {needed}; a "
            "weight of 2 means two copies of a sample, so scale the weights up"
        )
