"""Reports: one HTML file that holds everything and needs no network."""

from .check import check_installed
from .comparison import comparison_report
from .data import Chart, Column, Explorer, Facts, Listing, Profiles, Section, Step, Table
from .page import Report
from .reproductions import reproduction_report
from .selection import selector_report
from .studies import study_report

__all__ = [
    "Chart",
    "Column",
    "Explorer",
    "Facts",
    "Listing",
    "Profiles",
    "Report",
    "Section",
    "Step",
    "Table",
    "check_installed",
    "comparison_report",
    "reproduction_report",
    "selector_report",
    "study_report",
]
