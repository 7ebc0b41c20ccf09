"""Questions about data frames of any library, asked through narwhals."""

from __future__ import annotations

from collections import Counter
from typing import Any

from .._checks import listed
from .._optional import available

_PLAIN = "biuf"  # kinds of NumPy dtypes that are numbers


def opened(X: Any) -> Any:
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
    frame = opened(X)
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
            f"X has duplicate column names: {listed(repeated)}; rename or drop the copies, "
            "because a name must identify one column"
        )


def text_named(X: Any) -> Any:
    """The data frame with names of columns that are text: 7 becomes "7"; others as they are.

    A table of PyArrow becomes a data frame.

    Examples
    --------
    >>> import pandas as pd
    >>> from sparsieve.validation.dataframes import text_named
    >>> list(text_named(pd.DataFrame({7: [1.0], "a": [2.0]})).columns)
    ['7', 'a']
    """
    if hasattr(X, "column_names") and hasattr(X, "to_pandas"):
        return _of_arrow(X)
    names = getattr(X, "columns", None)
    if names is None or not hasattr(X, "iloc") or all(isinstance(name, str) for name in names):
        return X  # only pandas has other names
    X = X.copy(deep=False)
    X.columns = [str(name) for name in names]
    check_names(X)
    return X


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
    if all(getattr(dtype, "kind", "O") in _PLAIN for dtype in set(getattr(X, "dtypes", "x"))):
        return  # the usual case, also of tens of thousands of columns
    frame = opened(X)
    if frame is None:
        return
    kinds = column_kinds(frame)
    found = {
        what: [name for name, kind in kinds.items() if kind == what]
        for what in ("text", "date or time", "complex")
    }
    parts = [f"{what} columns: {listed(names)}" for what, names in found.items() if names]
    if not parts:
        return
    if found["complex"]:
        raise TypeError(f"X has {' and '.join(parts)}; convert them to real numbers or drop them")
    gaps = [name for name in columns_with_gaps(frame) if kinds[name] == "number"]
    if gaps:
        parts.append(f"columns with missing values: {listed(gaps)}")
    kind = TypeError if found["date or time"] else ValueError
    raise kind(f"X has {', '.join(parts)}; {REMEDY}, or drop them")


REMEDY = "convert them with sparsieve.make_preprocessor(X) in front of the selector"


def column_kinds(frame: Any) -> dict[Any, str]:
    """What every column holds: "number", "text", "date or time", "complex" or "other".

    Categories count as text, truth values as numbers.
    """
    import narwhals as nw

    kinds: dict[Any, str] = {}
    for name, dtype in frame.schema.items():
        if dtype.is_numeric() or dtype == nw.Boolean:
            kinds[name] = "number"
        elif dtype in (nw.String, nw.Categorical, nw.Enum):
            kinds[name] = "text"
        elif dtype.is_temporal():
            kinds[name] = "date or time"
        else:
            kinds[name] = _kind_of_objects(frame, name)
    return kinds


def _kind_of_objects(frame: Any, name: Any) -> str:
    """What a column holds that the library itself has no word for."""
    column = frame.get_column(name)
    native = str(getattr(column.to_native(), "dtype", "")).lower()
    if native.startswith("complex"):
        return "complex"
    if native.startswith("period"):
        return "date or time"
    values = [value for value in column.to_list() if value is not None and value == value]
    if any(isinstance(value, str) for value in values):
        return "text"
    is_number = all(isinstance(value, bool | int | float) for value in values)
    return "number" if is_number else "other"


def columns_with_gaps(frame: Any) -> list[Any]:
    """Names of the columns in which a value is missing: null or NaN."""
    import narwhals as nw

    nulls = frame.select(nw.all().null_count()).row(0)
    gaps = {name for name, count in zip(frame.columns, nulls, strict=True) if count}
    for name, dtype in frame.schema.items():
        if dtype.is_float() and name not in gaps and frame.get_column(name).is_nan().any():
            gaps.add(name)
    return [name for name in frame.columns if name in gaps]
