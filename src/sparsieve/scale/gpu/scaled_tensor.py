"""Centring, scaling and row weighting of a design on a device, beside it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ...design.views import Scaled
from .base import OnDevice

if TYPE_CHECKING:
    from .tensor import TensorDesign


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
            None if part is None else self._there(part).to(held)
            for part in (centre, scale, row_scale)
        ]
        self._converted = {held: self._given}

    @cached_property
    def centre(self) -> np.ndarray | None:  # type: ignore[override]
        """Of every column, in the memory of the host."""
        return self._here(0)

    @cached_property
    def scale(self) -> np.ndarray | None:  # type: ignore[override]
        """Of every column, in the memory of the host."""
        return self._here(1)

    @cached_property
    def row_scale(self) -> np.ndarray | None:  # type: ignore[override]
        """Of every row, in the memory of the host."""
        return self._here(2)

    def _there(self, part: Any) -> Any:
        return part if isinstance(part, torch.Tensor) else self.on_device(part)

    def _here(self, place: int) -> np.ndarray | None:
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

    def squares_there(self) -> Any:
        centre, scale, _ = self._parts(torch.float64)
        weights = None if self.row_scale is None else self.row_scale.astype(np.float64) ** 2
        means, variances = self.base.device_moments(weights)
        size = self.shape[0] if weights is None else float(weights.sum())
        squares = size * (variances + (means if centre is None else means - centre) ** 2)
        return squares if scale is None else squares / scale**2

    def moments_beside(self, weights: np.ndarray | None = None) -> tuple[Any, Any]:
        if self.row_scale is not None:
            means, variances = map(self._there, self.column_moments(weights))
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
