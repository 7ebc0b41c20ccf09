"""How much to compute of Figures 1 and 2, and on which data sets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from ..base import Bench, printed_name

T = TypeVar("T")
N_FOLDS = 5


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
    folds : int
        How many of the five folds are computed.
    fewer_folds : mapping of str to int
        The same on sets where a fold takes minutes: many samples of many classes, so many
        machines, and on 20-Newsgroups an exclusive lasso that takes half a minute.
    votes : mapping of str to tuple of int
        Counts at which the majority vote is held on a set, if not at all of them: it takes ten
        times as long as all other scores, on YaleB with 703 machines for each of 38 classes.
    """

    sets: tuple[str, ...] | None
    converging: tuple[str, ...]
    counts: tuple[int, ...]
    folds: int = N_FOLDS
    fewer_folds: Mapping[str, int] = field(default_factory=dict)
    votes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


FULL = Scale(
    sets=None,
    # The text does not name the four sets of the figure: one of every kind.
    converging=("Yale", "ISOLET", "Glioma", "CNAE-9"),
    counts=(10, 20, 30, 40, 50, 60, 70, 80),
)
STANDARD = Scale(
    sets=None,
    converging=FULL.converging,
    counts=(10, 20, 40, 80),
    folds=3,
    fewer_folds={"ISOLET": 2, "MNIST": 2, "YaleB": 2, "20-Newsgroups": 1},
    votes={"ISOLET": (20,), "MNIST": (20,), "20-Newsgroups": (20,), "YaleB": ()},
)
QUICK = Scale(
    sets=("Yale", "Glioma", "CNAE-9"),
    converging=("Yale", "Glioma", "CNAE-9"),
    counts=(10, 20, 40, 80),
)


def scale_of(bench: Bench) -> Scale:
    """How much this bench computes."""
    return bench.pick(quick=QUICK, standard=STANDARD, full=FULL)


def folds_of(scale: Scale, label: str) -> range:
    """The folds of a data set that are computed: the first ones of the paper's rule."""
    return range(min(N_FOLDS, scale.fewer_folds.get(printed_name(label), scale.folds)))


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
    if scale.folds != N_FOLDS:
        parts.append(f"the first {scale.folds} of {N_FOLDS} folds")
    for count, names in _by_value(scale.fewer_folds).items():
        parts.append(f"the first {count} of {N_FOLDS} folds on {', '.join(names)}")
    parts += _about_votes(scale.votes)
    return f"Coarser than the paper: {'; '.join(parts)}." if parts else ""


def about_folds(scale: Scale, labels: Iterable[str]) -> str:
    """Which of these sets are split less often than in the paper, in sentences; "" if none."""
    labels = list(labels)
    computed = {label: len(folds_of(scale, label)) for label in labels}
    said = "".join(
        f" Only the first {count} of the {N_FOLDS} folds: {', '.join(names)}."
        for count, names in _by_value(computed).items()
        if count < N_FOLDS
    )
    held = {
        label: scale.votes[name] for label in labels if (name := printed_name(label)) in scale.votes
    }
    return said + "".join(f" {part[0].upper()}{part[1:]}." for part in _about_votes(held))


def _about_votes(votes: Mapping[str, tuple[int, ...]]) -> list[str]:
    return [
        (f"majority votes with {_listed(counts)} features only" if counts else "no majority vote")
        + f" on {', '.join(names)}"
        for counts, names in _by_value(votes).items()
    ]


def _by_value(values: Mapping[str, T]) -> dict[T, list[str]]:
    """The names that have each value."""
    names: dict[T, list[str]] = {}
    for name, value in values.items():
        names.setdefault(value, []).append(name)
    return names


def _listed(counts: Iterable[int]) -> str:
    return ", ".join(map(str, counts))
