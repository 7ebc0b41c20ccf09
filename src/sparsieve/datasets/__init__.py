"""Benchmark data by name, and synthetic data whose relevant features are known."""

from .dataset import Dataset
from .load import get_data_home, list_datasets, load_dataset
from .synthetic.blocks import make_correlated_blocks
from .synthetic.exclusive import make_class_exclusive
from .synthetic.minimax import make_minimax_gaussian
from .synthetic.nonlinear import make_nonlinear_additive
from .synthetic.outliers import make_outliers
from .synthetic.shared import make_shared_features
from .synthetic.survival import make_survival

__all__ = [
    "Dataset",
    "get_data_home",
    "list_datasets",
    "load_dataset",
    "make_class_exclusive",
    "make_correlated_blocks",
    "make_minimax_gaussian",
    "make_nonlinear_additive",
    "make_outliers",
    "make_shared_features",
    "make_survival",
]
