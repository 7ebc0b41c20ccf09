"""``sparsieve compare``: several methods on one data file, side by side."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .errors import UsageError
from .live import live
from .options import (
    AsJson,
    Debug,
    Drop,
    EscapeFormulas,
    Format,
    Jobs,
    LogCPMOption,
    NoProgress,
    Task,
    TaskOption,
    check_jobs,
)
from .output import (
    PAGES,
    check_outputs,
    command_line,
    exports_of,
    print_json,
    print_rows,
    progress,
    say,
)
from .settings import find_method
from .standard_input import data_file, read_data

if TYPE_CHECKING:  # loading these takes a while
    from ..comparison import Comparison
    from ..io import Table

_SHOWN = 10  # features in a sentence


def compare(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help=".csv, .tsv, .txt (also .gz), .parquet, .npz, .mat, svmlight or .h5ad; - reads "
            "standard input.",
        ),
    ],
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "-t",
            metavar="COL",
            help="Column with the labels or values to predict, as for sparsieve select.",
        ),
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            "--methods",
            "-m",
            metavar="A,B,...",
            help="See: sparsieve methods; if not given, six fast ones of different families.",
        ),
    ] = None,
    counts: Annotated[
        str | None,
        typer.Option(
            "--k",
            "-k",
            metavar="N,...",
            help="Numbers of features to score, such as 5,10,20; if not given, up to 12 between 1 "
            "and 100.",
        ),
    ] = None,
    model: Annotated[
        str,
        typer.Option(
            metavar="MODEL",
            help="What scores the selections: svm, softmax, 1nn or 5nn for classes, ridge or 5nn "
            "for numbers; auto is the first.",
        ),
    ] = "auto",
    metric: Annotated[
        str,
        typer.Option(
            metavar="SCORE",
            help="accuracy or balanced_accuracy for classes, r2 for numbers; auto is the first.",
        ),
    ] = "auto",
    task: TaskOption = Task.auto,
    folds: Annotated[int, typer.Option(min=2, help="Folds of the cross-validation.")] = 5,
    repeats: Annotated[int, typer.Option(min=1, help="How often they are drawn anew.")] = 2,
    samples: Annotated[
        int, typer.Option(min=20, help="Where there are more samples, draw so many.")
    ] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="Of the folds.")] = 0,
    drop: Drop = None,
    log_cpm: LogCPMOption = False,
    form: Format = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help=".csv, .tsv (also .gz) or .parquet: every feature that was chosen, by how many "
            "methods and in which share of the fits.",
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT",
            help="Write an HTML report: curves, agreement, stability, time.",
        ),
    ] = None,
    export: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="OUT",
            help="Write the table of methods as .tex (LaTeX), .md (Markdown) or .csv; repeatable.",
        ),
    ] = None,
    escape_formulas: EscapeFormulas = False,
    jobs: Jobs = 1,
    as_json: AsJson = False,
    quiet: NoProgress = False,
    debug: Debug = False,
) -> None:
    """Compare methods on FILE: how well their features predict, and which they agree on.

    Every method selects inside the training part of the same folds, and a model scores its
    features on the samples held out. Prints a table of the methods, and says which of them can be
    told apart.

    Example: sparsieve compare data.csv --target label --methods ridge-forward,l21,relieff
    """
    check_jobs(jobs)
    outputs = {"--report": (report, PAGES), "--output": (output, None)}
    check_outputs({**outputs, **exports_of(export)}, file)
    with progress("Loading"):
        from ..comparison import compare as compare_methods
        from ..io import DataError

        names = None if methods is None else [find_method(n).name for n in _parts(methods)]
        ks = "auto" if counts is None else [_number(text) for text in _parts(counts)]
    with data_file(file, form) as path:
        table = read_data(path, target, drop)
    doubts, read_as = _reading(table, task)
    say(*(f"note: {note}" for note in [*table.notes, *doubts] if not quiet))
    try:
        with live(quiet) as tell:
            found = compare_methods(
                table.X,
                table.y,
                names,
                ks=ks,
                model=model,
                metric=metric,
                task=read_as,
                cv=folds,
                n_repeats=repeats,
                max_samples=samples,
                random_state=seed,
                feature_names=table.feature_names,
                prepare="log-cpm" if log_cpm else None,
                n_jobs=jobs,
                on_progress=tell and partial(tell, "comparing"),
            )
    except ValueError as error:
        raise DataError(_as_options(str(error))) from error
    first = [one.replace('with prepare="log-cpm"', "with --log-cpm") for one in found.leaks]
    say(*(f"note: {sentence}" for sentence in first if not quiet))
    written = _write(found, output, report, export or [], escape_formulas)
    if as_json:
        print_json({**_as_dict(found, table.target_name), "diagnosis": first})
    else:
        _print_methods(found)
    if not quiet:
        _say_summary(found, written)


def _parts(text: str) -> list[str]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise UsageError("--methods and --k want names or numbers with commas between them")
    return parts


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"--k wants whole numbers with commas, got {text!r}") from None


def _as_options(sentence: str) -> str:
    """A sentence about parameters as one about options."""
    for parameter, option in (
        ('task="classification"', "--task classification"),
        ("n_repeats", "--repeats"),
        ("every number in ks", "every number of --k"),
        ("ks asks", "--k asks"),
        ("pass --task", "give --task"),
    ):
        sentence = sentence.replace(parameter, option)
    return sentence


def _reading(table: Table, task: Task) -> tuple[list[str], str]:
    """A sentence on how the target is read, where there is one to say, and the task."""
    from ..validation.target import read_task

    if task != Task.auto or table.y.ndim != 1:
        return [], task.value
    read_as, sentence = read_task(table.y, option="--task {}")
    sentence = sentence.replace("y holds", f"{table.target_name} holds", 1)
    return [sentence] * bool(sentence), read_as


def _write(
    found: Comparison,
    output: Path | None,
    report: Path | None,
    exports: list[Path],
    escape_formulas: bool,
) -> list[Path]:
    from ..io.write import write_table

    if output is not None:
        write_table(output, found.consensus_columns(), escape_formulas=escape_formulas)
    if report is not None:
        with progress("Writing the report"):
            found.report(report, command=command_line())
    for path in exports:
        found.export(path, escape_formulas=escape_formulas)
    return [path for path in (output, report, *exports) if path is not None]


def _print_methods(found: Comparison) -> None:
    from ..report.method_table import method_rows

    header, rows = method_rows(found)
    print_rows(header, rows, right=tuple(title for title in header[1:] if title != "verdict"))
    if sys.stdout.isatty():
        agreed = found.consensus_columns()
        n_methods = len(found.methods)
        print_rows(
            ("feature", "methods", "share of all fits"),
            [
                (str(feature), f"{votes} of {n_methods}", f"{share:.0%}")
                for feature, votes, share in zip(
                    *(agreed[key][:_SHOWN] for key in ("feature", "methods", "share")), strict=True
                )
            ],
            right=("methods", "share of all fits"),
        )


def _say_summary(found: Comparison, written: list[Path]) -> None:
    say(found.recommendation)
    agreed = found.consensus_columns()
    named = [
        f"{feature} ({votes} of {len(found.methods)})"
        for feature, votes in zip(agreed["feature"][:_SHOWN], agreed["methods"], strict=False)
        if votes
    ]
    say(f"Features chosen by most methods: {', '.join(named)}.")
    for note in found.notes:
        say(f"note: {note.replace('max_samples', '--samples')}")
    for name, result in found.methods.items():
        for warning in result.warnings:
            say(f"warning: {name}: {warning}")
    say(*(f"wrote {path}" for path in written))


def _as_dict(found: Comparison, target: str) -> dict[str, Any]:
    from .._version import __version__
    from ..io.table import rows_of

    return {
        "target": target,
        "task": found.data.task,
        "n_samples": len(found.data.y),
        "n_features": len(found.data.names),
        "k": found.k,
        "ks": found.ks,
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
