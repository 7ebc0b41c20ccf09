"""How much to compute on every level."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from sparsieve.report.wording import listed_names
from sparsieve.scoring.protocol import Folds, Protocol, RepeatedSplits

from ...studies.selector_spec import SelectorSpec
from ...studies.study import Study
from ..base import Bench
from ..levels import coarser
from ..splits import FirstFolds

LARGE = ("COIL20", "USPS", "Isolet")  # by their printed names: over a thousand samples


@dataclass(frozen=True)
class Sampling:
    """Numbers of features, the splits to look at them on, and candidates gamma of RFS."""

    ks: tuple[int, ...]
    protocol: Protocol
    gammas: tuple[float, ...]

    def __str__(self) -> str:
        return (
            f"{_about_splits(self.protocol)} with K = {_numbers(self.ks)} and gamma = "
            f"{_numbers(self.gammas)} of RFS"
        )


@dataclass(frozen=True)
class Scale:
    """How much to compute: the paper's protocol, or less.

    Parameters
    ----------
    curves, large_curves : Sampling
        Of Figures 2 and 3; of the largest data sets where that is less.
    redundancy, large_redundancy : Sampling
        Of Figure 1.
    sparsity_ks : tuple of int
        Of Figure 4.
    descent_rows : int or None
        Random samples of Figure 5; None for all.
    reference_iterations : int
        Reweighted least squares beside Algorithms 1 and 2 in Figure 5.
    curve_sets, redundancy_sets : tuple of str or None
        By their printed names; None for all.
    """

    curves: Sampling
    redundancy: Sampling
    sparsity_ks: tuple[int, ...]
    descent_rows: int | None
    reference_iterations: int
    large_curves: Sampling | None = None
    large_redundancy: Sampling | None = None
    curve_sets: tuple[str, ...] | None = None
    redundancy_sets: tuple[str, ...] | None = None


GAMMAS = (0.001, 0.01, 0.1, 0.2, 0.8, 1.0)
FEW_GAMMAS = (0.01, 0.1, 1.0)
FULL = Scale(
    curves=Sampling(tuple(range(1, 51)), Folds(5, 10), GAMMAS),
    redundancy=Sampling((2, *range(5, 51, 5)), RepeatedSplits(0.7, 10), GAMMAS),
    sparsity_ks=tuple(range(1, 51)),
    descent_rows=None,
    reference_iterations=300,
)
STANDARD = Scale(
    curves=Sampling((5, 20, 50), FirstFolds(5, 1, n_first=3), FEW_GAMMAS),
    large_curves=Sampling((20, 50), FirstFolds(5, 1, n_first=2), (0.1,)),
    redundancy=Sampling((5, 20, 50), RepeatedSplits(0.7, 2), FEW_GAMMAS),
    large_redundancy=Sampling((20,), RepeatedSplits(0.7, 2), (0.1,)),
    sparsity_ks=(1, 5, 10, 20, 30, 50),
    descent_rows=2000,
    reference_iterations=100,
)
QUICK = Scale(
    curves=Sampling((1, 2, 5, 10, 20, 30, 50), Folds(3, 1), FEW_GAMMAS),
    redundancy=Sampling((5, 20, 50), RepeatedSplits(0.7, 2), FEW_GAMMAS),
    sparsity_ks=(1, 5, 10, 20, 30, 50),
    descent_rows=400,
    reference_iterations=100,
    curve_sets=("Yale", "leukemia"),
    redundancy_sets=("Yale", "Lymphoma", "leukemia"),
)


SCALES = {"quick": QUICK, "standard": STANDARD, "full": FULL}


def scale_of(bench: Bench) -> Scale:
    """How much this bench computes."""
    return bench.pick(quick=QUICK, standard=STANDARD, full=FULL)


def studies_of(
    name: str,
    sets: Mapping[str, str],
    selectors: Callable[[tuple[float, ...]], Sequence[SelectorSpec]],
    classifiers: Sequence[str],
    sampling: Sampling,
    large: Sampling | None,
) -> list[Study]:
    """A study of ``sets`` (printed name to name here), the largest in one of their own if asked.

    ``selectors`` gives those to compare, from the candidates gamma of RFS.
    """
    apart = [name for shown, name in sets.items() if large is not None and shown in LARGE]
    rest = [name for name in sets.values() if name not in apart]
    parts = [(name, rest, sampling), (f"{name}, large sets", apart, large)]
    return [
        Study(
            title,
            names,
            selectors(amount.gammas),
            amount.protocol,
            ks=amount.ks,
            classifiers=classifiers,
            scoring=["accuracy"],
        )
        for title, names, amount in parts
        if names and amount is not None
    ]


_COUNTED = {
    "redundancy": "in Figure 1",
    "large_redundancy": f"in Figure 1 on {listed_names(LARGE)}",
    "redundancy_sets": "data sets in Figure 1",
    "curves": "in Figures 2 and 3",
    "large_curves": f"in Figures 2 and 3 on {listed_names(LARGE)}",
    "curve_sets": "data sets in Figures 2 and 3",
    "sparsity_ks": "values of K in Figure 4",
    "descent_rows": "random samples at most in Figure 5",
    "reference_iterations": "iterations of our reference in Figure 5",
}


def less(scale: Scale) -> str:
    """What a scale leaves out of the paper's protocol, in a sentence."""
    whole = replace(FULL, large_redundancy=FULL.redundancy, large_curves=FULL.curves)
    ours = replace(
        scale,
        large_redundancy=scale.large_redundancy or scale.redundancy,
        large_curves=scale.large_curves or scale.curves,
    )
    return coarser(ours, whole, _COUNTED)


def _about_splits(protocol: Protocol) -> str:
    """How many splits, in words."""
    if isinstance(protocol, RepeatedSplits):
        return f"{protocol.n_repeats} random splits"
    assert isinstance(protocol, Folds)
    first = f"the first {protocol.n_first} of " if isinstance(protocol, FirstFolds) else ""
    return f"{first}{protocol.n_repeats} x {protocol.n_folds} folds"


def _numbers(values: Sequence[float]) -> str:
    if len(values) > 3 and all(b - a == 1 for a, b in pairwise(values)):
        return f"{values[0]} to {values[-1]}"
    return listed_names([f"{value:g}" for value in values])
