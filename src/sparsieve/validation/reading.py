"""Whether one column of targets holds classes or quantities, which an order of its values shows."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..design import DesignMatrix
from .dataframes import frame_library
from .survival import is_survival

MAX_VALUES = 1000  # of more, nobody thinks of classes
_N_TRIED = 499  # assignments beside the given one
_N_FOLLOWED = 10  # features that count, the most correlated ones
_N_COLUMNS = 500  # those that differ most between the values, whatever their order
_RARE, _UNUSUAL = 0.01, 0.1  # how seldom codes of classes stand out as much
_MOSTLY_LINEAR = 0.5
_VALUES_AT_ONCE = 1 << 22


class Order(NamedTuple):
    """How the order of the values shows in the features.

    Attributes
    ----------
    chance : float
        Share of all assignments of these numbers to their samples that features follow as well.
    share : float
        Of what these features differ between the values, the part that rises or falls with them.
    """

    chance: float
    share: float

    @property
    def is_clear(self) -> bool:
        """Whether these are quantities."""
        return self.chance <= _RARE and self.share >= _MOSTLY_LINEAR

    @property
    def is_possible(self) -> bool:
        """Whether these could be quantities."""
        return self.chance <= _UNUSUAL


def compare_order(
    X: Any, values: np.ndarray, counts: np.ndarray, codes: np.ndarray
) -> Order | None:
    """Compare the numbers with other assignments; None where X says nothing.

    The features that a linear model would take for the numbers as they are follow quantities
    better than nearly all assignments of the same numbers to the same groups of samples. Of classes
    the codes are themselves such an assignment, so that they stand out as rarely as any other.

    Takes one pass over X.

    Parameters
    ----------
    X : array, sparse matrix, data frame or design of shape (n_samples, n_features)
    values, counts : ndarray of shape (n_values,)
        The different numbers and how often each occurs.
    codes : ndarray of shape (n_samples,)
        Which of them every sample has.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.validation.reading import compare_order
    >>> rng = np.random.default_rng(0)
    >>> X, codes = rng.normal(size=(300, 5)), np.arange(300) % 10
    >>> compare_order(X, np.arange(10), np.full(10, 30), codes).is_clear
    False
    >>> X[:, 2] += codes / 2
    >>> compare_order(X, np.arange(10), np.full(10, 30), codes).is_clear
    True
    """
    matrix = _matrix(X)
    if matrix is None or len(values) > MAX_VALUES or matrix.shape[0] != len(codes):
        return None
    shares = counts / len(codes)
    means = _widest(matrix, codes, shares)
    if not means.shape[1]:
        return None
    numbers = values.astype(np.float64)
    rng = np.random.default_rng(0)
    tried = np.array([numbers, *(rng.permutation(numbers) for _ in range(_N_TRIED))])
    tried -= (tried @ shares)[:, None]
    tried /= np.sqrt(tried**2 @ shares)[:, None]
    followed = (tried @ means) ** 2
    n_followed = min(_N_FOLLOWED, followed.shape[1])
    strongest = np.partition(followed, -n_followed, axis=1)[:, -n_followed:].sum(axis=1)
    # Sums of the same numbers in another order differ by rounding.
    as_good = strongest[1:] >= strongest[0] * (1 - 1e-9)
    chance = (1 + int(as_good.sum())) / (1 + _N_TRIED)
    top = np.argsort(-followed[0])[:n_followed]
    between = (means[:, top] ** 2 / shares[:, None]).sum()
    of_noise = n_followed / max(len(codes) - 1, 1)  # that a number follows without any relation
    differs = between - of_noise * (len(values) - 1)
    follows = followed[0, top].sum() - of_noise
    return Order(chance, 1.0 if differs <= follows else max(float(follows / differs), 0.0))


def _matrix(X: Any) -> Any:
    """X as a matrix of numbers, in memory or a design; None for what is neither."""
    if isinstance(X, DesignMatrix):
        return X
    if sparse.issparse(X):
        return sparse.csc_array(X)
    if not isinstance(X, np.ndarray):
        if not hasattr(X, "columns") or frame_library(X) not in ("pandas", "polars"):
            return None
        X = X.to_numpy()
    try:
        X = X if X.dtype.kind in "iuf" else X.astype(np.float64)
    except (TypeError, ValueError):
        return None
    return X if X.ndim == 2 else None


def _widest(X: Any, codes: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Weighted means of standardised columns by value, of the columns that differ most."""
    found, spread = np.zeros((len(shares), 0)), np.zeros(0)
    for part in _parts_by_value(X, codes, len(shares)):
        between = (part**2 / shares[:, None]).sum(axis=0)
        found, spread = np.hstack([found, part]), np.r_[spread, between]
        if len(spread) > _N_COLUMNS:
            most = np.sort(np.argsort(-spread, kind="stable")[:_N_COLUMNS])
            found, spread = found[:, most], spread[most]
    return found


def _parts_by_value(X: Any, codes: np.ndarray, n_values: int) -> Iterator[np.ndarray]:
    """Sums of standardised columns over the samples of each value, by the number of samples."""
    n, d = X.shape
    if isinstance(X, DesignMatrix):
        # One pass, with as many columns as one answer of it may hold.
        columns = np.linspace(0, d - 1, min(d, max(1, _VALUES_AT_ONCE // n_values))).astype(int)
        means, squares = X.columns(columns).group_moments(codes, n_values)
        shares = np.bincount(codes)[:, None] / n
        centre = (shares * means).sum(axis=0)
        std = np.sqrt((shares * (squares + (means - centre) ** 2)).sum(axis=0))
        varies = std > 1e-10 * np.abs(centre)
        yield shares * ((means - centre)[:, varies] / std[varies])
        return
    members = sparse.csr_array((np.ones(n), (codes, np.arange(n))), shape=(n_values, n))
    width = max(1, _VALUES_AT_ONCE // max(n, n_values))
    for start in range(0, d, width):
        part = X[:, start : start + width]
        part = np.array(part.toarray() if sparse.issparse(part) else part, dtype=np.float64)
        if not np.isfinite(part).all():
            part = _filled(part)
        largest = np.abs(part).max(axis=0)
        part /= np.where(largest > 0, largest, 1)  # whose squares are numbers
        mean = part.mean(axis=0)
        part -= mean
        std = np.sqrt(np.einsum("ij,ij->j", part, part) / n)
        # Rounding alone makes values that are all the same differ from their mean.
        varies = std > 1e-10 * np.abs(mean)
        yield members @ part[:, varies] / (n * std[varies])


def _filled(part: np.ndarray) -> np.ndarray:
    """Columns with their means in the place of gaps."""
    known = np.isfinite(part)
    values = np.where(known, part, 0)
    return np.where(known, part, (values / np.maximum(known.sum(axis=0), 1)).sum(axis=0))


# Of so few different whole numbers nobody asks whether they are quantities.
FEW_VALUES = 5
# More than this, on average with fewer samples each than that, are quantities.
MAX_CLASSES = 20
MIN_SAMPLES_PER_CLASS = 5
# Samples that are sorted together; the values of more are merged.
SORTED_SAMPLES = 1 << 20


def read_task(y: Any, X: Any = None, option: str = 'task="{}"') -> tuple[str, str]:
    """How one column of targets is read where nobody said it, and a sentence in case of doubt.

    Text, booleans, categories and whole numbers (also as floats) are classes, numbers with
    fractions are quantities. More than five different whole numbers are quantities where their
    order shows in X (:func:`~sparsieve.validation.reading.compare_order`), and where they are more
    than 20 with fewer than five samples each on average, unless they are codes whose order does not
    show. Codes begin with 0 or 1 and leave none out. Said are quantities, and classes that are no
    codes, have fewer than five samples or could be ordered. Read the whole of y and hand the
    answer on to folds and subsamples.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
    X : matrix of shape (n_samples, n_features), default=None
        Is looked at where it is in memory, or a design; otherwise the values of y decide alone.
    option : str
        How a reader says the task, with braces for its value.

    Returns
    -------
    task : {"classification", "regression", "survival"}
    sentence : str
        Empty where there is no doubt.

    Examples
    --------
    >>> from sparsieve.validation.reading import read_task
    >>> read_task(["ill", "well", "ill"])
    ('classification', '')
    >>> task, sentence = read_task(range(18, 90))
    >>> print(sentence)
    y holds 72 different whole numbers in 72 samples and is treated as numeric; pass \
task="classification" if they are classes
    """
    if is_categorical(y):
        return "classification", ""
    if is_survival(y):
        return "survival", ""
    y = np.asarray(y)
    y = as_numbers if (as_numbers := number_objects(y)) is not None else y
    return read_values(y, *distinct(y), X, option)


def read_values(
    y: np.ndarray, values: np.ndarray, counts: np.ndarray, X: Any, option: str
) -> tuple[str, str]:
    """What :func:`read_task` says of a column whose different values are known."""
    natural = natural_task(values)
    if natural == "regression" or values.dtype.kind not in "iuf" or len(values) <= FEW_VALUES:
        return natural, ""
    is_many = len(values) > MAX_CLASSES and len(y) < MIN_SAMPLES_PER_CLASS * len(values)
    are_codes = bool(values[0] in (0, 1) and values[-1] - values[0] == len(values) - 1)
    order = None if X is None else compare_order(X, values, counts, places(y, values))
    has_order = order is not None and order.is_possible
    could_be_codes = are_codes and counts.min() > 1 and order is not None and not has_order
    held = f"y holds {len(values)} different whole numbers in {len(y)} samples and is treated as"
    if (order is not None and order.is_clear) or (is_many and not could_be_codes):
        other = option.format("classification")
        return "regression", f"{held} numeric; pass {other} if they are classes"
    if are_codes and counts.min() >= MIN_SAMPLES_PER_CLASS and not has_order:
        return "classification", ""
    return "classification", (
        f"{held} classes, the smallest of {counts.min()}; pass {option.format('regression')} if "
        "they are quantities, such as ages"
    )


def is_categorical(y: Any) -> bool:
    """Whether y has the type of pandas for categories, whatever their labels are."""
    return type(getattr(y, "dtype", None)).__name__ == "CategoricalDtype"


def natural_task(values: np.ndarray) -> str:
    """How these different values are read where nothing but fractions counts."""
    has_fractions = values.dtype.kind == "f" and not (values == np.rint(values)).all()
    return "regression" if has_fractions else "classification"


def number_objects(y: np.ndarray) -> np.ndarray | None:
    """Python numbers or truth values in an object array as a plain one; None for anything else."""
    if y.dtype.kind != "O":
        return None
    if y.size and all(isinstance(value, bool | np.bool_) for value in y.ravel()):
        return y.astype(bool)
    if not all(isinstance(v, Real) and not isinstance(v, bool | np.bool_) for v in y.ravel()):
        return None
    try:
        return y.astype(np.int64 if all(isinstance(v, Integral) for v in y.ravel()) else np.float64)
    except OverflowError:
        return y.astype(np.float64)


def distinct(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sorted different values and how often each occurs, as ``numpy.unique`` has them.

    Sorting a copy of all samples takes the time and memory of several passes over them.
    """
    values, counts = np.unique(y[:SORTED_SAMPLES], return_counts=True)
    for start in range(SORTED_SAMPLES, len(y), SORTED_SAMPLES):
        if len(values) > SORTED_SAMPLES // 2:  # nearly all of them are different
            return np.unique(y, return_counts=True)
        others, more = np.unique(y[start : start + SORTED_SAMPLES], return_counts=True)
        values, place = np.unique(np.concatenate([values, others]), return_inverse=True)
        counts = np.bincount(place, weights=np.concatenate([counts, more])).astype(np.int64)
    return values, counts


def places(y: np.ndarray, values: np.ndarray, dtype: Any = np.intp) -> np.ndarray:
    """Where every sample's value stands among the sorted ones."""
    found = np.empty(len(y), dtype=dtype)
    for start in range(0, len(y), SORTED_SAMPLES):
        found[start : start + SORTED_SAMPLES] = np.searchsorted(
            values, y[start : start + SORTED_SAMPLES]
        )
    return found


def smallest_integer(count: int) -> np.dtype:
    """The smallest signed type of the numbers below ``count``."""
    return np.min_scalar_type(-max(count, 1))
