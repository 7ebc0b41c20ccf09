"""Which sets and parameters are tried for the l0-MKL paper, and which parameters are taken."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from ...datasets import list_datasets
from ..base import Bench, printed_name
from ..published import published
from .work import MACHINES, try_parameters

# Kernels of a feature need more than three levels of it.
CONTINUOUS = {"colon": "colon_raw"}
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
    known = []
    for label in sorted(found, key=lambda label: order.index(printed_name(label))):
        dataset = found[label]
        continuous = _continuous(dataset)
        if continuous is not None:
            known.append(Source(label, continuous, f"{label} ({continuous})"))
        else:
            known.append(Source(printed_name(label), dataset, label))
    if bench.quick:
        quick = [source for source in known if source.printed in QUICK_SETS]
        return quick or known[:2]
    return known


def _continuous(dataset: str) -> str | None:
    """The set with the values from which this one was discretised, where it is at hand."""
    name = CONTINUOUS.get(dataset)
    at_hand = {info.name for info in list_datasets() if info.status in ("embedded", "present")}
    return name if name in at_hand else None


def grids(quick: bool) -> dict[str, list[dict]]:
    """The parameters that are tried for every method.

    The paper's grid of l0-MKL has 5^5 = 3125 points, its grid of the linear machines 65. Theta is
    1 or 10: with weights up to one, every theta of at most one makes the capped l1 norm a plain
    one, so smaller values only change its price.
    """
    powers = [0.25, 1.0, 4.0] if quick else [4.0**power for power in range(-3, 4)]
    linear_thetas = [10.0] if quick else [0.1, 1.0, 10.0]
    kernels = [(0.1, 0.01)] if quick else [(0.1, 0.01), (1.0, 0.01), (0.01, 1.0)]
    strengths = [0.1, 1.0] if quick else [0.1, 1.0, 10.0]
    thetas = [1.0, 10.0]
    mkl = [
        kernel_parameters(a, r, lambda1, lambda2)
        for (a, r), lambda1, lambda2 in product(kernels, strengths, (0.1, 1.0))
    ]
    linear = [{"C": C, "theta": theta} for C, theta in product(powers, linear_thetas)]
    return {
        "PiE-SVM": linear,
        "CAP-SVM": linear,
        "EP-SVM": [{"C": C} for C in powers],
        "MIK-FS": mkl,
        "l0-MKL": [{**setting, "theta": theta} for setting, theta in product(mkl, thetas)],
    }


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
        f"{n_repeats(bench)} splits into halves, each class divided alike; first two classes; "
        "features standardised on the training half; parameters by cross-validation inside it "
        "unless said to be best on test. l0-MKL and MIK-FS minimise a shifted objective, because "
        "the published one is unbounded below for indefinite kernels. Colon is taken with its "
        f"continuous values where they are at hand.{reduced}"
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
    settings = [
        {
            "dataset": source.dataset,
            "method": method,
            "parameters": parameters,
            "repeat": repeat,
            "inner_folds": 2 if bench.quick else 3,
        }
        for source in sources(bench)
        for method, grid in grids(bench.quick).items()
        for repeat in range(n_repeats(bench))
        for parameters in grid
    ]
    tried = defaultdict(list)
    for row in bench.jobs("l0-mkl parameters", try_parameters, settings):
        tried[row["dataset"], row["method"]].append(row)
    return [
        Choice(source, method, chosen_by, rule(tried[source.dataset, method]))
        for source in sources(bench)
        for method in MACHINES
        if tried[source.dataset, method]
        for chosen_by, rule in ((INNER_CV, by_inner_cv), (BEST_ON_TEST, by_test))
    ]


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
