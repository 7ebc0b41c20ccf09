"""``sparsieve select``: from a data file to the features worth keeping."""

# ruff: noqa: RUF009 (the default of an option is what describes it)

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...registry import DEFAULT_METHOD, LIKELIHOOD_METHOD
from .live import following, progress
from .options import (
    AnyRuleOption,
    AsJson,
    DataFile,
    Debug,
    MaxCorrelation,
    Quiet,
    Task,
    TaskOption,
    as_options,
    of_check,
    of_method,
    of_output,
    parse_max_correlation,
    with_option_sets,
)
from .output import UsageError, command_line, print_json, print_names, say
from .selection_output import Files, has_suffix, print_features, proven_gap, say_summary
from .settings import (
    AUTO,
    CLAIMING,
    build_selector,
    check_certifiable,
    check_groups,
    check_task,
    claims_features,
    make_method,
    parse_count,
)
from .tables import (
    Preparing,
    Reading,
    SurvivalColumns,
    check_in_memory,
    data_file,
    is_external,
    limit_memory,
)

if TYPE_CHECKING:  # loading these takes a while
    from ...selection.claims import Claims
    from .selection import Selection


class ClaimKind(StrEnum):
    """What can be claimed of a feature."""

    conditional = "conditional"
    set = "set"
    sequential = "sequential"
    marginal = "marginal"


@dataclass(frozen=True)
class Choice:
    """How many features are kept, and by what."""

    count: str | None = typer.Option(
        None,
        "-k",
        metavar="N",
        help="How many features to keep: a number, a fraction such as 0.1, auto (cross-validation "
        "chooses the number, see --rule) or fdr=0.1 (those that are significant at a false "
        "discovery rate of 10 %). Default: auto; with --stable, without a target and for data "
        "larger than memory the method decides.",
    )
    claim: ClaimKind | None = of_method(
        None,
        "--claim",
        metavar="CLAIM",
        help="What a feature that is significant by -k fdr=0.1 does. conditional: it carries "
        "information that the others do not; set: one of a set of correlated features does; "
        "sequential: it adds to those selected before it; marginal: it is associated "
        "with the target when looked at alone. With another -k: also test which features are "
        "significant at a false discovery rate of 10 %.",
    )
    rule: AnyRuleOption = None
    scoring: str | None = of_method(
        None,
        "--scoring",
        metavar="SCORE",
        help="Score of held-out samples, by which -k auto also chooses the number: a name of "
        "scikit-learn such as roc_auc, f1_macro, neg_log_loss or neg_mean_absolute_error. If not "
        "given: accuracy for classes (roc_auc if 85 % of the samples or more are in one of two), "
        "r2 for numbers, deviance_explained for counts, concordance for survival times.",
    )
    max_correlation: MaxCorrelation = AUTO
    method: str = typer.Option(
        AUTO,
        "--method",
        "-m",
        metavar="NAME",
        show_default=False,
        help="The method; sparsieve methods lists them. Default: ridge-forward, or boosted-trees "
        "where they predict clearly better on samples held out, and likelihood-forward for "
        "survival times and counts.",
    )
    linear_only: bool = of_method(
        False,
        "--linear-only",
        help="Do not ask whether boosted trees predict better than ridge-forward.",
    )
    task: TaskOption = Task.auto
    param: list[str] | None = of_method(
        None,
        metavar="NAME=VALUE",
        help="Set a parameter of the method; can be repeated.",
    )
    stable: bool = of_method(
        False,
        "--stable",
        help="Stability selection: run the method on 50 pairs of random halves of the samples, "
        "keep the features that most runs select, and bound the number of false selections.",
    )


@dataclass(frozen=True)
class Tests:
    """What is said about the selection."""

    null: int = of_check(
        0,
        metavar="N",
        min=0,
        help="Shuffle the target N times to see which scores pure noise reaches.",
    )
    certify: bool = of_check(
        False,
        "--certify",
        help="Prove how close this set is to the best set of the same size, on the training data "
        "(ridge-forward, l20).",
    )
    check: bool | None = of_check(
        None,
        "--check/--no-check",
        help="Measure how well the selection predicts held-out samples, whether that is better "
        "than guessing, and how stable the list is; takes ten more fits. Default: only if that "
        "takes seconds.",
    )


Memory = Annotated[
    str | None,
    typer.Option(
        metavar="AMOUNT",
        help="Use no more memory than this, such as 2GB: larger data are read in passes "
        "(.npy, .h5, .zarr, .parquet, .h5ad).",
    ),
]

NamesOnly = Annotated[
    bool, of_output("--names-only", "-n", help="Print only the names, best first.")
]
Everything = Annotated[
    bool, of_output("--all", help="Put all features into the JSON, not only the selected.")
]


@with_option_sets
def select(
    file: DataFile,
    reading: Reading,
    survival: SurvivalColumns,
    preparing: Preparing,
    choice: Choice,
    files: Files,
    tests: Tests,
    memory: Memory = None,
    names_only: NamesOnly = False,
    as_json: AsJson = False,
    everything: Everything = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Select the features of FILE that best predict the target.

    Prints the selected features, best first: as a table on a terminal, as tab-separated lines
    elsewhere. With -o or --ranking it writes files instead. --report adds an HTML page on the
    selection, with the same scores on held-out samples.

    Example: sparsieve select data.csv --target label -k 20 -o selected.csv
    """
    writes_json = as_json or has_suffix(files.output, ".json")
    _check_print_options(names_only, as_json, everything, writes_json=writes_json)
    reading = preparing.check_reading(reading)
    limit_memory(memory)
    started = time.perf_counter()
    task = choice.task.value
    survival.check(reading.target, task)
    read_as, number = survival.task(task), parse_count(choice.count)
    method, claim, param = choice.method, choice.claim, choice.param
    if method == AUTO:
        by_likelihood = read_as in ("counts", "survival") and not claims_features(number)
        method = LIKELIHOOD_METHOD if by_likelihood else DEFAULT_METHOD
    chosen = make_method(method, number)
    beside = claim is not None and chosen.name != CLAIMING  # claims beside a selection
    if claim is not None and not beside:
        param = [*(param or ()), f"claim={claim.value}"]
    check_task(chosen, read_as)
    if preparing.feature_groups is not None:
        check_groups(chosen)
    files.check(file, reading.form)
    max_correlation = parse_max_correlation(choice.max_correlation)
    build = partial(
        build_selector,
        chosen,
        number,
        read_as,
        param or (),
        stable=choice.stable,
        max_correlation=max_correlation,
    )
    selector, needs_target = None, "unsupervised" not in chosen.purposes
    # Wrong settings are reported before the data are read.
    if param or tests.certify or choice.stable or "unsupervised" in chosen.purposes:
        with progress("Loading", quiet=quiet):
            from ...diagnosis.null import looks_at_target

            selector = build()
            needs_target = looks_at_target(selector)
            if tests.certify:
                check_certifiable(chosen, selector)
    if not needs_target:
        asked_for = {"--report": files.report, "--model": files.model, "-k auto": number == AUTO}
        _check_target_options(chosen.name, reading.target, tests.null, asked_for)
    elif choice.count is None and not choice.stable and chosen.name != CLAIMING:
        number = AUTO  # as in Python
    if number != AUTO:
        _check_search_options(choice, tests)
    with data_file(file, reading.form) as path:
        how = {"needs_target": needs_target, "gaps": preparing.gaps(reading), "quiet": quiet}
        table = survival.read_table(reading, path, task, **how)
        together = preparing.groups(table)
        if choice.count is None and choice.rule is None and is_external(table):
            number = None  # the method decides
        asked = {"--report": files.report, "--claim": beside, "--null": tests.null}
        check_in_memory(table, **asked, **{"-k auto": number == AUTO}, **preparing.options)
        with progress("Loading", quiet=quiet):
            from .selection import run_selection

            selector = build() if selector is None else selector
        by_lines = LIKELIHOOD_METHOD if read_as == "counts" else DEFAULT_METHOD
        is_open = choice.method == AUTO and not (param or tests.certify or choice.stable)
        is_open &= chosen.name == by_lines and not choice.linear_only and needs_target
        open_how = {"task": read_as, "max_correlation": max_correlation} if is_open else None
        working = f"Selecting from {table.X.shape[1]} features with {chosen.name}"
        with following(working, quiet=quiet):
            selection = run_selection(
                chosen,
                selector,
                table,
                started=started,
                k=number,
                rule=None if choice.rule is None else choice.rule.value,
                scoring=choice.scoring,
                preparing=preparing,
                open_how=open_how,
                feature_groups=together,
                check="auto" if tests.check is None else tests.check,
                permutations=tests.null,
                certify=tests.certify,
            )
        if beside:
            with following("Testing what can be claimed", quiet=quiet):
                selection = replace(selection, claims=_test_claim(selection, claim))
        with following("Checking on held-out samples", quiet=quiet):
            result = selection.as_dict(all_features=everything)
        say(*(f"warning: {sentence}" for sentence in selection.warnings))
        if not quiet:
            notes = (*map(as_options, selection.selected.notes), *selection.oddities)
            say(*(f"note: {sentence}" for sentence in notes))
        # The answer first: a report may take longer than the selection did.
        if as_json:
            print_json(result)
        elif names_only:
            print_names(selection.kept_names)
        elif files.output is None and files.ranking is None:
            print_features(selection)
        sys.stdout.flush()
        if not quiet:
            say_summary(selection)
        written = files.write(selection, result, path, reading.layer)
        if files.report is not None and not selection.selected.interrupted:
            with following("Cross-validating for the report", quiet=quiet):
                _write_report(selection, files.report, survival.survival_time or "time")
            written.append(files.report)
        if files.model is not None:
            working = "Calibrating" if files.calibrate else "Fitting the model"
            with following(working, quiet=quiet):
                _write_model(selection, files.model, reading.options_to_keep, files.calibrate)
            written.append(files.model)
    say(*(f"wrote {file}" for file in written if not quiet))
    if selection.selected.interrupted:
        if selection.search is None:  # which says itself where it was stopped
            say(proven_gap(selection.selector))
        raise KeyboardInterrupt


def _check_print_options(
    names_only: bool, as_json: bool, everything: bool, *, writes_json: bool
) -> None:
    """Refuse options for what is printed that exclude each other."""
    if everything and not writes_json:
        raise UsageError("--all needs --json or -o OUT.json; --ranking lists all features anyway")
    if names_only and as_json:
        raise UsageError("--names-only and --json exclude each other")


def _check_search_options(choice: Choice, tests: Tests) -> None:
    """Refuse options that are for the search of a number where there is none."""
    if choice.rule is not None:
        raise UsageError("--rule needs -k auto, which chooses the number by cross-validation")
    if choice.scoring and tests.check is False:
        raise UsageError("--scoring is for held-out samples, which --no-check leaves out")


def _check_target_options(
    name: str, target: str | None, null: int, asked_for: dict[str, Any]
) -> None:
    """Refuse what only a target can answer for a method that does not look at it."""
    if null:
        raise UsageError(f"--null shuffles the target, which {name} does not use")
    for option, asked in asked_for.items():
        if asked and target is None:
            raise UsageError(
                f"{option} measures accuracy for a target: name one with --target; {name} itself "
                "does not use it"
            )


def _test_claim(selection: Selection, claim: Any) -> Claims:
    from ..io import DataError

    try:
        return selection.selected.claims(claim=claim.value)
    except ValueError as error:
        raise DataError(f"--claim: {error}") from error


def _write_model(
    selection: Selection, path: Path, reading: dict[str, Any], calibrate: bool
) -> None:
    from ...persistence import save
    from ...selection.predicting import saved_selection
    from ..io import DataError

    try:
        selected = selection.selected.calibrated() if calibrate else selection.selected
        reading = reading | {"covariates": list(selected.covariates.names)}
        save(replace(saved_selection(selected), reading=reading), path)
    except (TypeError, ValueError) as error:
        raise DataError(f"{'--calibrate' if calibrate else '--model'}: {error}") from error


def _write_report(selection: Selection, path: Path, time_name: str) -> None:
    from ...selection.covariates import own_words

    kept = own_words(selection.selector, selection.selected.covariates)
    selection.selected.report(
        path,
        title=f"{kept} for {selection.table.target_name}",
        command=command_line(),
        oddities=selection.oddities,
        time_name=time_name,
        **({} if selection.claims is None else {"claims": selection.claims}),
    )
