"""What the printed parameters and the printed algorithms of l0-MKL give."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...studies.exhibits import Exhibit
from ..base import Bench
from ..declared import exhibit
from ..numbers import grouped, mean, rounded
from ..published import published_by
from .choices import Source, sources
from .plan import printed_parameters
from .work import D_MAX, FALL_FACTOR, FREE_D_MAX, run_published, try_bound, try_parameters

ENDS = ("falls without bound", "indefinite", "bounded")
SCALINGS = {"standardised": True, "as given": False}


def tried(bench: Bench) -> Iterator[Exhibit]:
    """The parameters of Table 7 on our objective, and in the paper's own algorithms."""
    yield _on_our_objective(bench)
    yield _in_the_printed_algorithms(bench)


def _settings(bench: Bench, **more) -> list[dict]:
    return [
        {
            "dataset": source.dataset,
            "parameters": printed_parameters(source.printed),
            "repeat": repeat,
            **more,
        }
        for source in sources(bench)
        for repeat in range(bench.scale.n_repeats)
    ]


def _on_our_objective(bench: Bench) -> Exhibit:
    # The printed theta is at most 1 everywhere: with weights up to 1 this is the l1 norm.
    settings = _settings(bench, method="MIK-FS", inner_folds=0)
    found = bench.jobs("l0-mkl printed parameters", try_parameters, settings)
    printed = published_by("l0mkl_tables4_5_6", "dataset", "method")
    groups = grouped(found, "dataset")
    rows = [
        {
            "dataset": source.label,
            "accuracy": mean(100 * row["accuracy"] for row in ours),
            "n_features": mean(row["n_used"] for row in ours),
            "published": printed[source.printed, "l0-MKL"]["accuracy"],
            "published_mik_fs": printed[source.printed, "MIK-FS"]["accuracy"],
            "splits": len(ours),
        }
        for source in sources(bench)
        if (ours := groups.get((source.dataset,)))
    ]
    return exhibit(__package__, "Table 7, tried", rows)


BOUNDS = {"weights up to 1": D_MAX, "free weights": FREE_D_MAX}


def free_weights(bench: Bench) -> Iterator[Exhibit]:
    """The parameters of Table 7 on our objective: where theta <= 1 is l0-MKL, and where MIK-FS."""
    settings = [
        {**one, "parameters": {**one["parameters"], "d_max": bound}}
        for one in _settings(bench, method="l0-MKL")
        for bound in BOUNDS.values()
    ]
    names = {bound: name for name, bound in BOUNDS.items()}
    found = bench.jobs("l0-mkl free weights", try_bound, settings)
    fits = [{**row, "bound": names[row["parameters"]["d_max"]]} for row in found]
    groups = grouped(fits, "dataset", "bound")
    printed = published_by("l0mkl_tables4_5_6", "dataset", "method")
    rows = [
        {
            "dataset": source.label,
            "method": bound,
            "theta": ours[0]["parameters"]["theta"],
            "accuracy": mean(100 * row["accuracy"] for row in ours),
            "n_features": mean(row["n_used"] for row in ours),
            "n_at_bound": mean(row["n_at_bound"] for row in ours),
            "converged": sum(row["converged"] for row in ours),
            "splits": len(ours),
            "published": printed[source.printed, "l0-MKL"]["accuracy"],
            "published_n_features": printed[source.printed, "l0-MKL"]["n_features"],
        }
        for source in sources(bench)
        for bound in BOUNDS
        if (ours := groups.get((source.dataset, bound)))
    ]
    yield exhibit(__package__, "Table 7, free weights", rows)


def _in_the_printed_algorithms(bench: Bench) -> Exhibit:
    left_out = [s for s in sources(bench) if s.printed in bench.scale.not_as_given]
    slow = {source.dataset for source in left_out}
    settings = [
        setting
        for scaled in SCALINGS.values()
        for setting in _settings(bench, standardize=scaled)
        if scaled or setting["dataset"] not in slow
    ]
    runs = bench.jobs("l0-mkl printed algorithms", run_published, settings)
    groups = grouped(runs, "dataset", "standardize")
    rows = [
        _ends(source, scaling, found)
        for source in sources(bench)
        for scaling, standardize in SCALINGS.items()
        if (found := groups.get((source.dataset, standardize)))
    ]
    return exhibit(__package__, "Algorithms 1, 3 and 4", rows)


def _ends(source: Source, scaling: str, runs: Sequence[dict]) -> dict:
    """The row of a set: how its runs end, in numbers."""
    last = [run["trace"][-1] for run in runs if run["trace"][-1] is not None]
    fallen = [steps for run in runs if (steps := _steps_to_fall(run["trace"])) is not None]
    ended = [run for run in runs if run["n_used"] is not None]
    return {
        "dataset": source.label,
        "features": scaling,
        "splits": len(runs),
        **{end.replace(" ", "_"): sum(run["end"] == end for run in runs) for end in ENDS},
        "steps_to_fall": mean(fallen),
        "last_objective": rounded(float(np.median(last)), 3) if last else None,
        "weight_steps_without_minimum": len(runs) - len(last),
        "n_features": mean(run["n_used"] for run in ended),
        "accuracy": mean(100 * run["accuracy"] for run in ended),
    }


def _steps_to_fall(trace: Sequence[float | None]) -> int | None:
    """Entries after the first until the objective has fallen."""
    limit = -FALL_FACTOR * max(1.0, abs(trace[0] or 0.0))
    below = [step for step, value in enumerate(trace) if value is None or value < limit]
    return below[0] if below else None
