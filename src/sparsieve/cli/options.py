"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from .errors import UsageError


class Task(StrEnum):
    """How to understand the target."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


class Rule(StrEnum):
    """Which number of features to take from a cross-validated curve."""

    best = "best"
    one_se = "one_se"
    elbow = "elbow"


RuleOption = Annotated[
    Rule,
    typer.Option(
        "--rule",
        metavar="RULE",
        help="How many features cross-validation keeps: best (accuracy matters most), one_se (the "
        "fewest that are as good) or elbow (where the curve bends).",
    ),
]
ScoringOption = Annotated[
    str | None,
    typer.Option(
        "--scoring",
        metavar="SCORE",
        help="Score of held-out samples, by which -k auto also chooses the number: a name of "
        "scikit-learn such as roc_auc, f1_macro, neg_log_loss or neg_mean_absolute_error.",
    ),
]
TaskOption = Annotated[
    Task, typer.Option("--task", metavar="TASK", help="auto, classification or regression.")
]
Drop = Annotated[
    list[str] | None,
    typer.Option("--drop", metavar="COL", help="Leave out a column; repeatable."),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="SUFFIX",
        help="What standard input holds: csv, tsv, parquet, ...",
    ),
]
LogCPMOption = Annotated[
    bool,
    typer.Option(
        "--log-cpm",
        help="Raw counts: divide every sample by its total and take logarithms before selecting.",
    ),
]

Debug = Annotated[
    bool,
    # Read from the arguments by `run`, which also has to see the errors of the parser.
    typer.Option("--debug", help="Show the traceback of an error."),
]
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="Processes; -1 for one per CPU.")]
RetryFailed = Annotated[
    bool, typer.Option("--retry-failed", help="Compute again what failed before.")
]
NoProgress = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]
EscapeFormulas = Annotated[
    bool,
    typer.Option(
        "--escape-formulas",
        help="Put an apostrophe before text in .csv and .tsv files that a spreadsheet would run "
        "as a formula (=, +, -, @ in front); for names and labels that come from strangers.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]


def check_jobs(jobs: int) -> None:
    """Refuse a number of processes that is none."""
    if jobs == 0 or jobs < -1:
        raise UsageError(f"--jobs must be a number of processes or -1, got {jobs}")
