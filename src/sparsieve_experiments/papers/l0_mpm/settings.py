"""Which sets, rows and parameters the l0-MPM paper uses."""

from __future__ import annotations

from dataclasses import dataclass

from ..base import Bench
from ..data import printed_sizes
from ..levels import scales

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


SCALES = scales(__package__, Scale)
QUICK, STANDARD, FULL = SCALES.values()


def scale_of(bench: Bench) -> Scale:
    """How much this bench computes."""
    return bench.pick(quick=QUICK, standard=STANDARD, full=FULL)


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
