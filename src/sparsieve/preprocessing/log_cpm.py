"""Counts made comparable between samples: divided by library size, then on a log scale."""

from __future__ import annotations

from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from .._checks import check_real
from .._saved import Maybe, Savable


class LogCPM(Savable, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    r"""Normalise counts by their sample totals and take logarithms.

    Samples of counts (reads per gene, words per document) differ in their totals, and a few columns
    contain most of the counts. Every sample is scaled to the same total and put on a logarithmic
    scale. Zeros stay zeros, so sparse matrices stay sparse.

    Parameters
    ----------
    scale : "median" or float, default="median"
        Total to which all samples are scaled. "median" means the median total of the samples seen
        by ``fit``; 1e6 gives counts per million.

    Attributes
    ----------
    scale_ : float
        Total to which all samples are scaled.
    n_features_in_ : int
        Number of features seen by ``fit``.
    feature_names_in_ : ndarray of str
        Names of the features, if X has names.

    See Also
    --------
    sparsieve.diagnose : Detects raw counts.
    sparsieve.select : Applies this with ``prepare="log-cpm"``.

    Notes
    -----
    A count :math:`c` of a sample with total :math:`t` becomes :math:`\log(1 + c\,s / t)`; samples
    without any counts stay zero. Only :math:`s` is learnt, so new samples need only their own
    counts of all features.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve import LogCPM
    >>> counts = np.array([[1, 0, 9], [20, 0, 180]])
    >>> LogCPM(scale=10.0).fit_transform(counts).round(2)
    array([[0.69, 0.  , 2.3 ],
           [0.69, 0.  , 2.3 ]])
    """

    n_features_in_: int
    feature_names_in_: Maybe[Annotated[NDArray[Any], np.object_]]
    scale_: float

    def __init__(self, scale: str | float = "median") -> None:
        self.scale = scale

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the total to scale to.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Counts.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        if isinstance(self.scale, str):
            if self.scale != "median":
                raise ValueError(f'scale must be "median" or a positive number, got {self.scale!r}')
            totals = _totals(self._checked(X, reset=True))
            counted = totals[totals > 0]
            self.scale_ = float(np.median(counted)) if len(counted) else 1.0
        else:
            check_real("scale", self.scale, minimum=0, strict=True)
            self._checked(X, reset=True)
            self.scale_ = float(self.scale)
        return self

    def transform(self, X: Any) -> Any:
        """Divide by the totals and take logarithms.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Counts of all features.

        Returns
        -------
        X_new : ndarray or sparse matrix of shape (n_samples, n_features)
            Transformed counts, in the precision of X.
        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        totals = _totals(X)
        factors = np.divide(self.scale_, totals, out=np.zeros_like(totals), where=totals > 0)
        factors = factors.astype(X.dtype)
        if not sparse.issparse(X):
            return np.log1p(X * factors[:, None])
        X = X.copy()
        rows = np.repeat(factors, np.diff(X.indptr)) if X.format == "csr" else factors[X.indices]
        X.data = np.log1p(X.data * rows)
        return X

    def _checked(self, X: Any, *, reset: bool) -> Any:
        X = validate_data(
            self, X, reset=reset, accept_sparse=("csr", "csc"), dtype=(np.float64, np.float32)
        )
        values = X.data if sparse.issparse(X) else X
        if values.size and values.min() < 0:
            raise ValueError(
                f"Negative values in data passed to {type(self).__name__}: counts must be zero or "
                "more; do not use it if the values are already on a log scale"
            )
        return X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _totals(X: Any) -> np.ndarray:
    """Sums of the rows in double precision."""
    if sparse.issparse(X):
        return np.asarray(X @ np.ones(X.shape[1])).ravel()
    return X.sum(axis=1, dtype=np.float64)
