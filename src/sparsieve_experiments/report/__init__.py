"""Pages about studies and about the papers' experiments."""

from .reproductions import reproduction_report
from .studies import study_report

__all__ = ["reproduction_report", "study_report"]
