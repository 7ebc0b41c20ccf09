"""Which sets, rows and parameters the l0-MPM paper uses."""

from __future__ import annotations

from dataclasses import dataclass

from ..base import Bench
from ..data import printed_sizes
from ..levels import coarser

PRINTED_DELTA = 0.9
# How many rows the paper takes of sets that have many more.
DRAWN_ROWS = {"Spam": 200, "Madelon": 200}
N_FOLDS = 10


@dataclass(frozen=True)
class Scale:
    """How much to compute: the paper's protocol, or less.

    Parameters
    ----------
    n_draws : int
        Random choices of the rows of Spam and Madelon: the paper's is not known.
    madelon_folds : int
        Folds of Madelon that are done; they take longer than all others.
    widths : tuple of float
        Of the Gaussian kernel.
    kernel_folds : int
        Folds that are done with Gaussian kernels.
    inner_folds : int
        Of the choice of the width inside a training part.
    """

    n_draws: int
    madelon_folds: int
    widths: tuple[float, ...]
    kernel_folds: int
    inner_folds: int


QUICK = Scale(n_draws=1, madelon_folds=3, widths=(0.5, 2.0, 8.0), kernel_folds=2, inner_folds=2)
STANDARD = Scale(
    n_draws=3, madelon_folds=5, widths=(0.125, 0.5, 2.0, 8.0), kernel_folds=3, inner_folds=2
)
FULL = Scale(
    n_draws=5,
    madelon_folds=N_FOLDS,
    widths=tuple(2.0**power for power in range(-3, 4)),
    kernel_folds=N_FOLDS,
    inner_folds=3,
)


SCALES = {"quick": QUICK, "standard": STANDARD, "full": FULL}


def scale_of(bench: Bench) -> Scale:
    """How much this bench computes."""
    return bench.pick(quick=QUICK, standard=STANDARD, full=FULL)


_COUNTED = {
    "n_draws": "random choices of the rows of Spam and Madelon",
    "madelon_folds": "folds of Madelon",
    "widths": "widths of the Gaussian kernel",
    "kernel_folds": "folds with Gaussian kernels",
    "inner_folds": "inner folds for the choice of the width",
}


def less(scale: Scale) -> str:
    """What a scale leaves out of the paper's protocol, in a sentence."""
    return coarser(scale, FULL, _COUNTED)


def sets(bench: Bench) -> dict[str, str]:
    """The paper's sets at hand: printed name to name here, in the paper's order."""
    found = bench.datasets()
    return {name: found[name] for name in printed_sizes("l0-mpm") if name in found}


def draws(bench: Bench, printed: str, dataset: str) -> list[dict]:
    """What settings say of a set: its rows, random choices of them, and how many folds are done.

    There are several choices because the paper's is not known.
    """
    scale = scale_of(bench)
    return [
        {
            "dataset": dataset,
            "n_rows": DRAWN_ROWS.get(printed),
            "draw": draw,
            "n_folds": scale.madelon_folds if printed == "Madelon" else N_FOLDS,
        }
        for draw in range(scale.n_draws if printed in DRAWN_ROWS else 1)
    ]


def alpha_of(printed: str) -> float:
    """Steepness of the surrogate of L0-MPM."""
    return 0.5 if printed == "Ionosphere" else 5.0
