"""The experiments of the exclusive l2,1 paper."""

from ..declared import preset

PRESET = preset(__package__)
