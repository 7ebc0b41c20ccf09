"""The experiments of the robust-l20 paper."""

from __future__ import annotations

from .base import Preset

PRESET = Preset("robust-l20", "N. T. An, P. D. Dong, X. Qin (2021)", ())
