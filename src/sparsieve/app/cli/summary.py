"""What ``sparsieve select`` prints: the features, and what is known about them."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .large import say_passes
from .output import print_rows, say

if TYPE_CHECKING:  # loading these takes a while
    from ...selectors.certificates import Certificate
    from .selection import Selection


def print_selected(selection: Selection) -> None:
    """The features that are kept, as a table."""
    kept, shown = selection.ranked.scores[: selection.n_kept], selection.n_kept
    scores = [f"{score:.4g}" for score in kept]  # --ranking and --json have all digits
    if sys.stdout.isatty():
        shown = min(shown, 50)
        notes = selection.ranked.notes
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


def say_summary(selection: Selection, written: list[Path]) -> None:
    """What the selection says of itself, on stderr."""
    from ...selection.covariates import words_kept
    from ...selectors.preparation import unit_of

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
    kept = words_kept(selection.selector, selection.selected.covariates)
    say(
        f"kept {kept} with {selection.method.name}"
        f"{target}, {table.X.shape[0]:,} samples{left_out}; selection "
        f"{selection.selected.fit_seconds:.2f} s, total {selection.seconds:.1f} s"
    )
    if selection.choice:
        choice = selection.choice.removeprefix(selection.selected.nothing_found).strip()
        say(f"number of {unit_of(selection.selector)}s: {choice}")  # warnings have said the rest
    if selection.selected.check is not None:
        say(selection.selected.check.sentence())
    if selection.selected.covariates_alone is not None:
        say(selection.selected.covariates_alone.sentence)
    if selection.unchecked:
        say(selection.unchecked)
    if selection.claimed:
        say(*selection.claimed.splitlines())
    if selection.stability:
        say(f"stability: {selection.stability}")
    say(f"score: {selection.ranked.meaning}")
    if selection.selected.null is not None:
        say(str(selection.selected.null))
    if selection.selected.certificate is not None:
        _say_certificate(selection.selected.certificate, selection.n_kept)
    say_passes(selection.selector, table.X)
    say(*(f"wrote {path}" for path in written))


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
