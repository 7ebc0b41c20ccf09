"""Pages about studies and about the papers' experiments."""

from .reproductions import reproduction_report
from .studies import study_report
from .study_tables import export_study

__all__ = ["export_study", "reproduction_report", "study_report"]
