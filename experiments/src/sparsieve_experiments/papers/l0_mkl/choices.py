"""Which sets and parameters are tried for the l0-MKL paper, and which parameters are taken."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from ..base import Bench, printed_name
from ..data import printed_sizes
from ..numbers import grouped, published_by
from .work import KERNEL_METHODS, METHODS, fit_seconds, is_l1, try_parameters, try_together


def grids(scale: Any, printed: str) -> dict[str, list[dict]]:
    """The parameters that are tried for every method on one of the paper's sets.

    The printed parameters of the set are always among those that are tried. With weights up to
    one, every theta of at most one makes the capped l1 norm a plain one: it belongs to MIK-FS, and
    only the product of theta and lambda2 counts.
    """
    own = printed_parameters(printed)
    mkl = [
        kernel_parameters(a, r, lambda1, lambda2)
        for (a, r), lambda1, lambda2 in product(scale.kernels, scale.lambda1s, scale.lambda2s)
    ]
    mkl += [{name: value for name, value in own.items() if name != "theta"}]
    capped = [{**setting, "theta": theta} for setting, theta in product(mkl, scale.thetas)]
    capped = [own, *capped, {**own, "theta": 100.0}]  # as printed, and where theta counts features
    linear = [{"C": C, "theta": theta} for C, theta in product(scale.Cs, scale.linear_thetas)]
    plain = [setting for setting in capped if is_l1(setting)]
    return {
        "PiE-SVM": linear,
        "CAP-SVM": linear,
        "EP-SVM": [{"C": C} for C in scale.Cs],
        "MIK-FS": _distinct(mkl) + _distinct(plain, _same_l1),
        "l0-MKL": _distinct([setting for setting in capped if not is_l1(setting)]),
    }


def one_for_each_product(settings: Sequence[dict], printed: str) -> list[dict]:
    """MIK-FS without the pairs of strengths that give the same model as another pair.

    Weights t d and coefficients u / t predict as d and u do, so that with free weights only
    lambda1 times lambda2 counts. Of the pairs with one product the printed one stays, or the one
    whose strengths are nearest to each other. A machine with a theta has a largest weight, and so
    a scale: all of these stay.

    Examples
    --------
    >>> from sparsieve_experiments.papers.l0_mkl import choices
    >>> pairs = (0.1, 10.0), (1.0, 1.0), (1.0, 10.0)
    >>> pairs = [choices.kernel_parameters(0.1, 0.1, *pair) for pair in pairs]
    >>> kept = choices.one_for_each_product(pairs, "Colon")
    >>> [(one["lambda1"], one["lambda2"]) for one in kept]
    [(1.0, 1.0), (1.0, 10.0)]
    """
    own = {name: value for name, value in printed_parameters(printed).items() if name != "theta"}
    free = [setting for setting in settings if "theta" not in setting]
    free.sort(key=lambda one: (one != own, abs(math.log(one["lambda1"] / one["lambda2"]))))
    kept = _distinct(free, _same_product)
    return [one for one in settings if "theta" in one or one in kept]


def _same_product(setting: dict) -> tuple:
    """What tells machines of MIK-FS with free weights apart."""
    product_of = float(f"{setting['lambda1'] * setting['lambda2']:.6g}")
    return setting["gamma"], setting["coef0"], product_of


def _same_l1(setting: dict) -> tuple:
    """What tells plain l1 norms apart: kernel, lambda1 and the price of a unit of weight."""
    price = float(f"{setting['theta'] * setting['lambda2']:.6g}")
    return setting["gamma"], setting["coef0"], setting["lambda1"], price


def _distinct(settings: Sequence[dict], key: Callable[[dict], tuple] | None = None) -> list[dict]:
    first: dict[tuple, dict] = {}
    for setting in settings:
        first.setdefault(key(setting) if key else tuple(setting.items()), setting)
    return list(first.values())


def printed_parameters(printed: str) -> dict:
    """What Table 7 prints for a set."""
    row = published_by("l0mkl_table7", "dataset")[printed]
    kernel = kernel_parameters(*(row[name] for name in ("a", "r", "lambda1", "lambda2")))
    return {**kernel, "theta": row["theta"]}


def kernel_parameters(a: float, r: float, lambda1: float, lambda2: float) -> dict:
    """The paper's kernel tanh(a u v - r) and strengths, as our selectors call them."""
    return {"gamma": a, "coef0": -r, "lambda1": lambda1, "lambda2": lambda2}


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
