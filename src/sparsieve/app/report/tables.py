"""Tables for papers, issues and other programs: one description, as LaTeX, Markdown or CSV."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..._files import replacing
from ..._text import visible
from ..io.layout import full_suffix
from ..io.write import check_writable, write_table


@dataclass(frozen=True)
class Cell:
    """Text of a printed table: bold for the best, a mark for what a note explains."""

    text: str
    is_best: bool = False
    mark: str = ""


@dataclass(frozen=True)
class ResultTable:
    """Results to print and to compute with.

    Attributes
    ----------
    title : str
        Caption.
    header : sequence of str
        Headings of the printed columns.
    rows : sequence of sequences of Cell
        Printed cells, the name of the row first.
    notes : sequence of str
        What stands below: what the numbers are, and what every mark means.
    columns : dict of str to array
        The raw numbers by name, for CSV files.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()
    columns: Mapping[str, np.ndarray] = field(default_factory=dict)


def write_tables(
    path: str | os.PathLike[str], tables: Sequence[ResultTable], *, escape_formulas: bool = False
) -> None:
    """Write tables to one file, in the format of its suffix: .tex, .md or .csv.

    Parameters
    ----------
    path : str or path-like
        A file of this name is replaced, once the new one is complete.
    tables : sequence of ResultTable
        A CSV file holds the raw numbers of all of them, one below the other.
    escape_formulas : bool, default=False
        For CSV files, see :func:`~sparsieve.app.io.write_table`.
    """
    path = Path(path)
    check_writable(path, EXPORT_SUFFIXES)
    if full_suffix(path) == ".csv":
        write_table(path, _stack(tables), escape_formulas=escape_formulas)
        return
    text = "\n\n".join(_RENDERERS[full_suffix(path)](table) for table in tables) + "\n"
    with replacing(path) as scratch:
        scratch.write_text(text, encoding="utf-8")


def _stack(tables: Sequence[ResultTable]) -> dict[str, np.ndarray]:
    """The rows of all tables, which have the same columns."""
    return {
        name: np.concatenate([np.asarray(table.columns[name]) for table in tables])
        for name in tables[0].columns
    }


def as_latex(table: ResultTable) -> str:
    r"""A table environment with booktabs' rules.

    Examples
    --------
    >>> from sparsieve.app.report.tables import Cell, ResultTable, as_latex
    >>> table = ResultTable("T", ["a_b", "%"], [[Cell("x"), Cell("-9.5", is_best=True, mark="*")]])
    >>> print(as_latex(table).splitlines()[8])
    x & \textbf{$-$9.5}\textsuperscript{*} \\
    """

    def cell(found: Cell) -> str:
        text = _latex(found.text)
        text = f"\\textbf{{{text}}}" if found.is_best else text
        return text + (f"\\textsuperscript{{{_latex(found.mark)}}}" if found.mark else "")

    def line(cells: Sequence[str]) -> str:
        # After the end of a row, LaTeX would read a bracket or a star as its argument.
        guard = "{}" if cells[0].startswith(("[", "*")) else ""
        return f"{guard}{' & '.join(cells)} \\\\"

    lines = [
        "% needs \\usepackage{booktabs}",
        "\\begin{table}",
        "\\centering",
        f"\\caption{{{_latex(table.title)}}}",
        f"\\begin{{tabular}}{{l{'r' * (len(table.header) - 1)}}}",
        "\\toprule",
        line([_latex(title) for title in table.header]),
        "\\midrule",
        *(line([cell(found) for found in row]) for row in table.rows),
        "\\bottomrule",
        "\\end{tabular}",
    ]
    if table.notes:
        lines += ["\\par\\smallskip", "\\begin{minipage}{\\linewidth}\\footnotesize"]
        lines += [f"{_latex(note)}\\par" for note in table.notes]
        lines.append("\\end{minipage}")
    return "\n".join([*lines, "\\end{table}"])


def as_markdown(table: ResultTable) -> str:
    r"""A table as issues and notebooks show it.

    Examples
    --------
    >>> from sparsieve.app.report.tables import Cell, ResultTable, as_markdown
    >>> table = ResultTable("T", ["a|b", "%"], [[Cell("x"), Cell("9.5", is_best=True, mark="*")]])
    >>> print(as_markdown(table).splitlines()[-1])
    | x | **9.5**\* |
    """

    def cell(found: Cell) -> str:
        text = _markdown(found.text)
        return (f"**{text}**" if found.is_best else text) + _markdown(found.mark)

    def line(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cells)} |"

    lines = [
        f"**{_markdown(table.title)}**",
        "",
        line([_markdown(title) for title in table.header]),
        line(["---", *["---:"] * (len(table.header) - 1)]),
        *(line([cell(found) for found in row]) for row in table.rows),
    ]
    for note in table.notes:
        lines += ["", _markdown(note)]
    return "\n".join(lines)


_LATEX = {
    "\\": "\\textbackslash{}",
    "{": "\\{",
    "}": "\\}",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "<": "\\textless{}",
    ">": "\\textgreater{}",
    "|": "\\textbar{}",
    '"': "''",
    "²": "\\textsuperscript{2}",
    "±": "$\\pm$",
    "†": "\\dag{}",
    **{sign: f"\\{sign}" for sign in "&%$#_"},
}


def _latex(text: str) -> str:
    made = "".join(_LATEX.get(sign, sign) for sign in _one_line(text))
    made = re.sub(r"(^|[ (])-(?=\d)", r"\1$-$", made)  # a minus, no hyphen
    return re.sub(r"-(?=-)", "-{}", made)  # two hyphens stay two


# Beside Markdown's own signs: what would be a tag, an entity, a person or another issue.
_MARKDOWN = {sign: f"\\{sign}" for sign in "\\`*_[]|~"} | {s: f"&#{ord(s)};" for s in "&<>@#"}


def _markdown(text: str) -> str:
    return "".join(_MARKDOWN.get(sign, sign) for sign in _one_line(text))


def _one_line(text: str) -> str:
    return visible(" ".join(str(text).split()))


_RENDERERS: dict[str, Callable[[ResultTable], str]] = {".tex": as_latex, ".md": as_markdown}
EXPORT_SUFFIXES = (*_RENDERERS, ".csv")
