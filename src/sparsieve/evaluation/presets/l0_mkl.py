"""The experiments of the l0-mkl paper."""

from __future__ import annotations

from .base import Preset

PRESET = Preset("l0-mkl", "", ())
