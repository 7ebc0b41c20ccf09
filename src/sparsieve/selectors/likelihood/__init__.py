"""Negative log-likelihoods: logistic, multinomial, counts and survival."""

from .forward import LikelihoodForwardSelector

__all__ = ["LikelihoodForwardSelector"]
