"""From arrays to designs, and from designs to standardised designs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from .base import DesignMatrix
from .dense import DenseDesign
from .scaled import Scaled
from .sparse import SparseDesign

# A dense X up to this size is standardised once into a working copy, because solvers read it
# hundreds of times; a larger one is standardised lazily, so memory stays at X plus small change.
COPY_BYTES = 64 << 20

# A column whose standard deviation is below this share of its magnitude is constant up to
# rounding: scaling it up would only amplify noise.
CONSTANT_TOLERANCE = {np.dtype(np.float64): 1e-13, np.dtype(np.float32): 1e-6}


def as_design(X) -> DesignMatrix:
    """Wrap a validated array or sparse matrix; a design passes through."""
    if isinstance(X, DesignMatrix):
        return X
    if sparse.issparse(X):
        return SparseDesign(X)
    return DenseDesign(np.asarray(X))


@dataclass(frozen=True)
class Standardisation:
    """How columns were shifted and scaled, and which of them are constant."""

    design: DesignMatrix
    centre: np.ndarray
    scale: np.ndarray
    constant: np.ndarray


def standardised(
    design: DesignMatrix, *, centre: bool, scale: bool, sample_weight=None
) -> Standardisation:
    """Centre to (weighted) mean zero, scale to unit variance and weight the rows.

    Rows are multiplied by the square root of their weight, so that plain sums of squares of
    the result are the weighted ones. Constant columns keep their scale; once centred they are
    exactly zero.
    """
    means, variances = design.column_moments(sample_weight)
    deviations = np.sqrt(variances)
    largest = np.abs(means) + deviations
    constant = deviations <= CONSTANT_TOLERANCE[np.dtype(design.dtype)] * largest
    shift = means if centre else np.zeros_like(means)
    factor = np.where(constant, 1.0, deviations) if scale else np.ones_like(means)
    row_scale = None if sample_weight is None else np.sqrt(sample_weight)

    small = isinstance(design, DenseDesign) and design.array.nbytes <= COPY_BYTES
    if small and (centre or scale or row_scale is not None):
        array = (design.array - shift) / factor  # in double precision when X is float32
        if row_scale is not None:
            array *= row_scale[:, None]
        if centre:
            array[:, constant] = 0.0
        view: DesignMatrix = DenseDesign(array.astype(design.dtype, copy=False))
    elif centre or scale or row_scale is not None:
        view = Scaled(design, shift if centre else None, factor if scale else None, row_scale)
    else:
        view = design
    return Standardisation(view, shift, factor, constant)
