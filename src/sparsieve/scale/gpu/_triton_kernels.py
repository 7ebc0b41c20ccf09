"""Passes over a tensor in CUDA memory that clip on the way: each reads X once.

The products and moments of ``_torch_passes`` for float32 with contiguous rows. Products of several
outputs run on the tensor cores in three TF32 products (``tf32x3``), which together are as
accurate as float32; sums over many rows or columns are cut into pieces that are added in double
precision, so that neither the rounding of the tensor cores nor the length of a sum shows.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import triton
import triton.language as tl

from ._triton_pairs import near_distances, pair_distances, pair_sums

__all__ = [
    "moments",
    "multiply_columns",
    "multiply_rows",
    "near_distances",
    "pair_distances",
    "pair_sums",
    "suits",
]

# Most outputs of one launch: more are cut into groups.
WIDEST = 32


@dataclass(frozen=True)
class Tiling:
    """How a pass is cut: tile of columns and rows, warps, stages, programs per multiprocessor."""

    columns: int
    rows: int
    warps: int
    stages: int
    programs: int = 8


# Measured on an H200; on others a little slower at worst.
VECTOR = Tiling(columns=256, rows=32, warps=4, stages=3, programs=16)
BLOCK = Tiling(columns=128, rows=32, warps=4, stages=3, programs=32)
BLOCK_OF_FEW_ROWS = Tiling(columns=128, rows=32, warps=4, stages=4, programs=32)
ROWS = Tiling(columns=64, rows=128, warps=4, stages=3, programs=8)
MOMENTS = Tiling(columns=128, rows=32, warps=4, stages=2, programs=16)
MOMENTS_OF_FEW_ROWS = Tiling(columns=512, rows=8, warps=4, stages=2, programs=16)
MIN_SPLIT_ROWS = 8192  # fewer make no pieces worth adding up


@triton.jit
def _columns_on_vector(
    X, low, high, v, out, n, d, stride, rows_per,
    CLIP: tl.constexpr, BN: tl.constexpr, BR: tl.constexpr,
):  # fmt: skip
    """out[piece, j] = sum over the rows of a piece of clip(x_ij) v_i."""
    cols = tl.program_id(0) * BN + tl.arange(0, BN)
    inside = cols < d
    first = tl.program_id(1) * rows_per
    last = tl.minimum(first + rows_per, n)
    if CLIP:
        lo = tl.load(low + cols, mask=inside, other=0.0)[None, :]
        hi = tl.load(high + cols, mask=inside, other=0.0)[None, :]
    r = tl.arange(0, BR)
    tile = X + first.to(tl.int64) * stride + (r[:, None] * stride + cols[None, :])
    total = tl.zeros([BR, BN], tl.float32)
    for start in range(first, last, BR):
        there = (start + r) < last
        x = tl.load(tile, mask=there[:, None] & inside[None, :], other=0.0)
        if CLIP:
            x = tl.minimum(tl.maximum(x, lo), hi)
        u = tl.load(v + start + r, mask=there, other=0.0)
        total += x * u[:, None]
        tile += BR * stride
    place = tl.program_id(1).to(tl.int64) * d + cols
    tl.store(out + place, tl.sum(total, axis=0), mask=inside)


@triton.jit
def _columns_on_block(
    X, low, high, U, out, n, d, stride, rows_per,
    CLIP: tl.constexpr, NC: tl.constexpr, BN: tl.constexpr, BR: tl.constexpr,
):  # fmt: skip
    """out[piece, k, j] = sum over the rows of a piece of clip(x_ij) U[k, i]; U is (NC, n)."""
    cols = tl.program_id(0) * BN + tl.arange(0, BN)
    inside = cols < d
    first = tl.program_id(1) * rows_per
    last = tl.minimum(first + rows_per, n)
    if CLIP:
        lo = tl.load(low + cols, mask=inside, other=0.0)[None, :]
        hi = tl.load(high + cols, mask=inside, other=0.0)[None, :]
    r = tl.arange(0, BR)
    k = tl.arange(0, NC)
    tile = X + first.to(tl.int64) * stride + (r[:, None] * stride + cols[None, :])
    total = tl.zeros([NC, BN], tl.float32)
    for start in range(first, last, BR):
        there = (start + r) < last
        x = tl.load(tile, mask=there[:, None] & inside[None, :], other=0.0)
        if CLIP:
            x = tl.minimum(tl.maximum(x, lo), hi)
        u = tl.load(U + k[:, None] * n + (start + r)[None, :], mask=there[None, :], other=0.0)
        total = tl.dot(u, x, total, input_precision="tf32x3")
        tile += BR * stride
    place = (tl.program_id(1).to(tl.int64) * NC + k)[:, None] * d + cols[None, :]
    tl.store(out + place, total, mask=inside[None, :])


@triton.jit
def _rows_on_block(
    X, low, high, W, out, n, d, stride, columns_per,
    CLIP: tl.constexpr, NC: tl.constexpr, BR: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """out[piece, i, k] = sum over the columns of a piece of clip(x_ij) W[j, k]; W is (d, NC)."""
    top = tl.program_id(0) * BR
    r = tl.arange(0, BR)
    present = (top + r) < n
    first = tl.program_id(1) * columns_per
    last = tl.minimum(first + columns_per, d)
    c = tl.arange(0, NC)
    b = tl.arange(0, BK)
    tile = X + top.to(tl.int64) * stride + first + (r[:, None] * stride + b[None, :])
    weights = W + first * NC + (b[:, None] * NC + c[None, :])
    total = tl.zeros([BR, NC], tl.float32)
    for start in range(first, last, BK):
        inside = (start + b) < last
        x = tl.load(tile, mask=present[:, None] & inside[None, :], other=0.0)
        if CLIP:
            lo = tl.load(low + start + b, mask=inside, other=0.0)[None, :]
            hi = tl.load(high + start + b, mask=inside, other=0.0)[None, :]
            x = tl.minimum(tl.maximum(x, lo), hi)
        w = tl.load(weights, mask=inside[:, None], other=0.0)
        total = tl.dot(x, w, total, input_precision="tf32x3")
        tile += BK
        weights += BK * NC
    place = (tl.program_id(1) * n + top + r).to(tl.int64)[:, None] * NC + c[None, :]
    tl.store(out + place, total, mask=present[:, None])


@triton.jit
def _moments(
    X, low, high, weights, places, sizes, means, squares, n, d, stride, rows_per,
    CLIP: tl.constexpr, WEIGHTED: tl.constexpr, PLACED: tl.constexpr,
    BN: tl.constexpr, BR: tl.constexpr,
):  # fmt: skip
    """Weighted means and sums of squared deviations of a piece, tile by tile (Chan et al.).

    With PLACED the n rows are those of X at ``places``.
    """
    cols = tl.program_id(0) * BN + tl.arange(0, BN)
    inside = cols < d
    first = tl.program_id(1) * rows_per
    last = tl.minimum(first + rows_per, n)
    if CLIP:
        lo = tl.load(low + cols, mask=inside, other=0.0)[None, :]
        hi = tl.load(high + cols, mask=inside, other=0.0)[None, :]
    r = tl.arange(0, BR)
    tile = X + first.to(tl.int64) * stride + (r[:, None] * stride + cols[None, :])
    mean = tl.zeros([BN], tl.float64)
    square = tl.zeros([BN], tl.float64)
    size = tl.sum(tl.zeros([BR], tl.float64), axis=0)
    for start in range(first, last, BR):
        there = (start + r) < last
        if PLACED:
            place = tl.load(places + start + r, mask=there, other=0)
            tile = X + place[:, None] * stride + cols[None, :]
        x = tl.load(tile, mask=there[:, None] & inside[None, :], other=0.0)
        if CLIP:
            # Not minimum and maximum: a missing value must stay one.
            x = tl.where(x < lo, lo, x)
            x = tl.where(x > hi, hi, x)
        x = x.to(tl.float64)
        if WEIGHTED:
            w = tl.load(weights + start + r, mask=there, other=0.0)
        else:
            w = there.to(tl.float64)
        part = tl.sum(w, axis=0)
        m = tl.sum(x * w[:, None], axis=0) / tl.where(part > 0, part, 1.0)
        gap = x - m[None, :]
        q = tl.sum(gap * gap * w[:, None], axis=0)
        together = size + part
        share = part / tl.where(together > 0, together, 1.0)
        shift = m - mean
        mean += shift * share
        square += q + shift * shift * (size * share)
        size = together
        if not PLACED:
            tile += BR * stride
    own = tl.program_id(1).to(tl.int64) * d + cols
    tl.store(means + own, mean, mask=inside)
    tl.store(squares + own, square, mask=inside)
    if tl.program_id(0) == 0:
        tl.store(sizes + tl.program_id(1), size)


# -- launching ---------------------------------------------------------------------------------


def suits(X: torch.Tensor) -> bool:
    """Whether these kernels can read the tensor: float32 on CUDA with contiguous rows."""
    return (
        X.is_cuda
        and X.dtype == torch.float32
        and X.stride(1) == 1
        and X.stride(0) * 128 < 2**31
        and min(X.shape) > 0
    )


def _pieces(X: torch.Tensor, tiles: int, length: int, least: int, tiling: Tiling) -> int:
    """Length of the pieces that keep all multiprocessors busy, a multiple of ``least``."""
    busy = tiling.programs * torch.cuda.get_device_properties(X.device).multi_processor_count
    pieces = max(1, min(busy // max(tiles, 1), length // (16 * least)))
    return least * triton.cdiv(triton.cdiv(length, pieces), least)


def _bounds(X, low, high):
    return (X, X) if low is None else (low, high)


def multiply_columns(X, U, low=None, high=None, *, tiling: Tiling | None = None):
    """clip(X)' U of shape (d, c), its outputs contiguous."""
    n, d = X.shape
    width = U.shape[1]
    if width > WIDEST:
        parts = [
            multiply_columns(X, U[:, k : k + WIDEST], low, high, tiling=tiling)
            for k in range(0, width, WIDEST)
        ]
        return torch.cat([part.T for part in parts]).T
    lo, hi = _bounds(X, low, high)
    with torch.cuda.device(X.device):
        if width == 1:
            tiling = tiling or VECTOR
            tiles = triton.cdiv(d, tiling.columns)
            per = _pieces(X, tiles, n, tiling.rows, tiling)
            pieces = triton.cdiv(n, per)
            out = torch.empty((pieces, d), device=X.device, dtype=X.dtype)
            v = U[:, 0].contiguous()
            _columns_on_vector[(tiles, pieces)](
                X, lo, hi, v, out, n, d, X.stride(0), per,
                CLIP=low is not None, BN=tiling.columns, BR=tiling.rows,
                num_warps=tiling.warps, num_stages=tiling.stages,
            )  # fmt: skip
            return _sum_pieces(out)[:, None]
        tiling = tiling or (BLOCK if n > MIN_SPLIT_ROWS else BLOCK_OF_FEW_ROWS)
        NC = 16 if width <= 16 else 32
        tiles = triton.cdiv(d, tiling.columns)
        per = _pieces(X, tiles, n, tiling.rows, tiling)
        pieces = triton.cdiv(n, per)
        padded = torch.zeros((NC, n), device=X.device, dtype=X.dtype)
        padded[:width] = U.T
        out = torch.empty((pieces, NC, d), device=X.device, dtype=X.dtype)
        _columns_on_block[(tiles, pieces)](
            X, lo, hi, padded, out, n, d, X.stride(0), per,
            CLIP=low is not None, NC=NC, BN=tiling.columns, BR=tiling.rows,
            num_warps=tiling.warps, num_stages=tiling.stages,
        )  # fmt: skip
        return _sum_pieces(out)[:width].T


def multiply_rows(X, W, low=None, high=None, *, tiling: Tiling | None = None):
    """clip(X) W of shape (n, c)."""
    n, d = X.shape
    width = W.shape[1]
    if width > WIDEST:
        parts = [
            multiply_rows(X, W[:, k : k + WIDEST], low, high, tiling=tiling)
            for k in range(0, width, WIDEST)
        ]
        return torch.cat(parts, dim=1)
    lo, hi = _bounds(X, low, high)
    tiling = tiling or ROWS
    NC = 16 if width <= 16 else 32
    with torch.cuda.device(X.device):
        tiles = triton.cdiv(n, tiling.rows)
        per = _pieces(X, tiles, d, tiling.columns, tiling)
        pieces = triton.cdiv(d, per)
        padded = torch.zeros((d, NC), device=X.device, dtype=X.dtype)
        padded[:, :width] = W
        out = torch.empty((pieces, n, NC), device=X.device, dtype=X.dtype)
        _rows_on_block[(tiles, pieces)](
            X, lo, hi, padded, out, n, d, X.stride(0), per,
            CLIP=low is not None, NC=NC, BR=tiling.rows, BK=tiling.columns,
            num_warps=tiling.warps, num_stages=tiling.stages,
        )  # fmt: skip
        return _sum_pieces(out)[:, :width]


def _sum_pieces(pieces: torch.Tensor) -> torch.Tensor:
    """The sum of the pieces, in double precision where there are several."""
    if len(pieces) == 1:
        return pieces[0]
    return pieces.sum(dim=0, dtype=torch.float64).to(pieces.dtype)


def moments(X, weights=None, low=None, high=None, rows=None, *, tiling: Tiling | None = None):
    """Weighted mean and variance of every (clipped) column, in double precision, in one pass.

    Of all rows, or of the places ``rows`` (64-bit integers), with a weight for each of them.
    """
    n, d = len(X) if rows is None else len(rows), X.shape[1]
    tiling = tiling or (MOMENTS if n > MIN_SPLIT_ROWS else MOMENTS_OF_FEW_ROWS)
    lo, hi = _bounds(X, low, high)
    with torch.cuda.device(X.device):
        tiles = triton.cdiv(d, tiling.columns)
        per = _pieces(X, tiles, n, tiling.rows, tiling)
        pieces = triton.cdiv(n, per)
        options = {"device": X.device, "dtype": torch.float64}
        sizes = torch.empty(pieces, **options)
        means, squares = (torch.empty((pieces, d), **options) for _ in range(2))
        _moments[(tiles, pieces)](
            X, lo, hi, X if weights is None else weights, X if rows is None else rows,
            sizes, means, squares, n, d, X.stride(0), per,
            CLIP=low is not None, WEIGHTED=weights is not None, PLACED=rows is not None,
            BN=tiling.columns, BR=tiling.rows,
            num_warps=tiling.warps, num_stages=tiling.stages,
        )  # fmt: skip
        total = sizes.sum()
        mean = (sizes @ means) / total
        square = squares.sum(dim=0) + sizes @ (means - mean) ** 2
        return mean, square / total
