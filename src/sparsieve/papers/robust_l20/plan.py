"""How much to compute on every level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ...evaluation.protocol import Folds, Protocol, RepeatedSplits
from ...studies.selector_spec import SelectorSpec
from ...studies.study import Study
from ..base import Bench
from ..splits import FirstFolds
from ..verdicts import listed

LARGE = ("COIL20", "USPS", "Isolet")  # by their printed names: over a thousand samples


@dataclass(frozen=True)
class Sampling:
    """Numbers of features and the splits to look at them on."""

    ks: tuple[int, ...]
    protocol: Protocol


@dataclass(frozen=True)
class Scale:
    """How much to compute: the paper's protocol, or less.

    Parameters
    ----------
    gammas : tuple of float
        Candidates of RFS.
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

    gammas: tuple[float, ...]
    curves: Sampling
    redundancy: Sampling
    sparsity_ks: tuple[int, ...]
    descent_rows: int | None
    reference_iterations: int
    large_curves: Sampling | None = None
    large_redundancy: Sampling | None = None
    curve_sets: tuple[str, ...] | None = None
    redundancy_sets: tuple[str, ...] | None = None


FULL = Scale(
    gammas=(0.001, 0.01, 0.1, 0.2, 0.8, 1.0),
    curves=Sampling(tuple(range(1, 51)), Folds(5, 10)),
    redundancy=Sampling((2, *range(5, 51, 5)), RepeatedSplits(0.7, 10)),
    sparsity_ks=tuple(range(1, 51)),
    descent_rows=None,
    reference_iterations=300,
)
STANDARD = Scale(
    gammas=(0.01, 0.1, 1.0),
    curves=Sampling((1, 5, 10, 20, 50), Folds(5, 1)),
    redundancy=Sampling((5, 20, 50), RepeatedSplits(0.7, 2)),
    sparsity_ks=(1, 5, 10, 20, 30, 50),
    descent_rows=None,
    reference_iterations=100,
    large_curves=Sampling((5, 20, 50), FirstFolds(5, 1, n_first=2)),
    large_redundancy=Sampling((5, 50), RepeatedSplits(0.7, 2)),
)
QUICK = Scale(
    gammas=(0.01, 0.1, 1.0),
    curves=Sampling((1, 2, 5, 10, 20, 30, 50), Folds(3, 1)),
    redundancy=Sampling((5, 20, 50), RepeatedSplits(0.7, 2)),
    sparsity_ks=(1, 5, 10, 20, 30, 50),
    descent_rows=400,
    reference_iterations=100,
    curve_sets=("Yale", "leukemia"),
    redundancy_sets=("Yale", "Lymphoma", "leukemia"),
)


def scale_of(bench: Bench) -> Scale:
    """How much this bench computes."""
    return bench.pick(quick=QUICK, standard=STANDARD, full=FULL)


def studies_of(
    name: str,
    sets: Mapping[str, str],
    selectors: Sequence[SelectorSpec],
    classifiers: Sequence[str],
    sampling: Sampling,
    large: Sampling | None,
) -> list[Study]:
    """A study of ``sets`` (printed name to name here), the largest in one of their own if asked."""
    apart = [name for shown, name in sets.items() if large is not None and shown in LARGE]
    rest = [name for name in sets.values() if name not in apart]
    parts = [(name, rest, sampling), (f"{name}, large sets", apart, large)]
    return [
        Study(
            title,
            names,
            selectors,
            amount.protocol,
            ks=amount.ks,
            classifiers=classifiers,
            metrics=["accuracy"],
        )
        for title, names, amount in parts
        if names and amount is not None
    ]


def about_splits(protocol: Protocol) -> str:
    """How many splits, in words."""
    if isinstance(protocol, RepeatedSplits):
        return f"{protocol.n_repeats} random splits"
    assert isinstance(protocol, Folds)
    first = f"the first {protocol.n_first} of " if isinstance(protocol, FirstFolds) else ""
    return f"{first}{protocol.n_repeats} x {protocol.n_folds} folds"


def about_large(sets: Mapping[str, str], sampling: Sampling, large: Sampling | None) -> str:
    """In which way the largest of these sets are looked at less often; nothing where they are not.

    Such as ", on Isolet only 2 random splits and K = 5 and 50".
    """
    apart = [shown for shown in sets if shown in LARGE]
    if large is None or not apart:
        return ""
    less = []
    if large.protocol != sampling.protocol:
        less.append(about_splits(large.protocol))
    if large.ks != sampling.ks:
        less.append(f"K = {listed(list(map(str, large.ks)))}")
    return f", on {listed(apart)} only {' and '.join(less)}"


def coarser(scale: Scale) -> str:
    """What a scale leaves out of the paper's protocol, in sentences."""
    every = dict.fromkeys(LARGE, "")
    said = [
        f"Figure 1: {_amount(scale.redundancy)}"
        f"{about_large(every, scale.redundancy, scale.large_redundancy)} "
        f"(whole: {_amount(FULL.redundancy)}){_only(scale.redundancy_sets)}.",
        f"Figures 2 and 3: {_amount(scale.curves)}"
        f"{about_large(every, scale.curves, scale.large_curves)} "
        f"(paper: {_amount(FULL.curves)}){_only(scale.curve_sets)}; nmAPG starts from the K before,"
        " so that fewer K change its results.",
        f"RFS: gamma = {_numbers(scale.gammas)} (paper: {_numbers(FULL.gammas)}).",
        f"Figure 4: K = {_numbers(scale.sparsity_ks)} (whole: 1 to 50).",
    ]
    if scale.descent_rows is not None:
        said.append(f"Figure 5: at most {scale.descent_rows} random samples (paper: all).")
    said.append(
        f"Our reference in Figure 5: {scale.reference_iterations} iterations "
        f"(whole: {FULL.reference_iterations})."
    )
    return " ".join(said)


def _amount(sampling: Sampling) -> str:
    return f"{about_splits(sampling.protocol)} at K = {_numbers(sampling.ks)}"


def _numbers(values: Sequence[float]) -> str:
    steps = {round(b - a, 9) for a, b in pairwise(values)}
    if len(values) > 3 and steps == {1}:
        return f"{values[0]} to {values[-1]}"
    return listed([f"{value:g}" for value in values])


def _only(names: tuple[str, ...] | None) -> str:
    return "" if names is None else f"; of the data sets only {listed(names)}"
