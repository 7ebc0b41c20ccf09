"""From the columns of a data frame to numbers, remembering which come from which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .._checks import check_flag, check_integer, format_names, warn_user
from ..validation.dataframes import (
    check_kinds,
    check_names,
    frame_library,
    open_frame,
    rename_to_text,
)
from ..validation.raw_columns import (
    AS_MARK,
    TEXT,
    RawColumn,
    RawValues,
    output_places,
    stack_numbers,
    values_of_frame,
)
from ..validation.raw_tables import make_plan

__all__ = ["FramePreprocessor", "make_preprocessor"]


def make_preprocessor(
    frame: Any, *, max_categories: int = 20, fill: bool = True
) -> FramePreprocessor:
    """Make a transformer that turns the columns of a data frame into numbers.

    Numbers and truth values stay as they are; their gaps are filled with the median, and a further
    column says where they were. Text and categories become one column of zeros and ones per
    value, a missing one being a value of its own; of two values only the second, in order, as the
    first is its complement. Dates and times become days since 1970, durations days, and text that
    is numbers or dates, such as 1,200 or 2024-05-31, is read as such; a few cells that are none are
    gaps, and a warning names them. The new columns are called
    ``sex=female``, ``age=(missing)``: what stands before ``=`` is the column that they come from,
    and ``feature_groups="categories"`` of selectors keeps or drops them together.

    Parameters
    ----------
    frame : data frame
        Of pandas, polars or another library that narwhals knows; decides what is done to which
        column.
    max_categories : int, default=20
        Text with more different values than this is refused: it names samples rather than
        describing them.
    fill : bool, default=True
        Whether to fill gaps in numbers; False leaves them NaN beside the columns that mark them,
        for a step that fills them inside the folds of a cross-validation.

    Returns
    -------
    preprocessor : FramePreprocessor
        A transformer, not fitted. It returns data frames of the same library, so that names are not
        lost on the way.

    See Also
    --------
    sparsieve.FramePreprocessor : What is returned.
    sparsieve.RidgeForwardSelector : Keeps whole groups of columns by ``feature_groups``.

    Examples
    --------
    >>> import pandas as pd
    >>> from sparsieve import make_preprocessor
    >>> frame = pd.DataFrame({"age": [40, None, 61], "sex": ["m", "f", "m"]})
    >>> numbers = make_preprocessor(frame).fit_transform(frame)
    >>> numbers.columns.tolist()
    ['age', 'age=(missing)', 'sex=m']
    >>> numbers["age"].tolist()
    [40.0, 50.5, 61.0]
    """
    check_integer("max_categories", max_categories)
    check_flag("fill", fill)
    check_names(frame)
    frame = rename_to_text(frame)
    columns = open_frame(frame)
    if columns is None:
        raise TypeError(
            f"make_preprocessor takes a data frame, got {type(frame).__name__}; arrays of numbers "
            "need none, and sklearn.impute.SimpleImputer fills their gaps"
        )
    check_kinds(columns)
    plan = make_plan(
        values_of_frame(columns), gaps=AS_MARK, max_categories=max_categories, decides=False
    )
    if plan.wordy:
        raise ValueError(
            f"text columns {format_names(plan.wordy)} have more than {max_categories} "
            "different values, "
            "as names of samples do; drop them, or raise max_categories"
        )
    for said in plan.odd:
        warn_user(said)
    made, library = FramePreprocessor(plan.columns, fill=fill), frame_library(frame)
    return made.set_output(transform=library) if library in ("pandas", "polars") else made


class FramePreprocessor(TransformerMixin, BaseEstimator):
    """What :func:`~sparsieve.make_preprocessor` returns: a transformer that knows groups.

    Parameters
    ----------
    columns : sequence of RawColumn, default=()
        What kind every column is.
    fill : bool, default=True
        Whether to fill gaps in numbers with the median.

    Attributes
    ----------
    columns_ : list of RawColumn
        What is made of every column: the values, marks of gaps and medians of the training data.
    groups_ : dict of str to list of int
        For every column of the data frame the places of the columns made of it.

    See Also
    --------
    sparsieve.make_preprocessor : Turns the columns of a data frame into numbers.
    sparsieve.RidgeForwardSelector : Keeps whole groups of columns by ``feature_groups``.

    Examples
    --------
    >>> import pandas as pd
    >>> from sparsieve import make_preprocessor
    >>> frame = pd.DataFrame({"age": [40, 50, 61], "sex": ["m", "f", "m"]})
    >>> make_preprocessor(frame).fit(frame).groups_
    {'age': [0], 'sex': [1]}
    """

    def __init__(self, columns: Sequence[RawColumn] = (), *, fill: bool = True) -> None:
        self.columns = columns
        self.fill = fill

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the values of text, where gaps are, and the medians that fill them."""
        frame, values = self._values(X)
        self.columns_: list[RawColumn] = [self._learnt(one, values) for one in self.columns]
        return self._store_names(frame.columns)

    def _learnt(self, column: RawColumn, values: dict[str, RawValues]) -> RawColumn:
        read = column.convert(values[column.name])
        written = {name: getattr(column, name) for name in ("month_first", "decimal", "odd")}
        found = RawColumn.from_values(column.name, read, AS_MARK, **written)
        if not self.fill or column.kind == TEXT or read.gaps.all():
            return found
        return replace(found, fill=float(np.nanmedian(read.numbers)))  # type: ignore[arg-type]

    def ready(self, names: Sequence[str]) -> Self:
        """The same, fitted, for a frame with these columns: everything is known."""
        self.columns_ = list(self.columns)
        return self._store_names(names)

    def _store_names(self, names: Sequence[str]) -> Self:
        self.feature_names_in_: np.ndarray = np.array(list(names), dtype=object)
        self.n_features_in_: int = len(self.feature_names_in_)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The columns made of those of a data frame."""
        check_is_fitted(self)
        return stack_numbers(self.columns_, self._values(X)[1])

    def _values(self, X: Any) -> tuple[Any, dict[str, RawValues]]:
        frame = open_frame(rename_to_text(X))
        if frame is None:
            raise TypeError(
                f"{type(self).__name__} takes a data frame as make_preprocessor did, got "
                f"{type(X).__name__}"
            )
        names = [one.name for one in self.columns]
        if missing := [name for name in names if name not in frame.columns]:
            raise ValueError(f"X lacks columns that were there before: {format_names(missing)}")
        return frame, values_of_frame(frame.select(names))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns that are made."""
        check_is_fitted(self)
        return np.array([name for one in self.columns_ for name in one.outputs], dtype=object)

    @property
    def groups_(self) -> dict[str, list[int]]:
        """Places of the columns made of each column of the data frame."""
        check_is_fitted(self)
        return output_places(self.columns_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags
