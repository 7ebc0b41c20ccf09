"""Which passes over X are done by compiled loops of our own."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from . import parallel_passes
from .base import DesignMatrix
from .clipped import ClippedDense
from .dense import DenseDesign
from .scaled import Scaled


def own_passes(design: DesignMatrix) -> AbstractContextManager[None]:
    """The context of a run of passes with small work between them: BLAS on one thread.

    That is where passes are compiled loops of our own, on a device, or too small for a second
    thread: those of BLAS stay busy after every call, and on 90 x 12,533 numbers that took four
    times as long.
    """
    base = design.base if isinstance(design, Scaled) else design
    compiled = isinstance(base, ClippedDense | DenseDesign) and base.has_long_rows
    small = design.stored < parallel_passes.MIN_WORK_PER_THREAD
    alone = compiled or small or design.is_on_device
    return parallel_passes.blas_alone() if alone else nullcontext()
