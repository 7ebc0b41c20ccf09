"""X in the memory of the host, worked on by a device: blocks are sent ahead of their use."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch
from numpy.typing import DTypeLike

from ...device import Streamed, out_of_memory
from . import _torch_passes as passes
from .tensor import COLUMNS_AT_ONCE, TensorDesign, checked_tensor

# Rows that are sent together; two such blocks are held on the device and two beside X.
BLOCK_BYTES = 512 << 20


def make_design(X: Any) -> TensorDesign | None:
    """The design of a matrix that is streamed to a device; None for anything else of ours."""
    if not isinstance(X, Streamed):
        return None
    return StreamedDesign(checked_tensor(X.tensor), device=X.device)


class StreamedDesign(TensorDesign):
    """A tensor on the host whose blocks of rows visit a device in every pass."""

    def __init__(
        self,
        X: Any,
        dtype: DTypeLike | None = None,
        low: Any = None,
        high: Any = None,
        device: Any = None,
    ):
        super().__init__(X, dtype, low, high, device)
        self.columns_at_once = COLUMNS_AT_ONCE  # every pass sends all of X

    @property
    def is_resident(self) -> bool:
        return False

    def in_memory(self) -> np.ndarray | None:
        return None

    def project(self, U: Any) -> Any:
        size = (self.shape[1], U.shape[1])
        total = torch.zeros(size, dtype=torch.float64, device=self.device)
        with passes.exactly(), out_of_memory(self.device, "for blocks of X"):
            for rows, block in self._visits():
                total += passes.multiply_columns(block, U[rows], self.low, self.high)
        return total.to(U.dtype)

    def apply(self, W: Any) -> Any:
        with passes.exactly(), out_of_memory(self.device, "for blocks of X"):
            parts = [
                passes.multiply_rows(block, W, self.low, self.high) for _, block in self._visits()
            ]
        return torch.cat(parts)

    def _pass_for_moments(self, weights: Any, rows: Any = None) -> tuple[Any, Any]:
        if rows is not None:  # all blocks come by; the other rows have no weight
            chosen = torch.zeros(self.shape[0], dtype=torch.float64, device=self.device)
            chosen[rows] = 1.0 if weights is None else weights
            weights = chosen
        mean: Any = 0.0
        square: Any = 0.0
        size = 0.0
        with passes.exactly(), out_of_memory(self.device, "for blocks of X"):
            for own, block in self._visits():
                some = None if weights is None else weights[own]
                part = float(len(block) if some is None else some.sum())
                if part == 0.0:
                    continue
                centre, spread = passes.moments(block, some, self.low, self.high)
                share = part / (size + part)
                gap = centre - mean
                mean, square = mean + share * gap, square + part * spread + size * share * gap**2
                size += part
        return mean, square / size

    def _row_blocks(self) -> Iterator[tuple[slice, Any]]:
        for rows, block in self._visits():
            yield rows, passes.convert_block(block, torch.float64, self.low, self.high)

    def _visits(self) -> Iterator[tuple[slice, Any]]:
        """(rows, block on the device); the next block is copied while this one is used."""
        n_samples, n_features = self.shape
        height = max(1, min(n_samples, BLOCK_BYTES // (self.held.itemsize * n_features)))
        parts = [slice(i, min(i + height, n_samples)) for i in range(0, n_samples, height)]
        if self.device.type != "cuda":
            for rows in parts:
                yield rows, self._read[rows].to(self.device)
            return
        lane = _Lane(self._read, self.device, height)
        with ThreadPoolExecutor(1, "sparsieve-to-device") as sender:
            coming = sender.submit(lane.send, 0, parts[0])
            for i, rows in enumerate(parts):
                coming.result()
                if i + 1 < len(parts):
                    coming = sender.submit(lane.send, i + 1, parts[i + 1])
                yield rows, lane.receive_block(i, rows)
                lane.release_block(i)


class _Lane:
    """Two pinned buffers on the host and two on the device, and who may use them when."""

    def __init__(self, tensor: Any, device: Any, height: int):
        size = (height, tensor.shape[1])
        self.tensor, self.device = tensor, device
        self.stream = torch.cuda.Stream(device)
        self.pinned = [torch.empty(size, dtype=tensor.dtype, pin_memory=True) for _ in range(2)]
        self.there = [torch.empty(size, dtype=tensor.dtype, device=device) for _ in range(2)]
        # Their memory may be that of arrays which work given to the device before still reads.
        self.stream.wait_stream(torch.cuda.current_stream(device))
        self.sent = [torch.cuda.Event() for _ in range(2)]
        self.done = [torch.cuda.Event() for _ in range(2)]

    def send(self, number: int, rows: slice) -> None:
        """Start the copy of a block, once its buffers are free."""
        slot, size = number % 2, rows.stop - rows.start
        self.sent[slot].synchronize()  # an event that was never recorded is complete
        self.pinned[slot][:size].copy_(self.tensor[rows])
        with torch.cuda.stream(self.stream):
            self.stream.wait_event(self.done[slot])
            self.there[slot][:size].copy_(self.pinned[slot][:size], non_blocking=True)
            self.sent[slot].record(self.stream)

    def receive_block(self, number: int, rows: slice) -> Any:
        """The block on the device; work on it waits for the copy."""
        torch.cuda.current_stream(self.device).wait_event(self.sent[number % 2])
        return self.there[number % 2][: rows.stop - rows.start]

    def release_block(self, number: int) -> None:
        """Note that all work on a block was given to the device."""
        self.done[number % 2].record(torch.cuda.current_stream(self.device))
