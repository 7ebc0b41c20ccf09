"""``sparsieve select``: from a data file to the features worth keeping."""

from __future__ import annotations

import math
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .catalogue import DEFAULT_METHOD, find_method
from .errors import UsageError
from .large import check_in_memory, limit_memory, say_passes
from .options import (
    AsJson,
    Debug,
    Drop,
    EscapeFormulas,
    Format,
    LogCPMOption,
    Rule,
    RuleOption,
    Task,
    TaskOption,
)
from .output import command_line, print_json, print_names, print_rows, progress, say
from .selection_files import check_outputs, write_files
from .settings import AUTO, build_selector, check_certifiable, check_task, parse_count
from .standard_input import DASH, data_file

if TYPE_CHECKING:  # loading these takes a while
    from ..report import Report
    from ..selectors.least_squares.certificate import Certificate
    from .selection import Selection

_SHOWN = 50  # features listed on a terminal before it says how many more there are


def select(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help=".csv, .tsv, .txt (also .gz), .parquet, .npz, .mat, svmlight (.svm, .svmlight, "
            ".libsvm), .h5ad, .npy, .h5, .hdf5 or .zarr; - reads standard input.",
            show_default=False,
        ),
    ],
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "-t",
            metavar="COL",
            help="Column with the labels or values to predict: of obs for .h5ad; for .npz, .mat, "
            ".h5 and .zarr an array (y if not given); for .npy another .npy file; not needed for "
            "svmlight and for unsupervised methods.",
            show_default=False,
        ),
    ] = None,
    count: Annotated[
        str | None,
        typer.Option(
            "-k",
            metavar="N",
            help="How many features to keep, a fraction such as 0.1, or auto: so many as "
            "cross-validation finds by --rule; if not given, what the method itself keeps.",
            show_default=False,
        ),
    ] = None,
    rule: RuleOption = Rule.best,
    method: Annotated[
        str, typer.Option("--method", "-m", help="See: sparsieve methods.")
    ] = DEFAULT_METHOD,
    task: TaskOption = Task.auto,
    param: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Set a parameter of the method; repeatable.",
            show_default=False,
        ),
    ] = None,
    drop: Drop = None,
    layer: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Of .h5ad files: select from this layer instead of X.",
            show_default=False,
        ),
    ] = None,
    log_cpm: LogCPMOption = False,
    form: Format = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help=".csv, .tsv (also .gz) or .parquet: the selected columns, best first, and the "
            "target; .h5ad: the .h5ad file with the selected variables only; .json: the result "
            "for scripts.",
            show_default=False,
        ),
    ] = None,
    ranking: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT",
            help="Write rank, feature, score, selected, p-values where the method has them, and "
            "notes of all features (.csv, .tsv, .parquet).",
            show_default=False,
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT",
            help="Write an HTML report: accuracy, ranking, heat maps, substitutes, stability.",
            show_default=False,
        ),
    ] = None,
    escape_formulas: EscapeFormulas = False,
    stable: Annotated[
        bool,
        typer.Option(
            "--stable",
            help="Run the method on 50 pairs of halves of the samples and keep what most runs "
            "keep, with a bound of how many are kept by mistake.",
        ),
    ] = False,
    null: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            help="Shuffle the target N times to see what scores noise reaches.",
        ),
    ] = 0,
    certify: Annotated[
        bool,
        typer.Option(
            "--certify",
            help="Prove how much of what any as many features could explain these do, on the "
            "training data (ridge-forward, l20).",
        ),
    ] = False,
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="AMOUNT",
            help="Read larger data in passes with no more memory than this, such as 2GB "
            "(.npy, .h5, .zarr, .parquet, .h5ad).",
            show_default=False,
        ),
    ] = None,
    check: Annotated[
        bool | None,
        typer.Option(
            "--check/--no-check",
            help="Say how well the selection predicts held-out samples, whether that is better "
            "than a guess and how stable the list is, by ten more fits; if not given, where that "
            "takes seconds.",
            show_default=False,
        ),
    ] = None,
    names_only: Annotated[
        bool, typer.Option("--names-only", "-n", help="Print only the names, best first.")
    ] = False,
    as_json: AsJson = False,
    everything: Annotated[
        bool, typer.Option("--all", help="All features in the JSON, not only the selected.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No notes and no summary on stderr.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Select the features of FILE that say most about the target.

    Prints the selected features, best first: a table on a terminal, tab-separated lines anywhere
    else. With -o or --ranking it writes files instead. --report adds a page to look at, with
    the accuracy in 5-fold cross-validation.

    Example: sparsieve select data.csv --target label -k 20 -o selected.csv
    """
    if everything and not (as_json or (output is not None and output.suffix == ".json")):
        raise UsageError("--all is for --json and -o OUT.json; --ranking has all features anyway")
    if names_only and as_json:
        raise UsageError("--names-only and --json exclude each other")
    shown = as_json or report is not None or (output is not None and output.suffix == ".json")
    if quiet and check is None and not shown:
        check = False  # nobody would see it
    limit_memory(memory)
    start = time.perf_counter()
    chosen, number = find_method(method), parse_count(count)
    check_task(chosen, task.value)
    if rule != Rule.best and number != AUTO:
        raise UsageError("--rule is for -k auto, where cross-validation finds the number")
    check_outputs(file, form, output, ranking, report)
    from ..io.errors import TargetNeededError
    from ..io.read import check_readable, read_table

    if file != DASH:
        check_readable(file)
    build = partial(build_selector, chosen, number, task.value, param or (), stable=stable)
    selector = None
    # What is wrong with them is said before the data are read.
    if param or certify or stable or not chosen.needs_target:
        with progress("Loading"):
            selector = build()
            if certify:
                check_certifiable(chosen, selector)
    needs_target = chosen.needs_target if selector is None else _needs_target(selector)
    if not needs_target:
        _check_no_target_asked_for(chosen.name, target, null, report, auto=number == AUTO)
    with data_file(file, form) as path:
        try:
            with progress(f"Reading {path.name}"):
                table = read_table(path, target, drop or (), layer=layer, needs_target=needs_target)
        except TargetNeededError as error:
            raise UsageError(f"--target is missing: {error}") from None
        asked = {"--report": report, "--null": null, "-k auto": number == AUTO}
        check_in_memory(table, **asked, **{"--log-cpm": log_cpm})
        if not quiet:
            for note in table.notes:
                say(f"note: {note}")
        with progress("Loading"):
            from .selection import run_selection

            selector = build() if selector is None else selector
        with progress(f"Selecting from {table.X.shape[1]} features with {chosen.name}"):
            selection = run_selection(
                chosen,
                selector,
                table,
                null,
                certify,
                task=task.value,
                rule=rule.value if number == AUTO else None,
                prepare="log-cpm" if log_cpm else None,
                started=start,
                check=check,
            )
        if not quiet:
            for warning in selection.warnings:
                say(f"warning: {warning}")
            for oddity in selection.oddities:
                say(f"note: {oddity}")
        result = selection.as_dict(all_features=everything)
        written = write_files(selection, result, path, layer, output, ranking, escape_formulas)
        if report is not None and not selection.interrupted:
            with progress("Cross-validating for the report"):
                _report(selection, command_line()).save(report)
            written.append(report)
        if as_json:
            print_json(result)
        elif names_only:
            print_names(selection.kept_names)
        elif output is None and ranking is None:
            _print_selected(selection)
        if not quiet:
            _say_summary(selection, written)
        if selection.interrupted:
            say(_proven_gap(selection.selector))
            raise KeyboardInterrupt


def _needs_target(selector: Any) -> bool:
    from ..diagnosis.null import looks_at_target

    return looks_at_target(selector)


def _check_no_target_asked_for(
    name: str, target: str | None, null: int, report: Path | None, *, auto: bool
) -> None:
    """Refuse what only a target can answer for a method that does not look at it."""
    if null:
        raise UsageError(f"--null shuffles the target, which {name} does not look at")
    for option, asked in (("--report", report is not None), ("-k auto", auto)):
        if asked and target is None:
            raise UsageError(
                f"{option} measures accuracy on a target; name one with --target, which {name} "
                "itself does not look at"
            )


def _report(selection: Selection, command: str) -> Report:
    from ..report import selector_report

    table = selection.table
    return selector_report(
        selection.selector,
        selection.X,
        table.y,
        feature_names=table.feature_names,
        title=f"{selection.n_kept} of {table.X.shape[1]:,} features for {table.target_name}",
        command=command,
        null=selection.null or "auto",
        certify=selection.certificate is not None,
        search=selection.search,
        check=selection.check,
        oddities=selection.oddities,
    )


def _print_selected(selection: Selection) -> None:
    kept, shown = selection.ranked.scores[: selection.n_kept], selection.n_kept
    scores = [f"{score:.4g}" for score in kept]  # --ranking and --json have all digits
    if sys.stdout.isatty():
        shown = min(shown, _SHOWN)
        notes = selection.ranked.notes
        scores = [note or score for score, note in zip(scores, notes, strict=False)]
    names = selection.kept_names
    rows = [(str(r), names[r - 1], scores[r - 1]) for r in range(1, shown + 1)]
    print_rows(("rank", "feature", "score"), rows, right=("rank", "score"))
    if shown < selection.n_kept:
        say(f"... and {selection.n_kept - shown} more; --names-only or -o gives all of them")


def _say_summary(selection: Selection, written: list[Path]) -> None:
    table = selection.table
    n_samples, n_features = table.X.shape
    target = f" for {table.target_name}"
    if selection.task == "unsupervised":
        target = " without looking at a target"
    elif selection.classes is not None:
        target += f" ({len(selection.classes)} classes)"
    else:
        target += " (regression)"
    say(
        f"kept {selection.n_kept} of {n_features} features with {selection.method.name}"
        f"{target}, {n_samples} samples, in {selection.seconds:.2f} s "
        f"({selection.fit_seconds:.2f} s of it selecting)"
    )
    if selection.choice:
        say(f"how many: {selection.choice}")
    if selection.check is not None:
        say(selection.check.sentence())
    if selection.unchecked:
        say(selection.unchecked)
    if selection.stability:
        say(f"stability: {selection.stability}")
    say(f"score: {selection.ranked.meaning}")
    if selection.null is not None:
        say(str(selection.null))
    if selection.certificate is not None:
        _say_certificate(selection.certificate, selection.n_kept)
    say_passes(selection.selector, table.X)
    for path in written:
        say(f"wrote {path}")


def _say_certificate(certificate: Certificate, n_kept: int) -> None:
    """The sentence about what was kept, and a table of a few sizes up to it."""
    sizes = certificate.n_features.tolist()
    say(certificate.sentence(n_kept if n_kept in sizes else None))
    few = [i for i, k in enumerate(sizes) if k in (1, 2, 5, 10, 20, 50, 100, 200, 500, n_kept)]
    if not few:
        return
    say(f"{'features':>8}  {'objective':>10}  {'at least':>10}  {'gap':>7}  {'share':>7}")
    for i in few:
        say(
            f"{sizes[i]:>8}  {certificate.objective[i]:>10.5g}  {certificate.lower_bound[i]:>10.5g}"
            f"  {_no_less(certificate.gap[i]):>7.2%}"
            f"  {1.0 - _no_less(1.0 - certificate.share[i]):>7.2%}"
        )


def _no_less(gap: float) -> float:
    """Rounded up to the two digits of a percentage that are shown, but for rounding errors."""
    return math.ceil(round(1e4 * gap, 5)) / 1e4


def _proven_gap(selector: Any) -> str:
    """How good the best found is at least, in words."""
    from ..selectors.least_squares.certificate import upwards

    gap = selector.optimality_
    by_price = getattr(selector, "lam", None) is not None
    if gap == 0.0:
        best = "the best for its price" if by_price else "the best of its size"
        return f"stopped early; the selection is {best} (training objective, proven)"
    amount = f"{_no_less(gap):.2%}" if gap >= 1e-4 else f"{upwards(gap)} of it"
    return (
        f"stopped early with the best selection found; no other of {'any' if by_price else 'its'} "
        f"size has a training objective lower by more than {amount} (proven)"
    )
