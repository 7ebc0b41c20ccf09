"""Kernels of single features, and what a model asks of all of them at once."""

from .bank import KernelBank
from .functions import (
    CallableKernel,
    CombinedKernel,
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
