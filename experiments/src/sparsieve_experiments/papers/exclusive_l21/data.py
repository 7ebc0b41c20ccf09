"""The paper's data sets as its experiments use them."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from sparsieve.datasets import load_dataset


def loaded(name: str):
    """(X, class codes, number of classes), X dense."""
    data = load_dataset(name)
    X = data["X"].toarray() if sparse.issparse(data["X"]) else data["X"]
    classes, codes = np.unique(data["y"], return_inverse=True)
    return np.asarray(X, dtype=np.float64), codes, len(classes)


def centred_indicators(codes, n_classes: int) -> np.ndarray:
    """One column per class, centred."""
    Y = np.eye(n_classes)[codes]
    return Y - Y.mean(axis=0)
