"""X and y for other people's code, which must not write into the user's data."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import numpy as np
from scipy import sparse
from sklearn.base import clone

from ..design.parallel_passes import read_only
from .base import BaseSelector

_READ_ONLY_ERROR = re.compile(r"read[- ]?only|not writ(e)?able|non-writ(e)?able", re.IGNORECASE)
Found = TypeVar("Found")


def call_with_views(call: Callable[..., Found], *data: Any, **params: Any) -> Found:
    """Call somebody's code with views of the data that cannot be written to.

    Code that writes into its data is called again with a copy of them, which is its own. Frames of
    pandas are copied at once.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.selectors.lending import call_with_views
    >>> def careless(X):
    ...     X -= X.mean()
    ...     return float(X.max())
    >>> X = np.array([1.0, 2.0, 3.0])
    >>> call_with_views(careless, X), X
    (1.0, array([1., 2., 3.]))
    """
    views = [_each(one, read_only) for one in data]
    try:
        return call(*views, **{name: _each(one, read_only) for name, one in params.items()})
    except Exception as error:  # of NumPy, SciPy, Numba, Cython: each has its own class
        if not _READ_ONLY_ERROR.search(str(error)):
            raise
    copies = [_each(one, np.copy) for one in data]
    return call(*copies, **{name: _each(one, np.copy) for name, one in params.items()})


def _each(data: Any, made: Callable[[np.ndarray], np.ndarray]) -> Any:
    """The same with every array in it replaced; what holds no NumPy arrays as it is."""
    if isinstance(data, np.ndarray):
        return made(data)
    if hasattr(data, "iloc"):  # whose columns are many arrays
        return data.copy()
    if not sparse.issparse(data) or data.format not in ("csr", "csc"):
        return data
    parts = (made(data.data), made(data.indices), made(data.indptr))
    held = type(data)(parts, shape=data.shape, copy=False)
    held.has_sorted_indices = data.has_sorted_indices
    held.has_canonical_format = data.has_canonical_format
    return held


class Refits:
    """Fits guests to the same samples, which stay here while the process lasts."""

    def __init__(self, X: Any, y: Any, params: dict[str, Any]) -> None:
        self.X: Any = X
        self.y: Any = y
        self.params: dict[str, Any] = params

    def fit(self, guest: Any) -> Any:
        """A fitted copy."""
        if isinstance(guest, BaseSelector):  # which writes nowhere
            return clone(guest).fit(self.X, self.y, **self.params)
        return call_with_views(partial(_fit_guest, guest), self.X, self.y, **self.params)

    def __reduce__(self) -> tuple[Any, ...]:
        return Refits, (None, None, {})


def _fit_guest(guest: Any, X: Any, y: Any, **params: Any) -> Any:
    guest = clone(guest, safe=False)
    fitted = guest.fit(X, y, **params)
    return guest if fitted is None else fitted
