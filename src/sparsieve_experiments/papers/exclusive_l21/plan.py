"""How much to compute of Figures 1 and 2, and on which data sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..base import Bench, printed_name
from ..levels import scales

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

    converging: tuple[str, ...]
    counts: tuple[int, ...]
    folds: int = N_FOLDS
    fewer_folds: Mapping[str, int] = field(default_factory=dict)
    votes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    sets: tuple[str, ...] | None = None


SCALES = scales(__package__, Scale)
QUICK, STANDARD, FULL = SCALES.values()


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
