"""Selectors that fit a model, one file per published method."""

from .exact_penalty_svm import ExactPenaltySVMSelector
from .l0_svm import L0SVMSelector
from .ridge_forward import RidgeForwardSelector

__all__ = ["ExactPenaltySVMSelector", "L0SVMSelector", "RidgeForwardSelector"]
