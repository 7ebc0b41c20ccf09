"""How much to compute of Figures 1 and 2, and on which data sets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

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
    votes : mapping of str to tuple of int
        Counts at which the majority vote is held on a set, if not at all of them: it takes ten
        times as long as all other scores, on YaleB with 703 machines for each of 38 classes.
    """

    sets: tuple[str, ...] | None
    converging: tuple[str, ...]
    counts: tuple[int, ...]
    folds: int
    large_folds: int
    votes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


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
    folds=3,
    large_folds=2,
    votes={"ISOLET": (20,), "MNIST": (20,), "20-Newsgroups": (20,), "YaleB": ()},
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
    return range(min(N_FOLDS, scale.large_folds if is_large(label) else scale.folds))


def votes_of(scale: Scale, label: str) -> dict[str, list[int]]:
    """What a setting says of the majority vote; nothing where it is held at every count."""
    held = scale.votes.get(printed_name(label))
    return {} if held is None else {"majority_counts": list(held)}


def coarser(scale: Scale) -> str:
    """What a scale leaves out of the paper's protocol, in a sentence."""
    parts = []
    if scale.sets is not None:
        parts.append(f"only the sets {', '.join(scale.sets)} and no stand-ins")
    if scale.converging != FULL.converging:
        parts.append(f"{len(scale.converging)} instead of {len(FULL.converging)} in Figure 1")
    if scale.counts != FULL.counts:
        parts.append(
            f"{len(scale.counts)} instead of {len(FULL.counts)} numbers of features "
            f"({_listed(scale.counts)})"
        )
    shortened = [name for name in LARGE if scale.sets is None or name in scale.sets]
    if scale.folds != N_FOLDS:
        parts.append(f"the first {scale.folds} of {N_FOLDS} folds")
    if scale.large_folds != scale.folds and shortened:
        parts.append(f"the first {scale.large_folds} of {N_FOLDS} folds on {', '.join(shortened)}")
    parts += _about_votes(scale.votes)
    return f"Coarser than the paper: {'; '.join(parts)}." if parts else ""


def about_folds(scale: Scale, labels: Iterable[str]) -> str:
    """Which of these sets are split less often than in the paper, in sentences; "" if none."""
    labels = list(labels)
    fewer: dict[int, list[str]] = {}
    for label in labels:
        if len(folds_of(scale, label)) < N_FOLDS:
            fewer.setdefault(len(folds_of(scale, label)), []).append(label)
    said = "".join(
        f" Only the first {count} of the {N_FOLDS} folds: {', '.join(names)}."
        for count, names in fewer.items()
    )
    held = {
        label: scale.votes[name] for label in labels if (name := printed_name(label)) in scale.votes
    }
    return said + "".join(f" {part[0].upper()}{part[1:]}." for part in _about_votes(held))


def is_large(label: str) -> bool:
    """Whether a set, stand-in or not, takes minutes a fold."""
    return printed_name(label) in LARGE


def _about_votes(votes: Mapping[str, tuple[int, ...]]) -> list[str]:
    sets: dict[tuple[int, ...], list[str]] = {}
    for name, counts in votes.items():
        sets.setdefault(counts, []).append(name)
    return [
        (f"majority votes with {_listed(counts)} features only" if counts else "no majority vote")
        + f" on {', '.join(names)}"
        for counts, names in sets.items()
    ]


def _listed(counts: Iterable[int]) -> str:
    return ", ".join(map(str, counts))
