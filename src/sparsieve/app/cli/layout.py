"""Tables on a terminal: words stay whole, and what does not fit goes below."""

from __future__ import annotations

from collections.abc import Sequence

_FRAME = 3  # characters of a column beside its text; one more for the whole table


def print_table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    title: str | None = None,
    right: Sequence[str] = (),
) -> None:
    """Draw a table as wide as the terminal; columns without room follow in tables below it."""
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    columns = [[header[j], *(row[j] for row in rows)] for j in range(len(header))]
    wide = [max(map(cell_len, column)) for column in columns]
    narrow = [
        # Numbers stay in one piece, text and headings break between words.
        max(
            [
                _longest(column[0]),
                *(cell_len(t) if name in right else _longest(t) for t in column[1:]),
            ]
        )
        for name, column in zip(header, columns, strict=True)
    ]
    for part in parts_of(narrow, console.width):
        texts = [header[j] not in right for j in part]
        limits = [wide[j] for j in part], [narrow[j] for j in part]
        widths = fitted(*limits, texts, console.width)
        table = Table(title=title, title_justify="left", header_style="bold")
        for j, width in zip(part, widths, strict=True):
            how = "right" if header[j] in right else "left"
            table.add_column(header[j], justify=how, overflow="fold", width=width)  # type: ignore[arg-type]
        for row in rows:
            table.add_row(*(Text(row[j]) for j in part))  # Text: names may look like markup
        console.print(table)
        title = None


def parts_of(narrow: Sequence[int], room: int) -> list[list[int]]:
    """Columns by the table that they are in; the first is in all of them, as the name of rows.

    Examples
    --------
    >>> from sparsieve.app.cli.layout import parts_of
    >>> parts_of([10, 10, 10, 10], 80), parts_of([10, 10, 10, 10], 40)
    ([[0, 1, 2, 3]], [[0, 1, 2], [0, 3]])
    """
    parts: list[list[int]] = [[0]]
    for j in range(1, len(narrow)):
        taken = sum(narrow[i] + _FRAME for i in parts[-1])
        if len(parts[-1]) > 1 and taken + narrow[j] + _FRAME + 1 > room:
            parts.append([0])
        parts[-1].append(j)
    return parts


def fitted(
    wide: Sequence[int], narrow: Sequence[int], texts: Sequence[bool], room: int
) -> list[int]:
    """Widths of columns: what they would like to have, the widest made narrower until they fit.

    Headings over numbers give way first, then texts; words break only if nothing else helps.

    Examples
    --------
    >>> from sparsieve.app.cli.layout import fitted
    >>> fitted([10, 30], [10, 5], [True, True], 80), fitted([10, 30], [10, 5], [True, True], 40)
    ([10, 30], [10, 23])
    >>> fitted([20, 12], [9, 6], [True, False], 36), fitted([30, 4], [30, 4], [True, False], 24)
    ([20, 9], [13, 4])
    """
    widths = list(wide)
    free = room - _FRAME * len(widths) - 1
    headings = [
        most if is_text else least for most, least, is_text in zip(wide, narrow, texts, strict=True)
    ]
    for least in (headings, list(narrow), [min(4, one) for one in narrow]):
        while sum(widths) > free:
            spare = [width - low for width, low in zip(widths, least, strict=True)]
            if max(spare) <= 0:
                break
            widest = max((j for j, one in enumerate(spare) if one > 0), key=widths.__getitem__)
            widths[widest] -= 1
    return widths


def _longest(text: str) -> int:
    from rich.cells import cell_len

    return max(map(cell_len, text.split()), default=0)
