"""Text from others, made safe to show, and numbers of things in words."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Control characters but tab and line feed, marks and overrides of the direction of text, and
# halves of characters. On a page or a terminal they would act on what stands beside them.
BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_ACTING = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff{BIDI}]")


def visible(text: str) -> str:
    r"""Text in which nothing acts on what is around it: such characters are spelled out.

    Examples
    --------
    >>> from sparsieve._text import visible
    >>> print(visible("gene\u202e1"))
    gene\u202e1
    """
    return _ACTING.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def plural(number: int, noun: str) -> str:
    """``1 feature``, ``20 features``.

    Examples
    --------
    >>> from sparsieve._text import plural
    >>> plural(1, "feature"), plural(1200, "feature")
    ('1 feature', '1,200 features')
    """
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def format_p_value(p_value: float) -> str:
    """A p-value with the digits that it deserves.

    Examples
    --------
    >>> from sparsieve._text import format_p_value
    >>> format_p_value(0.0123), format_p_value(0.34), format_p_value(1e-9), format_p_value(1.0)
    ('p = 0.012', 'p = 0.34', 'p < 0.001', 'p = 1')
    """
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.2g}"


def listed_names(names: Sequence[str], more: int = 0) -> str:
    """``a, b and c``, or ``a, b, c and 4 more``.

    Examples
    --------
    >>> from sparsieve._text import listed_names
    >>> listed_names(["a", "b"]), listed_names(["a"]), listed_names(["a", "b"], more=3)
    ('a and b', 'a', 'a, b and 3 more')
    """
    names = [str(name) for name in names]
    if more > 0:
        return f"{', '.join(names)} and {more} more"
    if len(names) <= 1:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def distinct(names: Sequence[str]) -> list[str]:
    """The names, those that occur more than once with their place.

    Examples
    --------
    >>> from sparsieve._text import distinct
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
    >>> from sparsieve._text import shortened
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
