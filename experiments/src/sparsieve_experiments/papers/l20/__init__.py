"""The experiments of the l2,0-norm regularisation paper: gene sets, 5-NN and softmax."""

from ..declared import preset

PRESET = preset(__package__)
