"""``sparsieve reproduce``: a paper's experiments on the data at hand."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from sparsieve.app.cli.live import live, progress
from sparsieve.app.cli.options import (
    AsJson,
    Debug,
    Jobs,
    NoProgress,
    RetryFailed,
    check_jobs,
    with_option_sets,
)
from sparsieve.app.cli.output import (
    ExitCode,
    UsageError,
    check_page,
    command_line,
    print_json,
    print_rows,
    say,
)

from .reproduction_plan import print_plan, say_plan

_SHOWN = 60  # rows of one table on a terminal; longer ones are shown in short


@dataclass(frozen=True)
class Amount:
    """How much is computed, from which data, and where it is kept."""

    quick: Annotated[
        bool,
        typer.Option("--quick", help="A part of the data sets, repeats and settings: minutes."),
    ] = False
    full: Annotated[
        bool,
        typer.Option("--full", help="Exactly the paper's protocol: hours or days."),
    ] = False
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help='Only the experiment of this name, such as "figure 4", or else those whose name '
            "contains it; repeatable.",
        ),
    ] = None
    repeats: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="At most N repetitions of the splits, where the paper has more (robust-l20 and "
            "l0-mkl); a record says so.",
        ),
    ] = None
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Where the data files are; the folder named by SPARSIEVE_DATA if not given.",
        ),
    ] = None
    store: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="SQLite file of the results, one for every level; PAPER.sqlite, "
            "PAPER-quick.sqlite or PAPER-full.sqlite in this folder if not given.",
        ),
    ] = None

    @property
    def level(self) -> str:
        """The level that was asked for."""
        return "quick" if self.quick else "full" if self.full else "standard"

    def file(self, paper: str) -> Path:
        """The file of the results."""
        suffix = "" if self.level == "standard" else f"-{self.level}"
        return self.store or Path(f"{paper}{suffix}.sqlite")

    def find_data(self) -> None:
        """Look for data in the folder that was named; other processes look there too."""
        if self.data is None:
            return
        if not self.data.is_dir():
            raise UsageError(f"--data: there is no folder {self.data}")
        os.environ["SPARSIEVE_DATA"] = str(self.data.resolve())


@dataclass(frozen=True)
class Outputs:
    """What is shown and written."""

    report: Annotated[
        Path | None,
        typer.Option(metavar="OUT", help="Write an HTML report as well."),
    ] = None
    claims: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the claims and their verdicts as well, one row per claim (.csv).",
        ),
    ] = None
    tables: Annotated[
        bool,
        typer.Option("--tables", help="With --recorded: print all tables, not only the claims."),
    ] = False
    plan_only: Annotated[
        bool,
        typer.Option(
            "--plan", help="Compute nothing: print what would be computed and how long it takes."
        ),
    ] = False
    recorded: Annotated[
        bool,
        typer.Option(
            "--recorded",
            help="Compute nothing: show what the experiments gave when they were last recorded, "
            "and which rows are of older code.",
        ),
    ] = False
    record: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Write the results into FOLDER/PAPER (with --full into FOLDER/PAPER-full), as the "
            "package keeps its records.",
        ),
    ] = None
    add: Annotated[
        bool,
        typer.Option(
            "--add",
            help="With --record: add to the record that is there, such as a data set. Rows of "
            "other data sets and experiments stay; it must be of the same protocol.",
        ),
    ] = False

    def check(self) -> None:
        """Refuse, before any work, what could not be written after it."""
        check_page(self.report)
        if self.claims is not None:
            from sparsieve.app.io.write import check_writable

            check_writable(self.claims)

    def write(self, outcome: Any) -> None:
        """Write the report and the claims."""
        if self.report is not None:
            from sparsieve_experiments.report import reproduction_report

            with progress("Writing the report"):
                reproduction_report(outcome, command=command_line()).save(self.report)
            say(f"wrote {self.report}")
        if self.claims is not None:
            from ..papers.claims import write_claims

            write_claims(outcome.claims, self.claims)
            say(f"wrote {self.claims}")


@dataclass(frozen=True)
class Means:
    """How it is computed."""

    device: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Solve all splits of a data set as one batch on this device, such as cuda "
            "(robust-l20 only; needs torch).",
        ),
    ] = None
    halving: Annotated[
        bool,
        typer.Option(
            "--halving",
            help="Search the 3125 points of --full l0-mkl by successive halving: one in nine goes "
            "on after the first split.",
        ),
    ] = False
    jobs: Jobs = 1
    retry_failed: RetryFailed = False


@with_option_sets
def reproduce(
    paper: Annotated[
        str,
        typer.Argument(metavar="PAPER", help="robust-l20, l20, exclusive-l21, l0-mkl or l0-mpm."),
    ],
    amount: Amount,
    outputs: Outputs,
    means: Means,
    as_json: AsJson = False,
    quiet: NoProgress = False,
    debug: Debug = False,
) -> None:
    """Repeat a paper's experiments and say which of its claims held.

    Runs all methods on all data sets at hand, with coarser grids than the paper: at most 25
    minutes on two cores. Missing data sets are left out, with the reason. You can interrupt it at
    any time and run it again: finished results are kept. The exit code is 1 if a computation
    failed.

    Example: sparsieve reproduce l20 --recorded --report l20.html
    """
    check_jobs(means.jobs)
    outputs.check()
    _check_combination(amount, outputs, means)
    amount.find_data()
    from sparsieve.app.io.errors import DataError

    with progress("Loading"):
        from .. import papers
        from ..studies import StoreError, StudyError
    try:
        preset = papers.find_preset(paper)
        papers.check_device(preset, means.device)
        papers.check_halving(preset, amount.level, means.halving)
        papers.check_repeats(preset, amount.repeats)
    except (ValueError, RuntimeError) as error:
        raise UsageError(str(error)) from None
    if not quiet:
        say(preset.citation)
    file = amount.file(paper)
    asked: dict[str, Any] = {"level": amount.level, "only": amount.only or ()}
    asked |= {"halving": means.halving, "n_repeats": amount.repeats}
    try:
        if outputs.plan_only:
            print_plan(papers.plan(paper, **asked), preset, file, as_json=as_json)
            return
        if outputs.recorded:
            _show_record(papers.read_record(paper), outputs, as_json=as_json)
            return
        folder = outputs.record and outputs.record / (f"{paper}-full" if amount.full else paper)
        if folder and outputs.add:
            from ..papers.records import addable

            addable(preset, amount.level, folder)  # or it is refused before any work
        with live(quiet) as tell:
            outcome = papers.reproduce(
                paper,
                file,
                n_jobs=means.jobs,
                retry_failed=means.retry_failed,
                on_progress=tell,
                on_exhibit=None if as_json else _print_exhibit,
                on_plan=None if quiet else lambda planned: say_plan(planned, preset, means.jobs),
                device=means.device,
                **asked,
            )
    except KeyboardInterrupt:
        say(f"what is finished is in {file}: run it again to go on")
        raise
    except (StudyError, StoreError, papers.RecordError) as error:
        raise DataError(str(error)) from error
    _show(outcome, as_json=as_json)
    outputs.write(outcome)
    if outcome.errors:
        raise typer.Exit(int(ExitCode.BAD_DATA))
    if folder is not None:
        planned = papers.plan(paper, **asked)
        papers.save_record(outcome, planned, planned.times_in(file), folder, add=outputs.add)
        say(f"wrote the record into {folder}")


def _show(outcome: Any, *, as_json: bool) -> None:
    """Print what came out, if anything did."""
    if not any(exhibit.rows for exhibit in outcome.exhibits) and not outcome.errors:
        from sparsieve.app.io.errors import DataError
        from sparsieve.datasets import get_data_home

        raise DataError(
            f"none of the data sets that this needs is in {get_data_home()}; name their folder "
            f"with --data, and see: sparsieve datasets"
        )
    if as_json:
        print_json(_as_dict(outcome))
    else:
        _print_claims(outcome)
    _say_what_is_missing(outcome)


def _check_combination(*options: Any) -> None:
    """Refuse options of which one would be ignored."""
    given = {name: value for some in options for name, value in vars(some).items()}
    asked = [f"--{name.removesuffix('_only')}" for name, value in given.items() if value]
    apart = [
        ("--quick", "--full"),
        ("--recorded", "--plan"),
        *(
            ("--recorded", o)
            for o in ("--quick", "--full", "--only", "--repeats", "--record", "--device")
        ),
        # A record tells how long the work takes on a CPU.
        *(("--record", other) for other in ("--plan", "--device")),
        *(("--plan", other) for other in ("--device", "--claims")),
    ]
    if "--tables" in asked and "--recorded" not in asked:
        raise UsageError("--tables is for --recorded: other runs print every table")
    if "--add" in asked and "--record" not in asked:
        raise UsageError("--add is for --record: name the folder of the record with --record")
    if "--record" in asked and "--only" in asked and not {"--full", "--add"} & {*asked}:
        raise UsageError(
            "--record with --only is for --full or --add: give one of them too, or leave --only "
            "away"
        )
    for one, other in apart:
        if one in asked and other in asked:
            raise UsageError(f"{one} and {other} exclude each other: give only one of them")


def _show_record(found: Any, outputs: Outputs, *, as_json: bool) -> None:
    outcome = found.reproduction
    if as_json:
        made = {"date": found.date, "version": found.version, "out_of_date": found.remarks}
        made["other_code"] = [one.as_row for one in found.older]
        print_json({**_as_dict(outcome), "store": None, "recorded": made})
    else:
        _print_claims(outcome)
        for exhibit in outcome.exhibits if outputs.tables else ():
            _print_exhibit(exhibit)
        if not outputs.tables:
            names = ", ".join(exhibit.name for exhibit in outcome.exhibits)
            say(f"--tables prints the tables too, --report PAGE.html draws them: {names}")
    say(found.in_words)
    for remark in found.remarks:
        say(f"the record is out of date: {remark}")
    if not as_json:
        _say_older(found.older)
    outputs.write(outcome)


def _say_older(older: Sequence[Any]) -> None:
    """Which rows are of other code than today's, exhibit by exhibit."""
    from ..papers.record_code import in_words

    say(in_words(older))
    for one in older:
        of_which = f" ({'; '.join(one.methods)})" if one.methods else ""
        say(f"  {one.exhibit}: {one.n_older + one.n_unknown:,} of {one.n_rows:,}{of_which}")


def _print_claims(outcome: Any) -> None:
    from ..papers.claims import what_would_settle

    if outcome.claims:
        rows = [claim.shown for claim in outcome.claims]
        print_rows(list(rows[0]), [list(row.values()) for row in rows])
        say(outcome.headline)
        say(what_would_settle(outcome.claims) or "Every claim has a verdict.")


def _print_exhibit(exhibit: Any) -> None:
    rows = exhibit.rows if len(exhibit.rows) <= _SHOWN else exhibit.summary or exhibit.rows
    print(f"\n{exhibit.name}: {exhibit.title}")
    if rows:
        shown = rows[:_SHOWN]
        titles = {name: name.replace("_", " ") for row in rows for name in row}
        print_rows(
            list(titles.values()),
            [[_text(row.get(name)) for name in titles] for row in shown],
            right=[
                title
                for name, title in titles.items()
                if any(isinstance(row.get(name), (int, float)) for row in shown)
            ],
        )
        if len(rows) > _SHOWN:
            print(f"... and {len(rows) - _SHOWN} more rows; --report or --json gives all")
    if exhibit.note:
        print(exhibit.note)


def _text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _say_what_is_missing(outcome: Any) -> None:
    for name, reason in outcome.missing.items():
        say(f"left out {name}: {reason}")
    for error in outcome.errors:
        say(f"failed: {error}")
    say(f"results in {outcome.store}")


def _as_dict(outcome: Any) -> dict:
    return {
        "paper": outcome.preset.paper,
        "citation": outcome.preset.citation,
        "level": outcome.level,
        "claims": [claim.as_row for claim in outcome.claims],
        "exhibits": [
            {"name": e.name, "title": e.title, "note": e.note, "rows": list(e.rows)}
            for e in outcome.exhibits
        ],
        "left_out": outcome.missing,
        "failed": outcome.errors,
        "store": outcome.store,
    }
