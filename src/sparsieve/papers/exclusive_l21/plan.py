"""How much to compute of Figures 1 and 2, and on which data sets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..base import Bench, printed_name

N_FOLDS = 5
# Sets on which a fold takes minutes: many samples of many classes, so many machines.
LARGE = ("ISOLET", "MNIST", "YaleB", "20-Newsgroups")


@dataclass(frozen=True)
class Scale:
    """How much to compute: the paper's protocol, or a part of it.

    Parameters
    ----------
    sets : tuple of str or None
        Those of Figure 2 by their printed names; None for all at hand, with stand-ins.
    converging : tuple of str
        Those of Figure 1.
    counts : tuple of int
        Numbers of features per class, or in all.
    folds, large_folds : int
        How many of the five folds are computed, and on the sets in ``LARGE``.
    """

    sets: tuple[str, ...] | None
    converging: tuple[str, ...]
    counts: tuple[int, ...]
    folds: int
    large_folds: int


FULL = Scale(
    sets=None,
    # The text does not name the four sets of the figure: one of every kind.
    converging=("Yale", "ISOLET", "Glioma", "CNAE-9"),
    counts=(10, 20, 30, 40, 50, 60, 70, 80),
    folds=N_FOLDS,
    large_folds=N_FOLDS,
)
STANDARD = Scale(
    sets=None,
    converging=FULL.converging,
    counts=(10, 20, 40, 80),
    folds=N_FOLDS,
    large_folds=2,
)
QUICK = Scale(
    sets=("Yale", "Glioma", "CNAE-9"),
    converging=("Yale", "Glioma", "CNAE-9"),
    counts=(10, 20, 40, 80),
    folds=N_FOLDS,
    large_folds=N_FOLDS,
)


def scale_of(bench: Bench) -> Scale:
    """How much this bench computes."""
    return bench.pick(quick=QUICK, standard=STANDARD, full=FULL)


def folds_of(scale: Scale, label: str) -> range:
    """The folds of a data set that are computed: the first ones of the paper's rule."""
    return range(min(N_FOLDS, scale.large_folds if _is_large(label) else scale.folds))


def coarser(scale: Scale) -> str:
    """What a scale leaves out of the paper's protocol, in a sentence."""
    parts = []
    if scale.sets is not None:
        parts.append(f"only the sets {', '.join(scale.sets)} and no stand-ins")
    if scale.converging != FULL.converging:
        parts.append(f"{len(scale.converging)} instead of {len(FULL.converging)} in Figure 1")
    if scale.counts != FULL.counts:
        values = ", ".join(map(str, scale.counts))
        parts.append(
            f"{len(scale.counts)} instead of {len(FULL.counts)} numbers of features ({values})"
        )
    shortened = [name for name in LARGE if scale.sets is None or name in scale.sets]
    if scale.folds != N_FOLDS:
        parts.append(f"the first {scale.folds} of {N_FOLDS} folds")
    if scale.large_folds != scale.folds and shortened:
        parts.append(f"the first {scale.large_folds} of {N_FOLDS} folds on {', '.join(shortened)}")
    return f"Coarser than the paper: {'; '.join(parts)}." if parts else ""


def about_folds(scale: Scale, labels: Iterable[str]) -> str:
    """Which of these sets have fewer folds than the paper, in a sentence; nothing if none."""
    fewer: dict[int, list[str]] = {}
    for label in labels:
        if len(folds_of(scale, label)) < N_FOLDS:
            fewer.setdefault(len(folds_of(scale, label)), []).append(label)
    return "".join(
        f" Only the first {count} of the {N_FOLDS} folds: {', '.join(names)}."
        for count, names in fewer.items()
    )


def _is_large(label: str) -> bool:
    return printed_name(label) in LARGE
