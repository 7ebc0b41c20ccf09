"""Which sets, rows and parameters the l0-MPM paper uses."""

from __future__ import annotations

from ..base import Bench
from ..published import published

PRINTED_DELTA = 0.9


def sets(bench: Bench) -> dict[str, str]:
    """The paper's sets at hand: printed name to name here, in the paper's order."""
    found = bench.datasets()
    return {
        row["dataset"]: found[row["dataset"]]
        for row in published("l0mpm_table1")
        if row["dataset"] in found
    }


def rows_of(printed: str) -> int | None:
    """How many rows the paper takes of a set that has many more; None for all."""
    return 200 if printed in ("Spam", "Madelon") else None


def draws(bench: Bench, printed: str) -> range:
    """Random choices of these rows, because the paper's is not known."""
    return range(5 if rows_of(printed) is not None and not bench.quick else 1)


def n_folds(bench: Bench, printed: str) -> int:
    """How many of the ten folds are done; those of Madelon take longer than all others."""
    return 3 if bench.quick and printed == "Madelon" else 10


def alpha_of(printed: str) -> float:
    """Steepness of the surrogate of L0-MPM."""
    return 0.5 if printed == "Ionosphere" else 5.0


def protocol(bench: Bench) -> str:
    """What every note begins with."""
    missing = ", ".join(bench.missing())
    drawn = "one random choice" if bench.quick else "five random choices"
    reduced = " Quick: three of the folds of Madelon." if bench.quick else ""
    return (
        "Ten stratified folds; features standardised on the training part. Spam and Madelon: "
        f"200 rows as in the paper, {drawn}.{reduced}"
        + (f" Not at hand: {missing}." if missing else "")
    )
