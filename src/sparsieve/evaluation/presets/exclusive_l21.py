"""The experiments of the exclusive-l21 paper."""

from __future__ import annotations

from .base import Preset

PRESET = Preset("exclusive-l21", "D. Ming, C. Ding (2019)", ())
