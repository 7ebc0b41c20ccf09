"""Benchmark data by name, and synthetic data whose relevant features are known."""

from .dataset import Dataset
from .load import get_data_home, list_datasets, load_dataset
from .registry import DatasetInfo
from .synthetic import (
    make_class_exclusive,
    make_correlated_blocks,
    make_minimax_gaussian,
    make_nonlinear_additive,
    make_outliers,
    make_shared_features,
)

__all__ = [
    "Dataset",
    "DatasetInfo",
    "get_data_home",
    "list_datasets",
    "load_dataset",
    "make_class_exclusive",
    "make_correlated_blocks",
    "make_minimax_gaussian",
    "make_nonlinear_additive",
    "make_outliers",
    "make_shared_features",
]
