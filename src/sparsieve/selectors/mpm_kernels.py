"""Kernels of the minimax probability machines, by scikit-learn's names."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels

from .validation import check_choice, check_integer, check_real

KERNELS = ("linear", "poly", "rbf", "sigmoid", "laplacian")


def check_kernel(kernel, gamma, degree, coef0, *, optional: bool) -> None:
    """Refuse bad kernel parameters."""
    if not (optional and kernel is None):
        check_choice("kernel", kernel, KERNELS)
    if isinstance(gamma, str):
        check_choice("gamma", gamma, ("scale", "auto"))
    else:
        check_real("gamma", gamma, minimum=0, strict=True)
    check_integer("degree", degree)
    check_real("coef0", coef0)


def resolved_gamma(gamma, X) -> float:
    """The number meant by "scale", "auto" or the number itself."""
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if gamma == "scale":
        mean = X.mean()
        square = X.multiply(X).mean() if sparse.issparse(X) else np.mean(np.square(X))
        variance = float(square - mean**2)
        return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
    return float(gamma)


def kernel_matrix(estimator, X, Y=None) -> np.ndarray:
    """Similarities of X to Y (or to itself) under the kernel of a fitted estimator."""
    matrix = pairwise_kernels(
        X,
        Y,
        metric=estimator.kernel,
        filter_params=True,
        gamma=estimator._gamma,
        degree=estimator.degree,
        coef0=estimator.coef0,
    )
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix)
