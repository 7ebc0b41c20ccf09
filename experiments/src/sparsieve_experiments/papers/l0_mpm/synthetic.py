"""Section 4.2 of the l0-MPM paper: 50 samples, ten useful features of a thousand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...studies.exhibits import Exhibit
from ..base import Bench
from ..declared import exhibit
from ..numbers import grouped, mean, mean_rows, rounded, with_deviation
from ..published import published_by
from .work import METHODS, PRINTED_DELTA, machine, try_synthetic

ALPHA = 10.0
ALPHAS = (0.1, 0.5, 1.0, 5.0, 10.0, 50.0)
DELTAS = (0.1, 0.3, 0.5, 0.7, 0.9, 0.99)
N_REPEATS = 10


def _setting(method: str, repeat: int, *, alpha: float = ALPHA, delta: float = PRINTED_DELTA):
    return {**machine(method), "alpha": alpha, "delta": delta, "repeat": repeat}


def _compared(bench: Bench) -> list[dict]:
    settings = [_setting(method, r) for method in METHODS for r in range(N_REPEATS)]
    return bench.jobs("l0-mpm synthetic", try_synthetic, settings)


def _means(rows: Sequence[dict]) -> dict:
    return {
        **with_deviation("accuracy", [100 * row["accuracy"] for row in rows]),
        "n_features": mean(row["n_kept"] for row in rows),
        "n_of_the_first_ten": mean(row["n_relevant"] for row in rows),
    }


def three_machines(bench: Bench) -> list[dict]:
    """Means of the three machines over the draws."""
    return [
        {"method": method, **_means(rows)}
        for (method,), rows in grouped(_compared(bench), "method").items()
    ]


def steepness(bench: Bench) -> Iterator[Exhibit]:
    """Figure 8, and the sentence on delta that follows it."""
    settings = [_setting("L0-MPM", r, alpha=alpha) for alpha in ALPHAS for r in range(N_REPEATS)]
    settings += [_setting("L0-MPM", r, delta=delta) for delta in DELTAS for r in range(N_REPEATS)]
    found = bench.jobs("l0-mpm synthetic steepness", try_synthetic, settings)
    over = (("alpha", "delta", PRINTED_DELTA), ("delta", "alpha", ALPHA))
    tables = []
    for name, fixed, constant in over:
        groups = grouped([row for row in found if row[fixed] == constant], name)
        tables.append([{name: at, **_means(group)} for (at,), group in sorted(groups.items())])
    yield exhibit(__package__, "Figure 8", tables[0])
    yield exhibit(__package__, "Section 4.2", tables[1])


def recovery(bench: Bench) -> Iterator[Exhibit]:
    """Figure 9 and the lists of the numbers of features."""
    means = three_machines(bench)
    printed = published_by("l0mpm_synthetic", "method", "repeat")
    theirs = {
        row["method"]: row for row in mean_rows([*printed.values()], "method", ["n_features"])
    }
    rows = [
        {
            **row,
            "percent_features": row["n_features"] / 10,
            "published_n_features": theirs[row["method"]]["n_features"],
        }
        for row in means
    ]
    ours = [
        {
            "method": row["method"],
            "draw": row["repeat"],
            "n_features": row["n_kept"],
            "accuracy": rounded(100 * row["accuracy"]),
            "published": printed[row["method"], row["repeat"]]["n_features"],
        }
        for row in _compared(bench)
    ]
    yield exhibit(__package__, "Figure 9", rows)
    yield exhibit(__package__, "Section 4.2, draw by draw", ours)
