"""Steps of a preparation that keep the columns: gaps filled, counts and logarithms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.utils.validation import check_is_fitted, validate_data

from .._checks import check_choice, check_real
from .._saved import Floats, Maybe, Savable

__all__ = ["LogCPM"]

STRATEGIES = ("median", "mean", "most_frequent", "knn")


class _Step(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    def _check_input(self, X: Any, *, reset: bool) -> Any:
        return validate_data(
            self,
            X,
            reset=reset,
            accept_sparse=("csr", "csc"),
            dtype=(np.float64, np.float32),
            ensure_all_finite="allow-nan",
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class Imputer(Savable, _Step):
    """Fill missing values with what the other samples say.

    Parameters
    ----------
    strategy : {"median", "mean", "most_frequent", "knn"}, default="median"
        What replaces a missing number: a statistic of its column, or the mean of the five most
        similar samples that have it.
    text_groups : sequence of sequences of int, default=()
        Columns of zeros and ones that were made of one text column (of two values there is one
        column); its gaps are NaN in all of them and get the most frequent value.

    Attributes
    ----------
    fill_ : ndarray of shape (n_features,)
        What gaps are filled with; 0 in a column without any value.
    samples_ : ndarray of shape (n_samples, n_features)
        The training samples, which "knn" looks among.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.preprocessing.steps import Imputer
    >>> Imputer().fit_transform(np.array([[1.0, 5.0], [np.nan, 6.0], [3.0, 7.0]]))[1]
    array([2., 6.])
    """

    n_features_in_: int
    fill_: Annotated[Floats, "features"]
    samples_: Maybe[Annotated[Floats, "samples", "features"]]

    def __init__(
        self, strategy: str = "median", *, text_groups: Sequence[Sequence[int]] = ()
    ) -> None:
        self.strategy = strategy
        self.text_groups = text_groups

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn what to fill gaps with."""
        check_choice("strategy", self.strategy, STRATEGIES)
        X = self._check_input(X, reset=True)
        nearest = self.strategy == "knn"
        if nearest and sparse.issparse(X):
            raise ValueError('a sparse X cannot be imputed by "knn"; use "median" instead')
        statistic = SimpleImputer(
            strategy="median" if nearest else self.strategy, keep_empty_features=True
        )
        self.fill_ = np.asarray(statistic.fit(X).statistics_, dtype=np.float64)
        for group in map(list, self.text_groups):
            counts = np.nansum(X[:, group], axis=0)
            if len(group) == 1:  # of two values, the other one has no column
                known = np.count_nonzero(~np.isnan(X[:, group]))
                self.fill_[group] = counts > known - counts
            else:
                self.fill_[group] = np.arange(len(group)) == counts.argmax()
        if nearest:
            self.samples_ = np.array(X)
        return self

    def transform(self, X: Any) -> Any:
        """X without gaps."""
        check_is_fitted(self)
        X = self._check_input(X, reset=False).copy()
        if sparse.issparse(X):
            X.sum_duplicates()
            gaps = np.isnan(X.data)
            X.data[gaps] = self.fill_[X.tocoo().coords[1][gaps]]
            return X
        gaps = np.isnan(X)
        if self.strategy == "knn":
            gaps &= np.isin(np.arange(X.shape[1]), [j for some in self.text_groups for j in some])
        X[gaps] = np.broadcast_to(self.fill_, X.shape)[gaps]
        if self.strategy == "knn":
            return KNNImputer(keep_empty_features=True).fit(self.samples_).transform(X)
        return X


class Log1p(Savable, _Step):
    """Logarithm of one plus every value; missing values stay missing and zeros stay zeros.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.preprocessing.steps import Log1p
    >>> Log1p().fit_transform(np.array([[0.0, 9.0]])).round(2)
    array([[0. , 2.3]])
    """

    n_features_in_: int

    def fit(self, X: Any, y: Any = None) -> Self:
        """Look at the number of columns: there is nothing to learn."""
        self._check_input(X, reset=True)
        return self

    def transform(self, X: Any) -> Any:
        """Take logarithms."""
        check_is_fitted(self)
        X = self._check_input(X, reset=False)
        values = X.data if sparse.issparse(X) else X
        if (values < 0).any():
            raise ValueError(
                "Negative values in data passed to Log1p: logarithms need zero or more; leave out "
                "the preparation if the values are on a log scale already"
            )
        return X.log1p() if sparse.issparse(X) else np.log1p(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.requires_fit = False
        return tags


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
            totals = _totals(self._check_input(X, reset=True))
            counted = totals[totals > 0]
            self.scale_ = float(np.median(counted)) if len(counted) else 1.0
        else:
            check_real("scale", self.scale, minimum=0, strict=True)
            self._check_input(X, reset=True)
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
        X = self._check_input(X, reset=False)
        totals = _totals(X)
        factors = np.divide(self.scale_, totals, out=np.zeros_like(totals), where=totals > 0)
        factors = factors.astype(X.dtype)
        if not sparse.issparse(X):
            return np.log1p(X * factors[:, None])
        X = X.copy()
        rows = np.repeat(factors, np.diff(X.indptr)) if X.format == "csr" else factors[X.indices]
        X.data = np.log1p(X.data * rows)
        return X

    def _check_input(self, X: Any, *, reset: bool) -> Any:
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
