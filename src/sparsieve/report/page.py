"""A report that can be written to a file and shown in a notebook."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..io.write import replacing
from .elements import Chart, Profiles, Section
from .html import framed, render


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
    sparsieve.report.elements.Section : A part of the page.
    sparsieve.report.selector_report : Report on a fitted selector.

    Examples
    --------
    >>> from sparsieve.report import Report
    >>> from sparsieve.report.elements import Section
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
        return framed(self)
