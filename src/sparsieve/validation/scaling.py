"""Numbers whose squares are no numbers: columns of X change their unit, the rest is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..design import parallel_passes
from ..design.base import COLUMN_LIMITS, COMPILED_BYTES

# Sizes of real targets whose squares neither overflow nor vanish.
TARGET_LIMITS = {np.dtype(np.float64): 1e70, np.dtype(np.float32): 1e30}


def sizes_at_once(X: Any) -> np.ndarray | None:
    """Largest absolute value of every column, where one fast pass finds it.

    None for a small X, a sparse one, and one that holds what is no number.
    """
    is_large = isinstance(X, np.ndarray) and X.nbytes > COMPILED_BYTES
    if not is_large or not X.flags.c_contiguous or X.dtype not in COLUMN_LIMITS:
        return None
    sizes = parallel_passes.column_sizes(X)
    return sizes.astype(np.float64) if np.isfinite(sizes).all() else None


def with_usual_columns(
    X: Any, *, scale_free: bool, owner: str, sizes: np.ndarray | None = None
) -> tuple[Any, np.ndarray | None]:
    """X with columns of extreme size divided by powers of two, and these powers.

    (X, None) where nothing is extreme. Only a model that does not depend on the scale of the
    columns may have them rescaled; for others X as a whole must be of a usual size. ``sizes`` are
    those of the columns, where they are known.
    """
    limit = COLUMN_LIMITS[np.dtype(X.dtype)]
    if sizes is None:
        if not _may_be_extreme(X, limit):
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
    largest = float(np.abs(y.astype(np.float64)).max(initial=0.0))
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


def _may_be_extreme(X: Any, limit: float) -> bool:
    """One fast pass over X, and a look at a few rows for columns that may be tiny."""
    values = X.data if sparse.issparse(X) else X
    if values.size == 0:
        return False
    letters = "ij"[: values.ndim]
    with np.errstate(over="ignore", invalid="ignore"):
        power = np.einsum(f"{letters},{letters}->", values, values)
    if not power <= limit**2:
        return True
    if sparse.issparse(X):
        sizes = np.abs(values)
        if sizes.min() == 0:  # zeros that are stored
            sizes = sizes[sizes > 0]
        return bool(sizes.min(initial=np.inf) < 1.0 / limit)
    some = X[:: max(1, len(X) // 32)]
    tiny = np.flatnonzero(np.maximum(some.max(axis=0), -some.min(axis=0)) < 1.0 / limit)
    if not len(tiny):
        return False
    rest = np.abs(X[:, tiny]).max(axis=0)
    return bool(((rest > 0) & (rest < 1.0 / limit)).any())


def _column_sizes(X: Any) -> np.ndarray:
    """Largest absolute value of every column; missing values do not count."""
    if not sparse.issparse(X):
        return np.fmax.reduce(np.abs(X), axis=0, initial=0.0).astype(np.float64)
    return abs(X).max(axis=0).toarray().ravel().astype(np.float64)
