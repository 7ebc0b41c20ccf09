"""What written text means: a number with its separators, a date, a category or a name."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from .._checks import listed
from .written_dates import days_of, order_of_dates

# How text files spell a missing value; compared after stripping blanks.
MISSING = frozenset(("", "NA", "N/A", "n/a", "NaN", "nan", "NAN", "NULL", "null", "None", "#N/A"))
TRUTH = {"true": 1.0, "false": 0.0}  # in lower case
MAX_CATEGORIES = 20  # of a text column: more name samples rather than describing them
MAX_MISSING = 0.5  # the largest share of missing values in a column that is used

_GROUPED = {
    ".": re.compile(r"[+-]?[1-9]\d{0,2}(?:([,' \u00a0\u202f\u2009])\d{3})(?:\1\d{3})*(?:\.\d*)?"),
    ",": re.compile(r"[+-]?[1-9]\d{0,2}(?:([.' \u00a0\u202f\u2009])\d{3})(?:\1\d{3})*(?:,\d*)?"),
}


def plain_number(field: str) -> float | None:
    """The number that is written in a field, NaN where it is missing; None for other text."""
    field = field.strip()
    if field in MISSING:
        return np.nan
    if "_" not in field:  # Python reads 1_2 as 12
        try:
            return float(field)
        except ValueError:
            pass
    return TRUTH.get(field.lower())


def written_number(field: str, decimal: str = ".") -> float | None:
    """The same for numbers as people write them: 1,234.5, 1 234, 12 % and - for a gap.

    Examples
    --------
    >>> from sparsieve.validation.written import written_number
    >>> written_number("1,234.5"), written_number("12 %"), written_number("1.790,82", ",")
    (1234.5, 12.0, 1790.82)
    >>> written_number("1,2") is None
    True
    """
    field = field.strip()
    # A gap only among numbers: beside other text it may be a label, such as that of a strand.
    if field in ("-", "--", "\u2013", "\u2014"):
        return np.nan
    if field.endswith("%"):
        field = field[:-1].rstrip()
        if not field:
            return None
    return plain_number(_ungrouped(field, decimal))


def grouped_number(field: str, decimal: str = ".") -> float:
    """A number whose thousands may be set apart; any other text is a ValueError."""
    return float(_ungrouped(field.strip(), decimal))


def _ungrouped(field: str, decimal: str) -> str:
    """The number without separators of thousands and with a decimal point."""
    if (grouped := _GROUPED[decimal].fullmatch(field)) is not None:
        field = field.replace(grouped[1], "")
    return field if decimal == "." else field.replace(decimal, ".")


@dataclass(frozen=True)
class TextKind:
    """What a text column holds.

    Attributes
    ----------
    kind : {"number", "date", "category", "name", "wordy", "empty"}
        "name" if every row has another text, "wordy" for too many values to be categories.
    n_values : int
        How many different texts there are.
    numbers : ndarray or None
        The values of numbers, and dates as days since 1970; NaN where missing.
    month_first : bool
        Whether dates such as 05/31/2024 have the month in front of the day.
    either : str
        A date that could be read either way, where no other one decides; otherwise empty.
    """

    kind: str
    n_values: int
    numbers: np.ndarray | None = None
    month_first: bool = False
    either: str = ""


def text_kind(values: Sequence[Any], max_categories: int = MAX_CATEGORIES) -> TextKind:
    """What a column of texts holds, None or NaN and words such as NA being missing.

    Examples
    --------
    >>> from sparsieve.validation.written import text_kind
    >>> [text_kind(some).kind for some in (["m", "f", "m"], ["a1", "a2", "a3"], ["1,200", "-"])]
    ['category', 'name', 'number']
    """
    texts = [None if is_gap(value) else str(value).strip() for value in values]
    found = {text for text in texts if text is not None}
    if not found:
        return TextKind("empty", 0)
    month_first, either = order_of_dates(found)
    as_date = partial(days_of, month_first=month_first)
    for kind, read in (("date", as_date), ("number", written_number)):
        if (numbers := _all_read(found, read)) is not None:
            read_as = np.array([np.nan if text is None else numbers[text] for text in texts])
            order = (month_first, either) if kind == "date" else ()
            return TextKind(kind, len(found), read_as, *order)
    if len(found) == len(texts) > 2:
        return TextKind("name", len(found))
    return TextKind("wordy" if len(found) > max_categories else "category", len(found))


def levels_encoded(known: Sequence[Any]) -> list[Any]:
    """The values of a text that get a column of zeros and ones: of two the second says all.

    Examples
    --------
    >>> from sparsieve.validation.written import levels_encoded
    >>> levels_encoded(["f", "m"]), levels_encoded(["a", "b", None])
    (['m'], ['a', 'b', None])
    """
    return list(known[1:] if len(known) == 2 else known)


def dates_read(kinds: Mapping[str, TextKind]) -> list[str]:
    """How columns of dates were read, in sentences; ``kinds`` has them by name."""
    unclear = {name: one for name, one in kinds.items() if one.either}
    plain = [name for name in kinds if name not in unclear]
    said = [f"read {listed(plain)} as days since 1970"] if plain else []
    for name, one in unclear.items():
        day, month = re.findall(r"\d+", one.either)[:2]
        said.append(
            f"read {name!r} as days since 1970, the day before the month: {one.either} is day "
            f"{int(day)} of month {int(month)}; no date in the column shows which comes first, so "
            "write them as 2024-05-31 if this is wrong"
        )
    return said


def is_gap(value: Any, words: Collection[str] = MISSING) -> bool:
    """Whether a value is missing: None, NaN, pandas' NA and NaT, and text that is one of the words.

    NA and NaT do not compare. Of an array one missing value is enough.
    """
    if isinstance(value, str):
        return value.strip() in words
    if isinstance(value, np.ndarray):
        return any(is_gap(one, words) for one in value.tolist())
    return value is None or type(value).__name__ in ("NAType", "NaTType") or value != value


def _all_read(texts: Iterable[str], read: Any) -> dict[str, float] | None:
    """Every text with its number; None where one has none."""
    numbers: dict[str, float] = {}
    for text in texts:
        if (number := read(text)) is None:
            return None
        numbers[text] = number
    return numbers
