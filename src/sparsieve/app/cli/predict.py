"""``sparsieve predict``: new rows through a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .live import progress
from .options import (
    IN_ROWS,
    CommentOption,
    Debug,
    EncodingOption,
    EscapeFormulas,
    Format,
    Layer,
    Quiet,
    SampleId,
    of_table,
)
from .output import UsageError, check_outputs, collect_warnings, print_rows, say
from .tables import data_file

DECISIONS = "Decisions between classes"


def predict(
    model: Annotated[
        Path,
        typer.Argument(metavar="MODEL", help="What sparsieve select --model wrote."),
    ],
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="New rows, in any format that sparsieve select reads; columns that the model does "
            "not use are ignored. - reads standard input.",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help=".csv, .tsv (also .gz) or .parquet: the predictions, one row for each of FILE. "
            "Without it they are printed.",
        ),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Also write what each feature contributes to the decision of a row, in units of "
            "the decision; base and contributions add up to it. Of three classes or more it is "
            "that for the class predicted.",
        ),
    ] = False,
    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold",
            metavar="P",
            help="Rows are positive from this probability on.",
            rich_help_panel=DECISIONS,
        ),
    ] = None,
    positive_rate: Annotated[
        float | None,
        typer.Option(
            "--positive-rate",
            metavar="SHARE",
            help="At most this share of the rows of FILE is positive: the most probable ones.",
            rich_help_panel=DECISIONS,
        ),
    ] = None,
    cost_of_missing: Annotated[
        float | None,
        typer.Option(
            "--cost-of-missing",
            metavar="C",
            help="A positive that is missed costs as much as C false alarms: rows are positive "
            "where that costs less, from a probability of 1 / (1 + C) on.",
            rich_help_panel=DECISIONS,
        ),
    ] = None,
    positive: Annotated[
        str | None,
        typer.Option(
            "--positive",
            metavar="LABEL",
            help="The positive class; without it the second of two.",
            rich_help_panel=DECISIONS,
        ),
    ] = None,
    times: Annotated[
        str | None,
        typer.Option(
            "--times",
            metavar="T,T",
            help="For survival times: also the probability of no event by these times.",
        ),
    ] = None,
    strata: Annotated[
        str | None,
        typer.Option(
            "--strata",
            metavar="COL",
            help="For --times, where the model was trained with strata: the column with the "
            "stratum of each row.",
        ),
    ] = None,
    covariates_file: Annotated[
        Path | None,
        of_table(
            "--covariates-file",
            metavar="OTHER",
            help="Another table, which has covariates of the model, as --target-file had in "
            "training; joined by sample id: the first column of both files, or --id.",
        ),
    ] = None,
    sample_id: SampleId = None,
    transpose: Annotated[
        bool | None,
        of_table("--transpose/--no-transpose", help=f"{IN_ROWS} Default: as in training."),
    ] = None,
    layer: Layer = None,
    encoding: EncodingOption = None,
    comment: CommentOption = None,
    form: Format = None,
    escape_formulas: EscapeFormulas = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Predict the target of new rows by a saved model.

    Writes one row for each row of FILE: its id (--id, or the column of ids of the training data) or
    its number, the prediction and, where the model has them, the probability of every class. Other
    models write how far a row is on the side of a class, as a score: above 0 the class is
    predicted, where there are two.

    Example: sparsieve predict model.sparsieve new.csv --id patient -o predictions.csv
    """
    check_outputs({"--output": (output, None)}, file)
    asked = _times(times)
    rule = _rule(threshold, positive_rate, cost_of_missing, positive)
    with progress("Loading", quiet=quiet):
        from .predictions import check_decides, load_model, predict_columns, read_rows

        saved = load_model(model)
    if asked and saved.task != "survival":
        raise UsageError(f"--times is for survival times, but this model is for {saved.task}")
    if strata is not None and not asked:
        raise UsageError("--strata is for the probabilities of --times; add these or leave it out")
    if rule:
        check_decides(saved, rule)
    given = {
        "sample_id": sample_id,
        "transpose": transpose,
        "layer": layer,
        "encoding": encoding,
        "comment": comment,
    }
    with data_file(file, form) as path:
        # Strata are labels of the rows, as groups are.
        table = read_rows(saved, path, covariates_file, given, groups=strata, quiet=quiet)
    with progress("Predicting", quiet=quiet), collect_warnings() as said:
        columns = predict_columns(saved, table, asked, rule, explain=explain)
    say(*(f"warning: {sentence}" for sentence in said))
    if output is not None:
        from ..io.write import write_table

        write_table(output, columns, escape_formulas=escape_formulas)
        if not quiet:
            say(f"wrote {len(next(iter(columns.values())))} predictions to {output}")
        return
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    print_rows(list(columns), [[_format_cell(cell) for cell in row] for row in rows])


def _times(given: str | None) -> list[float]:
    try:
        return [float(one) for one in (given or "").split(",") if one.strip()]
    except ValueError:
        raise UsageError(f"--times takes numbers, such as 12,24, got {given!r}") from None


def _rule(
    threshold: float | None, rate: float | None, cost: float | None, positive: str | None
) -> dict[str, Any]:
    """How to decide between classes, as ``decide`` takes it; empty where nothing was said."""
    given = {"threshold": threshold, "positive_rate": rate, "cost_of_missing": cost}
    named = {name: value for name, value in given.items() if value is not None}
    if len(named) > 1:
        raise UsageError("--threshold, --positive-rate and --cost-of-missing exclude each other")
    if positive is not None and not named:
        raise UsageError(
            "--positive is for --threshold, --positive-rate or --cost-of-missing; add one of them"
        )
    return {**named, "positive": positive} if named else {}


def _format_cell(cell: Any) -> str:
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)
