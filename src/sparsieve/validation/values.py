"""Values that are numbers: finite, undamaged, one entry per place, and enough of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_consistent_length, validate_data

from .._checks import IMPUTER, no_numbers
from .dataframes import frame_library
from .scaling import sizes_at_once


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


def checked_values(estimator: Any, X: Any, y: Any) -> tuple[Any, Any, np.ndarray | None]:
    """X in memory, as an array or a sparse matrix, y, where the estimator needs one, and sizes.

    These are of the columns of a large X, because the pass that finds out whether all values are
    numbers finds them too.
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
    sizes = sizes_at_once(X)
    if sizes is None:
        is_frame = estimator._frame_library is not None
        check_finite(
            X,
            getattr(estimator, "feature_names_in_", None),
            allow_nan=estimator._accepts_nan,
            **({"imputer": "sparsieve.make_preprocessor(X)"} if is_frame else {}),
        )
    return canonical(X), y, sizes


def check_finite(
    X: Any,
    names: Sequence[Any] | np.ndarray | None = None,
    allow_nan: bool = False,
    imputer: str = IMPUTER,
) -> None:
    """Refuse infinite values, and NaN unless allowed, saying how many and in which columns.

    ``imputer`` is what the sentence proposes.
    """
    is_sparse = hasattr(X, "tocoo")
    values = X.data if is_sparse else X
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):  # one fast pass; only a suspicious sum is looked into
            return
    bad = np.isinf(values) if allow_nan else ~np.isfinite(values)
    if not bad.any():
        return
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
