"""Kernels of single features, and what a model asks of all of them at once."""

from .bank import KernelBank
from .combined import CombinedKernel
from .functions import (
    CallableKernel,
    FeatureKernel,
    PolynomialKernel,
    RBFKernel,
    SigmoidKernel,
    feature_kernel,
)

__all__ = [
    "CallableKernel",
    "CombinedKernel",
    "FeatureKernel",
    "KernelBank",
    "PolynomialKernel",
    "RBFKernel",
    "SigmoidKernel",
    "feature_kernel",
]
