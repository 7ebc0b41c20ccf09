"""Reports: one HTML file that holds everything and needs no network."""

from .comparison import comparison_report
from .page import Report
from .selection import selector_report

__all__ = ["Report", "comparison_report", "selector_report"]
