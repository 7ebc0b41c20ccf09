"""What filters share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._beside import to_numpy, where
from ..design import DenseDesign, code_sizes, standardise_columns
from ..design.one_pass import blocks
from ..design.standardise import CONSTANT_TOLERANCE, column_standards, native_standards
from ..selectors.base import TrainingData

# Standard deviations of a column that its mean is away from zero, from which on it is centred
# before products are taken: two of sixteen digits are lost up to here.
MAX_OFFSET = 100.0


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
    def within_squares(self) -> Any:
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

    def to_numpy(self) -> ClassMoments:
        """The same in the memory of the host."""
        return ClassMoments(
            *map(to_numpy, (self.sizes, self.means, self.squares, self.total, self.rounding))
        )


def class_moments(data: TrainingData) -> ClassMoments:
    """The moments of every column, class by class, beside X."""
    codes, weights, design = data.target.codes, data.sample_weight, data.design
    assert codes is not None
    sizes = code_sizes(codes, len(data.target.classes), weights)
    # One look at the classes tells the moments of all samples too: the spread around the common
    # mean is that within the classes and that of their means.
    class_means, spreads = design.native_group_moments(codes, len(sizes), weights)
    sizes = design.to_native(sizes)
    squares = sizes[:, None] * spreads
    centre = sizes @ class_means / data.total_weight
    total = squares.sum(axis=0) + sizes @ (class_means - centre) ** 2
    tolerance = CONSTANT_TOLERANCE[np.dtype(design.dtype)]
    deviations = (total / data.total_weight) ** 0.5
    rounding = data.total_weight * (tolerance * (abs(centre) + deviations)) ** 2
    return ClassMoments(sizes, class_means, squares, total, rounding)


def constant_columns(data: TrainingData) -> np.ndarray:
    """Columns that do not vary, up to rounding."""
    return to_numpy(native_standards(data.design, data.sample_weight)[2])


def correlations(data: TrainingData) -> tuple[np.ndarray, np.ndarray]:
    """Correlations (n_features, n_targets) with a numeric target, and which columns are constant.

    0 for a constant target. The target is centred, so that columns need not be, but for those
    whose offset would take digits.
    """
    design, weights, total = data.design, data.sample_weight, np.sqrt(data.total_weight)
    if not isinstance(design, DenseDesign):
        view = standardise_columns(design, centre=True, scale=True, sample_weight=weights)
        products = view.design.rmatmul(centred_target(data).astype(design.dtype))
        return products.astype(np.float64) / total, view.constant
    Y, array = centred_target(data), design.array
    if weights is not None:
        Y *= np.sqrt(weights)[:, None]
    means, deviations, constant = column_standards(design, weights)
    is_far = abs(means) > MAX_OFFSET * deviations
    products = np.zeros((Y.shape[1], design.shape[1]))
    by_column = array.flags.f_contiguous and not array.flags.c_contiguous
    for rows, columns in blocks(array.shape, by_column):
        block = array[rows, columns].astype(np.float64, copy=False)
        if is_far[columns].any():
            block = block - means[columns]
        products[:, columns] += Y[rows].T @ block
    return products.T / (total * np.where(constant, 1.0, deviations))[:, None], constant


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
