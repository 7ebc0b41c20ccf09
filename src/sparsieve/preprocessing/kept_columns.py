"""From new data to the columns that a model uses, by name, encoded and prepared as in training."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Annotated, Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from .._checks import format_names, warn_user
from .._saved import Floats, Ints, Maybe, Savable
from ..design import external_design
from ..selectors.origins import call_with_views
from ..validation.columns import in_memory
from ..validation.containers import check_finite, plain_matrix
from ..validation.dataframes import check_names, make_frame, open_frame, rename_to_text
from ..validation.raw_columns import (
    NUMBER,
    VALUE,
    RawColumn,
    stack_numbers,
    values_of_array,
    values_of_frame,
)
from .covariates import BesideCovariates
from .encoding import as_numbers
from .steps import Imputer, Log1p
from .table import annotated_matrix, is_anndata, variable_names

_MAX_RANGES = 0.5  # ranges of the training values that a value lies beyond them


@dataclass(eq=False, repr=False, kw_only=True)
class KeptColumns(Savable, TransformerMixin, BaseEstimator):
    """The first step of a model on selected features: takes what the model uses out of new data.

    Columns are found by name in a data frame or AnnData, by place in an array, which has all
    columns of the training data or only those used. Text, dates and gaps are encoded, and
    ``prepare`` is applied, as in training. It warns of values unlike those of the training data.

    Parameters
    ----------
    places : ndarray of int
        The columns to take, by their place among ``n_columns``.
    n_columns : int
        How many columns the training data had.
    columns : list of str or None
        Their names.
    encode : list of RawColumn or None
        What turns them into numbers; None where they are numbers.
    prepare : transformer or None
        What is done to the numbers; fitted again by ``fit``.
    kept : ndarray of int or None
        Which of the numbers the model sees, where ``prepare`` needs others too; None is all.
    features : list of str
        Names of what the model sees.
    library : {"pandas", "polars"} or None
        What kind of frame the model sees; None is an array.
    layer : str or None
        Of AnnData.
    allow_nan, dense : bool
        Whether the model takes gaps, and whether it needs sparse columns as plain ones.
    low, high : ndarray of float or None
        Range of the numbers in training, for a warning.
    usual : ndarray of float or None
        Means of what the model sees, in training; what contributions to a decision start from.
    """

    places: Any = field(default=(), kw_only=False)
    n_columns: int = 0
    columns: Any = None
    encode: Any = None
    prepare: Any = None
    kept: Any = None
    features: Any = ()
    library: str | None = None
    layer: str | None = None
    allow_nan: bool = False
    dense: bool = True
    low: Any = None
    high: Any = None
    usual: Any = None

    n_features_in_: int = field(init=False)
    prepare_: Maybe[Any] = field(init=False)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn ``prepare``, where there is one: which columns are used is known."""
        self._set_inputs()
        self.prepare_ = None
        if self.prepare is not None:
            self.prepare_ = call_with_views(clone(self.prepare).fit, self.numbers(X))
        return self

    def ready(self, prepare: Any) -> Self:
        """The same, with what ``prepare`` has learnt already."""
        self._set_inputs()
        self.prepare_ = prepare
        return self

    def _set_inputs(self) -> None:
        self.n_features_in_ = len(self.places)
        if self.columns is not None:
            self.feature_names_in_: np.ndarray = np.array(list(self.columns), dtype=object)

    def numbers(self, X: Any) -> Any:
        """The columns of new data as numbers, before ``prepare``."""
        return self._encode(X)[0]

    def _encode(self, X: Any) -> tuple[Any, list[str]]:
        """The numbers, and what is said of texts that are new."""
        if isinstance(X, dict):  # of columns by name, as they are in a file
            self._by_name(list(X))
            values = {name: values_of_array(X[name]) for name in self.columns}
        else:
            frame, X = self._take_columns(X)
            if self.encode is None and (frame is None or _is_of_numbers(frame)):
                return as_matrix(X if frame is None else frame.to_native()), []
            if frame is None:
                raise TypeError(
                    "the model was trained on a data frame with text, dates or gaps, so new data "
                    "must be a data frame with the columns "
                    f"{format_names(list(self.columns))}, got "
                    f"{type(X).__name__}"
                )
            values = values_of_frame(frame)
        encode = self.encode
        if encode is None:
            encode = [RawColumn(name, NUMBER, [name], [VALUE], [None]) for name in self.columns]
        made = stack_numbers(encode, values)
        return made, [said for one in encode if (said := one.unknown(values[one.name]))]

    def transform(self, X: Any) -> Any:
        """The columns that the model sees.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or AnnData
            New data, with the columns that are used or more.

        Returns
        -------
        X_new : array, sparse matrix or data frame
            A frame where the training data were one.
        """
        check_is_fitted(self)
        made, unknown = self._encode(X)
        self._warn_of_unlike(made, unknown)
        if self.prepare_ is not None:
            made = call_with_views(self.prepare_.transform, made)
            made = made if sparse.issparse(made) else np.asarray(made)
        if self.kept is not None:
            made = made[:, self.kept]
        if self.dense and sparse.issparse(made):
            made = made.toarray()
        names = list(self.features)
        check_finite(made, names, allow_nan=self.allow_nan, imputer='select(..., prepare="impute")')
        return made if self.library is None else make_frame(made, names, self.library, X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of what the model sees."""
        return np.array(list(self.features), dtype=object)

    def _take_columns(self, X: Any) -> tuple[Any, Any]:
        """(the columns as a frame, None) or (None, the columns as an array)."""
        if is_anndata(X):
            found = self._by_name([str(name) for name in variable_names(X)])
            return None, in_memory(annotated_matrix(X, self.layer))[:, found]
        check_names(X)
        frame = open_frame(rename_to_text(X))
        if frame is not None and self.columns is not None:
            names = list(frame.columns)
            found = self._by_name(names)
            return frame.select([names[j] for j in found]), None
        if self.encode is not None:
            return None, X
        design = external_design(X) if frame is None else None
        if design is not None:
            return None, design.take_columns(self.find_places(design.shape[1]))
        X = as_matrix(X)
        return None, X[:, self.find_places(X.shape[1])]

    def _by_name(self, names: list[str]) -> np.ndarray:
        if self.columns is None:
            raise ValueError(
                "the model was trained on columns without names and cannot find them by name; "
                "pass an array"
            )
        known = {name: j for j, name in enumerate(names)}
        missing = [name for name in self.columns if name not in known]
        if missing:
            raise ValueError(
                f"X lacks {len(missing)} of the {len(self.columns)} columns that the model uses: "
                f"{format_names(missing)}; add {'them' if len(missing) > 1 else 'it'}"
            )
        return np.array([known[name] for name in self.columns], dtype=np.intp)

    def find_places(self, width: int) -> np.ndarray:
        """The places of the columns in data with so many of them."""
        if width == self.n_columns:
            return np.asarray(self.places)
        if width == len(self.places):
            return np.arange(width)
        raise ValueError(
            f"X has {width} columns; pass the {self.n_columns} columns of the training data, or "
            f"the {len(self.places)} that the model uses, in their order"
            + ("" if self.columns is None else ", or a data frame with their names")
        )

    @property
    def encoded_names(self) -> list[str]:
        """Names of the numbers before ``prepare``."""
        if self.encode is not None:
            return [name for column in self.encode for name in column.outputs]
        if self.columns is not None:
            return list(self.columns)
        return [f"x{int(j)}" for j in self.places]

    def _warn_of_unlike(self, made: Any, said: list[str]) -> None:
        """Say in a sentence where new data look unlike the training data."""
        if self.low is not None and made.shape[0]:
            far = _far_outside(made, np.asarray(self.low), np.asarray(self.high))
            names = self.encoded_names
            which = [names[j] for j in np.flatnonzero(far)]
            if which:
                several = len(which) > 1
                said.append(
                    f"{format_names(which)} {'have' if several else 'has'} values far outside "
                    "the range "
                    "of the training data"
                )
        if said:
            warn_user(f"new data look unlike the training data: {'; '.join(said)}")

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        used = f"{len(self.places)} of {self.n_columns} columns"
        return f"<{type(self).__name__}: {used}, {len(self.features)} features>"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = tags.input_tags.string = True
        return tags


def _is_of_numbers(frame: Any) -> bool:
    """Whether the columns are numbers by their types; objects and text are read value by value."""
    return all(dtype.is_numeric() or str(dtype) == "Boolean" for dtype in frame.schema.values())


def _are_texts(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(one, str) for one in values)


def as_matrix(X: Any) -> Any:
    """Numbers as a matrix, whatever is missing or infinite there."""
    return check_array(
        plain_matrix(X),
        accept_sparse=("csr", "csc"),
        dtype=(np.float64, np.float32),
        ensure_all_finite=False,
        ensure_min_samples=0,
        ensure_min_features=0,
    )


def read_numbers(X: Any, places: Any) -> Any:
    """Some columns of a matrix or data frame in memory, as numbers."""
    frame = open_frame(X)
    if frame is None:
        return X[:, places]
    names = frame.columns
    found = as_numbers(frame.select([names[j] for j in places]).to_native())
    return found.astype(np.float64, copy=False)


def column_ranges(made: Any) -> tuple[Floats, Floats]:
    """The smallest and the largest value of every column, without gaps.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.preprocessing.kept_columns import column_ranges
    >>> column_ranges(np.array([[1.0, 5.0], [np.nan, 3.0]]))
    (array([1., 3.]), array([1., 5.]))
    """
    if sparse.issparse(made):
        made = made.tocsc()
        low, high = (np.asarray(end.todense()).ravel() for end in (made.min(0), made.max(0)))
    else:
        low, high = np.fmin.reduce(made, axis=0), np.fmax.reduce(made, axis=0)
    return low.astype(np.float64), high.astype(np.float64)


def _far_outside(made: Any, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Columns with a value far beyond the training range, or with many values beyond it."""
    least, most = column_ranges(made)
    width = high - low
    with np.errstate(invalid="ignore"):
        far = (least < low - _MAX_RANGES * width) | (most > high + _MAX_RANGES * width)
        beyond = (least < low) | (most > high)
    if made.shape[0] >= 5:
        for j in np.flatnonzero(beyond & ~far):
            column = made[:, [j]]
            column = (column.toarray() if sparse.issparse(column) else column)[:, 0]
            far[j] = np.mean((column < low[j]) | (column > high[j])) > 0.2
    return far


def restrict_preparation(prepare: Any, places: Annotated[Ints, "kept"]) -> Any:
    """A fitted preparation for some of its columns; None where it looks at the others, too.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.preprocessing.kept_columns import restrict_preparation
    >>> from sparsieve.preprocessing.steps import Imputer
    >>> step = Imputer().fit(np.array([[1.0, 5.0], [3.0, 7.0]]))
    >>> restrict_preparation(step, np.array([1])).transform(np.array([[np.nan]]))
    array([[6.]])
    """
    if isinstance(prepare, Pipeline):
        steps = [(name, restrict_preparation(step, places)) for name, step in prepare.steps]
        return None if any(step is None for _, step in steps) else Pipeline(steps)
    if isinstance(prepare, BesideCovariates):
        return _beside_fewer(prepare, places)
    is_median = isinstance(prepare, Imputer) and prepare.strategy != "knn"
    if not (is_median or isinstance(prepare, Log1p)):
        return None
    made = strip_names(prepare)
    made.n_features_in_ = len(places)
    if isinstance(made, Imputer):
        made.fill_ = made.fill_[places]
        at = {int(j): new for new, j in enumerate(places)}
        groups = [[at[j] for j in group if j in at] for group in made.text_groups]
        made.text_groups = tuple(tuple(group) for group in groups if group)
    return made


def _beside_fewer(prepare: BesideCovariates, places: np.ndarray) -> Any:
    """The same where covariates are left out of a preparation."""
    given = list(prepare.places)
    is_given = np.isin(places, given)
    own = restrict_preparation(prepare.prepare_, np.searchsorted(prepare.others, places[~is_given]))
    if own is None or not is_given.any() or is_given.all():
        return None
    made = strip_names(prepare)
    made.n_features_in_ = len(places)
    made.places = [int(j) for j in np.flatnonzero(is_given)]
    filled = np.array([given.index(int(j)) for j in places[is_given]], dtype=np.int64)
    made.prepare_, made.fill_ = own, restrict_preparation(prepare.fill_, filled)
    return made


def strip_names(prepare: Any) -> Any:
    """A fitted preparation that gets and gives arrays."""
    if isinstance(prepare, Pipeline):
        return Pipeline([(name, strip_names(step)) for name, step in prepare.steps])
    made = copy.copy(prepare)
    for name in ("feature_names_in_", "_sklearn_output_config"):
        vars(made).pop(name, None)
    return made
