"""``sparsieve compare``: several methods on one data file, side by side."""

# ruff: noqa: RUF009 (the default of an option is what describes it)

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from .live import following, progress
from .options import (
    AsJson,
    DataFile,
    Debug,
    EscapeFormulas,
    Jobs,
    MaxCorrelation,
    Quiet,
    RuleOption,
    Task,
    TaskOption,
    about_target,
    as_options,
    check_jobs,
    parse_max_correlation,
    with_option_sets,
)
from .output import (
    PAGES,
    UsageError,
    check_outputs,
    collect_warnings,
    command_line,
    export_files,
    print_json,
    print_rows,
    say,
)
from .settings import find_method
from .tables import Preparing, Reading, SurvivalColumns, data_file

if TYPE_CHECKING:  # loading these takes a while
    from ..comparison import Comparison
    from ..io import Table

_MAX_FEATURES = 10  # features in a sentence


@dataclass(frozen=True)
class Contest:
    """Which methods are compared, and by what."""

    methods: str | None = typer.Option(
        None,
        "--methods",
        "-m",
        metavar="A,B,...",
        help="Methods to compare; sparsieve methods lists them. Default: six fast ones of "
        "different families.",
    )
    counts: str | None = typer.Option(
        None,
        "--k",
        "-k",
        metavar="N,...",
        help="Numbers of features to score, such as 5,10,20. Default: up to 20 between 1 and 100.",
    )
    rule: RuleOption = None
    model: str = typer.Option(
        "auto",
        metavar="MODEL",
        help="The model that scores the selections: ridge, svm, softmax, 1nn or 5nn for "
        "classes, ridge, 5nn or svr for numbers, poisson for counts, cox for survival times; "
        "auto uses the first, as sparsieve select does.",
    )
    scoring: list[str] | None = typer.Option(
        None,
        "--scoring",
        metavar="SCORE",
        help="A score of scikit-learn: roc_auc, f1_macro, neg_log_loss, "
        "neg_mean_absolute_error, ... May be given several times; the first decides. If not "
        "given: accuracy and balanced_accuracy for classes (roc_auc before them if 85 % of the "
        "samples or more are in one of two classes), r2 for numbers, deviance_explained for "
        "counts, concordance and uno_concordance for survival times.",
    )

    max_correlation: MaxCorrelation = "auto"

    def arguments(self) -> dict[str, Any]:
        """The same for :func:`~sparsieve.compare`."""
        names, counts = self.methods, self.counts
        return {
            "methods": None if names is None else [find_method(n).name for n in _parts(names)],
            "ks": "auto" if counts is None else [_number(text) for text in _parts(counts)],
            **({} if self.rule is None else {"rule": self.rule.value}),
            "model": self.model,
            "scoring": self.scoring or None,
            "max_correlation": parse_max_correlation(self.max_correlation),
        }


@dataclass(frozen=True)
class Splits:
    """The samples and their folds."""

    folds: int = typer.Option(
        5, metavar="N", min=2, help="Number of folds of the cross-validation."
    )
    repeats: int = typer.Option(
        2, metavar="N", min=1, help="How often to repeat it with other folds."
    )
    samples: int = typer.Option(
        2000, metavar="N", min=20, help="Use at most this many samples, drawn at random."
    )
    seed: int = typer.Option(0, metavar="N", min=0, help="Random seed of the folds.")

    def arguments(self) -> dict[str, Any]:
        """The same for :func:`~sparsieve.compare`."""
        how = {"cv": self.folds, "n_repeats": self.repeats}
        return {**how, "max_samples": self.samples, "random_state": self.seed}


@dataclass(frozen=True)
class Outputs:
    """The files that are written."""

    output: Path | None = typer.Option(
        None,
        "--output",
        "-o",
        metavar="OUT",
        help=".csv, .tsv (also .gz) or .parquet: every selected feature, how many methods "
        "selected it and in which share of the fits.",
    )
    report: Path | None = typer.Option(
        None,
        metavar="OUT",
        help="Write an HTML report: curves, agreement, stability, time.",
    )
    export: list[Path] | None = typer.Option(
        None,
        metavar="OUT",
        help="Write the table of methods as .tex (LaTeX), .md (Markdown) or .csv; repeatable.",
    )
    escape_formulas: EscapeFormulas = False

    def check(self, file: Any) -> None:
        """Refuse, before any work, what could not be written after it."""
        outputs = {"--report": (self.report, PAGES), "--output": (self.output, None)}
        check_outputs({**outputs, **export_files(self.export)}, file)

    def write(self, found: Comparison, *, quiet: bool) -> list[Path]:
        """Write them all, and say which."""
        from ..io.write import write_table

        exports, how = self.export or [], {"escape_formulas": self.escape_formulas}
        if self.output is not None:
            write_table(self.output, found.consensus_columns(), **how)
        if self.report is not None:
            with following("Writing the report", quiet=quiet):
                found.report(self.report, command=command_line())
        for path in exports:
            found.export(path, **how)
        return [path for path in (self.output, self.report, *exports) if path is not None]


@with_option_sets
def compare(
    file: DataFile,
    reading: Reading,
    survival: SurvivalColumns,
    preparing: Preparing,
    contest: Contest,
    *,
    task: TaskOption = Task.auto,
    splits: Splits,
    outputs: Outputs,
    jobs: Jobs = 1,
    as_json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Compare methods on FILE: how well their features predict, and which they agree on.

    Every method selects on the training samples of the same folds, and a model scores its features
    on the held-out samples. Prints a table of the methods and which differences are significant.

    Example: sparsieve compare data.csv --target label --methods ridge-forward,l21,relieff
    """
    check_jobs(jobs)
    outputs.check(file)
    survival.check(reading.target, task.value)
    reading = preparing.check_reading(reading)
    if reading.covariates:
        raise UsageError(
            "--covariates is for sparsieve select; a comparison has none, so leave it out or leave "
            "the columns out with --drop"
        )
    with progress("Loading", quiet=quiet):
        from ..comparison import compare as compare_methods
        from ..io import DataError

        asked = contest.arguments() | splits.arguments()
    with data_file(file, reading.form) as path:
        gaps = preparing.gaps(reading)
        table = survival.read_table(reading, path, task.value, quiet=quiet, gaps=gaps)
    together = preparing.groups(table)
    try:
        working = f"Comparing on {table.X.shape[1]} features"
        with following(working, quiet=quiet), collect_warnings() as doubts:
            found = compare_methods(
                table,
                task=task.value,
                feature_groups=together,
                prepare=preparing.steps(table),
                n_jobs=jobs,
                **asked,
            )
    except ValueError as error:
        raise DataError(as_options(str(error))) from error
    say(*(f"warning: {about_target(doubt, table)}" for doubt in doubts))
    first = [as_options(one) for one in found.leaks]
    say(*(f"note: {sentence}" for sentence in first if not quiet))
    if as_json:
        print_json({**_as_dict(found, table), "diagnosis": first})
    else:
        _print_methods(found)
    if not (as_json and quiet):  # the JSON holds it
        say(found.recommendation)
    _say_summary(found, quiet=quiet)
    sys.stdout.flush()
    written = outputs.write(found, quiet=quiet)
    say(*(f"wrote {path}" for path in written if not quiet))
    if found.interrupted:
        raise KeyboardInterrupt


def _parts(text: str) -> list[str]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise UsageError("--methods and --k need names or numbers separated by commas")
    return parts


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"--k needs whole numbers separated by commas, got {text!r}") from None


def _print_methods(found: Comparison) -> None:
    header, rows = found.table_rows()
    print_rows(header, rows, right=tuple(title for title in header[1:] if title != "verdict"))
    if sys.stdout.isatty():
        agreed = found.consensus_columns()
        n_methods = len(found.methods)
        print_rows(
            ("feature", "methods", "share of all fits"),
            [
                (str(feature), f"{votes} of {n_methods}", f"{100 * share:.0f} %")
                for feature, votes, share in zip(
                    *(agreed[key][:_MAX_FEATURES] for key in ("feature", "methods", "share")),
                    strict=True,
                )
            ],
            right=("methods", "share of all fits"),
        )


def _say_summary(found: Comparison, *, quiet: bool) -> None:
    """Warnings; what else is worth knowing only if not quiet."""
    for name, result in found.methods.items():
        say(*(f"warning: {name}: {warning}" for warning in result.warnings))
    if quiet:
        return
    agreed = found.consensus_columns()
    named = [
        f"{feature} ({votes} of {len(found.methods)})"
        for feature, votes in zip(
            agreed["feature"][:_MAX_FEATURES], agreed["methods"], strict=False
        )
        if votes
    ]
    features = f"{found.k} {found.data.unit}{'s' * (found.k != 1)}"
    say(f"Features chosen by most methods (with {features} each): {', '.join(named)}.")
    say(f"{found.how_measured}.")
    say(*(f"note: {as_options(note)}" for note in found.notes))


def _as_dict(found: Comparison, table: Table) -> dict[str, Any]:
    from ..._version import __version__
    from ...preprocessing.table import rows_of

    return {
        "target": table.target_name,
        "task": found.data.task,
        "n_samples": len(found.data.y),
        "n_left_out": table.n_left_out,
        "n_features": len(found.data.names),
        "k": found.k,
        "ks": found.ks,
        "rule": found.rule,
        "model": found.model,
        "metric": found.metric,
        "recommendation": found.recommendation,
        "methods": rows_of(found.table_columns()),
        "curves": {
            name: {metric: scores.mean(axis=1) for metric, scores in result.scores.items()}
            for name, result in found.methods.items()
        },
        "guess": {metric: scores.mean() for metric, scores in found.guess.items()},
        "all_features": None
        if found.all_features is None
        else {metric: scores.mean() for metric, scores in found.all_features.items()},
        "consensus": rows_of(found.consensus_columns()),
        "correlations": found.correlations,
        "left_out": found.left_out,
        "notes": found.notes,
        "folds": found.n_folds,
        "repeats": found.n_repeats,
        "seed": found.random_state,
        "version": __version__,
    }
