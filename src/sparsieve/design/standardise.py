"""From arrays to designs, and from designs to standardised designs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from .._beside import to_numpy
from .._wings import find_server
from .base import MAX_COPY_BYTES, DesignMatrix
from .blocks.row_blocks import RowBlockedDesign
from .dense import DenseDesign
from .sparse import SparseDesign
from .views import ClippedDense, Scaled, clipped_sparse, in_double

# A column whose standard deviation is below this share of its magnitude is constant up to
# rounding: scaling it up would only amplify noise.
CONSTANT_TOLERANCE = {np.dtype(np.float64): 1e-13, np.dtype(np.float32): 1e-6}


def as_design(X: np.ndarray | sparse.sparray | sparse.spmatrix | DesignMatrix) -> DesignMatrix:
    """Wrap a validated array or sparse matrix; a design passes through."""
    if isinstance(X, DesignMatrix):
        return X
    if sparse.issparse(X):
        return SparseDesign(X)
    return DenseDesign(np.asarray(X))


@dataclass(frozen=True)
class Standardisation:
    """A standardised design, how to get back, and which columns are constant.

    Except for clipping, column j of ``design`` is (x_j - centre_j) / scale_j times the square
    root of the sample weights.
    """

    design: DesignMatrix
    centre: np.ndarray
    scale: np.ndarray
    constant: np.ndarray


def standardise_columns(
    design: DesignMatrix,
    *,
    centre: bool,
    scale: bool,
    sample_weight: np.ndarray | None = None,
    clip: float | None = None,
    weight_rows: bool = True,
    dtype: DTypeLike | None = None,
) -> Standardisation:
    """Centre to (weighted) mean zero, scale to unit variance and weight the rows.

    Rows are multiplied by the square root of their weight, so that plain sums of squares of
    the result are the weighted ones; models whose loss is no sum of squares over rows leave the
    rows alone with ``weight_rows=False``. Constant columns keep their scale; once centred they are
    exactly zero. With ``clip`` values further than that many standard deviations from the mean
    are first pulled in, and the columns centred and scaled again. The result is in ``dtype``:
    that of X by default, or double precision.
    """
    unit = design.unit
    held = np.dtype(design.dtype if dtype is None else dtype)
    if hasattr(design, "standardise_columns"):  # X on a device, where it is worked on
        found = design.standardise_columns(
            centre=centre,
            scale=scale,
            sample_weight=sample_weight,
            clip=clip,
            weight_rows=weight_rows,
            dtype=held,
            tolerance=CONSTANT_TOLERANCE[np.dtype(design.dtype)],
        )
        return Standardisation(*found)
    means, deviations, constant = column_standards(design, sample_weight)
    own = False  # whether the array was made here
    if clip is not None:
        low, high = clip_bounds(means, deviations, clip)
        if isinstance(design, RowBlockedDesign):
            design = design.clip_columns(low, high)
        elif isinstance(design, SparseDesign):
            design = clipped_sparse(design, low, high)
        elif isinstance(design, DenseDesign) and design.array.nbytes <= MAX_COPY_BYTES:
            clipped = np.empty_like(design.array)
            for rows in design.row_blocks():
                clipped[rows] = np.clip(design.array[rows], low, high)
            design, own = DenseDesign(clipped), True
        elif isinstance(design, DenseDesign):
            design = ClippedDense(design, low, high)
        else:
            raise TypeError(f"cannot clip a {type(design).__name__}")
        means, deviations, _ = column_standards(design, sample_weight)
    shift = means if centre else np.zeros_like(means)
    factor = np.where(constant, 1.0, deviations) if scale else np.ones_like(means)
    row_scale = np.sqrt(sample_weight) if weight_rows and sample_weight is not None else None

    if not (centre or scale or row_scale is not None):
        return Standardisation(design, shift * unit, factor * unit, constant)
    if isinstance(design, DenseDesign) and held.itemsize * design.array.size <= MAX_COPY_BYTES:
        is_ours = own and held == design.dtype
        array = design.array if is_ours else np.empty_like(design.array, dtype=held)
        for rows in design.row_blocks():
            block = design.array[rows] - shift  # in double precision also when X is float32
            block /= factor
            if row_scale is not None:
                block *= row_scale[rows, None]
            if centre:
                block[:, constant] = 0.0
            array[rows] = block
        view: DesignMatrix = DenseDesign(array)
    else:
        base = design if held == design.dtype else in_double(design)
        view = Scaled(base, shift if centre else None, factor if scale else None, row_scale)
    return Standardisation(view, shift * unit, factor * unit, constant)


def clip_bounds(
    means: np.ndarray, deviations: np.ndarray, clip: float
) -> tuple[np.ndarray, np.ndarray]:
    """The interval of every column that ``clip`` deviations around its mean are."""
    return means - clip * deviations, means + clip * deviations


def column_standards(
    design: DesignMatrix, sample_weight: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weighted means, standard deviations, and which columns are constant up to rounding."""
    means, deviations, constant = map(to_numpy, native_standards(design, sample_weight))
    return means, deviations, constant


def native_standards(
    design: DesignMatrix, sample_weight: np.ndarray | None
) -> tuple[Any, Any, Any]:
    """The same, left where X is."""
    means, variances = design.native_moments(sample_weight)
    deviations = variances**0.5
    largest = abs(means) + deviations
    return means, deviations, deviations <= CONSTANT_TOLERANCE[np.dtype(design.dtype)] * largest


def external_design(X: Any) -> DesignMatrix | None:
    """The design of an X that must not be converted to an array; None where it may be.

    A serving ``make_design(X)`` refuses in one sentence what is not two-dimensional or not real
    numbers, and returns None for what is no X at all, or small enough to be loaded. Values that
    are not finite are found by the first pass. Further it gives a ``transform``:
    ``take_columns(index)`` of the design is what the selected columns are returned as.
    """
    if isinstance(X, DesignMatrix):
        return X
    if isinstance(X, np.ndarray) and not isinstance(X, np.memmap):
        return None
    design_of = find_server("sparsieve.designs", X)
    return None if design_of is None else design_of(X)


def check_matrix(shape: tuple[int, ...], dtype: np.dtype, what: str) -> None:
    """Refuse what is not a matrix of real numbers with rows and columns."""
    if len(shape) != 2:
        raise ValueError(
            f"X must be a 2D array of samples x features, but {what} has {len(shape)} "
            f"dimension{'s' * (len(shape) != 1)}: its shape is {shape}"
        )
    if shape[0] < 2 or shape[1] < 1:
        raise ValueError(
            f"X needs at least 2 samples and 1 feature, but {what} has the shape {shape}"
        )
    if np.dtype(dtype).kind not in "biuf":
        raise TypeError(
            f"X must hold real numbers, but {what} has the dtype {dtype}; convert it to float32 "
            "or float64 first"
        )


def real_dtype(dtype: np.dtype) -> np.dtype:
    """The precision that numbers of this dtype are worked with: float32 stays."""
    return np.dtype(np.float32 if dtype == np.float32 else np.float64)
