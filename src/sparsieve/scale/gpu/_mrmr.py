"""Minimum redundancy beside an X on a device: no array of length n_features moves in a step."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ...filters.criteria import DIGITS, Correlation
from .column_products import ColumnProducts

# Exponents of the powers of ten that scores are rounded to.
SMALLEST, LARGEST = -307, 308


class DeviceCorrelation(Correlation):
    """The same with its sums on the device; a step reads two numbers back."""

    def __init__(self, design: Any, total_weight: float, relevance: np.ndarray, kind: str):
        super().__init__(design, total_weight, relevance, kind)
        self._relevance = design.on_device(relevance, np.float64)
        self.sum = torch.zeros_like(self._relevance)
        self._columns = ColumnProducts(design)
        powers = [10.0**exponent for exponent in range(SMALLEST, LARGEST + 1)]
        self._powers = design.on_device(np.array(powers))
        self._open: torch.Tensor | None = None
        self._promise = self._relevance

    def _products(self, picked: int) -> torch.Tensor:
        return self._columns.of(picked, self._promise).double()

    def scores(self) -> np.ndarray:
        """The score of every feature."""
        return self._against_redundancy(self._relevance).cpu().numpy()

    def best(self, free: np.ndarray, started: bool) -> tuple[int, float]:
        """The best of the features that are free, and its score."""
        if self._open is None:
            self._open = self._columns.design.on_device(free)
        scores = self._against_redundancy(self._relevance) if started else self._relevance
        self._promise = torch.where(self._open, self._rounded(scores), -torch.inf)
        best = torch.argmax(self._promise, keepdim=True)
        self._open.index_fill_(0, best, False)
        place, score = torch.cat([best.double(), scores[best]]).tolist()
        return int(place), score

    def _rounded(self, scores: torch.Tensor) -> torch.Tensor:
        """To as many digits of the largest as the host compares; nothing is read back."""
        finite = torch.isfinite(scores)
        largest = torch.where(finite, scores.abs(), 0.0).max()
        exponent = torch.ceil(torch.log10(largest)) - DIGITS
        place = (exponent - SMALLEST).clamp(0, len(self._powers) - 1)  # 0 where all scores are
        step = self._powers[place.long()]
        return torch.where(finite & (largest > 0.0), torch.round(scores / step) * step, scores)
