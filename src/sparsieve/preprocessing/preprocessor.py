"""From the columns of a data frame to numbers, remembering which come from which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.utils.validation import check_is_fitted

from .._checks import check_flag, check_integer, listed
from ..validation.dataframes import check_names, column_kinds, frame_library, opened, text_named
from ..validation.feature_groups import GAP, SEPARATOR


def make_preprocessor(
    frame: Any, *, max_categories: int = 20, fill: bool = True
) -> FramePreprocessor:
    """Make a transformer that turns the columns of a data frame into numbers.

    Numbers and truth values stay as they are; their gaps are filled with the median, and a further
    column says where they were. Text and categories become one column of zeros and ones per
    value, a missing one being a value of its own; of two values only the second, in order, as the
    first is its complement. Dates and times become days since 1970,
    durations days. The new columns are called ``sex=female``, ``age=(missing)``: what stands before
    ``=`` is the column that they come from, and
    ``feature_groups="categories"`` of selectors keeps or drops them together.

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
        A ColumnTransformer of scikit-learn, not fitted. It returns data frames of the same
        library, so that names are not lost on the way.

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
    frame = text_named(frame)
    columns = opened(frame)
    if columns is None:
        raise TypeError(
            f"make_preprocessor takes a data frame, got {type(frame).__name__}; arrays of numbers "
            "need none, and sklearn.impute.SimpleImputer fills their gaps"
        )
    kinds = column_kinds(columns)
    of_kind = {kind: [n for n, k in kinds.items() if k == kind] for kind in set(kinds.values())}
    check_kinds(kinds)
    text = of_kind.get("text", [])
    wordy = [name for name in text if columns.get_column(name).n_unique() > max_categories]
    if wordy:
        raise ValueError(
            f"text columns {listed(wordy)} have more than {max_categories} different values, as "
            "names of samples do; drop them, or raise max_categories"
        )
    numbers = NumberImputer if fill else GapMarker
    reader = FunctionTransformer(days, feature_names_out="one-to-one", check_inverse=False)
    parts = [
        ("numbers", numbers(), of_kind.get("number", [])),
        ("categories", encoder_of_text(), text),
        ("dates", make_pipeline(reader, numbers()), of_kind.get("date or time", [])),
    ]
    return preprocessor_of(frame, parts)


def preprocessor_of(frame: Any, parts: Sequence[tuple[str, Any, list[str]]]) -> FramePreprocessor:
    """The parts that have columns together; columns in none of them are left out."""
    made = FramePreprocessor([part for part in parts if part[2]], verbose_feature_names_out=False)
    library = frame_library(frame)
    return made.set_output(transform=library) if library in ("pandas", "polars") else made


def check_kinds(kinds: Mapping[Any, str]) -> None:
    """Refuse columns that are neither numbers, text nor dates."""
    strange = [name for name, kind in kinds.items() if kind in ("complex", "other")]
    if strange:
        raise TypeError(
            f"columns {listed(strange)} hold neither real numbers, text nor dates; drop or convert "
            "them"
        )


class FramePreprocessor(ColumnTransformer):
    """What :func:`~sparsieve.make_preprocessor` returns: a ColumnTransformer that knows groups.

    Parameters and attributes are those of :class:`sklearn.compose.ColumnTransformer`.

    Attributes
    ----------
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

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Fit, and transform the same frame; names of columns are read as text."""
        return super().fit_transform(_readable(X), y, **params)

    def transform(self, X: Any, **params: Any) -> Any:
        """The columns made of those of a data frame."""
        return super().transform(_readable(X), **params)

    @property
    def groups_(self) -> dict[str, list[int]]:
        """Places of the columns made of each column of the data frame."""
        check_is_fitted(self)
        names = [str(name) for name in self.get_feature_names_out()]
        used = [columns for _, part, columns in self.transformers_ if not isinstance(part, str)]
        sources = [column for columns in used for column in columns]
        found: dict[str, list[int]] = {str(column): [] for column in sources}
        for place, name in enumerate(names):
            # A column may have the separator in its own name.
            source = name if name in found else name.rpartition(SEPARATOR)[0]
            while source and source not in found:
                source = source.rpartition(SEPARATOR)[0]
            found[source].append(place)
        return found


def _readable(X: Any) -> Any:
    """The frame with names that are text, and None where pandas' own text has NA."""
    X = text_named(X)
    if frame_library(X) != "pandas":
        return X
    text = [name for name in X.columns if str(X[name].dtype).startswith("string")]
    gaps = [name for name in text if X[name].isna().any()]
    return X.assign(**{name: X[name].astype(object).where(X[name].notna(), None) for name in gaps})


class NumberImputer(SimpleImputer):
    """Fills gaps in columns of numbers; the column that marks them is called ``age=(missing)``."""

    def __init__(self, *, strategy: str = "median", add_indicator: bool = True) -> None:
        super().__init__(strategy=strategy, add_indicator=add_indicator)

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> np.ndarray:
        """Names of the columns and, after them, of the marks of their gaps."""
        names = super().get_feature_names_out(input_features)
        n_marks = 0 if self.indicator_ is None else len(self.indicator_.features_)
        first = len(names) - n_marks
        marks = [
            f"{name.removeprefix('missingindicator_')}{SEPARATOR}{GAP}" for name in names[first:]
        ]
        return np.array([*names[:first], *marks], dtype=object)


class GapMarker(NumberImputer):
    """Marks gaps in columns of numbers in the same way, but leaves them NaN."""

    def transform(self, X: Any) -> np.ndarray:
        """The columns with their gaps, then their marks."""
        made = np.array(super().transform(X), dtype=np.float64)
        marked = [] if self.indicator_ is None else self.indicator_.features_.tolist()
        kept = ~np.isnan(np.asarray(self.statistics_, dtype=np.float64))  # columns with values
        first, place = int(kept.sum()), np.cumsum(kept) - 1
        for mark, j in enumerate(marked):
            if kept[j]:
                made[made[:, first + mark] > 0, place[j]] = np.nan
        return made


def encoder_of_text() -> OneHotEncoder:
    """What makes columns of zeros and ones, one for each value; of two values one has a column."""
    return OneHotEncoder(
        drop="if_binary",  # two complementary columns say the same
        handle_unknown="ignore",  # all zeros, as for a value that says nothing
        sparse_output=False,
        feature_name_combiner=_value_name,
    )


def _value_name(column: str, value: Any) -> str:
    is_gap = value is None or value != value
    return f"{column}{SEPARATOR}{GAP if is_gap else value}"


def days(frame: Any) -> np.ndarray:
    """Dates and times as days since 1970, durations and times of day as days; NaN where missing.

    Examples
    --------
    >>> import pandas as pd
    >>> from sparsieve.preprocessing.preprocessor import days
    >>> days(pd.DataFrame({"when": pd.to_datetime(["1970-01-02", "1971-01-01"])})).tolist()
    [[1.0], [365.0]]
    """
    columns = opened(frame)
    return np.column_stack([in_days(columns.get_column(name)) for name in columns.columns])


def in_days(column: Any) -> np.ndarray:
    """The dates of one column as days."""
    import narwhals as nw

    dtype = column.dtype
    if dtype == nw.Time:
        parts = [np.nan if t is None else _seconds_of_day(t) for t in column.to_list()]
        return np.array(parts, dtype=np.float64) / 86_400.0
    if dtype == nw.Date:
        column = column.cast(nw.Datetime("us"))
    elif dtype == nw.Datetime and dtype.time_zone is not None:
        column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    elif dtype not in (nw.Datetime, nw.Duration):  # pandas' periods
        column = nw.from_native(column.to_native().dt.to_timestamp(), series_only=True)
    values = column.to_numpy().astype("m8[us]" if dtype == nw.Duration else "M8[us]")
    found = values.astype("int64").astype(np.float64) / 86_400e6
    found[np.isnat(values)] = np.nan
    return found


def _seconds_of_day(moment: Any) -> float:
    return 3600 * moment.hour + 60 * moment.minute + moment.second + 1e-6 * moment.microsecond
