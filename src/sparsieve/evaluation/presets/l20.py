"""The experiments of the l20 paper."""

from __future__ import annotations

from .base import Preset

PRESET = Preset("l20", "Sun and Yu", ())
