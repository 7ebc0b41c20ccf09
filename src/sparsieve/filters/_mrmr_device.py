"""Minimum redundancy beside an X on a device: no array of length n_features moves in a step."""

from __future__ import annotations

import math

import numpy as np
import torch

from ..design.on_device import OnDevice
from .criteria import COPY, CORRELATION_FLOOR, DIGITS, Criterion


class DeviceCorrelation(Criterion):
    """As ``Correlation`` of ``criteria``, with its sums on the device."""

    def __init__(self, design: OnDevice, total_weight: float, relevance: np.ndarray, kind: str):
        self.design, self.total_weight = design, total_weight
        self.relevance = relevance
        self.is_quotient = kind == "fcq"
        self._relevance = design.on_device(relevance, np.float64)
        self.sum = torch.zeros_like(self._relevance)
        self.count = 0
        self._closed: torch.Tensor | None = None
        self._last: int | None = None

    def add(self, picked: int) -> None:
        """Take note of a picked feature."""
        column = self.design.column_block(slice(picked, picked + 1))
        column = column.to(getattr(torch, self.design.dtype.name))
        correlation = self.design.project(column)[:, 0].double().abs_() / self.total_weight
        if self.is_quotient:
            correlation.clamp_(min=CORRELATION_FLOOR)
        self.sum += correlation
        self.count += 1

    def _scores(self) -> torch.Tensor:
        if not self.count:
            return self._relevance
        mean = self.sum / self.count
        if not self.is_quotient:
            return self._relevance - mean
        scores = self._relevance / mean.clamp(min=CORRELATION_FLOOR)
        return torch.where(mean >= COPY, 0.0, scores)

    def scores(self) -> np.ndarray:
        """The score of every feature."""
        return self._scores().cpu().numpy()

    def best(self, free: np.ndarray, started: bool) -> tuple[int, float]:
        """The best of the features that are free, and its score."""
        if self._closed is None:
            self._closed = self.design.on_device(~free)
        elif self._last is not None:
            self._closed[self._last].fill_(True)
        scores = self._scores()
        finite = torch.isfinite(scores)
        largest = float(torch.where(finite, scores.abs(), 0.0).max())
        rounded = scores
        if largest > 0.0:
            step = 10.0 ** (math.ceil(math.log10(largest)) - DIGITS)
            rounded = torch.where(finite, torch.round(scores / step) * step, scores)
        place = torch.argmax(torch.where(self._closed, -math.inf, rounded))
        self._last = int(place)
        return self._last, float(scores[place])
