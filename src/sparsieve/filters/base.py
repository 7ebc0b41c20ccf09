"""What filters share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..design import code_sizes
from ..design.convert import CONSTANT_TOLERANCE
from ..selectors.base import TrainingData

# A filter has no opinion on how many features to keep; when nobody asks, it keeps as many as
# scikit-learn's SelectKBest.
DEFAULT_COUNT = 10


@dataclass(frozen=True)
class ClassMoments:
    """Weighted sizes, means and sums of squared deviations of every class and of all samples.

    Deviations are taken from the means in a second pass, so a large offset of a column does no
    harm. ``crumbs`` bounds what rounding leaves of a sum of squares that is zero on paper.
    """

    sizes: np.ndarray
    means: np.ndarray
    squares: np.ndarray
    total: np.ndarray
    crumbs: np.ndarray

    @property
    def within(self) -> np.ndarray:
        """Sum of squares within the classes, exactly zero where only crumbs are left."""
        within = self.squares.sum(axis=0)
        return np.where(within <= self.crumbs, 0.0, within)

    @property
    def between(self) -> np.ndarray:
        """Sum of squares between the classes."""
        centre = self.sizes @ self.means / self.sizes.sum()
        return self.sizes @ (self.means - centre) ** 2

    @property
    def constant(self) -> np.ndarray:
        """Columns that do not vary."""
        return self.total <= self.crumbs


def class_moments(data: TrainingData) -> ClassMoments:
    """The moments of every column, class by class."""
    codes, weights, design = data.target.codes, data.sample_weight, data.design
    assert codes is not None
    sizes = code_sizes(codes, len(data.target.classes), weights)
    # One look at the classes tells the moments of all samples too: the spread around the common
    # mean is that within the classes and that of their means.
    class_means, spreads = design.group_moments(codes, len(sizes), weights)
    squares = sizes[:, None] * spreads
    centre = sizes @ class_means / data.total_weight
    total = squares.sum(axis=0) + sizes @ (class_means - centre) ** 2
    tolerance = CONSTANT_TOLERANCE[np.dtype(design.dtype)]
    deviations = np.sqrt(total / data.total_weight)
    crumbs = data.total_weight * (tolerance * (np.abs(centre) + deviations)) ** 2
    return ClassMoments(sizes, class_means, squares, total, crumbs)


def constant_columns(data: TrainingData) -> np.ndarray:
    """Columns that do not vary, up to rounding."""
    means, variances = data.design.column_moments(data.sample_weight)
    deviations = np.sqrt(variances)
    tolerance = CONSTANT_TOLERANCE[np.dtype(data.design.dtype)]
    return deviations <= tolerance * (np.abs(means) + deviations)


def ratio(numerator, denominator) -> np.ndarray:
    """Numerator / denominator where 0 / 0 is 0 and anything else over 0 is infinite."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(numerator > 0, np.divide(numerator, denominator), 0.0)


def check_degrees(degrees: float, total_weight: float, needed: str) -> None:
    """Refuse weights that leave no degrees of freedom."""
    if degrees <= 0:
        raise ValueError(
            f"the samples count as {total_weight:g} with their weights, but a test needs more "
            f"than {needed}; weights stand for repeated samples, so scale them up"
        )
