"""The files that ``sparsieve select`` writes, refused beforehand where they could not be."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import UsageError
from .output import PAGES, as_json, check_outputs
from .standard_input import DASH

if TYPE_CHECKING:  # loading it takes a while
    from .selection import Selection


def check_files(
    file: Path,
    form: str | None,
    output: Path | None,
    ranking: Path | None,
    report: Path | None,
    model: Path | None = None,
) -> None:
    """Refuse, before any work, what cannot be read or could not be written after it."""
    from ..io.read import check_readable
    from ..io.write import WRITABLE_SUFFIXES

    check_outputs(
        {
            "--output": (output, (*WRITABLE_SUFFIXES, ".h5ad", ".json")),
            "--ranking": (ranking, None),
            "--report": (report, PAGES),
            "--model": (model, (".sparsieve",)),
        },
        file,
    )
    read_as = f".{form or ''}" if file == DASH else file.suffix
    if has_suffix(output, ".h5ad") and read_as.lower().replace("..", ".") != ".h5ad":
        raise UsageError(
            f"-o {output} is the .h5ad file with fewer variables, but the data are in "
            f"{'standard input' if file == DASH else file.name}; write .csv or .parquet instead"
        )
    if file != DASH:
        check_readable(file)


def write_files(
    selection: Selection,
    result: dict[str, Any],
    source: Path,
    layer: str | None,
    output: Path | None,
    ranking: Path | None,
    escape_formulas: bool,
) -> list[Path]:
    """Write what was asked for and return where; ``source`` and ``layer`` are what was read."""
    from ..io.write import replacing, write_table

    if output is None:
        pass
    elif has_suffix(output, ".json"):
        with replacing(output) as scratch:
            scratch.write_text(as_json(result) + "\n", encoding="utf-8")
    elif has_suffix(output, ".h5ad"):
        _write_annotated(selection, source, layer, output)
    else:
        write_table(output, selection.kept_columns(), escape_formulas=escape_formulas)
    if ranking is not None:
        write_table(ranking, selection.ranking_columns(), escape_formulas=escape_formulas)
    return [path for path in (output, ranking) if path is not None]


def _write_annotated(selection: Selection, source: Path, layer: str | None, output: Path) -> None:
    from ..io.annotated import write_h5ad
    from ..selection.annotated import columns_of, summary_of

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
