"""Dates as people write them, as days since 1970."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime

_TIME = r"(?:[T ](\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?))?"
_YEAR_FIRST = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})" + _TIME)
_YEAR_LAST = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})" + _TIME)


def days_of(text: str, month_first: bool = False) -> float | None:
    """Days since 1970 of a date, with or without a time; None for other text.

    Years have four digits and stand first, as in 2024-05-31 and 2024/05/31, or last, as in
    31.05.2024 and 31/05/2024. ``month_first`` reads 05/31/2024 instead; with dots the day always
    comes first.

    Examples
    --------
    >>> from sparsieve.validation.written_dates import days_of
    >>> days_of("1970-01-02"), days_of("1970-01-02T12:00:00Z"), days_of("1970-02-30")
    (1.0, 1.5, None)
    >>> days_of("03.01.1970"), days_of("03/01/1970"), days_of("01/03/1970", month_first=True)
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
    >>> from sparsieve.validation.written_dates import order_of_dates
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
