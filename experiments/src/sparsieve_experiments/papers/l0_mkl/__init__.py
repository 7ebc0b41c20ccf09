"""The experiments of the l0-MKL paper."""

from ..declared import preset

PRESET = preset(__package__)
