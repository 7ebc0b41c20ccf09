"""The report of a paper's experiments done again."""

from __future__ import annotations

import re
from typing import Any

from sparsieve.report.elements import Section, Table, table_of
from sparsieve.report.page import Report
from sparsieve.report.provenance import how_made
from sparsieve.report.wording import counted

from ..papers import Reproduction
from ..studies.exhibits import Exhibit

_SENTENCES = 3  # of a paragraph
_MAX_LISTED = 1500  # rows of a table; the charts hold all


def reproduction_report(reproduction: Reproduction, *, command: str = "") -> Report:
    """Report on a paper's experiments: every table and figure, ours beside the printed numbers.

    Parameters
    ----------
    reproduction : Reproduction
        From :func:`sparsieve_experiments.papers.reproduce`.
    command : str, default=""
        The command line that made it, to be shown.

    Returns
    -------
    report : Report
        To be saved as one HTML file.

    See Also
    --------
    sparsieve_experiments.papers.reproduce : Does the experiments.
    sparsieve.report.study_report : Report on a study.

    Examples
    --------
    >>> from sparsieve_experiments.papers import read_record
    >>> from sparsieve.report import reproduction_report
    >>> report = reproduction_report(read_record("l0-mpm").reproduction)
    >>> len(report.sections) > 1
    True
    """
    preset = reproduction.preset
    exhibits = reproduction.exhibits
    compared = sum(_n_compared(exhibit) for exhibit in exhibits)
    warnings = []
    coarser = preset.coarser.get(reproduction.level)
    if reproduction.level != "full":
        warnings.append(
            f"{reproduction.level.capitalize()} level: less was computed than in the paper, so the "
            f"numbers may scatter more than the paper's. {coarser or ''}".strip()
        )
    if reproduction.errors:
        warnings.append(
            f"{counted(len(reproduction.errors), 'computation')} failed and count in nothing "
            "that is shown here; they are listed below."
        )
    sections = [_section(exhibit) for exhibit in exhibits]
    if reproduction.missing:
        rows = [{"data set": n, "why": why} for n, why in reproduction.missing.items()]
        sections.append(Section("Data sets left out", (), [table_of("Not at hand", rows)]))
    if reproduction.errors:
        rows = [{"error": error} for error in reproduction.errors]
        sections.append(Section("What failed", (), [table_of("Failures", rows)]))
    sections.append(how_made(None, command=command))
    return Report(
        title=f"The experiments of {preset.paper}, done again",
        headline=(
            f"{len(exhibits)} tables and figures of {preset.citation}, with "
            f"{counted(compared, 'printed number')} beside ours; "
            f"{counted(len(reproduction.missing), 'data set')} not at hand."
        ),
        sections=sections,
        figures={
            "tables and figures": str(len(exhibits)),
            "printed numbers beside ours": f"{compared:,}",
            "data sets left out": str(len(reproduction.missing)),
        },
        warnings=warnings,
    )


def _n_compared(exhibit: Exhibit) -> int:
    return sum(
        value is not None
        for row in exhibit.rows
        for name, value in row.items()
        if name == "published" or name.startswith("published_")
    )


def _section(exhibit: Exhibit) -> Section:
    blocks: list = [*exhibit.charts]
    note = ""
    if len(exhibit.rows) > _MAX_LISTED:
        note = (
            f"The first {_MAX_LISTED:,} of {len(exhibit.rows):,} rows; the CSV of a chart has all."
        )
    if exhibit.summary:
        blocks.append(_table(f"{exhibit.name}, in short", exhibit.summary))
    if exhibit.rows:
        # Where there is a picture or a short form, few will read the rows.
        shown = 8 if exhibit.drawings or exhibit.summary else 25
        rows = exhibit.rows[:_MAX_LISTED]
        blocks.append(_table(f"{exhibit.name}, all numbers", rows, note, shown))
    title = f"{exhibit.name}: {exhibit.title}"
    return Section(title, _paragraphs(exhibit.note), blocks)


def _table(title: str, rows: Any, note: str = "", shown: int = 25) -> Table:
    names = {name: name.replace("_", " ") for row in rows for name in row}
    return table_of(title, rows, note, names, shown)


def _paragraphs(note: str) -> list[str]:
    """A few sentences at a time: nobody reads a wall of text.

    Examples
    --------
    >>> from sparsieve_experiments.report.reproductions import _paragraphs
    >>> _paragraphs("One. Two, e.g. a. Three. Four.")
    ['One. Two, e.g. a. Three.', 'Four.']
    """
    paragraphs = []
    for line in filter(None, map(str.strip, note.split("\n"))):
        sentences = re.split(r"(?<=[.;]) (?=[A-Z])", line)
        for start in range(0, len(sentences), _SENTENCES):
            paragraphs.append(" ".join(sentences[start : start + _SENTENCES]))
    return paragraphs
