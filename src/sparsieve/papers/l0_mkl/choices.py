"""Which sets and parameters are tried for the l0-MKL paper, and which parameters are taken."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from ..base import Bench, printed_name
from ..published import published
from .work import METHODS, describe, is_l1, norm, try_parameters

QUICK_SETS = ("ALLAML", "Colon", "Isolet", "Glioma", "Carcinom")
INNER_CV = "inner cv"
BEST_ON_TEST = "best on test"


@dataclass(frozen=True)
class Source:
    """A row of the paper's tables and the data that are used for it."""

    printed: str
    dataset: str
    label: str


def sources(bench: Bench) -> list[Source]:
    """The paper's sets at hand, in the paper's order, with stand-ins said to be such."""
    found = {**bench.datasets(), **bench.stand_ins()}
    order = [row["dataset"] for row in published("l0mkl_table3")]
    known = [
        Source(printed_name(label), found[label], label)
        for label in sorted(found, key=lambda label: order.index(printed_name(label)))
    ]
    if bench.quick:
        quick = [source for source in known if source.printed in QUICK_SETS]
        return quick or known[:2]
    return known


def chance(bench: Bench) -> dict[str, float]:
    """Percent that guessing the larger class gives on the test halves, by label."""
    used = sources(bench)
    found = {
        row["dataset"]: 100 * row["chance"]
        for row in bench.jobs("l0-mkl sets", describe, [{"dataset": s.dataset} for s in used])
    }
    return {source.label: found[source.dataset] for source in used if source.dataset in found}


def grids(quick: bool, printed: str) -> dict[str, list[dict]]:
    """The parameters that are tried for every method on one of the paper's sets.

    The paper's grid of l0-MKL has 5^5 = 3125 points, its grid of the linear machines 65. Here the
    printed parameters of the set are always among those that are tried. With weights up to one,
    every theta of at most one makes the capped l1 norm a plain one: it belongs to MIK-FS.
    """
    powers = [0.25, 1.0, 4.0] if quick else [4.0**power for power in range(-3, 4)]
    linear_thetas = [10.0] if quick else [0.1, 1.0, 10.0]
    kernels = [(0.1, 0.01)] if quick else [(0.1, 0.01), (1.0, 0.01), (0.01, 1.0)]
    strengths = [0.1, 1.0] if quick else [0.1, 1.0, 10.0]
    thetas = [10.0] if quick else [0.1, 1.0, 10.0, 100.0]
    own = printed_parameters(printed)
    mkl = [
        kernel_parameters(a, r, lambda1, lambda2)
        for (a, r), lambda1, lambda2 in product(kernels, strengths, (0.1, 1.0))
    ]
    mkl += [{name: value for name, value in own.items() if name != "theta"}]
    capped = [{**setting, "theta": theta} for setting, theta in product(mkl, thetas)]
    capped += [own, {**own, "theta": 100.0}]  # as printed, and where theta counts features
    linear = [{"C": C, "theta": theta} for C, theta in product(powers, linear_thetas)]
    return {
        "PiE-SVM": linear,
        "CAP-SVM": linear,
        "EP-SVM": [{"C": C} for C in powers],
        "MIK-FS": _distinct(mkl + [setting for setting in capped if is_l1(setting)]),
        "l0-MKL": _distinct([setting for setting in capped if not is_l1(setting)]),
    }


def _distinct(settings: Sequence[dict]) -> list[dict]:
    return list({tuple(setting.items()): setting for setting in settings}.values())


def printed_parameters(printed: str) -> dict:
    """What Table 7 prints for a set."""
    row = next(row for row in published("l0mkl_table7") if row["dataset"] == printed)
    kernel = kernel_parameters(*(row[name] for name in ("a", "r", "lambda1", "lambda2")))
    return {**kernel, "theta": row["theta"]}


def kernel_parameters(a: float, r: float, lambda1: float, lambda2: float) -> dict:
    """The paper's kernel tanh(a u v - r) and strengths, as our selectors call them."""
    return {"gamma": a, "coef0": -r, "lambda1": lambda1, "lambda2": lambda2}


def n_repeats(bench: Bench) -> int:
    """Half/half splits."""
    return 3 if bench.quick else 10


def protocol(bench: Bench) -> str:
    """What every note begins with."""
    reduced = " Quick: fewer sets, splits and parameters." if bench.quick else ""
    missing = ", ".join(bench.missing())
    return (
        f"{n_repeats(bench)} splits into halves, floor(n/2) of a class to test; first two classes; "
        "features standardised on the training half; parameters by cross-validation inside it "
        "unless said to be best on test. l0-MKL and MIK-FS minimise a shifted objective, because "
        "the published one has no lower bound for indefinite kernels. The weights of l0-MKL go up "
        f"to 1: theta <= 1 then is the l1 norm and counts as MIK-FS.{reduced}"
        + (f" Not at hand: {missing}." if missing else "")
    )


@dataclass(frozen=True)
class Choice:
    """The parameters taken on one set for one method: one candidate per split."""

    source: Source
    method: str
    chosen_by: str
    rows: list[dict]


def choose(bench: Bench) -> list[Choice]:
    """Try all parameters and take some by inner cross-validation, and some on the test halves."""
    tables = {source.printed: grids(bench.quick, source.printed) for source in sources(bench)}
    for grid in tables.values():
        for setting in grid["l0-MKL"]:
            if is_l1(setting):
                raise ValueError(f"l0-MKL with {setting} has the l1 norm: that is MIK-FS")
    settings = [
        {
            "dataset": source.dataset,
            "method": method,
            "parameters": parameters,
            "repeat": repeat,
            "inner_folds": 2 if bench.quick else 3,
        }
        for source in sources(bench)
        for method, grid in tables[source.printed].items()
        for repeat in range(n_repeats(bench))
        for parameters in grid
    ]
    tried = defaultdict(list)
    for row in bench.jobs("l0-mkl parameters", try_parameters, settings):
        tried[row["dataset"], row["method"]].append(row)
    return [
        Choice(source, method, chosen_by, rule(tried[source.dataset, method]))
        for source in sources(bench)
        for method in METHODS
        if tried[source.dataset, method]
        for chosen_by, rule in ((INNER_CV, by_inner_cv), (BEST_ON_TEST, by_test))
    ]


def ran(choices: Sequence[Choice]) -> dict[str, list[str]]:
    """What was really run under the name of every method."""
    found: dict[str, set[str]] = defaultdict(set)
    for choice in choices:
        found[choice.method] |= {norm(choice.method, row["parameters"]) for row in choice.rows}
    return {method: sorted(norms) for method, norms in found.items()}


def by_inner_cv(rows: Sequence[dict]) -> list[dict]:
    """For every split the parameters best inside its training half; of equals the sparsest.

    A machine without any feature is taken only where every other is less accurate.
    """
    splits = defaultdict(list)
    for row in rows:
        splits[row["repeat"]].append(row)
    return [
        max(
            candidates,
            key=lambda row: (row["inner_accuracy"], row["n_used"] > 0, -row["n_used"]),
        )
        for _, candidates in sorted(splits.items())
    ]


def by_test(rows: Sequence[dict]) -> list[dict]:
    """The parameters with the best mean accuracy on the test halves; of equals the sparsest."""
    groups = defaultdict(list)
    for row in rows:
        groups[tuple(row["parameters"].items())].append(row)
    # Parameters that failed on a split cannot win by being left out where it is hard.
    complete = max(len(group) for group in groups.values())
    return max(
        (group for group in groups.values() if len(group) == complete),
        key=lambda group: (
            np.mean([row["accuracy"] for row in group]),
            -np.mean([row["n_used"] for row in group]),
        ),
    )
