"""Which sets and parameters are tried for the l0-MKL paper, and which parameters are taken."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..base import Bench, printed_name
from ..data import printed_sizes
from ..numbers import grouped
from .plan import grids, one_for_each_product
from .work import KERNEL_METHODS, METHODS, fit_seconds, is_l1, try_parameters, try_together

# Successive halving: after so many splits one setting in so many goes on.
RUNGS, ONE_IN = (1,), 9
INNER_CV = "inner cv"
BEST_ON_TEST = "best on test"
FIT = ("dataset", "method", "parameters", "repeat")  # what the setting of a fit says

Tried = dict[tuple[str, str], list[dict]]  # data set and method: results


@dataclass(frozen=True)
class Source:
    """A row of the paper's tables and the data that are used for it."""

    printed: str
    dataset: str
    label: str


def sources(bench: Bench) -> list[Source]:
    """The paper's sets at hand, in the paper's order, with stand-ins said to be such."""
    found = bench.at_hand()
    order = list(printed_sizes("l0-mkl"))
    known = [
        Source(printed_name(label), found[label], label)
        for label in sorted(found, key=lambda label: order.index(printed_name(label)))
    ]
    wanted = bench.scale.sets
    if wanted is None:
        return known
    return [source for source in known if source.printed in wanted] or known[:2]


@dataclass(frozen=True)
class Choice:
    """The parameters taken on one set for one method: one candidate per split."""

    source: Source
    method: str
    chosen_by: str
    rows: list[dict]


def choose(bench: Bench) -> list[Choice]:
    """Try all parameters and take some by inner cross-validation, and some on the test halves."""
    scale = bench.scale
    tables = {source.printed: grids(scale, source.printed) for source in sources(bench)}
    for grid in tables.values():
        for setting in grid["l0-MKL"]:
            if is_l1(setting):
                raise ValueError(f"l0-MKL with {setting} has the l1 norm: that is MIK-FS")
    if bench.halving:
        for printed, grid in tables.items():
            grid["MIK-FS"] = one_for_each_product(grid["MIK-FS"], printed)
    candidates = {
        (source.dataset, method): list(grid)
        for source in sources(bench)
        for method, grid in tables[source.printed].items()
    }
    rungs = [*(RUNGS if bench.halving else ()), scale.n_repeats]
    tried: Tried = defaultdict(list)
    first = 0
    for last in rungs:
        name = "l0-mkl parameters" + (f", splits {first + 1} to {last}" if bench.halving else "")
        for row in _try(bench, name, candidates, range(first, last)):
            tried[row["dataset"], row["method"]].append(row)
        if last < scale.n_repeats:
            candidates = {place: _better(grid, tried[place]) for place, grid in candidates.items()}
        first = last
    for place, kept_to_the_end in candidates.items():  # what was dropped is out of every choice
        kept = {_named(parameters) for parameters in kept_to_the_end}
        tried[place] = [row for row in tried[place] if _named(row["parameters"]) in kept]
    found = [
        Choice(source, method, chosen_by, rule(tried[source.dataset, method]))
        for source in sources(bench)
        for method in METHODS
        if tried[source.dataset, method]
        for chosen_by, rule in ((INNER_CV, by_inner_cv), (BEST_ON_TEST, by_test))
    ]
    return _timed(bench, found) if bench.halving else found


Grids = dict[tuple[str, str], list[dict]]  # data set and method: parameters


def _try(bench: Bench, name: str, candidates: Grids, repeats: range) -> list[dict]:
    """What came of all candidates on these splits.

    In a search by halving, settings with the same kernel share the kernels of a training part.
    """
    alone, together = [], []
    for (dataset, method), grid in candidates.items():
        for repeat in repeats:
            place = {"dataset": dataset, "method": method, "repeat": repeat}
            place["inner_folds"] = bench.scale.inner_folds
            if bench.halving and method in KERNEL_METHODS:
                kernels = grouped(grid, "gamma", "coef0").values()
                together += [{**place, "grid": same} for same in kernels]
            else:
                alone += [{**place, "parameters": parameters} for parameters in grid]
    rows = bench.jobs(name, try_parameters, alone)
    for found in bench.jobs(f"{name}, by kernel", try_together, together) if together else ():
        place = {part: found[part] for part in ("dataset", "method", "repeat", "inner_folds")}
        rows += [{**place, **row} for row in found["tried"]]
    return rows


def _timed(bench: Bench, choices: Sequence[Choice]) -> list[Choice]:
    """The choices with the seconds of fits that had their kernels to themselves."""
    asked = {
        fit_of(row): {name: row[name] for name in FIT}
        for choice in choices
        for row in choice.rows
        if "seconds" not in row
    }
    found = bench.jobs("l0-mkl seconds", fit_seconds, list(asked.values()))
    seconds = {fit_of(row): row["seconds"] for row in found}
    return [
        replace(choice, rows=[{"seconds": seconds.get(fit_of(row)), **row} for row in choice.rows])
        for choice in choices
    ]


def fit_of(row: dict) -> tuple:
    """Which fit a result is of."""
    return row["dataset"], row["method"], row["repeat"], _named(row["parameters"])


def _better(grid: Sequence[dict], rows: Sequence[dict]) -> list[dict]:
    """The settings of a grid that were best inside the training halves so far, one in nine."""
    scores = defaultdict(list)
    for row in rows:
        scores[_named(row["parameters"])].append(row["inner_accuracy"])
    found = [parameters for parameters in grid if _named(parameters) in scores]
    found.sort(key=lambda parameters: -float(np.mean(scores[_named(parameters)])))
    return found[: math.ceil(len(found) / ONE_IN)]


def _named(parameters: dict) -> tuple:
    return tuple(sorted(parameters.items()))


def by_inner_cv(rows: Sequence[dict]) -> list[dict]:
    """For every split the parameters best inside its training half; of equals the sparsest.

    A machine without any feature is taken only where every other is less accurate.
    """

    def merit(row: dict) -> tuple:
        return row["inner_accuracy"], row["n_used"] > 0, -row["n_used"]

    return [max(group, key=merit) for _, group in sorted(grouped(rows, "repeat").items())]


def by_test(rows: Sequence[dict]) -> list[dict]:
    """The parameters with the best mean accuracy on the test halves; of equals the sparsest."""
    groups = grouped([{**row, "named": _named(row["parameters"])} for row in rows], "named")
    # Parameters that failed on a split cannot win by being left out where it is hard.
    complete = max(len(group) for group in groups.values())
    return max(
        (group for group in groups.values() if len(group) == complete),
        key=lambda group: (
            np.mean([row["accuracy"] for row in group]),
            -np.mean([row["n_used"] for row in group]),
        ),
    )
