"""How much to compute on every level."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sparsieve.report.wording import listed_names
from sparsieve.scoring.protocol import Folds, Protocol, RepeatedSplits

from ...studies.selector_spec import SelectorSpec
from ...studies.study import Study
from ..base import Bench
from ..splits import FirstFolds

LARGE = ("COIL20", "USPS", "Isolet")  # by their printed names: over a thousand samples


@dataclass(frozen=True)
class Sampling:
    """Numbers of features, the splits to look at them on, and candidates gamma of RFS."""

    ks: tuple[int, ...]
    protocol: Protocol
    gammas: tuple[float, ...]


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


def about_splits(protocol: Protocol) -> str:
    """How many splits, in words."""
    if isinstance(protocol, RepeatedSplits):
        return f"{protocol.n_repeats} random splits"
    assert isinstance(protocol, Folds)
    first = f"the first {protocol.n_first} of " if isinstance(protocol, FirstFolds) else ""
    return f"{first}{protocol.n_repeats} x {protocol.n_folds} folds"


def about_large(sets: Mapping[str, str], sampling: Sampling, large: Sampling | None) -> str:
    """In which way the largest of these sets are looked at less often; nothing where they are not.

    Such as ", on Isolet only K = 5 and 50 and gamma = 0.1 of RFS".
    """
    apart = [shown for shown in sets if shown in LARGE]
    if large is None or not apart:
        return ""
    less = []
    if large.protocol != sampling.protocol:
        less.append(about_splits(large.protocol))
    if large.ks != sampling.ks:
        less.append(f"K = {_numbers(large.ks)}")
    if large.gammas != sampling.gammas:
        less.append(f"gamma = {_numbers(large.gammas)} of RFS")
    return f", on {listed_names(apart)} only {'; '.join(less)}"


def coarser(scale: Scale) -> str:
    """What a scale leaves out of the paper's protocol, in sentences."""
    figure_1 = _amount(scale.redundancy, scale.large_redundancy)
    figures_2_and_3 = _amount(scale.curves, scale.large_curves)
    said = [
        f"Figure 1: {figure_1}{_only(scale.redundancy_sets)} (whole: {_amount(FULL.redundancy)}).",
        f"Figures 2 and 3: {figures_2_and_3}{_only(scale.curve_sets)} (paper: "
        f"{_amount(FULL.curves)}); nmAPG starts from the K before, so that fewer K change its "
        "results.",
        f"Figure 4: K = {_numbers(scale.sparsity_ks)} (whole: {_numbers(FULL.sparsity_ks)}).",
        f"Figure 5: at most {scale.descent_rows} random samples (paper: all), "
        f"{scale.reference_iterations} iterations of our reference (whole: "
        f"{FULL.reference_iterations}).",
    ]
    return " ".join(said)


def _amount(sampling: Sampling, large: Sampling | None = None) -> str:
    """What is looked at on all sets, and what on the largest."""
    return (
        f"{about_splits(sampling.protocol)}, K = {_numbers(sampling.ks)}, "
        f"gamma = {_numbers(sampling.gammas)} of RFS"
        + about_large(dict.fromkeys(LARGE, ""), sampling, large)
    )


def _numbers(values: Sequence[float]) -> str:
    if len(values) > 3 and all(b - a == 1 for a, b in pairwise(values)):
        return f"{values[0]} to {values[-1]}"
    return listed_names([f"{value:g}" for value in values])


def _only(names: tuple[str, ...] | None) -> str:
    return "" if names is None else f", only {listed_names(names)}"
