"""From whatever a user passes to plain arrays, or one sentence on what it is and what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .._wings import find_server
from .dataframes import check_numbers, native, objects_as_numbers
from .values import check_sparse


def plain_matrix(X: Any) -> Any:
    """X as something that scikit-learn can validate; data frames and sparse matrices pass."""
    if hasattr(X, "obs") and hasattr(X, "var") and hasattr(X, "X"):
        raise TypeError(
            f"X is an {type(X).__name__} object, not a matrix; pass its matrix X.X, and a column "
            "of X.obs as y, or pass the whole object to sparsieve.select(X, 'name of a column of "
            "obs')"
        )
    if type(X).__name__ == "LazyFrame":
        raise TypeError("X is a LazyFrame, whose values are not known yet; pass X.collect()")
    X = native(X)
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        check_numbers(X)
        return objects_as_numbers(X)
    if sparse.issparse(X):
        _check_kind("X", X.dtype)
        _check_structure(X)
        return X
    X = _plain("X", X)
    if isinstance(X, np.ndarray):
        _check_kind("X", X.dtype)
        if X.dtype.kind == "O":
            _refuse_missing("X", X)
        if X.dtype.kind in "OUS":
            _refuse_text(X)
    _check_table(X)
    return X


def fetch_values(name: str, values: Any) -> Any:
    """Values that are on a device or a cluster, in memory: a target, weights, selected columns."""
    fetch = find_server("sparsieve.arrays", values)
    return values if fetch is None else fetch(name, values)


def plain_vector(name: str, values: Any) -> Any:
    """A target or weights as a plain array without missing values, dates or complex numbers."""
    if values is None:
        return None
    if type(values).__name__ == "LazyFrame":
        raise TypeError(f"{name} is a LazyFrame, whose values are not known yet; pass collect()")
    values = fetch_values(name, values)
    if sparse.issparse(values):
        _check_kind(name, values.dtype)
        return values
    plain = _plain(name, values)
    array = plain if isinstance(plain, np.ndarray) else _array(name, plain)
    _check_kind(name, array.dtype)
    if array.dtype.kind == "U" and isinstance(values, list | tuple):
        array = np.asarray(values, dtype=object)  # NumPy turns gaps and numbers beside text to text
    if array.dtype.kind == "O":
        _refuse_missing(name, array)
        if len({isinstance(value, str) for value in array.ravel()}) == 2:
            raise TypeError(f"{name} mixes text with other labels; convert them all to text")
    return plain


def _check_structure(X: Any) -> None:
    """Refuse a compressed matrix whose indices lead outside: products with it may crash."""
    if X.format not in ("csr", "csc"):
        return
    same = sparse.csr_array if X.format == "csr" else sparse.csc_array
    try:  # SciPy's check may shorten what it looks at, which must not be the user's own
        check_sparse(same((X.data, X.indices, X.indptr), shape=X.shape))
    except ValueError as error:
        raise ValueError(
            f"X is a damaged sparse matrix: {error}; rebuild it from its entries"
        ) from None


def _check_table(X: Any) -> None:
    """Refuse what has no rows and columns; what it cannot know is left to scikit-learn."""
    if X is None or isinstance(X, dict | str | bytes | int | float | np.generic | np.matrix):
        name = "None" if X is None else f"a {type(X).__name__}"
        raise TypeError(f"X is {name}, not a table of numbers; pass a 2D array or a data frame")
    if isinstance(X, np.ndarray) and X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, but X has {X.ndim} dimension{'s' * (X.ndim != 1)}. Reshape your "
            "data using X.reshape(-1, 1) if it is a single feature or X.reshape(1, -1) if it is a "
            "single sample"
        )
    if getattr(X, "ndim", 2) == 1:  # of a data frame's column
        raise ValueError(
            f"X must be a 2D array of samples x features, got a 1D array of length {len(X)}; "
            "use X.reshape(-1, 1) for a single feature"
        )


def _refuse_text(X: np.ndarray) -> None:
    for value in X.ravel():
        if isinstance(value, str | bytes):
            try:
                float(value)
            except ValueError:
                raise ValueError(
                    f"X holds text, such as {value[:40]!r}, which cannot be converted to a "
                    "number; encode it, for example with sklearn.preprocessing.OneHotEncoder"
                ) from None


def _plain(name: str, values: Any) -> Any:
    """Lists, tensors and masked arrays as arrays."""
    if isinstance(values, np.ma.MaskedArray):
        if np.ma.getmaskarray(values).any():
            count = int(np.ma.getmaskarray(values).sum())
            raise ValueError(
                f"{name} is a masked array with {count} masked value{'s' * (count != 1)}; drop or "
                "fill them, for example with .filled()"
            )
        return values.data
    if type(values).__module__.partition(".")[0] == "torch":
        return fetch_values(name, values)
    if isinstance(values, np.ndarray) or not hasattr(values, "__array__"):
        return _array(name, values) if isinstance(values, list | tuple) else values
    array = _array(name, values)
    # Labels of the types of pandas would come out of scikit-learn as floating-point numbers.
    has_own_type = hasattr(values, "iloc") and isinstance(getattr(values, "dtype", None), np.dtype)
    return values if has_own_type or array.ndim > 1 else array


def _array(name: str, values: Any) -> np.ndarray:
    try:
        return np.asarray(values)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        if "inhomogeneous" in reason or "sequence" in reason:
            reason = "its rows have different lengths"
        raise ValueError(
            f"{name} cannot be read as an array ({reason}); pass a NumPy array of numbers"
        ) from None


def _check_kind(name: str, dtype: np.dtype) -> None:
    """Refuse dtypes that are no numbers or labels."""
    if dtype.kind == "c":
        raise ValueError(
            f"Complex data not supported: {name} holds complex numbers; pass their real parts or "
            "absolute values"
        )
    if dtype.kind in "mM":
        raise TypeError(
            f"{name} holds dates or times; convert them to numbers (such as days) or class labels"
        )
    if dtype.kind == "V":
        what = "has named fields" if dtype.names else f"has the dtype {dtype}"
        raise TypeError(f"{name} {what}, which is not a plain number; convert it to float32 first")


def _refuse_missing(name: str, array: np.ndarray) -> None:
    """None, NA and NaT in an array of objects; complex numbers as well."""
    values = array.ravel()
    missing = sum(map(_is_missing, values))
    if missing:
        raise ValueError(
            f"Input {name} contains NaN or missing values ({missing} of {values.size}); drop or "
            "impute them"
        )
    if any(isinstance(value, complex | np.complexfloating) for value in values):
        _check_kind(name, np.dtype(complex))
    if any(isinstance(value, np.datetime64 | np.timedelta64) for value in values):
        _check_kind(name, np.dtype("M8[s]"))


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return isinstance(value, float | np.floating) and bool(value != value)
