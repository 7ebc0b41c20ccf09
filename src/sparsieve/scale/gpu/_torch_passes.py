"""Passes over a tensor by plain torch, on any device: products and moments of clipped columns.

Blocks of rows are converted and clipped before they are used, so that a second copy of X is never
held. The faster kernels of ``_triton_kernels`` serve products and moments where they can be had.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from types import ModuleType
from typing import Any

import torch

# Rows that are clipped or converted together take about this much memory.
BLOCK_BYTES = 256 << 20
# Rows per tile of distances.
TILE = 256


@contextmanager
def exactly() -> Iterator[None]:
    """Products as the dtype promises: no gradients, no mixed precision, no TF32."""
    precision = torch.get_float32_matmul_precision()
    # To enter an autocast takes as long as a small operation: only where one is to be left.
    mixed = [kind for kind in ("cuda", "cpu") if torch.is_autocast_enabled(kind)]
    try:
        if precision != "highest":
            torch.set_float32_matmul_precision("highest")
        with torch.no_grad(), ExitStack() as plain:
            for kind in mixed:
                plain.enter_context(torch.autocast(kind, enabled=False))
            yield
    finally:
        if precision != "highest":
            torch.set_float32_matmul_precision(precision)


@cache
def _kernels() -> ModuleType | None:
    """The compiled passes, where Triton is installed."""
    try:
        from . import _triton_kernels
    except ImportError:
        return None
    return _triton_kernels


def choose_kernels(X: torch.Tensor, dtype: torch.dtype) -> ModuleType | None:
    """The Triton passes where they can read X and compute in ``dtype``."""
    if not X.is_cuda or dtype != torch.float32:
        return None
    kernels = _kernels()
    return kernels if kernels is not None and kernels.suits(X) else None


def blocks(X: torch.Tensor, dtype: torch.dtype, low=None, high=None) -> Iterator[Any]:
    """(slice, clipped and converted rows) of all of X."""
    height = _height(X, dtype, low)
    for start in range(0, len(X), height):
        rows = slice(start, min(start + height, len(X)))
        yield rows, convert_block(X[rows], dtype, low, high)


def convert_block(block: torch.Tensor, dtype: torch.dtype, low=None, high=None) -> torch.Tensor:
    """Clipped in the precision of X, then in the precision asked for."""
    if low is not None:
        block = torch.clamp(block, low.to(block.dtype), high.to(block.dtype))
    return block.to(dtype)


def _height(X: torch.Tensor, dtype: torch.dtype, low) -> int:
    if low is None and X.dtype == dtype:
        return max(1, len(X))
    size = max(1, X.shape[1] * torch.finfo(dtype).bits // 8)
    return max(1, min(len(X), BLOCK_BYTES // size))


def multiply_columns(X, U, low=None, high=None) -> torch.Tensor:
    """clip(X)' U of shape (d, c) in the precision of U."""
    kernels = choose_kernels(X, U.dtype)
    if kernels is not None:
        return kernels.multiply_columns(X, U, low, high)
    total = torch.zeros((U.shape[1], X.shape[1]), dtype=U.dtype, device=X.device)
    for rows, block in blocks(X, U.dtype, low, high):
        total.addmm_(U[rows].T, block)
    return total.T


def multiply_rows(X, W, low=None, high=None) -> torch.Tensor:
    """clip(X) W of shape (n, c) in the precision of W."""
    kernels = choose_kernels(X, W.dtype)
    if kernels is not None:
        return kernels.multiply_rows(X, W, low, high)
    return torch.cat([block @ W for _, block in blocks(X, W.dtype, low, high)])


def moments(X, weights=None, low=None, high=None, rows=None) -> tuple[torch.Tensor, torch.Tensor]:
    """Weighted mean and variance of every (clipped) column, in double precision.

    Of all rows, or of the places ``rows``; there is one weight for each of them.
    """
    kernels = choose_kernels(X, torch.float32)
    if kernels is not None:
        return kernels.moments(X, weights, low, high, rows)
    n_rows = len(X) if rows is None else len(rows)
    shares = torch.ones(n_rows, dtype=torch.float64, device=X.device)
    shares = shares if weights is None else weights
    mean = torch.zeros(X.shape[1], dtype=torch.float64, device=X.device)
    square, size = torch.zeros_like(mean), torch.zeros_like(shares[0])
    height = max(1, min(n_rows, BLOCK_BYTES // max(1, 8 * X.shape[1])))
    for start in range(0, n_rows, height):
        some = slice(start, start + height)
        block = X[some] if rows is None else X[rows[some].to(X.device)]
        block, w = convert_block(block, torch.float64, low, high), shares[some]
        part = w.sum()
        own = (w @ block) / torch.where(part > 0, part, 1.0)
        gap, size = own - mean, size + part
        share = part / torch.where(size > 0, size, 1.0)
        mean = mean + share * gap
        square = square + w @ (block - own) ** 2 + (size - part) * share * gap**2
    return mean, square / size


def absolute_distances(X, places, per_unit, single: bool) -> tuple[torch.Tensor, float]:
    """sum_k |x_ik - x_jk| per_unit_k of the rows at ``places`` and all rows; its relative error.

    In double precision, where the error counts as none, or faster: ``single`` allows it, where the
    units are such that no number leaves the range of single precision.
    """
    kernels = choose_kernels(X, torch.float32)
    if single and kernels is not None:
        return kernels.near_distances(X, places, per_unit)
    every = len(places) == len(X)
    total = torch.zeros((len(places), len(X)), dtype=torch.float64, device=X.device)
    width = max(1, BLOCK_BYTES // (8 * max(len(X), 1)))
    for start in range(0, X.shape[1], width):
        part = slice(start, start + width)
        block = X[:, part].double() * per_unit[part]
        for first in range(0, len(places), TILE):
            rows = slice(first, first + TILE)
            # Of all pairs of rows those above the diagonal are enough.
            others = slice(first if every else 0, None)
            total[rows, others] += torch.cdist(block[places[rows]], block[others], p=1.0)
    return (torch.maximum(total, total.T) if every else total), 0.0


def pair_distances(X, first, second, per_unit) -> torch.Tensor:
    """sum_k |x_ak - x_bk| per_unit_k for pairs of rows that the kernels can read, in double."""
    kernels = choose_kernels(X, torch.float32)
    assert kernels is not None
    return kernels.pair_distances(X, first, second, per_unit)


def pair_sums(X, first, second, weights) -> torch.Tensor:
    """Sum over pairs of rows of weight |x_a - x_b| for every column, in double precision.

    ``first`` and ``second`` are the places of the rows of every pair.
    """
    kernels = choose_kernels(X, torch.float32)
    if kernels is not None:
        return kernels.pair_sums(X, first, second, weights)
    n_features = X.shape[1]
    total = torch.zeros(n_features, dtype=torch.float64, device=X.device)
    width = max(1, BLOCK_BYTES // (8 * len(X)))
    height = max(1, BLOCK_BYTES // (8 * min(width, n_features)))
    for start in range(0, n_features, width):
        block = X[:, start : start + width].double()
        for pair in range(0, len(weights), height):
            some = slice(pair, pair + height)
            gaps = (block[first[some]] - block[second[some]]).abs_()
            total[start : start + width] += weights[some] @ gaps
    return total


# Blocks whose products are kept.
KEPT_BLOCKS = 4


class ColumnProducts:
    """X'x of the columns x that a search asks for, one after the other.

    With a large X a product with many columns takes as long as one with a single column. So the
    columns that will most likely be asked for next are read along with one that is asked for.
    """

    def __init__(self, design: Any) -> None:
        self.design = design
        self.at_once: int = min(design.columns_at_once, design.shape[1])
        self.n_reads: int = 0
        self._held: OrderedDict[int, Any] = OrderedDict()
        self._dtype = getattr(torch, design.dtype.name)

    def feature_products(self, feature: int, promise: Any) -> Any:
        """The products with a feature, as a tensor in the precision of the design.

        ``promise`` says of every feature, by a tensor of scores, how soon it may be asked for.
        """
        if feature not in self._held:
            self._read_products(feature, promise)
        return self._held[feature]

    def _read_products(self, feature: int, promise: Any) -> None:
        features = [feature]
        places: Any = slice(feature, feature + 1)
        if self.at_once > 1:
            promise = promise.clone()
            known = torch.tensor([feature, *self._held], device=promise.device)
            promise[known] = -torch.inf
            others = promise.topk(self.at_once - 1).indices
            places = torch.cat([known[:1], others])
            features += others.tolist()
        columns = self.design.column_block(places).to(self._dtype)
        products = self.design.project(columns).T
        self.n_reads += 1
        for j, product in zip(features, products, strict=True):
            self._held[j] = product
        while len(self._held) > KEPT_BLOCKS * self.at_once:
            self._held.popitem(last=False)  # the oldest are the least likely to be asked for still
