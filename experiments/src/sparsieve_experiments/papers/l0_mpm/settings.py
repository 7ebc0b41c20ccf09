"""Which sets, rows and parameters the l0-MPM paper uses."""

from __future__ import annotations

from ..base import Bench
from ..data import printed_sizes

METHODS = ("MPM", "L1-MPM", "L0-MPM")
# The steps of these are the printed ones where only features are selected.
PRINTED = ("L0-MPM", "S-MPM")
PRINTED_DELTA = 0.9
# How many rows the paper takes of sets that have many more.
DRAWN_ROWS = {"Spam": 200, "Madelon": 200}
N_FOLDS = 10


def sets(bench: Bench) -> dict[str, str]:
    """The paper's sets at hand: printed name to name here, in the paper's order."""
    found = bench.datasets()
    return {name: found[name] for name in printed_sizes("l0-mpm") if name in found}


def machine(method: str) -> dict[str, str]:
    """What the setting of a linear machine says of it."""
    return {"method": method, **({"solver": "published"} if method in PRINTED else {})}


def draws(bench: Bench, printed: str, dataset: str) -> list[dict]:
    """What settings say of a set: its rows, random choices of them, and how many folds are done.

    Of Spam there are several choices because the paper's is not known; of Madelon, where the
    printed steps take 10 to 20 seconds a fit, there is one.
    """
    scale = bench.scale
    return [
        {
            "dataset": dataset,
            "n_rows": DRAWN_ROWS.get(printed),
            "draw": draw,
            "n_folds": scale.madelon_folds if printed == "Madelon" else N_FOLDS,
        }
        for draw in range(scale.n_draws if printed == "Spam" else 1)
    ]


def alpha_of(printed: str) -> float:
    """Steepness of the surrogate of L0-MPM."""
    return 0.5 if printed == "Ionosphere" else 5.0
