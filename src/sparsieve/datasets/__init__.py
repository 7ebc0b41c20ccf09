"""Benchmark data by name, and synthetic data whose relevant features are known."""

from .load import Dataset, get_data_home, list_datasets, load_dataset
from .synthetic.classes import (
    make_class_exclusive,
    make_correlated_blocks,
    make_minimax_gaussian,
    make_shared_features,
)
from .synthetic.targets import make_nonlinear_additive, make_outliers, make_survival

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
