"""What the generators have in common."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._checks import check_integer
from ..dataset import Dataset


def labelled(title: str, X: Any, y: Any, classes: Any, **truth: Any) -> Dataset:
    """The data with their truth; ``classes`` is None for regression."""
    names = None if classes is None else [str(label) for label in classes]
    description = f"synthetic: {title}"
    return Dataset(name=title, X=X, y=y, class_names=names, description=description, **truth)


def check_sizes(n_samples: int, n_features: int, n_classes: int, **needed: Any) -> None:
    """Refuse sizes that do not fit; ``needed`` names counts of features that must exist."""
    check_integer("n_classes", n_classes, minimum=2)
    check_integer("n_samples", n_samples, minimum=n_classes)
    check_integer("n_features", n_features)
    for name, count in needed.items():
        check_integer(name, count)
        if count > n_features:
            raise ValueError(f"{name} must be at most n_features={n_features}, got {count}")


def balanced(n_samples: int, n_classes: int, rng: np.random.RandomState) -> np.ndarray:
    """Shuffled labels, each class as often as the others give or take one."""
    return rng.permutation(np.arange(n_samples) % n_classes)


def random_columns(n_features: int, count: int, rng: np.random.RandomState) -> np.ndarray:
    """Sorted indices of ``count`` features drawn without replacement."""
    return np.sort(rng.permutation(n_features)[:count])


def spaced_means(n_classes: int, count: int, rng: np.random.RandomState) -> np.ndarray:
    """(n_classes, count): equally spaced levels of unit variance, permuted for each feature."""
    levels = np.arange(n_classes) - (n_classes - 1) / 2.0
    levels /= np.sqrt(np.mean(levels**2))
    order = np.argsort(rng.random_sample((n_classes, count)), axis=0)
    return levels[order]
