"""What ``sparsieve select`` prints and writes: the features, and what is known about them."""

# ruff: noqa: RUF009 (the default of an option is what describes it)

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from .options import EscapeFormulas, of_output
from .output import PAGES, UsageError, as_json, check_outputs, print_rows, say
from .tables import DASH, say_passes

if TYPE_CHECKING:
    from ...selectors.certificates import Certificate
    from .selection import Selection


def print_features(selection: Selection) -> None:
    """The features that are kept, as a table."""
    kept, shown = selection.ranking.scores[: selection.n_kept], selection.n_kept
    scores = [f"{score:.4g}" for score in kept]  # --ranking and --json have all digits
    if sys.stdout.isatty():
        shown = min(shown, 50)
        notes = selection.ranking.notes
        scores = [note or score for score, note in zip(scores, notes, strict=False)]
    names, groups = selection.kept_names, selection.group_columns
    header: tuple[str, ...] = ("rank", "feature", "score")
    rows: list[tuple[str, ...]] = [
        (str(r), names[r - 1], scores[r - 1]) for r in range(1, shown + 1)
    ]
    # A reader need not see the name of a single column twice; a program wants the same columns.
    twice = groups is not None and all(
        name == row[1] for name, row in zip(groups["group"], rows, strict=False)
    )
    if groups is not None and not (twice and sys.stdout.isatty()):
        header = ("rank", "group", "feature", "score")
        rows = [
            (str(rank), name, *row[1:])
            for rank, name, row in zip(groups["rank"], groups["group"], rows, strict=False)
        ]
    print_rows(header, rows, right=("rank", "score"))
    if shown < selection.n_kept:
        say(f"... and {selection.n_kept - shown} more; --names-only or -o lists all of them")


def say_summary(selection: Selection) -> None:
    """What the selection says of itself, on stderr."""
    from ...selection.covariates import kept_phrase
    from ...selectors.preparation import unit_phrase

    table = selection.table
    left_out = f" ({table.n_left_out} left out)" if table.n_left_out else ""
    target = f" for {table.target_name}"
    if selection.task == "unsupervised":
        target = " without a target"
    elif selection.classes is not None:
        target += f" ({len(selection.classes)} classes)"
    elif selection.task == "survival":
        target += f" ({int(table.y['event'].sum())} events)"
    else:
        target += f" ({selection.task})"
    kept = kept_phrase(selection.selector, selection.selected.covariates)
    say(
        f"kept {kept} with {selection.method.name}"
        f"{target}, {table.X.shape[0]:,} samples{left_out}; selection "
        f"{selection.selected.fit_seconds:.2f} s, total {selection.seconds:.1f} s"
    )
    if selection.choice:
        choice = selection.choice.removeprefix(selection.selected.nothing_found).strip()
        say(
            f"number of {unit_phrase(selection.selector)}s: {choice}"
        )  # warnings have said the rest
    if selection.selected.check is not None:
        say(selection.selected.check.sentence())
    if selection.selected.covariates_alone is not None:
        say(selection.selected.covariates_alone.sentence)
    if selection.why_no_check:
        say(selection.why_no_check)
    if selection.claim_report:
        say(*selection.claim_report.splitlines())
    if selection.stability:
        say(f"stability: {selection.stability}")
    say(f"score: {selection.ranking.meaning}")
    if selection.selected.null is not None:
        say(str(selection.selected.null))
    if selection.selected.certificate is not None:
        _say_certificate(selection.selected.certificate, selection.n_kept)
    say_passes(selection.selector, table.X)


def _say_certificate(certificate: Certificate, n_kept: int) -> None:
    """The sentence about what was kept, and a table of a few sizes up to it."""
    sizes = certificate.n_features.tolist()
    say(certificate.sentence(n_kept if n_kept in sizes else None))
    few = [i for i, k in enumerate(sizes) if k in (1, 2, 5, 10, 20, 50, 100, 200, 500, n_kept)]
    if not few:
        return
    say(f"{'features':>8}  {'objective':>10}  {'bound':>10}  {'gap':>7}  {'share':>7}")
    for i in few:
        say(
            f"{sizes[i]:>8}  {certificate.objective[i]:>10.5g}  {certificate.lower_bound[i]:>10.5g}"
            f"  {_no_less(certificate.gap[i]):>7.2%}"
            f"  {1.0 - _no_less(1.0 - certificate.share[i]):>7.2%}"
        )


def _no_less(gap: float) -> float:
    """Rounded up to the two digits of a percentage that are shown, but for rounding errors."""
    return math.ceil(round(1e4 * gap, 5)) / 1e4


def proven_gap(selector: Any) -> str:
    """How good the best found is at least, in words."""
    from ...selectors.certificates import upwards

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
            _write_anndata(selection, source, layer, self.output)
        else:
            write_table(self.output, selection.kept_columns(), **how)
        if self.ranking is not None:
            write_table(self.ranking, selection.ranking_columns(), **how)
        return [path for path in (self.output, self.ranking) if path is not None]


def _write_anndata(selection: Selection, source: Path, layer: str | None, output: Path) -> None:
    from ...selection.shown import columns_of, make_summary
    from ..io.stored import write_h5ad

    write_h5ad(
        output,
        source,
        selection.kept_names,
        {
            name: values[selection.positions]
            for name, values in columns_of(selection.selector).items()
        },
        make_summary(
            selection.selector,
            k=selection.n_kept,
            meaning=selection.ranking.meaning,
            target=selection.table.target_name,
            layer="X" if layer is None else layer,
        ),
    )


def has_suffix(path: Path | None, suffix: str) -> bool:
    """Whether a file is to be written in the format of this suffix."""
    return path is not None and path.suffix.lower() == suffix
