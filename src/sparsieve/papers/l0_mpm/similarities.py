"""Similarities to training samples as features, by scikit-learn's kernels."""

from __future__ import annotations

from typing import Annotated, Any, cast

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels

from ..._checks import check_choice, check_integer, check_real
from ..._saved import Floats, Ints, Maybe
from ...design import SparseDesign
from ...selectors.base import TrainingData
from ...selectors.margins import MarginPredictions
from .base import check_real_or_name

KERNELS = ("linear", "poly", "rbf", "sigmoid", "laplacian")


def check_kernel(
    kernel: str | None, gamma: float | str, degree: int, coef0: float, *, optional: bool
) -> None:
    """Refuse bad kernel parameters."""
    if not (optional and kernel is None):
        check_choice("kernel", kernel, KERNELS)
    check_real_or_name("gamma", gamma, ("scale", "auto"), minimum=0, strict=True)
    check_integer("degree", degree)
    check_real("coef0", coef0)


def resolved_gamma(gamma: float | str, X: Any, sample_weight: np.ndarray | None = None) -> float:
    """The number meant by "scale", "auto" or the number itself."""
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if gamma == "scale":
        weights = np.ones(X.shape[0]) if sample_weight is None else sample_weight
        weights = weights / (weights.sum() * X.shape[1])
        square = X.multiply(X) if sparse.issparse(X) else np.square(X)
        variance = float((weights @ square).sum() - (weights @ X).sum() ** 2)
        return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
    return float(gamma)


def distinct_samples(X: Any) -> np.ndarray:
    """Indices of the first of every group of equal rows, in order.

    Each is one column of the kernel matrix, so that a sample given twice means the same as a
    sample of weight two.
    """
    if sparse.issparse(X):
        rows = sparse.csr_array(X)
        rows.eliminate_zeros()
        rows.sort_indices()
        bounds = zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
        keys = [
            rows.indices[start:stop].tobytes() + rows.data[start:stop].tobytes()
            for start, stop in bounds
        ]
        return np.sort(np.unique(np.array(keys, dtype=object), return_index=True)[1])
    return np.sort(np.unique(X, axis=0, return_index=True)[1])


def kernel_matrix(estimator: Any, X: Any, Y: Any) -> np.ndarray:
    """Similarities of X to Y under the kernel of a fitted estimator."""
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


class SimilarityMargins(MarginPredictions):
    """Margins from ``support_vectors_``, ``dual_coef_`` and ``intercept_``."""

    kernel: str | None
    gamma: float | str
    support_: Maybe[Annotated[Ints, "vectors"]]
    support_vectors_: Maybe[Annotated[Any, "vectors", "features"]]  # sparse where X is
    dual_coef_: Maybe[Annotated[Floats, "outputs", "vectors"]]
    worst_case_accuracy_: Maybe[float]
    _gamma: Maybe[float]

    def _kernel_features(self, data: TrainingData) -> np.ndarray:
        """Similarities of all samples to the distinct ones; remembers which these are."""
        design = data.design
        samples = design.matrix if isinstance(design, SparseDesign) else cast(Any, design).array
        self._gamma = resolved_gamma(self.gamma, samples, data.sample_weight)
        self._distinct = distinct_samples(samples)
        self.support_vectors_ = samples[self._distinct]
        return kernel_matrix(self, samples, self.support_vectors_)

    def _keep_support(self, coef: np.ndarray, used: np.ndarray | slice, given: np.ndarray) -> None:
        """Refer to the distinct samples ``used`` only; ``given`` are their indices in X."""
        self.support_ = given[self._distinct[used]]
        self.support_vectors_ = self.support_vectors_[used]
        self.dual_coef_ = coef[:, used]
        del self._distinct

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        return tags

    def _margins(self, X: Any) -> np.ndarray:
        similarities = kernel_matrix(self, X, self.support_vectors_)
        return similarities @ self.dual_coef_.T + self.intercept_
