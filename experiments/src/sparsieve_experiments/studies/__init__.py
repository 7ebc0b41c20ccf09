"""Resumable comparisons of many selectors on many data sets, kept in one SQLite file."""

from .comparison import Gap, Standing, standings
from .curves import study_curves
from .kinds import StudyError
from .names import AllFeatures
from .results import ScoreTable, kept_rows, result_rows, score_table, summarise
from .run import RunSummary, run_study
from .selector_spec import SelectorSpec
from .sources import DatasetSpec
from .store import Store
from .store_reader import StoreError, StoreReader
from .study import Study

__all__ = [
    "AllFeatures",
    "DatasetSpec",
    "Gap",
    "RunSummary",
    "ScoreTable",
    "SelectorSpec",
    "Standing",
    "Store",
    "StoreError",
    "StoreReader",
    "Study",
    "StudyError",
    "kept_rows",
    "result_rows",
    "run_study",
    "score_table",
    "standings",
    "study_curves",
    "summarise",
]
