"""One raw column of a table and what is made of it: numbers, marks of gaps, zeros and ones.

Columns of data frames, of files, covariates and new rows for a model are all read here, so that
the same values become the same columns wherever they come from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .._checks import format_names
from .._saved import Savable
from .dataframes import column_kind, in_days, is_plain
from .written import GAP, POINT, SEPARATOR, encodable_levels, is_gap, read_date, written_number

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
    >>> from sparsieve.validation.raw_columns import values_of_text
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
    >>> from sparsieve.validation.raw_columns import values_of_frame
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
        >>> from sparsieve.validation.raw_columns import RawColumn, values_of_text
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
