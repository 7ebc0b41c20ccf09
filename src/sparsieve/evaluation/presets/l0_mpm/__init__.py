from ..base import Preset

PRESET = Preset("l0-mpm", "", ())
