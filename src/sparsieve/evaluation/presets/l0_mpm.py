"""The experiments of the l0-mpm paper."""

from __future__ import annotations

from .base import Preset

PRESET = Preset("l0-mpm", "", ())
