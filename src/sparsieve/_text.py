"""Text from others, made safe to show, and numbers of things in words."""

from __future__ import annotations

import re

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


def counted(number: int, noun: str) -> str:
    """``1 feature``, ``20 features``.

    Examples
    --------
    >>> from sparsieve._text import counted
    >>> counted(1, "feature"), counted(1200, "feature")
    ('1 feature', '1,200 features')
    """
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
