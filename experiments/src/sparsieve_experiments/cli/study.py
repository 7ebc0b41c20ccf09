"""``sparsieve study``: compare selectors over data sets and splits, resumably."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sparsieve.app.cli.live import live, progress
from sparsieve.app.cli.options import (
    AsJson,
    Debug,
    EscapeFormulas,
    Jobs,
    NoProgress,
    RetryFailed,
    check_jobs,
)
from sparsieve.app.cli.output import (
    PAGES,
    ExitCode,
    UsageError,
    check_outputs,
    command_line,
    export_files,
    print_json,
    print_rows,
    say,
)

if TYPE_CHECKING:
    from ..studies import Study

_STATES = ("done", "failed", "running", "open")

study = typer.Typer(
    name="study",
    help="Compare selectors over data sets and splits; may be interrupted and resumed.",
    no_args_is_help=True,
)

File = Annotated[
    Path,
    typer.Argument(
        metavar="STUDY",
        help="The study.toml, or the store (.sqlite) of its results.",
    ),
]
StorePath = Annotated[
    Path | None,
    typer.Option(
        "--store",
        metavar="FILE",
        help="SQLite file of the results, on a local disk; if not given, beside the study.toml.",
    ),
]

Exports = Annotated[
    list[Path] | None,
    typer.Option(
        "--export",
        metavar="OUT",
        help="Write the table of methods and data sets as .tex (LaTeX), .md (Markdown) or .csv; "
        "repeatable.",
    ),
]


@study.command()
def run(
    file: Annotated[Path, typer.Argument(metavar="STUDY", help="A study.toml.")],
    store: StorePath = None,
    jobs: Jobs = 1,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Compute on the Dask cluster with this scheduler, such as tcp://10.0.0.1:8786.",
        ),
    ] = None,
    retry_failed: RetryFailed = False,
    allow_import: Annotated[
        bool,
        typer.Option(
            "--allow-import",
            help="Allow selectors named package.module:Class, which runs code of that package.",
        ),
    ] = False,
    export: Exports = None,
    escape_formulas: EscapeFormulas = False,
    as_json: AsJson = False,
    quiet: NoProgress = False,
    debug: Debug = False,
) -> None:
    """Compute what is not computed yet.

    Interrupt or kill it at any time and run it again: nothing finished is lost or computed twice.
    Several processes may work on one study at the same time. The exit code is 1 if a fit failed or
    is still open, or a data set was skipped.

    Example: sparsieve study run study.toml --jobs 4
    """
    check_jobs(jobs)
    check_outputs(export_files(export))
    if cluster is not None and jobs != 1:
        raise UsageError("--jobs and --cluster exclude each other: the cluster knows its workers")
    with _explained():
        from ..studies import Study, run_study

        planned = Study.from_toml(file, allow_import=allow_import)
        path = _store_of(file, store)
        if not quiet:
            _say_oddities(planned)
        with live(quiet) as tell:
            summary = run_study(
                planned,
                path,
                n_jobs=jobs,
                cluster=cluster,
                retry_failed=retry_failed,
                on_progress=tell and partial(tell, planned.name),
            )
    for name, reason in summary.skipped.items():
        say(f"skipped data set {name}: {reason}")
    if not quiet:
        for note in summary.notes:
            say(note)
        say(_sentence(summary, path))
        _say_standings(planned.name, path)
    with _explained():
        _write_exports(path, planned.name, export, escape_formulas)
    if as_json:
        print_json({"store": path, **asdict(summary)})
    if summary.failed or summary.skipped or _open(summary):
        raise typer.Exit(int(ExitCode.BAD_DATA))


def _write_exports(
    store: Any, name: str | None, paths: list[Path] | None, escape_formulas: bool
) -> None:
    if not paths:
        return
    from ..report import export_study

    for path in paths:
        export_study(store, path, name, escape_formulas=escape_formulas)
        say(f"wrote {path}")


def _say_oddities(planned: Study) -> None:
    from sparsieve.diagnosis import diagnose

    from ..studies import StudyError

    with progress("Looking at the data"):
        for spec in planned.dataset_specs:
            try:
                data = spec.load()
                found = diagnose(data.X, data.y, task=data.task if data.y.ndim == 1 else "auto")
            except (StudyError, ValueError, OSError):
                continue  # the run itself says why it is skipped
            for finding in found:
                say(f"data set {data.name}: {finding}")


def _say_standings(name: str, path: Path) -> None:
    from ..studies import StoreError, StoreReader, result_rows, standings

    try:
        with StoreReader(path) as store:
            for standing in standings(result_rows(store, name)):
                say(str(standing))
    except StoreError as error:  # the run is over, and its exit code tells how it went
        say(f"the methods cannot be compared: {error}")


def _sentence(summary: Any, path: Path) -> str:
    parts = [f"{summary.done} of {summary.total} cells done ({summary.computed} computed now)"]
    if summary.elsewhere:
        parts.append(f"{summary.elsewhere} running in another process")
    if summary.failed:
        parts.append(
            f"{summary.failed} failed: sparsieve study status tells why, --retry-failed tries again"
        )
    if _open(summary):
        parts.append(f"{_open(summary)} still open: run it again")
    return "; ".join([*parts, f"results in {path}"])


def _open(summary: Any) -> int:
    """Cells that nobody is at work on, because a process that was has ended."""
    return summary.total - summary.done - summary.failed - summary.elsewhere


@study.command()
def status(
    file: File, store: StorePath = None, as_json: AsJson = False, debug: Debug = False
) -> None:
    """Show what is done, failed, under way and open, and how targets are read."""
    with _opened(file, store) as (results, names):
        cells = [(name, cell) for name in names for cell in results.cells(name)]
    counts: dict[tuple, Counter] = {}
    for name, cell in cells:
        place = (name, *_place(cell))
        counts.setdefault(place, Counter())[cell["state"]] += 1
    failures = Counter(
        (*_place(cell), cell["error"]) for _, cell in cells if cell["state"] == "failed"
    )
    targets = {
        str(cell["spec"].get("dataset", "")): str(cell["spec"]["read_as"])
        for _, cell in cells
        if cell["spec"].get("read_as")
    }
    if as_json:
        print_json(
            {
                "targets": targets,
                "cells": [
                    dict(zip(("study", "dataset", "selector"), place, strict=True))
                    | {state: count[state] for state in _STATES}
                    for place, count in counts.items()
                ],
                "failures": [
                    {"dataset": dataset, "selector": label, "error": error, "times": times}
                    for (dataset, label, error), times in failures.items()
                ],
            }
        )
        return
    print_rows(
        ("study", "data set", "selector", *_STATES),
        [(*place, *(str(count[state]) for state in _STATES)) for place, count in counts.items()],
        right=_STATES,
    )
    for dataset, read_as in targets.items():
        say(f"data set {dataset}: y is read as {read_as}")
    for (dataset, label, error), times in failures.items():
        say(f"failed {times}x: {label} on {dataset}: {error}")


def _place(cell: dict) -> tuple[str, str]:
    """Data set and selector; jobs of a reproduction may have neither."""
    return str(cell["spec"].get("dataset", "")), str(cell["spec"].get("label", ""))


@study.command()
def export(
    file: File,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help=".csv, .tsv (also .gz) or .parquet.",
        ),
    ],
    store: StorePath = None,
    summary: Annotated[
        bool,
        typer.Option(
            "--summary",
            help="Means and standard deviations over the splits instead of every score; "
            'parameters with tuning "best-on-test" are chosen here, and labelled so.',
        ),
    ] = False,
    kept: Annotated[
        bool,
        typer.Option(
            "--kept", help="What every split kept instead of scores: one row per feature."
        ),
    ] = False,
    escape_formulas: EscapeFormulas = False,
    debug: Debug = False,
) -> None:
    """Write the scores of all finished cells to a table.

    One row per split, number of features and model. The column "task" says how the target was
    read, "classifier" is the model. The column "tuning" says how the parameters are chosen;
    "best-on-test" means on the test samples, which is optimistic.

    Example: sparsieve study export study.toml -o results.csv
    """  # fmt: skip
    from sparsieve.app.io.errors import DataError
    from sparsieve.app.io.write import write_table

    if summary and kept:
        raise UsageError("--summary and --kept exclude each other")
    check_outputs({"--output": (output, None)})
    with _opened(file, store) as (results, names):
        from ..studies import kept_rows, result_rows, summarise
        from ..studies.results import as_columns

        wanted = kept_rows if kept else result_rows
        rows = [row for name in names for row in wanted(results, name)]
        if not rows:
            raise DataError("no cell is finished yet; sparsieve study run computes them")
        table = summarise(rows) if summary else rows
        write_table(output, as_columns(table), escape_formulas=escape_formulas)
    say(f"wrote {len(table)} rows to {output}")


@study.command()
def report(
    file: File,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="OUT", help="An .html file."),
    ] = None,
    store: StorePath = None,
    name: Annotated[
        str | None,
        typer.Option(help="Which study, where a store holds several."),
    ] = None,
    export: Exports = None,
    escape_formulas: EscapeFormulas = False,
    debug: Debug = False,
) -> None:
    """Write an HTML report, or a table for a paper.

    The report has curves, scores, ranks, stability, redundancy and time; the table marks methods
    that are significantly lower than the best.

    Example: sparsieve study report study.toml -o report.html --export table.tex
    """
    if output is None and not export:
        raise UsageError("nothing to write: give --output report.html or --export table.tex")
    check_outputs({"--output": (output, PAGES), **export_files(export)})
    with _opened(file, store) as (results, names):
        from sparsieve_experiments.report import study_report

        chosen = name or (names[0] if len(names) == 1 else None)
        if output is not None:
            with progress("Writing the report"):
                study_report(results, chosen, command=command_line()).save(output)
            say(f"wrote {output}")
        _write_exports(results, chosen, export, escape_formulas)


def _store_of(file: Path, store: Path | None) -> Path:
    return store if store is not None else file.with_suffix(".sqlite")


@contextmanager
def _opened(file: Path, store: Path | None) -> Iterator[tuple]:
    """An existing store and the names of the studies that are meant."""
    from sparsieve.app.io.errors import DataError

    with _explained():
        from ..studies import StoreReader
        from ..studies.study import study_name

        is_study = file.suffix.lower() == ".toml"
        path = _store_of(file, store) if is_study else file
        wanted = study_name(file) if is_study else None
        if not path.exists():
            raise DataError(f"there is no store {path} yet; sparsieve study run makes it")
        with StoreReader(path) as results:
            names = results.studies() if wanted is None else [wanted]
            yield results, names


@contextmanager
def _explained() -> Iterator[None]:
    """Errors of a study as the command line reports them."""
    from sparsieve.app.io.errors import DataError

    with progress("Loading"):
        from ..studies import StoreError, StudyError
    try:
        yield
    except (StudyError, StoreError) as error:
        raise DataError(str(error)) from error
