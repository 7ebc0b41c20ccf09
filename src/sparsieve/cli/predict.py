"""``sparsieve predict``: new rows through a saved model."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .errors import UsageError
from .options import (
    CommentOption,
    Debug,
    EncodingOption,
    EscapeFormulas,
    Format,
    Layer,
    Quiet,
    SampleId,
    Transpose,
    as_options,
)
from .output import check_outputs, print_rows, progress, say
from .standard_input import data_file

if TYPE_CHECKING:  # loading these takes a while
    import numpy as np

    from ..io import Table
    from ..selection.saved import SavedSelection


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
    sample_id: SampleId = None,
    transpose: Transpose = False,
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
    with progress("Loading", quiet=quiet):
        saved = _loaded(model)
    if asked and saved.task != "survival":
        raise UsageError(f"--times is for survival times, but this model is for {saved.task}")
    if strata is not None and not asked:
        raise UsageError("--strata is for the probabilities of --times; add these or leave it out")
    from .._checks import sentences_of

    with data_file(file, form) as path:
        table = _read(
            saved,
            path,
            quiet=quiet,
            sample_id=sample_id,
            groups=strata,  # labels of the rows, as those are
            transpose=transpose,
            layer=layer,
            encoding=encoding,
            comment=comment,
        )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        columns = _predicted(saved, table, asked)
    said = sentences_of([one for one in caught if issubclass(one.category, UserWarning)])
    say(*(f"warning: {sentence}" for sentence in said))
    if output is not None:
        from ..io.write import write_table

        write_table(output, columns, escape_formulas=escape_formulas)
        if not quiet:
            say(f"wrote {len(next(iter(columns.values())))} predictions to {output}")
        return
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    print_rows(list(columns), [[_shown(cell) for cell in row] for row in rows])


def _times(given: str | None) -> list[float]:
    try:
        return [float(one) for one in (given or "").split(",") if one.strip()]
    except ValueError:
        raise UsageError(f"--times takes numbers, such as 12,24, got {given!r}") from None


def _loaded(path: Path) -> SavedSelection:
    from ..io import DataError
    from ..persistence import SavedFileError, load
    from ..selection.saved import SavedSelection

    try:
        saved = load(path)
    except SavedFileError as error:
        raise DataError(str(error)) from None
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from None
    if not isinstance(saved, SavedSelection):
        raise DataError(
            f"{path.name} holds a {type(saved).__name__}, not a model that predicts; write one "
            "with sparsieve select --model"
        )
    return saved


def _read(saved: SavedSelection, path: Path, *, quiet: bool, **how: Any) -> Table:
    """The rows of the file, every one of them."""
    from ..io.inflated import suffix_of
    from ..io.read import ENCODES_TEXT, read_table

    only = saved.model[0].columns
    with progress(f"Reading {path.name}", quiet=quiet):
        return read_table(
            path,
            needs_target=False,
            id_if_there=saved.id_name or None,
            encode_text="raw" if only is not None and suffix_of(path) in ENCODES_TEXT else False,
            only=only,
            **how,
        )


def _predicted(saved: SavedSelection, table: Table, times: list[float]) -> dict[str, np.ndarray]:
    """The columns to write."""
    import numpy as np

    from ..io import DataError
    from ..selection.from_file import rows_for

    columns: dict[str, np.ndarray] = {"row": np.arange(1, table.X.shape[0] + 1)}
    if table.ids is not None:
        columns = {table.id_name or "id": table.ids}
    try:
        X = rows_for(saved, table)
        found = np.asarray(saved.predict(X))
        if found.ndim == 1:
            columns["risk" if saved.task == "survival" else "prediction"] = found
        else:
            columns |= {f"prediction {j}": part for j, part in enumerate(found.T)}
        if hasattr(saved, "predict_proba"):
            shares: Any = saved.predict_proba(X)
            for label, share in zip(saved.model.classes_, np.asarray(shares).T, strict=True):
                columns[f"probability of {label}"] = share
        elif saved.task == "classification" and hasattr(saved, "decision_function"):
            # A rare class is seldom predicted; which rows come nearest to it can still be seen.
            scores, labels = np.asarray(saved.decision_function(X)), saved.model.classes_
            parts = scores[:, None] if scores.ndim == 1 else scores
            for label, part in zip(labels[-parts.shape[1] :], parts.T, strict=True):
                columns[f"score for {label}"] = part
        if times:
            survival = saved.predict_survival(X, times, strata=_strata(saved, table))
            for time, share in zip(times, survival.T, strict=True):
                columns[f"survival at {time:g}"] = share
    except ValueError as error:
        raise DataError(as_options(str(error))) from error
    return columns


def _strata(saved: SavedSelection, table: Table) -> list[Any] | None:
    """The stratum of every row, as the model knows it: as text or as a number."""
    if table.groups is None:
        return None
    known = {str(one): one for one in getattr(saved.model[-1], "strata_", ())}
    return [known.get(one, one) for one in table.groups.tolist()]


def _shown(cell: Any) -> str:
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)
