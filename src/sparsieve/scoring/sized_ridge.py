"""Ridge regression on few standardised columns, with one unit of strength for each."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.linear_model import Ridge

from .._saved import Savable


class SizedRidge(Savable, Ridge):
    """scikit-learn's ridge regression; its strength is the number of columns.

    If every one of k standardised columns mattered alike, the best strength would be k times the
    noise over the signal, whatever the number of samples. ``alpha`` is set by ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.scoring.sized_ridge import SizedRidge
    >>> X = np.array([[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])
    >>> SizedRidge().fit(X, [3.0, 1.0, 2.0, 0.0]).coef_.round(3)
    array([0.667, 0.333])
    """

    def __init__(self) -> None:
        super().__init__()

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to the columns of X."""
        self.alpha: float = float(np.shape(X)[1])
        return super().fit(X, y, sample_weight)


def sized_coefficients(gram: np.ndarray, products: np.ndarray) -> np.ndarray:
    """The coefficients, from products of the centred columns with each other and with the target.

    Columns that say the same are no obstacle: the strength is at least 1.
    """
    strengthened = gram.astype(np.float64)
    strengthened[np.diag_indices_from(strengthened)] += float(len(gram))
    return np.asarray(cho_solve(cho_factor(strengthened), products))
