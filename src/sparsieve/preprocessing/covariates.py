"""Covariates: columns that are always in the model, made into numbers beside the features."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from .._saved import Savable, are_indices
from ..validation.dataframes import opened
from ..validation.written import MAX_CATEGORIES, is_gap, text_kind
from .raw_columns import DATE, NUMBER, VALUE, RawColumn, column_of_text
from .steps import Imputer, _Step


def covariate_columns(
    values: Mapping[str, Any],
) -> tuple[np.ndarray, list[RawColumn], list[str]]:
    """(numbers, what makes them, covariates with gaps) of covariates given as columns by name.

    Text and categories become a column of zeros and ones for each value, one column where there
    are two, a missing one being a value of its own; dates become days since 1970.

    Examples
    --------
    >>> from sparsieve.preprocessing.covariates import covariate_columns
    >>> made, columns, _ = covariate_columns({"age": [40, 61], "sex": ["m", "f"]})
    >>> made.tolist(), [column.outputs for column in columns]
    ([[40.0, 1.0], [61.0, 0.0]], [['age'], ['sex=m']])
    """
    made: list[np.ndarray] = []
    columns: list[RawColumn] = []
    gaps: list[str] = []
    for name, given in values.items():
        numbers, is_date = _numbers(given), np.asarray(given).dtype.kind == "M"
        month_first = False
        if numbers is None:
            texts = [
                None if is_gap(one) else str(one).strip() for one in np.asarray(given).tolist()
            ]
            found = text_kind(texts, MAX_CATEGORIES)
            if found.kind not in ("category", "number", "date") and found.n_values > MAX_CATEGORIES:
                raise ValueError(
                    f"covariate {name!r} is text with {found.n_values} different values, too many "
                    "for categories; leave it out"
                )
            numbers, is_date, month_first = found.numbers, found.kind == "date", found.month_first
            if numbers is None:
                columns.append(column := column_of_text(name, texts))
                made += column.encoded(texts)
                continue
        if np.isnan(numbers).all():
            raise ValueError(f"covariate {name!r} has no values; leave it out")
        if np.isnan(numbers).any():
            gaps.append(name)
        made.append(numbers)
        kind = DATE if is_date else NUMBER
        columns.append(RawColumn(name, kind, [name], [VALUE], [None], month_first=month_first))
    return np.column_stack(made).astype(np.float64), columns, gaps


def _numbers(given: Any) -> np.ndarray | None:
    """The values as numbers where they are such, or dates."""
    values = np.asarray(given)
    if values.ndim != 1:
        raise ValueError(f"a covariate must be one column, got values of shape {values.shape}")
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    if values.dtype.kind == "M":
        days = values.astype("M8[us]").astype("int64").astype(np.float64) / 86_400e6
        return np.where(np.isnat(values), np.nan, days)
    if values.dtype.kind != "O" or any(isinstance(one, str) for one in values):
        return None
    try:
        return np.array([np.nan if is_gap(one) else float(one) for one in values])
    except (TypeError, ValueError):
        return None


def beside(X: Any, columns: np.ndarray, names: Sequence[str]) -> Any:
    """X with further columns behind its own: a data frame, an array or a sparse matrix."""
    frame = opened(X)
    if frame is not None:
        import narwhals as nw

        taken = [name for name in names if name in frame.columns]
        if taken:
            raise ValueError(f"a covariate and a feature are both called {taken[0]!r}; rename one")
        made = [
            nw.new_series(name, columns[:, j], backend=frame.implementation)
            for j, name in enumerate(names)
        ]
        native = frame.to_native()
        if hasattr(native, "iloc"):  # pandas would put rows together by their index
            return native.assign(**{one.name: one.to_numpy() for one in made})
        return frame.with_columns(*made).to_native()
    if sparse.issparse(X):
        return sparse.hstack([X, sparse.csr_array(columns.astype(X.dtype))], format="csr")
    X = np.asarray(X)
    dtype = X.dtype if X.dtype.kind == "f" else np.float64
    return np.hstack([X, columns]).astype(dtype, copy=False)


class BesideCovariates(Savable, _Step):
    """A preparation of all columns but the covariates, whose gaps alone are filled.

    Parameters
    ----------
    prepare : transformer
        Keeps the columns.
    places : sequence of int
        The columns of the covariates.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.preprocessing.covariates import BesideCovariates
    >>> from sparsieve.preprocessing.steps import Log1p
    >>> step = BesideCovariates(Log1p(), places=[1])
    >>> step.fit_transform(np.array([[0.0, 40.0], [0.0, np.nan]])).tolist()
    [[0.0, 40.0], [0.0, 40.0]]
    """

    n_features_in_: int
    prepare_: Any
    fill_: Imputer

    def __init__(self, prepare: Any = None, places: Sequence[int] = ()) -> None:
        self.prepare = prepare
        self.places = places

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the preparation on the other columns, and the filling of gaps on the covariates."""
        X = self._checked(X, reset=True)
        own, given = self._split(X)
        self.prepare_ = clone(self.prepare).fit(own)
        self.fill_ = Imputer().fit(given)
        return self

    def transform(self, X: Any) -> Any:
        """All columns, in their order."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        own, given = self._split(X)
        parts = [self.prepare_.transform(own), self.fill_.transform(given)]
        order = np.argsort(np.concatenate([self.others, self.places]))
        if sparse.issparse(X):
            return sparse.hstack(parts, format="csr")[:, order]
        return np.hstack([np.asarray(part) for part in parts])[:, order]

    def _split(self, X: Any) -> tuple[Any, Any]:
        X = X.tocsc() if sparse.issparse(X) else X
        return X[:, self.others], X[:, list(self.places)]

    @property
    def others(self) -> np.ndarray:
        """The columns that are no covariates."""
        return np.setdiff1d(np.arange(self.n_features_in_), self.places).astype(np.intp)

    def _state_checks(self) -> Iterator[bool]:
        places, n = self.places, self.n_features_in_
        yield isinstance(places, list | tuple) and all(type(one) is int for one in places)
        yield are_indices(np.array(places, dtype=np.intp), n) and len(places) > 0
        yield hasattr(self.prepare_, "transform")
        widths = [part.n_features_in_ for part in (self.prepare_, self.fill_)]
        yield widths == [n - len(places), len(places)]
