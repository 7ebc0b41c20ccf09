"""Passes over a tensor in CUDA memory that compare pairs of its rows, by absolute differences.

For float32 with contiguous rows, as those of ``_triton_kernels``.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

# Distances: samples per side of a tile of pairs, columns added up in single precision, columns per
# program, and numbers of the copy that is transposed.
SIDE, RUN, COLUMNS_PER, COPIED = 64, 64, 2048, 64 << 20
# Rows of a piece of columns should stay in the second-level cache while all pairs are looked at.
CACHED = 6 << 20


@triton.jit
def _pair_sums(
    X, first, second, weights, out, n_pairs, d, stride, pairs_per, BN: tl.constexpr,
):  # fmt: skip
    """out[piece, j] = sum over the pairs of a piece of weight |x_aj - x_bj|."""
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    inside = cols < d
    start = tl.program_id(0) * pairs_per
    stop = tl.minimum(start + pairs_per, n_pairs)
    total = tl.zeros([BN], tl.float64)
    for pair in range(start, stop):
        a = tl.load(X + tl.load(first + pair) * stride + cols, mask=inside, other=0.0)
        b = tl.load(X + tl.load(second + pair) * stride + cols, mask=inside, other=0.0)
        total += tl.load(weights + pair) * tl.abs(a.to(tl.float64) - b.to(tl.float64))
    place = tl.program_id(0).to(tl.int64) * d + cols
    tl.store(out + place, total, mask=inside)


@triton.jit
def _near_distances(
    Q, T, per_unit, tiles_down, tiles_across, out, n_queries, n, d, columns_per,
    B: tl.constexpr, RUN: tl.constexpr, STEP: tl.constexpr,
):  # fmt: skip
    """out[i, j] += sum over the columns of a piece of |q_ki - t_kj| per_unit_k.

    For a tile of pairs; Q and T are transposed. Runs of RUN columns are added up in single
    precision; d is a multiple of RUN.
    """
    tile = tl.program_id(0)
    i = tl.load(tiles_down + tile) * B + tl.arange(0, B)
    j = tl.load(tiles_across + tile) * B + tl.arange(0, B)
    own = Q + tl.minimum(i, n_queries - 1)
    other = T + tl.minimum(j, n - 1)
    start = tl.program_id(1) * columns_per
    stop = tl.minimum(start + columns_per, d)
    total = tl.zeros([B, B], tl.float64)
    for run in range(start, stop, RUN):
        part = tl.zeros([B, B], tl.float32)
        for k in range(run, run + RUN, STEP):
            for u in tl.static_range(STEP):
                a = tl.load(own + (k + u) * n_queries)
                b = tl.load(other + (k + u) * n)
                part += tl.abs(a[:, None] - b[None, :]) * tl.load(per_unit + k + u)
        total += part.to(tl.float64)
    inside = (i < n_queries)[:, None] & (j < n)[None, :]
    tl.atomic_add(out + i.to(tl.int64)[:, None] * n + j[None, :], total, mask=inside)


@triton.jit
def _pair_distances(
    X, per_unit, first, second, out, n_pairs, d, stride, columns_per, BN: tl.constexpr,
):  # fmt: skip
    """out[piece, p] = sum over the columns of a piece of |x_aj - x_bj| per_unit_j for pair p."""
    pair = tl.program_id(0)
    a_row = X + tl.load(first + pair) * stride
    b_row = X + tl.load(second + pair) * stride
    start = tl.program_id(1) * columns_per
    stop = tl.minimum(start + columns_per, d)
    total = tl.zeros([BN], tl.float64)
    for column in range(start, stop, BN):
        cols = column + tl.arange(0, BN)
        inside = cols < stop
        a = tl.load(a_row + cols, mask=inside, other=0.0).to(tl.float64)
        b = tl.load(b_row + cols, mask=inside, other=0.0).to(tl.float64)
        total += tl.abs(a - b) * tl.load(per_unit + cols, mask=inside, other=0.0)
    place = tl.program_id(1).to(tl.int64) * n_pairs + pair
    tl.store(out + place, tl.sum(total, axis=0))


# -- launching ---------------------------------------------------------------------------------


def pair_sums(X, first, second, weights, *, columns: int = 512, pieces: int = 4):
    """Sum over pairs of rows of weight |x_a - x_b| for every column, in double precision.

    ``first`` and ``second`` are 64-bit places of rows, ``weights`` in double precision. The pieces
    of the pairs run beside each other on the same columns, which stay in the cache for them.
    """
    d = X.shape[1]
    per = triton.cdiv(max(len(weights), 1), pieces)
    with torch.cuda.device(X.device):
        out = torch.empty((pieces, d), device=X.device, dtype=torch.float64)
        _pair_sums[(pieces, triton.cdiv(d, columns))](
            X, first, second, weights, out, len(weights), d, X.stride(0), per,
            BN=columns, num_warps=4,
        )  # fmt: skip
        return out.sum(dim=0)


def near_distances(X, places, per_unit):
    """sum_k |x_ik - x_jk| per_unit_k of the rows at ``places`` and all rows, and its error.

    The error is relative: that of sums of RUN positive terms in single precision.
    """
    n, d = X.shape
    every = len(places) == n
    width = COLUMNS_PER * max(1, COPIED // (COLUMNS_PER * n))
    down, across = triton.cdiv(len(places), SIDE), triton.cdiv(n, SIDE)
    with torch.cuda.device(X.device):
        tiles = torch.ones((down, across), dtype=torch.bool, device=X.device)
        # Of all pairs of rows those above the diagonal are enough.
        tiles = (tiles.triu() if every else tiles).nonzero().int().T.contiguous()
        total = torch.zeros((len(places), n), dtype=torch.float64, device=X.device)
        for start in range(0, d, width):
            block = X[:, start : start + width]
            size = RUN * triton.cdiv(block.shape[1], RUN)
            T = torch.zeros((size, n), dtype=X.dtype, device=X.device)
            T[: block.shape[1]] = block.T
            units = torch.zeros(size, dtype=X.dtype, device=X.device)
            units[: block.shape[1]] = per_unit[start : start + width]
            Q = T if every else T[:, places].contiguous()
            _near_distances[(tiles.shape[1], triton.cdiv(size, COLUMNS_PER))](
                Q, T, units, tiles[0], tiles[1], total, len(places), n, size, COLUMNS_PER,
                B=SIDE, RUN=RUN, STEP=8, num_warps=4,
            )  # fmt: skip
        if every:
            total = torch.maximum(total, total.T)
    return total, (RUN + 4) * 2.0**-24


def pair_distances(X, first, second, per_unit, *, columns: int = 1024, most: int = 1 << 16):
    """sum_k |x_ak - x_bk| per_unit_k for every pair of rows, in double precision."""
    n, d = X.shape
    per = columns * max(1, min(CACHED // (n * columns), 8))
    pieces = triton.cdiv(d, per)
    found = []
    with torch.cuda.device(X.device):
        for start in range(0, len(first), most):
            some = slice(start, start + most)
            a, b = first[some].contiguous(), second[some].contiguous()
            out = torch.empty((pieces, len(a)), device=X.device, dtype=torch.float64)
            _pair_distances[(len(a), pieces)](
                X, per_unit, a, b, out, len(a), d, X.stride(0), per, BN=columns, num_warps=4,
            )  # fmt: skip
            found.append(out.sum(dim=0))
    return torch.cat(found)
