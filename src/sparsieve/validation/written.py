"""What written text means: a number with its separators, a date, a category or a name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any

import numpy as np

from .._checks import format_names

SEPARATOR = "="  # between a column of a data frame and the value that make_preprocessor encodes
GAP = "(missing)"  # what a gap is called after the separator; text may well be "missing"
_TIME = r"(?:[T ](\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?))?"
_YEAR_FIRST = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})" + _TIME)
_YEAR_LAST = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})" + _TIME)


def read_date(text: str, month_first: bool = False) -> float | None:
    """Days since 1970 of a date, with or without a time; None for other text.

    Years have four digits and stand first, as in 2024-05-31 and 2024/05/31, or last, as in
    31.05.2024 and 31/05/2024. ``month_first`` reads 05/31/2024 instead; with dots the day always
    comes first.

    Examples
    --------
    >>> from sparsieve.validation.written import read_date
    >>> read_date("1970-01-02"), read_date("1970-01-02T12:00:00Z"), read_date("1970-02-30")
    (1.0, 1.5, None)
    >>> read_date("03.01.1970"), read_date("03/01/1970"), read_date("01/03/1970", month_first=True)
    (2.0, 2.0, 2.0)
    """
    text = text.strip()
    if (found := _YEAR_FIRST.fullmatch(text)) is not None:
        year, _, month, day, time = found.groups()
    elif (found := _YEAR_LAST.fullmatch(text)) is not None:
        day, sign, month, year, time = found.groups()
        if month_first and sign != ".":
            day, month = month, day
    else:
        return None
    time = f"T{'0' * (time[1] == ':')}{time}" if time else ""
    try:
        moment = datetime.fromisoformat(f"{year}-{month:0>2}-{day:0>2}{time}")
    except ValueError:
        return None
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() / 86_400.0


def order_of_dates(texts: Iterable[str]) -> tuple[bool, str]:
    """(whether the month comes before the day, a date that could be read either way or "").

    The date is given only where no other one decides; the day is then taken to come first.

    Examples
    --------
    >>> from sparsieve.validation.written import order_of_dates
    >>> order_of_dates(["03/04/2020", "04/30/2020"]), order_of_dates(["03/04/2020"])
    ((True, ''), (False, '03/04/2020'))
    """
    either = ""
    for text in texts:
        found = _YEAR_LAST.fullmatch(text.strip())
        if found is None or found[2] == ".":
            continue
        first, second = int(found[1]), int(found[3])
        if first > 12 or second > 12:
            return first <= 12, ""
        if first != second and (not either or text < either):
            either = text
    return False, either


# How text files spell a missing value; compared after stripping blanks.
MISSING = frozenset(("", "NA", "N/A", "n/a", "NaN", "nan", "NAN", "NULL", "null", "None", "#N/A"))
TRUTH = {"true": 1.0, "false": 0.0}  # in lower case
MAX_CATEGORIES = 20  # of a text column: more name samples rather than describing them
MAX_MISSING = 0.5  # the largest share of missing values in a column that is used
MAX_ODD = 0.05  # the largest share of cells of a column of numbers or dates that are none
MIN_NUMBERS = 3  # different ones, for such a column: 0, 1 and "unknown" are categories
POINT, COMMA = DECIMALS = (".", ",")

_GROUPED = {
    ".": re.compile(r"[+-]?[1-9]\d{0,2}(?:([,' \u00a0\u202f\u2009])\d{3})(?:\1\d{3})*(?:\.\d*)?"),
    ",": re.compile(r"[+-]?[1-9]\d{0,2}(?:([.' \u00a0\u202f\u2009])\d{3})(?:\1\d{3})*(?:,\d*)?"),
}
_POINTED = str.maketrans({",": ".", ".": "?"})


def plain_number(text: str) -> float | None:
    """The number that is written in a field, NaN where it is missing; None for other text."""
    text = text.strip()
    if text in MISSING:
        return np.nan
    if "_" not in text:  # Python reads 1_2 as 12
        try:
            return float(text)
        except ValueError:
            pass
    return TRUTH.get(text.lower())


def written_number(text: str, decimal: str = POINT) -> float | None:
    """The same for numbers as people write them: 1,234.5, 1 234, 12 % and - for a gap.

    Examples
    --------
    >>> from sparsieve.validation.written import written_number
    >>> written_number("1,234.5"), written_number("12 %"), written_number("1.790,82", ",")
    (1234.5, 12.0, 1790.82)
    >>> written_number("1,2") is None
    True
    """
    text = text.strip()
    # A gap only among numbers: beside other text it may be a label, such as that of a strand.
    if text in ("-", "--", "\u2013", "\u2014"):
        return np.nan
    if text.endswith("%"):
        text = text[:-1].rstrip()
        if not text:
            return None
    return plain_number(_normalise_number(text, decimal))


def grouped_number(text: str, decimal: str = POINT) -> float:
    """A number whose thousands may be set apart; any other text is a ValueError."""
    return float(_normalise_number(text.strip(), decimal))


def _normalise_number(text: str, decimal: str) -> str:
    """The number without separators of thousands and with a decimal point."""
    if (grouped := _GROUPED[decimal].fullmatch(text)) is not None:
        text = text.replace(grouped[1], "")
    return with_point(text, decimal)


def with_point(text: str, decimal: str) -> str:
    """A number with a decimal point; beside decimal commas a point makes it none."""
    return text if decimal == POINT else text.translate(_POINTED)


def decimal_sign(texts: Iterable[str], default: str = POINT) -> str:
    """The decimal sign of a column of text: the one that reads more of it, else ``default``.

    Examples
    --------
    >>> from sparsieve.validation.written import decimal_sign
    >>> decimal_sign(["1,234", "0,5"]), decimal_sign(["1,234"]), decimal_sign(["1,234", "0.5"])
    (',', '.', '.')
    """
    ahead = 0
    for text in set(texts):
        if COMMA in text or POINT in text:
            read = [written_number(text, sign) is not None for sign in DECIMALS]
            ahead += read[0] - read[1]
    return default if not ahead else POINT if ahead > 0 else COMMA


def shared_sign(columns: Iterable[Iterable[str]], default: str = POINT) -> str:
    """The decimal sign of the columns of a table that have one, where they agree on it."""
    found = {decimal_sign(texts, "") for texts in columns} - {""}
    return found.pop() if len(found) == 1 else default


def alike(labels: Iterable[str]) -> list[list[str]]:
    """Labels that differ only by capital letters or blanks.

    Examples
    --------
    >>> from sparsieve.validation.written import alike
    >>> alike(["East", "west", "east "])
    [['East', 'east ']]
    """
    spelt: dict[str, list[str]] = {}
    for label in labels:
        spelt.setdefault(" ".join(label.casefold().split()), []).append(label)
    return [several for several in spelt.values() if len(several) > 1]


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
    odd : dict of str to int
        The texts of a column of numbers or dates that are none, with how many cells hold them.
    """

    kind: str
    n_values: int
    numbers: np.ndarray | None = None
    month_first: bool = False
    either: str = ""
    odd: Mapping[str, int] = field(default_factory=dict)


def text_kind(
    values: Sequence[Any], max_categories: int = MAX_CATEGORIES, decimal: str = POINT
) -> TextKind:
    """What a column of texts holds, None or NaN and words such as NA being missing.

    Numbers and dates may stand beside a few cells that are none: these are missing then.

    Examples
    --------
    >>> from sparsieve.validation.written import text_kind
    >>> [text_kind(some).kind for some in (["m", "f", "m"], ["a1", "a2", "a3"], ["1,200", "-"])]
    ['category', 'name', 'number']
    >>> text_kind([*map(str, range(40)), ">40"]).odd
    {'>40': 1}
    """
    texts = [None if is_gap(value) else str(value).strip() for value in values]
    found = Counter(text for text in texts if text is not None)
    if not found:
        return TextKind("empty", 0)
    month_first, either = order_of_dates(found)
    as_date = partial(read_date, month_first=month_first)
    as_number = partial(written_number, decimal=decimal)
    for kind, read in (("date", as_date), ("number", as_number)):
        if (numbers := _accept_mostly_numbers(found, read)) is not None:
            read_as = np.array([numbers.get(text, np.nan) for text in texts])
            order = (month_first, either) if kind == "date" else (False, "")
            odd = {text: times for text, times in found.items() if text not in numbers}
            return TextKind(kind, len(found), read_as, *order, odd)
    if len(found) == len(texts) > 2:
        return TextKind("name", len(found))
    return TextKind("wordy" if len(found) > max_categories else "category", len(found))


def encodable_levels(known: Sequence[Any]) -> list[Any]:
    """The values of a text that get a column of zeros and ones: of two the second says all.

    Examples
    --------
    >>> from sparsieve.validation.written import encodable_levels
    >>> encodable_levels(["f", "m"]), encodable_levels(["a", "b", None])
    (['m'], ['a', 'b', None])
    """
    return list(known[1:] if len(known) == 2 else known)


def date_notes(kinds: Mapping[str, TextKind]) -> list[str]:
    """How columns of dates were read, in sentences; ``kinds`` has them by name."""
    unclear = {name: one for name, one in kinds.items() if one.either}
    plain = [name for name in kinds if name not in unclear]
    said = [f"read {format_names(plain)} as days since 1970"] if plain else []
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


def _accept_mostly_numbers(texts: Counter[str], read: Any) -> dict[Any, float] | None:
    """The texts with their numbers; None where more than a few cells have none."""
    numbers: dict[Any, float] = {}
    left = most = int(MAX_ODD * texts.total())
    for text, times in texts.items():
        if (number := read(text)) is not None:
            numbers[text] = number
        elif (left := left - times) < 0:
            return None
    different = {number for number in numbers.values() if number == number}
    return numbers if left == most or len(different) >= MIN_NUMBERS else None
