"""The experiments of the l0-MPM paper."""

from ..declared import preset

PRESET = preset(__package__)
