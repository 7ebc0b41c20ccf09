"""Some rows of a tensor on a device, which are not copied: those of a fold, or of a half."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
import torch

from ...design.base import slices
from ...device import out_of_memory
from . import _torch_passes as passes
from .tensor import TensorDesign


class TensorRows(TensorDesign):
    """Rows of a tensor at some places.

    A product reads all of the tensor: rows at other places are multiplied by zero, or left out of
    the result. So all of it must be finite, which moments of the whole have shown before. That
    takes about as long as a copy of most rows and its products, and no memory.
    """

    def __init__(self, X: Any, places: Any, dtype: Any = None, low: Any = None, high: Any = None):
        super().__init__(X, dtype, low, high)
        self.places = places
        self.shape: tuple[int, int] = (len(places), int(X.shape[1]))

    @property
    def tensor(self) -> Any:
        """A copy, for the few who compare samples with each other."""
        with out_of_memory(self.device, f"to hold {len(self.places)} rows of X a second time"):
            return self._read[self.places]

    def project(self, U: Any) -> Any:
        wide = torch.zeros((len(self._read), U.shape[1]), dtype=U.dtype, device=U.device)
        return super().project(wide.index_add_(0, self.places, U))  # a row may be there twice

    def apply(self, W: Any) -> Any:
        return super().apply(W).index_select(0, self.places)

    def column_minima(self) -> np.ndarray:
        parts = [self._read[self.places[some]].amin(dim=0) for some in self._blocks()]
        return torch.stack(parts).amin(dim=0).cpu().numpy()

    def _view(self, places: Any) -> TensorDesign:
        return TensorRows(self._read, self.places[places], self.dtype, self.low, self.high)

    def _take_rows(self, places: Any) -> Any:
        return self._read[self.places[places]]

    def _pass_for_moments(self, weights: Any, rows: Any = None) -> tuple[Any, Any]:
        return super()._pass_for_moments(
            weights, self.places if rows is None else self.places[rows]
        )

    def _row_blocks(self) -> Iterator[tuple[slice, Any]]:
        for some in self._blocks():
            block = self._read[self.places[some]]
            yield some, passes.convert_block(block, torch.float64, self.low, self.high)

    def _blocks(self) -> Iterator[slice]:
        """Rows that are gathered together."""
        n_rows, n_columns = self.shape
        return slices(n_rows, max(1, passes.BLOCK_BYTES // (8 * n_columns)))

    def _columns(self, places: Any) -> Any:
        if isinstance(places, slice):
            return self._read[:, places].index_select(0, self.places)
        return self._read[self.places[:, None], places]

    def _wrap_tensor(self, tensor: Any) -> TensorDesign:
        return TensorDesign(tensor, self.dtype, self.low, self.high)

    def _again(self) -> Self:
        return type(self)(self._read, self.places, self.dtype, self.low, self.high)
