"""Few samples that stand for many: least squares sees X and Y only through inner products.

Let G be the matrix of inner products of the centred, scaled, weighted columns of X and Y. The
columns of any F with F'F = G have the same inner products in no more rows than G has, so that
every least-squares problem on them is the one on X and Y: the same supports, coefficients and
objectives. G takes one pass over X beside the one for the moments, whatever the number of
features selected; worth it where features are few and samples many.
"""

from __future__ import annotations

from functools import partial
from typing import Any, TypeGuard

import numpy as np
from scipy.linalg import lapack

from ..base import DesignMatrix
from ..dense import DenseDesign
from ..standardise import Standardisation, clip_bounds, column_standards
from .class_codes import Outputs, independent, totals
from .lazy_gram import FetchedDesign, Source, with_target
from .row_blocks import RowBlockedDesign

# Up to this many features (200 MB of inner products in double precision) G is formed.
MAX_FEATURES = 5000
# What is left of a column once it falls below this share of its squared norm is rounding.
ROUNDING = 1e-13


def can_condense(design: DesignMatrix, n_outputs: int) -> TypeGuard[RowBlockedDesign]:
    """Whether X is read in blocks and has few enough features, and enough samples, to condense."""
    if not isinstance(design, RowBlockedDesign):
        return False
    n_samples, n_features = design.shape
    return n_features <= MAX_FEATURES and n_samples > n_features + n_outputs


def without_samples(
    design: DesignMatrix,
    Y: Outputs,
    *,
    centre: bool,
    scale: bool,
    sample_weight: np.ndarray | None = None,
    clip: float | None = None,
) -> tuple[Standardisation, np.ndarray] | None:
    """X standardised as by ``standardised`` and Y, weighted, for least squares without samples.

    Y is centred already where it should be, and not weighted yet. The first pass over X takes its
    moments; shifted by them, the products of the clipped columns that the second takes lose no
    digits to large offsets. Few features are condensed to few rows. Columns of many, on a cluster,
    are fetched in a pass for every few. None where X is to be used as it is.
    """
    is_few = can_condense(design, Y.shape[1])
    if not (is_few or (isinstance(design, RowBlockedDesign) and design.is_remote)):
        return None
    if clip is not None and not centre:
        raise ValueError("clip counts from the mean, and needs centred columns")
    means, deviations, constant = column_standards(design, sample_weight)
    size = float(design.shape[0] if sample_weight is None else sample_weight.sum())
    spread = np.where(constant, 1.0, deviations)
    held: Any = design
    base = means if centre else None
    if clip is not None:
        low, high = clip_bounds(means, deviations, clip)
        held = held.clipped(low, high)
        if held.is_sparse:
            base = means - np.clip(0.0, low, high)  # clipped up to this shift, see clipped_sparse
    mix, rotation = independent(Y, sample_weight)
    if is_few:
        gram, cross, sums = held.joint_gram(
            Y, mix, centre=base, scale=spread, weights=sample_weight
        )
    else:
        work = partial(with_target, base, spread, mix)
        gram, cross, sums = held._reduce(work, Y, sample_weight)
    drift = np.zeros_like(means)
    if base is not None:
        drift = sums / size  # of clipped columns from the means of the first pass
        gram -= size * (np.outer(drift, drift) if is_few else drift**2)
        cross -= np.outer(drift, totals(Y, sample_weight) @ mix)
        gram[constant] = cross[constant] = 0.0
        base = base + drift * spread
    rescale = np.ones_like(means) if scale else spread
    if clip is not None and scale:
        rescale = np.sqrt(np.maximum(gram.diagonal() if is_few else gram, 0.0) / size)
        rescale = 1.0 / np.where(rescale == 0, 1.0, rescale)
    scales, cross = spread / rescale, cross * rescale[:, None]
    if is_few:
        gram[:, constant & centre] = 0.0
        few, target = _factor(gram * np.outer(rescale, rescale), cross)
        view: DesignMatrix = DenseDesign(few.astype(design.dtype, copy=False))
        target = target @ rotation
    else:
        view = FetchedDesign(Source(held, base, scales, sample_weight), gram * rescale**2, cross)
        target = np.zeros((view.shape[0], Y.shape[1]))
        target[: len(rotation)] = rotation
    shift = means + drift * spread if centre else drift
    unit = design.unit
    return Standardisation(view, shift * unit, scales * unit, constant), target


def _factor(gram: np.ndarray, cross: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(F, T) with F'F = gram, F'T = cross and orthonormal columns of T.

    By Cholesky with pivoting for F; what F leaves of T is put into rows below it.
    """
    n_features, n_outputs = cross.shape
    lengths = np.sqrt(np.maximum(gram.diagonal(), 0.0))
    lengths = np.where(lengths > 0, lengths, 1.0)
    scaled = np.asfortranarray(gram / np.outer(lengths, lengths))
    upper, pivots, rank, _ = lapack.dpstrf(scaled, tol=ROUNDING * n_features, overwrite_a=1)
    order, upper = pivots - 1, np.triu(upper)[:rank]
    F = np.zeros((rank + n_outputs, n_features), order="F")
    F[:rank, order] = upper
    F *= lengths
    solved = np.zeros((rank, n_outputs))
    if rank and n_outputs:
        given = np.asfortranarray((cross / lengths[:, None])[order[:rank]])
        solved = lapack.dtrtrs(np.asfortranarray(upper[:, :rank]), given, trans=1)[0]
    values, vectors = np.linalg.eigh(np.eye(n_outputs) - solved.T @ solved)
    return F, np.vstack([solved, np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T])
