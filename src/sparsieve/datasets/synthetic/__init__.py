"""Synthetic data whose relevant features are known.

Relevant features sit at random columns (``relevant`` gives their indices, sorted); the others are
standard normal noise. Classes are as equal in size as n_samples allows. The same ``random_state``
gives the same data.
"""

from .blocks import make_correlated_blocks
from .exclusive import make_class_exclusive
from .minimax import make_minimax_gaussian
from .nonlinear import make_nonlinear_additive
from .outliers import make_outliers
from .shared import make_shared_features

__all__ = [
    "make_class_exclusive",
    "make_correlated_blocks",
    "make_minimax_gaussian",
    "make_nonlinear_additive",
    "make_outliers",
    "make_shared_features",
]
