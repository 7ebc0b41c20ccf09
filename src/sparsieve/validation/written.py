"""What written text means: a number with its separators, a date, a category or a name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

# How text files spell a missing value; compared after stripping blanks.
MISSING = frozenset(("", "NA", "N/A", "n/a", "NaN", "nan", "NAN", "NULL", "null", "None", "#N/A"))
TRUTH = {"true": 1.0, "false": 0.0}  # in lower case
MAX_CATEGORIES = 20  # of a text column: more name samples rather than describing them
MAX_MISSING = 0.5  # the largest share of missing values in a column that is used

# A gap only among numbers: beside other text it may be a label, such as that of a strand.
_DASHES = ("-", "--", "\u2013", "\u2014")
_GROUPED = {
    ".": re.compile(r"[+-]?[1-9]\d{0,2}(?:([,' \u00a0\u202f\u2009])\d{3})(?:\1\d{3})*(?:\.\d*)?"),
    ",": re.compile(r"[+-]?[1-9]\d{0,2}(?:([.' \u00a0\u202f\u2009])\d{3})(?:\1\d{3})*(?:,\d*)?"),
}
_ISO = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
)


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
    if field in _DASHES:
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


def days_of(text: str) -> float | None:
    """Days since 1970 of a date such as 2024-05-31, with or without a time; None for other text.

    Examples
    --------
    >>> from sparsieve.validation.written import days_of
    >>> days_of("1970-01-02"), days_of("1970-01-02T12:00:00Z"), days_of("1970-02-30")
    (1.0, 1.5, None)
    """
    text = text.strip()
    if _ISO.fullmatch(text) is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() / 86_400.0


@dataclass(frozen=True)
class TextKind:
    """What a text column holds.

    Attributes
    ----------
    kind : {"number", "date", "category", "name", "wordy", "empty"}
        "name" if every row has a text of its own, "wordy" for too many values to be categories.
    n_values : int
        How many different texts there are.
    numbers : ndarray or None
        The values of numbers, and dates as days since 1970; NaN where missing.
    """

    kind: str
    n_values: int
    numbers: np.ndarray | None = None


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
    for kind, read in (("date", days_of), ("number", written_number)):
        if (numbers := _all_read(found, read)) is not None:
            return TextKind(
                kind,
                len(found),
                np.array([np.nan if text is None else numbers[text] for text in texts]),
            )
    if len(found) == len(texts) > 2:
        return TextKind("name", len(found))
    return TextKind("wordy" if len(found) > max_categories else "category", len(found))


def too_few_values(most: float | None) -> str:
    """Why a column is left out, in words."""
    if most is None or most >= 1.0:
        return "all values are missing"
    return f"more than {100 * most:g} % of the values are missing"


def is_gap(value: Any) -> bool:
    """Whether a value of a text column is missing: None, NaN, NA or a word for it."""
    if isinstance(value, str):
        return value.strip() in MISSING
    return value is None or type(value).__name__ in ("NAType", "NaTType") or value != value


def _all_read(texts: Iterable[str], read: Any) -> dict[str, float] | None:
    """Every text with its number; None where one has none."""
    numbers: dict[str, float] = {}
    for text in texts:
        if (number := read(text)) is None:
            return None
        numbers[text] = number
    return numbers
