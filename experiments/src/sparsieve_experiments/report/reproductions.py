"""The report of a reproduction: the claims first, everything else folded below."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from sparsieve._text import plural
from sparsieve.app.report.elements import Section, Table, make_table
from sparsieve.app.report.page import Report, provenance_section

from ..papers import Reproduction
from ..papers.claims import in_words, what_would_settle
from ..studies.exhibits import Exhibit

SENTENCES = 3  # of a paragraph
_MAX_LISTED = 1500  # rows of a table; the charts hold all
HOW_JUDGED = (
    "A difference is the method less the rival that decides, paired over data sets, with splits "
    "and settings averaged inside a data set; the 95 % intervals against all rivals hold together. "
    "Where the paper claims a count of data sets, the count is the verdict, and its p is the "
    "probability of so small a count if the paper's share were right. Theorems and single runs are "
    "shown or not shown."
)


def reproduction_report(reproduction: Reproduction, *, command: str = "") -> Report:
    """Report on a paper's experiments: its claims, then every table and figure.

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
    sparsieve_experiments.report.study_report : Report on a study.

    Examples
    --------
    >>> from sparsieve_experiments.papers import read_record
    >>> from sparsieve_experiments.report import reproduction_report
    >>> report = reproduction_report(read_record("l0-mpm").reproduction)
    >>> report.title, report.sections[0].title
    ('Reproducing Yang and Ju', 'Claims')
    """
    preset, claims = reproduction.preset, reproduction.claims
    warnings = []
    if reproduction.errors:
        warnings.append(
            f"{plural(len(reproduction.errors), 'computation')} failed and are left out; they are "
            "listed below."
        )
    sections = []
    if claims:
        table = make_table("Paper and reproduction", [c.shown for c in claims], shown=len(claims))
        sections.append(Section("Claims", (), [replace(table, dense=True)]))
        verdicts = f"{in_words(claims)} {what_would_settle(claims)}".strip()
        about = [preset.citation, HOW_JUDGED, verdicts]
        sections.append(Section("The paper, and how its claims are judged", about))
    if reproduction.coarser:
        title = f"What the {reproduction.level} level leaves out"
        sections.append(Section(title, [reproduction.coarser]))
    sections += [_section(exhibit) for exhibit in reproduction.exhibits]
    if reproduction.errors:
        rows = [{"error": error} for error in reproduction.errors]
        sections.append(Section("What failed", (), [make_table("Failures", rows)]))
    sections.append(provenance_section(None, command=command))
    return Report(
        title=f"Reproducing {preset.authors}",
        headline=reproduction.headline,
        sections=sections,
        warnings=warnings,
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
    return Section(f"{exhibit.name}: {exhibit.title}", paragraphs(exhibit.note), blocks)


def _table(title: str, rows: Any, note: str = "", shown: int = 25) -> Table:
    names = {name: name.replace("_", " ") for row in rows for name in row}
    return make_table(title, rows, note, names, shown)


def paragraphs(note: str) -> list[str]:
    """A few sentences at a time: nobody reads a wall of text.

    Examples
    --------
    >>> from sparsieve_experiments.report.reproductions import paragraphs
    >>> paragraphs("One. Two, e.g. a. Three. Four.")
    ['One. Two, e.g. a. Three.', 'Four.']
    """
    found = []
    for line in filter(None, map(str.strip, note.split("\n"))):
        sentences = re.split(r"(?<=[.;]) (?=[A-Z])", line)
        for start in range(0, len(sentences), SENTENCES):
            found.append(" ".join(sentences[start : start + SENTENCES]))
    return found
