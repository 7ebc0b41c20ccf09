"""Whether one column of targets holds classes or quantities, which an order of its values shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .._checks import Savable, format_names
from .dataframes import column_kind, frame_library, in_days, is_plain
from .feature_groups import GAP, SEPARATOR
from .survival import is_survival
from .written import POINT, encodable_levels, is_gap, read_date, written_number

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
    """Compare the numbers with other assignments; None where X is not in memory or says nothing.

    The features that a linear model would take for the numbers as they are follow quantities
    better than nearly all assignments of the same numbers to the same groups of samples. Of classes
    the codes are themselves such an assignment, so that they stand out as rarely as any other.

    Takes one pass over X.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
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
    matrix = _in_memory(X)
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


def _in_memory(X: Any) -> Any:
    """X as a matrix of numbers, where that reads and converts nothing elsewhere."""
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
        Is looked at where it is in memory; otherwise the values of y decide alone.
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


NUMBER, DATE, TEXT = KINDS = ("number", "date", "text")
VALUE, MARK, LEVEL = MADE = ("value", "gap", "level")
# What becomes of gaps: they stay NaN; a missing text is a value of its own; missing numbers also
# get a column that marks them.
AS_NAN, AS_VALUE, AS_MARK = GAPS = ("nan", "value", "mark")


@dataclass(frozen=True)
class RawValues:
    """The values of one column: numbers or texts; neither where they are something else.

    Attributes
    ----------
    numbers : ndarray of float or None
        NaN where missing; dates as days since 1970.
    texts : ndarray of object or None
        Without blanks around them; None where missing.
    is_date : bool
    kind : str
        What they are in the words of their library.
    """

    numbers: np.ndarray | None = None
    texts: np.ndarray | None = None
    is_date: bool = False
    kind: str = ""

    @property
    def gaps(self) -> np.ndarray:
        """Where a value is missing."""
        if self.numbers is not None:
            return np.isnan(self.numbers)
        return np.array([text is None for text in ([] if self.texts is None else self.texts)], bool)


def values_of_text(values: Any) -> RawValues:
    """Texts, and whatever else is among them, as text; words such as NA are gaps.

    Examples
    --------
    >>> from sparsieve.validation.reading import values_of_text
    >>> values_of_text([" m", "f", "NA", None]).texts.tolist()
    ['m', 'f', None, None]
    """
    texts = np.empty(len(values), dtype=object)
    texts[:] = [None if is_gap(value) else str(value).strip() for value in values]
    return RawValues(texts=texts)


def values_of_series(column: Any) -> RawValues:
    """The values of a series as narwhals sees it."""
    import narwhals as nw

    kind, dtype = column_kind(column), column.dtype
    if kind == "text":
        return values_of_text(column.to_list())
    if kind == "date or time":
        return RawValues(in_days(column), is_date=True)
    if kind != "number":
        return RawValues(kind=str(dtype))
    if not (dtype.is_numeric() or dtype == nw.Boolean):  # objects
        return RawValues(_floats(column.to_list()))
    wide = nw.Float32 if dtype == nw.Float32 else nw.Float64
    return RawValues(np.asarray(column.cast(wide).fill_null(float("nan")).to_numpy()))


def values_of_array(given: Any) -> RawValues:
    """The values of an array or a list."""
    values = np.asarray(given)
    if values.dtype.kind in "biuf":
        return RawValues(values.astype(np.float64))
    if values.dtype.kind == "M":
        days = values.astype("M8[us]").astype("int64").astype(np.float64) / 86_400e6
        return RawValues(np.where(np.isnat(values), np.nan, days), is_date=True)
    if values.dtype.kind == "O" and not any(isinstance(one, str) for one in values):
        try:
            return RawValues(_floats(values))
        except (TypeError, ValueError):
            pass
    return values_of_text(values.tolist())


def values_of_frame(frame: Any) -> dict[str, RawValues]:
    """The values of every column of a data frame as narwhals sees it, by its name as text.

    Examples
    --------
    >>> import pandas as pd
    >>> from sparsieve.validation.dataframes import open_frame
    >>> from sparsieve.validation.reading import values_of_frame
    >>> frame = open_frame(pd.DataFrame({"age": [40, None], "sex": ["m", "f"]}))
    >>> [one.gaps.tolist() for one in values_of_frame(frame).values()]
    [[False, True], [False, False]]
    """
    native = frame.to_native()
    dtypes = list(native.dtypes) if hasattr(native, "iloc") else []
    plain = [j for j, dtype in enumerate(dtypes) if is_plain(dtype)]
    if not plain:
        return {str(name): values_of_series(frame.get_column(name)) for name in frame.columns}
    numbers = native.iloc[:, plain].to_numpy()  # at once: there may be tens of thousands
    if numbers.dtype != np.float32:
        numbers = numbers.astype(np.float64)
    at = {j: k for k, j in enumerate(plain)}
    return {
        str(name): RawValues(numbers[:, at[j]])
        if j in at
        else values_of_series(frame.get_column(name))
        for j, name in enumerate(frame.columns)
    }


def _floats(values: Any) -> np.ndarray:
    return np.array([np.nan if is_gap(one) else float(one) for one in values], dtype=np.float64)


@dataclass(frozen=True)
class RawColumn(Savable):
    """What is made of one column of a table.

    Attributes
    ----------
    name : str
        The column.
    kind : {"number", "date", "text"}
    outputs : list of str
        Names of what is made of it.
    made : list of {"value", "gap", "level"}
        What each of them holds: the number, where values are missing, where the text is the one
        that ``levels`` has in the same place.
    levels : list
    known : list
        All values of a text column in the training data; None where some were missing.
    fill : float or None
        What missing numbers become; None leaves them.
    month_first : bool
        Whether dates such as 05/31/2024 have the month in front of the day.
    decimal : {".", ","}
        The decimal sign of numbers that are text.
    odd : list of str
        Text in the training data that was no number or date, and counts as missing.
    leaves_gaps : bool
        Whether a missing text is missing in what is made of it, too, to be filled by what follows;
        otherwise it is a value as any other.
    """

    name: str
    kind: str
    outputs: list[str]
    made: list[str]
    levels: list[Any]
    known: list[Any] = field(default_factory=list)
    fill: float | None = None
    month_first: bool = False
    decimal: str = POINT
    odd: list[str] = field(default_factory=list)
    leaves_gaps: bool = False

    @classmethod
    def from_values(
        cls, name: str, values: RawValues, gaps: str = AS_NAN, **written: Any
    ) -> RawColumn:
        """What is made of a column with these values, and how they were ``written``.

        Examples
        --------
        >>> from sparsieve.validation.reading import RawColumn, values_of_text
        >>> RawColumn.from_values("sex", values_of_text(["m", "f", "m"])).outputs
        ['sex=m']
        >>> RawColumn.from_values("sex", values_of_text(["m", "f", None]), "value").outputs
        ['sex=f', 'sex=m', 'sex=(missing)']
        """
        if values.texts is not None:
            found = set(values.texts.tolist())
            known: list[Any] = [*sorted(found - {None}), *[None] * (None in found)]
            leaves_gaps = gaps == AS_NAN and None in found
            levels = encodable_levels(known[:-1] if leaves_gaps else known)
            outputs = [f"{name}{SEPARATOR}{_level(level)}" for level in levels]
            made = [LEVEL] * len(levels)
            return cls(name, TEXT, outputs, made, levels, known, leaves_gaps=leaves_gaps)
        missing = values.gaps if gaps == AS_MARK else np.zeros(1, dtype=bool)
        parts = {name: VALUE} if not missing.all() else {}
        parts |= {f"{name}{SEPARATOR}{GAP}": MARK} if missing.any() else {}
        kind, levels = DATE if values.is_date else NUMBER, [None] * len(parts)
        return cls(name, kind, [*parts], [*parts.values()], levels, **written)

    def restrict(self, outputs: set[str]) -> RawColumn:
        """The same with some of what it makes."""
        some = [j for j, name in enumerate(self.outputs) if name in outputs]
        parts: dict[str, Any] = {
            name: [getattr(self, name)[j] for j in some] for name in ("outputs", "made", "levels")
        }
        return replace(self, **parts)

    def convert(self, values: RawValues) -> RawValues:
        """New values as the kind that this column is."""
        numbers, texts = values.numbers, values.texts
        if self.kind == TEXT:
            if numbers is None:
                return values
            # Texts that all look like numbers were read as such.
            return values_of_text([None if one != one else f"{one:g}" for one in numbers.tolist()])
        if numbers is not None:
            if self.kind == DATE and not (values.is_date or np.isnan(numbers).all()):
                raise self._other("numbers")
            return replace(values, is_date=self.kind == DATE)
        if texts is None:
            raise self._other(values.kind)
        read = {text: self._number(text) for text in set(texts.tolist())}
        numbers = np.array([read[text] for text in texts], dtype=np.float64)
        return RawValues(numbers, is_date=self.kind == DATE)

    def _number(self, text: str | None) -> float:
        if text is None or text in self.odd:
            return np.nan
        found = read_date(text, self.month_first)
        found = written_number(text, self.decimal) if found is None else found
        if found is None:
            raise self._other(repr(text))
        return found

    def _other(self, held: str) -> ValueError:
        what = "dates" if self.kind == DATE else "numbers"
        return ValueError(
            f"column {self.name!r} holds {held}, but the model was trained on {what}; convert it "
            "first"
        )

    def numbers(self, values: RawValues) -> list[np.ndarray]:
        """What is made of new values."""
        values = self.convert(values)
        gaps = values.gaps
        if self.kind == TEXT:
            texts = np.where(gaps, GAP, values.texts)  # type: ignore[arg-type]
            missing = gaps & self.leaves_gaps
            return [np.where(missing, np.nan, texts == _level(level)) for level in self.levels]
        found: Any = values.numbers
        if self.fill is not None:
            found = np.where(gaps, self.fill, found)
        return [found if made == VALUE else gaps.astype(np.float64) for made in self.made]

    def unknown(self, values: RawValues) -> str:
        """Which values of a text column are new, in words; empty where there are none."""
        if self.kind != TEXT:
            return ""
        known = {_level(value) for value in self.known}
        new = sorted({_level(value) for value in self.convert(values).texts} - known)  # type: ignore[union-attr]
        return f"{self.name!r} has values unknown to the model: {format_names(new)}" if new else ""


def _level(value: Any) -> str:
    """A value of a text column; the same for all ways to write that it is missing."""
    return GAP if is_gap(value) else str(value).strip()


def output_places(columns: list[RawColumn] | tuple[RawColumn, ...]) -> dict[str, list[int]]:
    """The places of what is made of each column, by its name."""
    ends = np.cumsum([len(one.outputs) for one in columns]).tolist()
    return {
        one.name: list(range(end - len(one.outputs), end))
        for one, end in zip(columns, ends, strict=True)
    }


def stack_numbers(columns: list[RawColumn], values: Mapping[str, RawValues]) -> np.ndarray:
    """What is made of all columns, beside each other."""
    return np.column_stack([part for one in columns for part in one.numbers(values[one.name])])
