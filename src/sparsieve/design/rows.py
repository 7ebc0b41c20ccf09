"""X by its rows, for compiled loops of a solver that use products as soon as they have them."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

import numpy as np

from . import stream
from .base import DesignMatrix
from .clipped import ClippedDense
from .dense import DenseDesign
from .scaled import Scaled
from .sparse import SparseDesign


class Rows(NamedTuple):
    """(clip(X) - centre) factor of an array with contiguous rows.

    What there is not is an empty array.
    """

    array: np.ndarray
    clip: stream.Clip
    centre: np.ndarray
    factor: np.ndarray  # one over the scale: a division takes longer than reading a number

    def direction(self, v: np.ndarray) -> tuple[np.ndarray, np.floating]:
        """What compiled loops take to multiply X by v: v, and its sum for the centres."""
        dtype = self.array.dtype.type
        total = v.sum(dtype=np.float64) if len(self.centre) else 0.0
        return np.ascontiguousarray(v, dtype), dtype(total)


def own_passes(design: DesignMatrix) -> AbstractContextManager[None]:
    """The context of small work between passes: BLAS alone where these are not its own."""
    base = design.base if isinstance(design, Scaled) else design
    compiled = (
        base.is_large
        if isinstance(base, SparseDesign)
        else isinstance(base, ClippedDense | DenseDesign) and base.has_long_rows
    )
    return stream.blas_alone() if compiled else nullcontext()


def contiguous_rows(design: DesignMatrix) -> tuple[Rows, np.ndarray | None] | None:
    """(rows, weights of the rows) of an X in memory whose rows are contiguous, or None."""
    nothing = np.empty(0, dtype=design.dtype)
    centre = factor = nothing
    weights = None
    if isinstance(design, Scaled):
        weights = design.row_scale
        centre = nothing if design.centre is None else design.centre
        factor = nothing if design.scale is None else 1 / design.scale
        design = design.base
    if isinstance(design, ClippedDense) and design.has_long_rows:
        return Rows(design.base.array, design.clip, centre, factor), weights
    if isinstance(design, DenseDesign) and design.array.flags.c_contiguous:
        return Rows(design.array, stream.no_clip(design.dtype), centre, factor), weights
    return None
