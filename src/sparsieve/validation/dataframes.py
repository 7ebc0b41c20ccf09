"""Questions about data frames of any library, asked through narwhals."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime
from numbers import Real
from typing import Any

import numpy as np

from .._checks import format_names
from .._imports import available
from .written import is_gap

_PLAIN = "biuf"  # kinds of NumPy dtypes that are numbers


def open_frame(X: Any) -> Any:
    """The data frame as narwhals sees it, or None for anything else."""
    if not hasattr(X, "columns") and not hasattr(X, "column_names"):
        return None  # without narwhals, which takes a while to load
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def frame_library(X: Any) -> str | None:
    """Name of the library whose data frame this is, or None for plain arrays.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.validation.dataframes import frame_library
    >>> frame_library(np.zeros((2, 2))) is None
    True
    """
    check_names(X)
    frame = open_frame(X)
    return None if frame is None else str(frame.implementation)


def check_names(X: Any) -> None:
    """Refuse names that mean more than one column."""
    names = getattr(X, "columns", None)
    if names is None or getattr(names, "is_unique", False):
        return
    try:
        repeated = [name for name, count in Counter(list(names)).items() if count > 1]
    except TypeError:
        return  # not names
    if repeated:
        raise ValueError(
            f"X has duplicate column names: {format_names(repeated)}; rename or drop the copies, "
            "because a name must identify one column"
        )


def rename_to_text(X: Any) -> Any:
    """The data frame with names of columns that are text: 7 becomes "7"; others as they are.

    A table of PyArrow becomes a data frame, and one of narwhals that of its own library.

    Examples
    --------
    >>> import pandas as pd
    >>> from sparsieve.validation.dataframes import rename_to_text
    >>> list(rename_to_text(pd.DataFrame({7: [1.0], "a": [2.0]})).columns)
    ['7', 'a']
    """
    if hasattr(X, "column_names") and hasattr(X, "to_pandas"):
        return _of_arrow(X)
    X = native(X)
    names = getattr(X, "columns", None)
    if names is None or not hasattr(X, "iloc"):
        return X
    if not [kind for kind in set(map(type, names)) if not issubclass(kind, str)]:
        return X  # only pandas has other names
    X = X.copy(deep=False)
    X.columns = [str(name) for name in names]
    check_names(X)
    return X


def native(X: Any) -> Any:
    """The data frame inside one of narwhals, whose names scikit-learn would not see."""
    is_narwhals = type(X).__module__.partition(".")[0] == "narwhals"
    return X.to_native() if is_narwhals and hasattr(X, "to_native") else X


def _of_arrow(table: Any) -> Any:
    """A table of PyArrow as a data frame of polars or pandas, whichever is there; else as it is."""
    if (polars := available("polars")) is not None:
        return polars.from_arrow(table)
    return table if available("pandas") is None else table.to_pandas()


def check_numbers(X: Any) -> None:
    """Refuse a data frame with columns that are no numbers, with one sentence that names them."""
    check_names(X)
    if not len(X.columns):
        raise ValueError("X is a data frame with 0 features (columns); at least 1 is needed")
    if {getattr(dtype, "kind", "O") for dtype in set(getattr(X, "dtypes", "x"))} <= set(_PLAIN):
        return  # the usual case, also of tens of thousands of columns
    frame = open_frame(X)
    if frame is None:
        return
    kinds = column_kinds(frame)
    found = {
        what: [name for name, kind in kinds.items() if kind == what]
        for what in ("text", "date or time", "complex")
    }
    parts = [f"{what} columns: {format_names(names)}" for what, names in found.items() if names]
    if not parts:
        return
    if found["complex"]:
        raise TypeError(f"X has {' and '.join(parts)}; convert them to real numbers or drop them")
    gaps = [name for name in columns_with_gaps(frame) if kinds[name] == "number"]
    if gaps:
        parts.append(f"columns with missing values: {format_names(gaps)}")
    kind = TypeError if found["date or time"] else ValueError
    raise kind(
        f"X has {', '.join(parts)}; convert them with sparsieve.make_preprocessor(X) in front of "
        "the selector, or drop them"
    )


def is_plain(dtype: Any) -> bool:
    """Whether this dtype of a column is one of NumPy's own for numbers."""
    return isinstance(dtype, np.dtype) and dtype.kind in _PLAIN


def column_kinds(frame: Any) -> dict[Any, str]:
    """What every column holds, as :func:`column_kind` says it."""
    return {
        name: _kind_of_type(dtype) or _kind_of_objects(frame.get_column(name))
        for name, dtype in frame.schema.items()
    }


def column_kind(column: Any) -> str:
    """What a column holds: "number", "text", "date or time", "complex" or "other".

    Categories count as text, truth values as numbers.
    """
    return _kind_of_type(column.dtype) or _kind_of_objects(column)


def _kind_of_type(dtype: Any) -> str:
    """What a column of this type holds; empty where the library itself has no word for it."""
    import narwhals as nw

    if dtype.is_numeric() or dtype == nw.Boolean:
        return "number"
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return "text"
    return "date or time" if dtype.is_temporal() else ""


def _kind_of_objects(column: Any) -> str:
    native = str(getattr(column.to_native(), "dtype", "")).lower()
    if native.startswith("complex"):
        return "complex"
    if native.startswith("period"):
        return "date or time"
    values = [value for value in column.to_list() if not is_gap(value, ())]
    if any(isinstance(value, str) for value in values):
        return "text"
    if all(isinstance(value, Real | np.bool_) for value in values):
        return "number"
    is_date = all(isinstance(value, date | np.datetime64) for value in values)
    return "date or time" if is_date else "other"


def objects_as_numbers(X: Any) -> Any:
    """A data frame of pandas whose objects that are all numbers are numbers; gaps are NaN."""
    if not hasattr(X, "iloc") or "O" not in {dtype.kind for dtype in set(X.dtypes)}:
        return X
    if (frame := open_frame(X)) is None:
        return X
    columns = [
        frame.get_column(name)
        for name, dtype in X.dtypes.items()
        if isinstance(dtype, np.dtype) and dtype.kind == "O"
    ]
    found = {
        column.name: [np.nan if is_gap(one) else float(one) for one in column.to_list()]
        for column in columns
        if column_kind(column) == "number"
    }
    if found:
        X = X.copy(deep=False)
        for name, values in found.items():
            X[name] = np.array(values, dtype=np.float64)
    return X


def check_kinds(frame: Any) -> None:
    """Refuse columns that are neither numbers, text nor dates."""
    kinds = column_kinds(frame)
    strange = [name for name, kind in kinds.items() if kind in ("complex", "other")]
    if strange:
        raise TypeError(
            f"columns {format_names(strange)} hold neither real numbers, text nor dates; drop "
            "or convert "
            "them"
        )


def in_days(column: Any) -> np.ndarray:
    """Dates and times of a column as days since 1970, durations and times of day as days.

    Examples
    --------
    >>> import narwhals as nw
    >>> import pandas as pd
    >>> from sparsieve.validation.dataframes import in_days
    >>> when = pd.Series(pd.to_datetime(["1970-01-02", None]))
    >>> in_days(nw.from_native(when, series_only=True)).tolist()
    [1.0, nan]
    """
    import narwhals as nw

    dtype = column.dtype
    if dtype == nw.Object:
        moments = [_moment(value) for value in column.to_list()]
        return _since_1970(np.array(moments, dtype="M8[us]"))
    if dtype == nw.Time:
        parts = [np.nan if t is None else _seconds_of_day(t) for t in column.to_list()]
        return np.array(parts, dtype=np.float64) / 86_400.0
    if dtype == nw.Date:
        column = column.cast(nw.Datetime("us"))
    elif dtype == nw.Datetime and dtype.time_zone is not None:
        column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    elif dtype not in (nw.Datetime, nw.Duration):  # pandas' periods
        column = nw.from_native(column.to_native().dt.to_timestamp(), series_only=True)
    return _since_1970(column.to_numpy().astype("m8[us]" if dtype == nw.Duration else "M8[us]"))


def _moment(value: Any) -> np.datetime64:
    if is_gap(value):
        return np.datetime64("NaT")
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(value, "us")


def _since_1970(values: np.ndarray) -> np.ndarray:
    found = values.astype("int64").astype(np.float64) / 86_400e6
    found[np.isnat(values)] = np.nan
    return found


def _seconds_of_day(moment: Any) -> float:
    return 3600 * moment.hour + 60 * moment.minute + moment.second + 1e-6 * moment.microsecond


def make_frame(values: Any, names: list[str], library: str, like: Any = None) -> Any:
    """Columns as a data frame of a library; the rows are called as those of ``like``."""
    if hasattr(values, "toarray"):
        values = values.toarray()
    if library == "pandas":
        import pandas as pd

        index = getattr(like, "index", None)
        if not isinstance(index, pd.Index):
            index = getattr(like, "obs_names", None)
        return pd.DataFrame(values, columns=names, index=index)
    import polars as pl

    return pl.DataFrame(values, schema=names, orient="row")


def columns_with_gaps(frame: Any) -> list[Any]:
    """Names of the columns in which a value is missing: null or NaN."""
    import narwhals as nw

    nulls = frame.select(nw.all().null_count()).row(0)
    gaps = {name for name, count in zip(frame.columns, nulls, strict=True) if count}
    for name, dtype in frame.schema.items():
        if dtype.is_float() and name not in gaps and frame.get_column(name).is_nan().any():
            gaps.add(name)
    return [name for name in frame.columns if name in gaps]
