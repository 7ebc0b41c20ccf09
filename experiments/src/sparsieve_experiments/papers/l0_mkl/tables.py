"""The tables of the l0-MKL paper, ours beside the printed numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from ...studies.exhibits import Exhibit
from ..base import Bench
from ..data import data_table
from ..declared import exhibit
from ..numbers import difference, grouped, mean, published_by, rounded, with_deviation
from .choices import BEST_ON_TEST, INNER_CV, Choice, Source, choose, printed_parameters, sources
from .work import D_MAX, FALL_FACTOR, FREE_D_MAX, describe, run_published, try_bound, try_parameters


def data_sets(bench: Bench) -> list[Exhibit]:
    """Table 3."""
    note = "The first two classes of every set; the largest class is that of the test halves."
    return data_table(bench, describe, note=note)


# -- Tables 4 to 6 ---------------------------------------------------------------------------


def _paired(choices: Sequence[Choice]) -> list[tuple[Choice, Choice, dict]]:
    """Honest and test-best choice of every set and method, and what the paper prints."""
    printed = published_by("l0mkl_tables4_5_6", "dataset", "method")
    honest = [choice for choice in choices if choice.chosen_by == INNER_CV]
    best = [choice for choice in choices if choice.chosen_by == BEST_ON_TEST]
    theirs = [printed[choice.source.printed, choice.method] for choice in honest]
    return list(zip(honest, best, theirs, strict=True))


def _place(choice: Choice) -> dict:
    return {
        "dataset": choice.source.label,
        "method": choice.method,
        "splits": len(choice.rows),
    }


def _mean_of(choice: Choice, name: str, scale: float = 1.0) -> float | None:
    return mean(None if row[name] is None else scale * row[name] for row in choice.rows)


def _score_rows(choices: Sequence[Choice], name: str) -> list[dict]:
    return [
        {
            **_place(honest),
            **with_deviation(name, [100 * row[name] for row in honest.rows]),
            f"{name}_best_on_test": _mean_of(best, name, 100),
            "published": theirs[name],
            "difference": difference(_mean_of(honest, name, 100), theirs[name]),
            "n_features": _mean_of(honest, "n_used"),
            "n_features_best_on_test": _mean_of(best, "n_used"),
            "published_n_features": theirs["n_features"],
        }
        for honest, best, theirs in _paired(choices)
    ]


def scores(bench: Bench) -> Iterator[Exhibit]:
    """Tables 4, 5 and 6."""
    choices = choose(bench)
    rows = _score_rows(choices, "accuracy")
    yield exhibit(__package__, "Table 4", rows)
    rows = [
        {name: value for name, value in row.items() if "n_features" not in name}
        for row in _score_rows(choices, "f1")
    ]
    yield exhibit(__package__, "Table 5", rows)
    rows = [
        {
            **_place(honest),
            "seconds": _mean_of(honest, "seconds"),
            "seconds_best_on_test": _mean_of(best, "seconds"),
            "published": theirs["cpu_seconds"],
        }
        for honest, best, theirs in _paired(choices)
    ]
    yield exhibit(__package__, "Table 6", rows)


# -- Table 7 ---------------------------------------------------------------------------------

_NAMES = ("a", "r", "lambda1", "lambda2", "theta")


def _paper_names(parameters: dict) -> dict:
    values = (parameters["gamma"], -parameters["coef0"], parameters["lambda1"])
    return dict(zip(_NAMES, (*values, parameters["lambda2"], parameters["theta"]), strict=True))


def parameters(bench: Bench) -> Iterator[Exhibit]:
    """Table 7: the chosen parameters."""
    printed = published_by("l0mkl_table7", "dataset")
    rows: list[dict] = []
    for choice in choose(bench):
        if choice.method != "l0-MKL":
            continue
        votes = Counter(tuple(_paper_names(row["parameters"]).items()) for row in choice.rows)
        taken, count = votes.most_common(1)[0]
        theirs = printed[choice.source.printed]
        rows.append(
            {
                "dataset": choice.source.label,
                "chosen_by": choice.chosen_by,
                **dict(taken),
                "splits": f"{count} of {len(choice.rows)}",
                **{f"published_{name}": theirs[name] for name in _NAMES},
            }
        )
    yield exhibit(__package__, "Table 7", rows)


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
