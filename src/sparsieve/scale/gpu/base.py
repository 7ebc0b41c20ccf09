"""What designs on a device share: arrays come from the host, and columns are scaled beside X."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ...design.base import DesignMatrix, Index
from ...design.ranking import quantise
from ...design.views import Scaled
from ...device import out_of_memory

if TYPE_CHECKING:
    from .tensor import TensorDesign


# Columns that are made dense together take about this much memory of the device.
BLOCK_BYTES = 256 << 20


class OnDevice(DesignMatrix):
    """What designs on a device share: products go through ``project`` and ``apply``."""

    device: Any
    is_on_device = True

    can_record = False  # whether products can be part of a recording: X itself is on a GPU

    def on_device(self, array: Any, dtype: Any = None) -> Any:
        """An array beside X, in its own or another precision."""
        array = np.ascontiguousarray(array, dtype=dtype)
        return torch.from_numpy(array).to(self.device)

    def to_native(self, array: np.ndarray) -> Any:
        return self.on_device(array)

    def native_projection(self, R: np.ndarray) -> Any:
        return self.project(self.on_device(R, np.result_type(self.dtype, R)))

    def native_sq_norms(self) -> Any:
        return self.device_sq_norms()

    def rank_scores(
        self,
        scores: np.ndarray,
        first: np.ndarray | None,
        last: np.ndarray | None,
        ties: Sequence[np.ndarray] = (),
    ) -> np.ndarray:
        best: Any = None
        keys = [quantise(self.on_device(one, np.float64)) for one in reversed(ties)]
        for key in (*keys, self.on_device(scores)):
            # Taken from zero, since a radix sort could tell a negative zero from a positive one.
            rising = 0.0 - (key if best is None else key[best])
            order = torch.sort(rising, stable=True).indices
            best = order if best is None else best[order]
        if last is not None and last.any():
            # A stable sort of one bit: those behind keep their order, and the host reads nothing.
            behind = self.on_device(last, np.uint8)[best]
            best = best[torch.sort(behind, stable=True).indices]
        if first is not None:
            ahead = self.on_device(first, np.int64)
            later = torch.ones(len(best), dtype=torch.bool, device=best.device)
            later[ahead] = False
            best = torch.cat([ahead, best[later[best]]])
        ranks = torch.empty_like(best)
        ranks[best] = torch.arange(1, len(best) + 1, device=best.device)
        return ranks.cpu().numpy()

    def project(self, U: Any) -> Any:
        """X' U for a tensor U on the device, as a tensor whose outputs are contiguous."""
        raise NotImplementedError

    def apply(self, W: Any) -> Any:
        """X W for a tensor W on the device, as a tensor."""
        raise NotImplementedError

    def column_block(self, places: Any) -> Any:
        """These columns (a slice, or indices on the device) as a tensor in double precision."""
        raise NotImplementedError

    def _row_blocks(self) -> Iterator[tuple[slice, Any]]:
        """(their places, rows in double precision) of all of X, some at a time."""
        raise NotImplementedError

    def device_sq_norms(self) -> Any:
        """Squared norms of the columns as a tensor, in double precision."""
        raise NotImplementedError

    def quadratic_forms(self, H: np.ndarray) -> Any:
        """The numbers x'Hx of all columns as a tensor, in double precision."""
        n_samples, n_features = self.shape
        there, width = self.on_device(H, np.float64), max(1, BLOCK_BYTES // (8 * n_samples))
        with out_of_memory(self.device, "for the curvature along all features"):
            blocks = (
                self.column_block(slice(first, min(first + width, n_features)))
                for first in range(0, n_features, width)
            )
            return torch.cat([((there @ block) * block).sum(dim=0) for block in blocks])

    def row_distances(self, rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, float]:
        """Squared distances of some rows to all over these columns, and their mean square norm."""
        with out_of_memory(self.device, "for the distances of the samples"):
            block = self.column_block(self._places(columns, 1))
            squares = (block * block).sum(dim=1)
            there = self._places(rows, 0)
            products = block[there] @ block.T
            distances = squares[there, None] + squares - 2.0 * products
            found = torch.cat([distances.reshape(-1), squares.mean()[None]]).cpu().numpy()
        return found[:-1].reshape(len(rows), -1), float(found[-1])

    def column_sq_norms(self) -> np.ndarray:
        return self.device_sq_norms().to(getattr(torch, self.dtype.name)).cpu().numpy()

    def matmul(self, W: np.ndarray) -> np.ndarray:
        return self.apply(self.on_device(W, np.result_type(self.dtype, W))).cpu().numpy()

    def rmatmul(self, R: np.ndarray) -> np.ndarray:
        return self.project(self.on_device(R, np.result_type(self.dtype, R))).cpu().numpy()

    def dense_columns(self, index: Index) -> np.ndarray:
        # A single column is a slice: no index has to move, and nothing is gathered.
        if len(index) == 1 and not isinstance(index[0], bool | np.bool_):
            first = int(index[0]) % self.shape[1]
            places: Any = slice(first, first + 1)
        else:
            places = self._places(index, 1)
        block = self.column_block(places).T.clone(memory_format=torch.contiguous_format)
        return block.to(getattr(torch, self.dtype.name)).cpu().numpy().T

    def gram(self) -> np.ndarray:
        gram = self._square_of_zeros(self.shape[1])
        with out_of_memory(self.device, "for the inner products of all features"):
            for _, block in self._row_blocks():
                gram.addmm_(block.T, block)
        return gram.cpu().numpy().astype(self.dtype, copy=False)

    def cross_gram(self) -> np.ndarray:
        return self._gram_of_rows(range(self.shape[1])).astype(self.dtype, copy=False)

    def outer(self, index: Index) -> np.ndarray:
        return self._gram_of_rows(np.asarray(index))

    def _gram_of_rows(self, index: Any) -> np.ndarray:
        """X X' over some columns, added up in double precision on the device."""
        n_samples = self.shape[0]
        width = max(1, BLOCK_BYTES // (8 * n_samples))
        total = self._square_of_zeros(n_samples)
        with out_of_memory(self.device, "for the inner products of all samples"):
            for start in range(0, len(index), width):
                some = index[start : start + width]
                whole = isinstance(some, range)
                places = slice(some.start, some.stop) if whole else self._places(some, 1)
                block = self.column_block(places)
                total.addmm_(block, block.T)
        return total.cpu().numpy()

    def _places(self, index: Any, axis: int) -> Any:
        if isinstance(index, slice):
            index = np.arange(self.shape[axis])[index]
        index = np.asarray(index)
        if index.dtype == bool:
            index = np.flatnonzero(index)
        return self.on_device(index, np.int64)

    def _square_of_zeros(self, size: int) -> Any:
        return torch.zeros((size, size), dtype=torch.float64, device=self.device)


class ScaledTensor(OnDevice, Scaled):
    """diag(row_scale) (B - 1 centre') diag(1 / scale) of a design B on a device.

    As ``Scaled``, with the arithmetic beside X: one pass over X for a product, and nothing but
    the result moves.
    """

    shape: tuple[int, int]
    dtype: np.dtype
    device: Any
    can_record: bool

    base: TensorDesign

    def __init__(
        self, base: TensorDesign, centre: Any = None, scale: Any = None, row_scale: Any = None
    ):
        self.base, self.shape, self.dtype = base, base.shape, base.dtype
        self.columns_at_once: int = base.columns_at_once
        self.device, self.can_record = base.device, base.can_record
        # In the precision of X, and beside it; on the host only for those who ask.
        held = getattr(torch, self.dtype.name)
        self._given = [
            None if part is None else self._to_device(part).to(held)
            for part in (centre, scale, row_scale)
        ]
        self._converted = {held: self._given}

    @cached_property
    def centre(self) -> np.ndarray | None:  # type: ignore[override]
        """Of every column, in the memory of the host."""
        return self._to_numpy(0)

    @cached_property
    def scale(self) -> np.ndarray | None:  # type: ignore[override]
        """Of every column, in the memory of the host."""
        return self._to_numpy(1)

    @cached_property
    def row_scale(self) -> np.ndarray | None:  # type: ignore[override]
        """Of every row, in the memory of the host."""
        return self._to_numpy(2)

    def _to_device(self, part: Any) -> Any:
        return part if isinstance(part, torch.Tensor) else self.on_device(part)

    def _to_numpy(self, place: int) -> np.ndarray | None:
        part = self._given[place]
        return None if part is None else part.cpu().numpy()

    def apply(self, W: Any) -> Any:
        centre, scale, row_scale = self._parts(W.dtype)
        if scale is not None:
            W = W / scale[:, None]
        product = self.base.apply(W)
        if centre is not None:
            product = product - centre.double().matmul(W.double()).to(W.dtype)
        return product if row_scale is None else product * row_scale[:, None]

    def project(self, U: Any) -> Any:
        centre, scale, row_scale = self._parts(U.dtype)
        if row_scale is not None:
            U = U * row_scale[:, None]
        product = self.base.project(U).T  # an output in every row
        if centre is not None:
            sums = U.sum(dim=0, dtype=torch.float64).to(U.dtype)
            product = product.addr(sums, centre, alpha=-1.0)
        if scale is not None:
            product = product / scale
        return product.T

    def device_sq_norms(self) -> Any:
        centre, scale, _ = self._parts(torch.float64)
        weights = None if self.row_scale is None else self.row_scale.astype(np.float64) ** 2
        means, variances = self.base.device_moments(weights)
        size = self.shape[0] if weights is None else float(weights.sum())
        squares = size * (variances + (means if centre is None else means - centre) ** 2)
        return squares if scale is None else squares / scale**2

    def native_moments(self, weights: np.ndarray | None = None) -> tuple[Any, Any]:
        if self.row_scale is not None:
            means, variances = map(self._to_device, self.column_moments(weights))
            return means, variances
        centre, scale, _ = self._parts(torch.float64)
        means, variances = self.base.device_moments(weights)
        means = means if centre is None else means - centre
        return (means, variances) if scale is None else (means / scale, variances / scale**2)

    def column_block(self, places: Any) -> Any:
        return self._standard(self.base.column_block(places), slice(None), places)

    def _row_blocks(self) -> Iterator[tuple[slice, Any]]:
        for rows, block in self.base._row_blocks():
            yield rows, self._standard(block, rows, slice(None))

    def _standard(self, block: Any, rows: slice, columns: Any) -> Any:
        """These rows and columns of the base in standard units, in double precision."""
        centre, scale, row_scale = self._parts(torch.float64)
        if centre is not None:
            block = block - centre[columns]
        if scale is not None:
            block = block / scale[columns]
        return block if row_scale is None else block * row_scale[rows, None]

    def in_double(self) -> ScaledTensor:
        """The same numbers, with every product taken in double precision."""
        return ScaledTensor(self.base.in_double(), *self._parts(torch.float64))

    def _parts(self, dtype: Any) -> list[Any]:
        """Centre, scale and row weights beside X, in some precision; converted once."""
        if dtype not in self._converted:
            self._converted[dtype] = [
                None if part is None else part.to(dtype) for part in self._given
            ]
        return self._converted[dtype]
