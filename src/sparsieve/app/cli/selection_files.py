"""The files that ``sparsieve select`` writes, refused beforehand where they could not be."""

# ruff: noqa: RUF009 (the default of an option is what describes it)

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from .errors import UsageError
from .options import EscapeFormulas, of_output
from .output import PAGES, as_json, check_outputs
from .standard_input import DASH

if TYPE_CHECKING:  # loading it takes a while
    from .selection import Selection


@dataclass(frozen=True)
class Files:
    """Where to write what."""

    output: Path | None = typer.Option(
        None,
        "--output",
        "-o",
        metavar="OUT",
        help=".csv, .tsv (also .gz) or .parquet: the selected columns as they are in FILE, best "
        "first, and the target; .h5ad: the .h5ad file with the selected variables only; .json: "
        "the result for scripts.",
    )
    ranking: Path | None = of_output(
        None,
        metavar="OUT",
        help="Write the rank, score, p-value (if the method has one) and notes of all features "
        "(.csv, .tsv, .parquet).",
    )
    report: Path | None = typer.Option(
        None,
        metavar="OUT",
        help="Write an HTML report: accuracy, ranking, heat maps, substitutes, stability.",
    )
    model: Path | None = typer.Option(
        None,
        "--model",
        metavar="OUT",
        help="Write the model on the selected features (.sparsieve), for sparsieve predict.",
    )
    calibrate: bool = of_output(
        False,
        "--calibrate",
        help="Make the probabilities of the model of --model hold on samples held out: repeats the "
        "selection in five folds.",
    )
    escape_formulas: EscapeFormulas = False

    def check(self, file: Path, form: str | None) -> None:
        """Refuse, before any work, what cannot be read or could not be written after it."""
        from ..io.read import check_readable
        from ..io.write import WRITABLE_SUFFIXES

        check_outputs(
            {
                "--output": (self.output, (*WRITABLE_SUFFIXES, ".h5ad", ".json")),
                "--ranking": (self.ranking, None),
                "--report": (self.report, PAGES),
                "--model": (self.model, (".sparsieve",)),
            },
            file,
        )
        read_as = f".{form or ''}" if file == DASH else file.suffix
        if has_suffix(self.output, ".h5ad") and read_as.lower().replace("..", ".") != ".h5ad":
            raise UsageError(
                f"-o {self.output} is the .h5ad file with fewer variables, but the data are in "
                f"{'standard input' if file == DASH else file.name}; write .csv or .parquet instead"
            )
        if self.calibrate and self.model is None:
            raise UsageError("--calibrate is for the probabilities of --model; add it")
        if file != DASH:
            check_readable(file)

    def write(
        self, selection: Selection, result: dict[str, Any], source: Path, layer: str | None
    ) -> list[Path]:
        """Write what was asked for and return where; ``source`` and ``layer`` are what was read."""
        from ..._files import replacing
        from ..io.write import write_table

        how = {"escape_formulas": self.escape_formulas}
        if self.output is None:
            pass
        elif has_suffix(self.output, ".json"):
            with replacing(self.output) as scratch:
                scratch.write_text(as_json(result) + "\n", encoding="utf-8")
        elif has_suffix(self.output, ".h5ad"):
            _write_annotated(selection, source, layer, self.output)
        else:
            write_table(self.output, selection.kept_columns(), **how)
        if self.ranking is not None:
            write_table(self.ranking, selection.ranking_columns(), **how)
        return [path for path in (self.output, self.ranking) if path is not None]


def _write_annotated(selection: Selection, source: Path, layer: str | None, output: Path) -> None:
    from ...selection.annotated import columns_of, summary_of
    from ..io.annotated import write_h5ad

    write_h5ad(
        output,
        source,
        selection.kept_names,
        {name: values[selection.kept] for name, values in columns_of(selection.selector).items()},
        summary_of(
            selection.selector,
            k=selection.n_kept,
            meaning=selection.ranked.meaning,
            target=selection.table.target_name,
            layer="X" if layer is None else layer,
        ),
    )


def has_suffix(path: Path | None, suffix: str) -> bool:
    """Whether a file is to be written in the format of this suffix."""
    return path is not None and path.suffix.lower() == suffix
