"""What a page is made of, and how it was made, so that it can be repeated."""

from __future__ import annotations

import datetime
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..._files import replacing
from ..._imports import require
from ...scoring.outcomes import software
from .elements import Chart, Facts, Listing, Profiles, Section, Table
from .html import render, wrap_in_frame


def check_packages() -> None:
    """Refuse where the packages that reports need are not installed.

    See Also
    --------
    sparsieve.app.report.selector_report : Report on a fitted selector.

    Examples
    --------
    >>> from sparsieve.app.report.page import check_packages
    >>> check_packages()
    """
    require("jinja2", extra="report", purpose="write a report")
    require("vl_convert", extra="report", purpose="draw the charts of a report")


def provenance_section(
    parameters: Mapping[str, object] | None,
    *,
    command: str = "",
    code: str = "",
    seed: int | None = None,
    versions: Mapping[str, str] | None = None,
    text: Sequence[str] = (),
    tables: Sequence[Table] = (),
) -> Section:
    """The section that ends every report.

    Parameters
    ----------
    parameters : dict or None
        Of the method.
    command, code : str
        What makes the same report, on a command line or in Python.
    seed : int, default=None
        Of the folds.
    versions : dict, default=None
        Software behind the results; that of this process if not given.
    text : sequence of str
        Sentences on the procedure.
    tables : sequence of Table
        What was compared.

    Returns
    -------
    section : Section
    """
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
    facts: dict[str, object] = {"made": now, **(software() if versions is None else versions)}
    if seed is not None:
        facts["seed"] = seed
    lines = {"Command line": command, "In Python": code}
    blocks: list = [*tables, *(Listing(title, text) for title, text in lines.items() if text)]
    if parameters:
        blocks.append(Facts("Parameters", {k: repr(v) for k, v in parameters.items()}))
    return Section("How it was made", text, [*blocks, Facts("Software", facts)])


@dataclass(frozen=True)
class Report:
    """A whole report.

    Parameters
    ----------
    title : str
        Heading of the page.
    headline : str
        The answer, in one plain sentence.
    sections : sequence of Section
        Details, from top to bottom; they are folded, except where there is no picture the first.
    figures : dict of str to str
        A few more numbers, by what they are; one row of them.
    warnings : sequence of str
        What a reader must know before trusting it.
    profiles : Profiles or None
        More about the features that its tables name.
    picture : Chart or None
        The one picture to see first.

    See Also
    --------
    sparsieve.app.report.elements.Section : A part of the page.
    sparsieve.app.report.selector_report : Report on a fitted selector.

    Examples
    --------
    >>> from sparsieve.app.report import Report
    >>> from sparsieve.app.report.elements import Section
    >>> report = Report("Weather", "It rains.", [Section("Why", ["Clouds."])])
    >>> report.headline
    'It rains.'
    """

    title: str
    headline: str
    sections: Sequence[Section]
    figures: Mapping[str, str] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    profiles: Profiles | None = None
    picture: Chart | None = None

    def to_html(self) -> str:
        """The report as one HTML page that needs nothing else."""
        return render(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file; an existing file is replaced only by a complete one.

        Parameters
        ----------
        path : str or path
        """
        page = self.to_html()
        with replacing(Path(path)) as scratch:
            scratch.write_text(page, encoding="utf-8")

    def _repr_html_(self) -> str:
        """In a notebook: the page in a frame of its own."""
        return wrap_in_frame(self)
