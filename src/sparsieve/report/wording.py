"""Numbers and lists as words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .._text import counted as counted
from .._text import p_shown as p_shown


def listed_names(names: Sequence[str], more: int = 0) -> str:
    """``a, b and c``, or ``a, b, c and 4 more``.

    Examples
    --------
    >>> from sparsieve.report.wording import listed_names
    >>> listed_names(["a", "b"]), listed_names(["a"]), listed_names(["a", "b"], more=3)
    ('a and b', 'a', 'a, b and 3 more')
    """
    names = [str(name) for name in names]
    if more > 0:
        return f"{', '.join(names)} and {more} more"
    if len(names) <= 1:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def covariates_counted(names: Sequence[str]) -> str:
    """What to know of numbers of features, where covariates are among them.

    Examples
    --------
    >>> from sparsieve.report.wording import covariates_counted
    >>> covariates_counted(["age", "sex"]), covariates_counted([])
    (' These numbers include the covariates: age, sex.', '')
    """
    return f" These numbers include the covariates: {', '.join(names)}." if len(names) else ""


def capitalised(text: str) -> str:
    """The text with a capital first letter, the others as they are.

    Examples
    --------
    >>> from sparsieve.report.wording import capitalised
    >>> capitalised("mean of R²")
    'Mean of R²'
    """
    return text[:1].upper() + text[1:]


def ended(sentence: str) -> str:
    """The sentence with a full stop, unless it is a question.

    Examples
    --------
    >>> from sparsieve.report.wording import ended
    >>> ended("Two samples are alike"), ended("Are they copies?")
    ('Two samples are alike.', 'Are they copies?')
    """
    return sentence if sentence.endswith("?") else f"{sentence}."


def percent(share: float) -> str:
    """``96.4 %``, and ``100 %`` where the decimal would be a zero.

    Examples
    --------
    >>> from sparsieve.report.wording import percent
    >>> percent(0.9642), percent(1.0)
    ('96.4 %', '100 %')
    """
    return f"{100 * share:.1f}".removesuffix(".0") + " %"


def duration(seconds: float) -> str:
    """A time with the digits that it deserves.

    Examples
    --------
    >>> from sparsieve.report.wording import duration
    >>> duration(0.0021), duration(1.234), duration(45.6), duration(3700), duration(9e4)
    ('< 0.1 s', '1.2 s', '46 s', '62 min', '25 h')
    """
    if seconds < 0.1:
        return "< 0.1 s"
    if seconds < 120:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:,.0f} h"


def distinct(names: Sequence[str]) -> list[str]:
    """The names, those that occur more than once with their place.

    Examples
    --------
    >>> from sparsieve.report.wording import distinct
    >>> distinct(["a", "b", "a"])
    ['a', 'b', 'a (column 2)']
    """
    seen: set[str] = set()
    made = []
    for place, name in enumerate(names):
        made.append(f"{name} (column {place})" if name in seen else str(name))
        seen.add(made[-1])
    return made


def shortened(names: Sequence[str], most: int = 40) -> list[str]:
    """Labels for charts: long names lose their middle, and no two become the same.

    Examples
    --------
    >>> from sparsieve.report.wording import shortened
    >>> shortened(["short", "abcdefgh12", "abcdXXXX12"], most=9)
    ['short', 'abcd...12', 'abcd...12 (2)']
    """
    head = most // 2
    tail = most - 3 - head
    made: dict[str, None] = {}
    for name in map(str, names):
        label = plain = name if len(name) <= most else f"{name[:head]}...{name[-tail:]}"
        copies = 1
        while label in made:
            copies += 1
            label = f"{plain} ({copies})"
        made[label] = None
    return list(made)


def file_name(title: str, empty: str = "figure") -> str:
    """A title as the name of a file; ``empty`` where no letter of it can stay.

    Examples
    --------
    >>> from sparsieve.report.wording import file_name
    >>> file_name("Features in common, of 5")
    'features-in-common-of-5'
    """
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60] or empty
