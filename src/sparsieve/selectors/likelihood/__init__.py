"""Negative log-likelihoods: logistic, multinomial, counts and survival."""

from .forward import LikelihoodForwardSelector
from .l21 import LikelihoodL21Selector

__all__ = ["LikelihoodForwardSelector", "LikelihoodL21Selector"]
