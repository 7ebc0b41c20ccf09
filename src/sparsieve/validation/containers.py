"""From whatever a user passes to plain arrays, or one sentence on what it is and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_consistent_length, validate_data

from .._checks import IMPUTER, no_numbers
from .._wings import find_server
from ..design import parallel_passes
from ..design.base import COLUMN_LIMITS
from .dataframes import check_numbers, frame_library, native, objects_as_numbers


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
    if values is None or (type(values) is np.ndarray and values.dtype.kind in "biuf"):
        return values
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


# Sizes of real targets whose squares neither overflow nor vanish.
TARGET_LIMITS = {np.dtype(np.float64): 1e70, np.dtype(np.float32): 1e30}


def power(X: Any) -> float:
    """The sum of all squares in one fast pass: no finite number where a value is none."""
    values = X.data if sparse.issparse(X) else X
    with np.errstate(over="ignore", invalid="ignore"):
        if parallel_passes.can_stream(values):
            values = values.ravel(order="K")
            return float(values @ values)
        return float(np.einsum("ij,ij->", values, values))


def with_usual_columns(
    X: Any, *, scale_free: bool, owner: str, known: float | None = None
) -> tuple[Any, np.ndarray | None]:
    """X with columns of extreme size divided by powers of two, and these powers.

    (X, None) where nothing is extreme. Only a model that does not depend on the scale of the
    columns may have them rescaled; for others X as a whole must be of a usual size. ``known`` is
    the power of X, or of more rows.
    """
    limit = COLUMN_LIMITS[np.dtype(X.dtype)]
    if not _may_be_extreme(X, limit, power(X) if known is None else known):
        return X, None
    sizes = _column_sizes(X)
    if not scale_free:
        largest = float(sizes.max(initial=0.0))
        if largest > limit or 0.0 < largest < 1.0 / limit:
            raise ValueError(_sentence("X", largest, f"{owner} does not rescale columns"))
        return X, None
    extreme = (sizes > limit) | ((sizes < 1.0 / limit) & (sizes > 0.0))
    if not extreme.any():
        return X, None
    exponents = np.where(extreme, np.frexp(sizes)[1], 0)
    if sparse.issparse(X):
        X = X.copy()
        columns = (
            X.indices if X.format == "csr" else np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
        )
        X.data = np.ldexp(X.data, -exponents[columns])
    else:
        X = np.ldexp(X, -exponents).astype(X.dtype, copy=False)
    return X, np.ldexp(1.0, exponents)


def check_target_size(y: np.ndarray, dtype: Any) -> None:
    """Refuse real targets whose squares are no numbers."""
    y = y.astype(np.float64, copy=False)
    largest = float(max(y.max(initial=0.0), -y.min(initial=0.0)))
    limit = TARGET_LIMITS[np.dtype(dtype)]
    if largest > limit or 0.0 < largest < 1.0 / limit:
        raise ValueError(_sentence("y", largest, "their squares would overflow or underflow"))


def _sentence(name: str, largest: float, why: str) -> str:
    small = largest < 1.0
    where = "only absolute values up to" if small else "values as large as"
    remedy = (
        f"multiply {name} by a large constant" if small else f"divide {name} by a large constant"
    )
    return f"{name} holds {where} {largest:.3g}, and {why}; {remedy}"


def _may_be_extreme(X: Any, limit: float, total: float) -> bool:
    """Whether its power says so, or a look at a few rows for columns that may be tiny."""
    if not total <= limit**2:
        return True
    if sparse.issparse(X):
        sizes = np.abs(X.data)
        return bool(sizes[sizes > 0].min(initial=np.inf) < 1.0 / limit)  # stored zeros apart
    tiny = np.arange(X.shape[1])
    for row in X[:: max(1, len(X) // 32)]:
        if not len(tiny := tiny[np.abs(row[tiny]) < 1.0 / limit]):
            return False
    rest = np.abs(X[:, tiny]).max(axis=0)
    return bool(((rest > 0) & (rest < 1.0 / limit)).any())


def _column_sizes(X: Any) -> np.ndarray:
    """Largest absolute value of every column; missing values do not count."""
    if not sparse.issparse(X):
        return np.fmax.reduce(np.abs(X), axis=0, initial=0.0).astype(np.float64)
    return abs(X).max(axis=0).toarray().ravel().astype(np.float64)


@contextmanager
def naming_arguments() -> Iterator[None]:
    """Say of which argument scikit-learn speaks where its own message does not."""
    try:
        yield
    except ValueError as error:
        message = str(error)
        if re.search(r"(?<!\w)[Xy](?!\w)", message.partition("\n")[0]):
            raise
        both = "inconsistent numbers of samples" in message
        raise ValueError(f"{'X and y' if both else 'X'}: {message}") from None


def checked_values(estimator: Any, X: Any, y: Any) -> tuple[Any, Any, float]:
    """X in memory, as an array or a sparse matrix, y, where the estimator needs one, and power.

    This is what tells whether all values of X are numbers.
    """
    estimator._frame_library = frame_library(X)  # what tables of the result are made with
    checks: Any = {
        "accept_sparse": ("csr", "csc") if estimator._accepts_sparse else False,
        "dtype": (np.float64, np.float32),
        "ensure_all_finite": False,
        "ensure_min_samples": 2,
    }
    with naming_arguments():
        if y is None and not estimator.__sklearn_tags__().target_tags.required:
            X = validate_data(estimator, X, **checks)
        elif getattr(getattr(y, "dtype", None), "names", None):
            # Survival times, which were checked already; scikit-learn knows no such y.
            X = validate_data(estimator, X, **checks)
            check_consistent_length(X, y)
        else:
            X, y = validate_data(estimator, X, y, multi_output=True, **checks)
    is_frame = estimator._frame_library is not None
    total = check_finite(
        X,
        getattr(estimator, "feature_names_in_", None),
        allow_nan=estimator._accepts_nan,
        **({"imputer": "sparsieve.make_preprocessor(X)"} if is_frame else {}),
    )
    return canonical(X), y, total


def check_finite(
    X: Any,
    names: Sequence[Any] | np.ndarray | None = None,
    allow_nan: bool = False,
    imputer: str = IMPUTER,
) -> float:
    """Refuse infinite values, and NaN unless allowed, saying how many and in which columns.

    ``imputer`` is what the sentence proposes. Returns the power of X.
    """
    total = power(X)
    if np.isfinite(total):  # only a suspicious sum is looked into
        return total
    is_sparse = sparse.issparse(X)
    values = X.data if is_sparse else X
    bad = np.isinf(values) if allow_nan else ~np.isfinite(values)
    if not bad.any():
        return total
    n_infinite = int(np.isinf(values[bad]).sum())
    if is_sparse:
        where = np.unique(X.tocoo().coords[1][bad])
    else:
        where = np.flatnonzero(bad.any(axis=0))
    labels = [names[j] for j in where] if names is not None else [int(j) for j in where]
    raise no_numbers(int(bad.sum()) - n_infinite, n_infinite, labels, imputer)


def check_finite_target(y: Any) -> None:
    """Refuse quantities that are no numbers; what is no array is left to others."""
    if not isinstance(y, np.ndarray) or y.dtype.kind != "f" or np.isfinite(y).all():
        return
    bad = ~np.isfinite(y)
    infinite = np.isinf(y[bad])
    kind = "infinite" if infinite.all() else "NaN or infinite" if infinite.any() else "NaN"
    kept = "np.isfinite(y)" if y.ndim == 1 else "np.isfinite(y).all(axis=1)"
    raise ValueError(
        f"Input y contains {kind} values ({int(bad.sum()):,} of {y.size:,}); leave these samples "
        f"out: keep = {kept}; X[keep], y[keep]"
    )


def check_sparse(matrix: Any) -> None:
    """Refuse a compressed matrix whose indices lead outside: what is done with it may crash.

    SciPy's own check leaves the pointers of a matrix without entries alone.
    """
    matrix.check_format(full_check=True)
    if (np.diff(matrix.indptr) < 0).any():
        raise ValueError("the index pointers of a sparse matrix decrease")


def canonical(X: Any) -> Any:
    """A sparse matrix with one sorted entry per place; the user's own is never changed."""
    if not sparse.issparse(X) or X.has_canonical_format:
        return X
    X = X.copy()
    X.sum_duplicates()  # sorts as well
    return X
