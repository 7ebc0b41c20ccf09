"""Whether a report can be written, asked before the work."""

from __future__ import annotations

from ..._optional import require


def check_installed() -> None:
    """Refuse where the packages that reports need are not installed.

    See Also
    --------
    sparsieve.app.report.selector_report : Report on a fitted selector.

    Examples
    --------
    >>> from sparsieve.app.report.check import check_installed
    >>> check_installed()
    """
    require("jinja2", extra="report", purpose="write a report")
    require("vl_convert", extra="report", purpose="draw the charts of a report")
