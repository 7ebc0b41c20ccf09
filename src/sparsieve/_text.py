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


def p_shown(p_value: float) -> str:
    """A p-value with the digits that it deserves.

    Examples
    --------
    >>> from sparsieve._text import p_shown
    >>> p_shown(0.0123), p_shown(0.34), p_shown(1e-9), p_shown(1.0)
    ('p = 0.012', 'p = 0.34', 'p < 0.001', 'p = 1')
    """
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.2g}"
