"""Minimum redundancy beside an X on a device: no array of length n_features moves in a step."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from .criteria import DIGITS, Correlation


class DeviceCorrelation(Correlation):
    """The same with its sums on the device."""

    def __init__(self, design: Any, total_weight: float, relevance: np.ndarray, kind: str):
        super().__init__(design, total_weight, relevance, kind)
        self._relevance = design.on_device(relevance, np.float64)
        self.sum = torch.zeros_like(self._relevance)
        self._closed: torch.Tensor | None = None

    def _products(self, picked: int) -> torch.Tensor:
        column = self.design.column_block(slice(picked, picked + 1))
        column = column.to(getattr(torch, self.design.dtype.name))
        return self.design.project(column)[:, 0].double()

    def scores(self) -> np.ndarray:
        """The score of every feature."""
        return self._against_redundancy(self._relevance).cpu().numpy()

    def best(self, free: np.ndarray, started: bool) -> tuple[int, float]:
        """The best of the features that are free, and its score."""
        if self._closed is None:
            self._closed = self.design.on_device(~free)
        scores = self._against_redundancy(self._relevance) if started else self._relevance
        finite = torch.isfinite(scores)
        largest = float(torch.where(finite, scores.abs(), 0.0).max())
        rounded = scores
        if largest > 0.0:
            step = 10.0 ** (math.ceil(math.log10(largest)) - DIGITS)
            rounded = torch.where(finite, torch.round(scores / step) * step, scores)
        best = int(torch.argmax(torch.where(self._closed, -math.inf, rounded)))
        self._closed[best] = True
        return best, float(scores[best])
