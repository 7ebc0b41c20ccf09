"""Values that are numbers: finite, undamaged, of a size whose squares are numbers too."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_consistent_length, validate_data

from .._checks import IMPUTER, no_numbers
from ..design import parallel_passes
from ..design.base import COLUMN_LIMITS
from .dataframes import frame_library

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
