"""The figures of the l0-MKL paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ...studies.exhibits import Exhibit
from ..base import Bench
from ..declared import exhibit
from ..numbers import grouped, mean, rounded, with_deviation
from .choices import (
    FIT,
    INNER_CV,
    Choice,
    choose,
    fit_of,
    kernel_parameters,
    printed_parameters,
    sources,
)
from .work import BY_MARGIN, BY_WEIGHT, follow, keep_by_rules, norm, try_parameters

# What replaces the parameters that Table 7 prints; a theta up to 1 is the plain l1 norm.
PARAMETERS: dict[str, dict] = {"printed theta": {}, "theta = 10": {"theta": 10.0}}


def _followed(bench: Bench, choices: Sequence[Choice]) -> list[list[dict]]:
    """A closer look at every chosen fit, in the order of the choices."""
    ks = list(bench.scale.ks)
    settings = [
        {**{name: row[name] for name in FIT}, "ks": ks} for choice in choices for row in choice.rows
    ]
    found = {fit_of(row): row for row in bench.jobs("l0-mkl curves", follow, settings)}
    return [
        [found[fit_of(row)] for row in choice.rows if fit_of(row) in found] for choice in choices
    ]


def curves(bench: Bench) -> Iterator[Exhibit]:
    """Figure 1: accuracy against the number of features."""
    choices = choose(bench)
    followed = _followed(bench, choices)
    at: dict[tuple, dict] = {}
    for choice, fits in zip(choices, followed, strict=True):
        column = "accuracy" if choice.chosen_by == INNER_CV else "accuracy_best_on_test"
        for position, k in enumerate(fits[0]["at"] if fits else ()):
            place = (choice.source.label, choice.method, k)
            values = [100 * fit["accuracies"][position] for fit in fits]
            row = at.setdefault(place, dict(zip(("dataset", "method", "k"), place, strict=True)))
            row.update({"splits": len(fits), **with_deviation(column, values)})
    rows = list(at.values())
    yield exhibit(__package__, "Figure 1", rows)


def curves_by_rule(bench: Bench) -> Iterator[Exhibit]:
    """Figure 1 of l0-MKL, features kept by kernel weight as printed, and by margin."""
    scale, used = bench.scale, sources(bench)
    settings = [
        {
            "dataset": source.dataset,
            "method": label,
            "parameters": {**printed_parameters(source.printed), **other},
            "repeat": repeat,
            "ks": list(scale.ks),
        }
        for source in used
        for label, other in PARAMETERS.items()
        for repeat in range(scale.n_repeats)
    ]
    labels = {source.dataset: source.label for source in used}
    found = bench.jobs("l0-mkl curves by rule", keep_by_rules, settings)
    rows: list[dict] = [
        {
            "dataset": labels[dataset],
            "method": f"{method}, {rule}",
            "k": k,
            "splits": len(fits),
            **with_deviation("accuracy", [100 * fit[rule][place] for fit in fits]),
        }
        for (dataset, method), fits in grouped(found, "dataset", "method").items()
        for rule in (BY_WEIGHT, BY_MARGIN)
        for place, k in enumerate(fits[0]["at"])
    ]
    yield exhibit(__package__, "Figure 1, as printed", rows)


def convergence(bench: Bench) -> Iterator[Exhibit]:
    """Figure 2: the objective of l0-MKL from round to round."""
    choices = [
        choice
        for choice in choose(bench)
        if choice.method == "l0-MKL" and choice.chosen_by == INNER_CV
    ]
    rows = [
        {
            "dataset": choice.source.label,
            "iteration": iteration,
            "objective": rounded(value, 6),
            "difference": rounded(before - value) if iteration > 1 else None,
        }
        for choice, fits in zip(choices, _followed(bench, choices), strict=True)
        for fit in fits[:1]
        for iteration, (before, value) in enumerate(pairwise([0.0, *fit["history"]]), start=1)
    ]
    summary = [
        {
            "dataset": name,
            "iterations": group[-1]["iteration"],
            "first": group[0]["objective"],
            "last": group[-1]["objective"],
        }
        for (name,), group in grouped(rows, "dataset").items()
    ]
    yield exhibit(__package__, "Figure 2", rows, summary)


def theta(bench: Bench) -> Iterator[Exhibit]:
    """Section 5.2: how much the tightness of the surrogate matters."""
    used = sources(bench)
    thetas = bench.scale.section_thetas
    settings = [
        {
            "dataset": source.dataset,
            "method": "l0-MKL",
            "parameters": {**kernel_parameters(0.1, 0.01, 1.0, 0.1), "theta": value},
            "repeat": repeat,
            "inner_folds": 0,
        }
        for source in used
        for value in thetas
        for repeat in range(bench.scale.n_repeats)
    ]
    found = bench.jobs("l0-mkl theta", try_parameters, settings)
    labels = {source.dataset: source.label for source in used}
    groups = grouped([{**row, **row["parameters"]} for row in found], "dataset", "theta")
    rows: list[dict] = [
        {
            "dataset": labels[dataset],
            "theta": value,
            "norm": norm("l0-MKL", {"theta": value}).split(",")[0],
            "splits": len(group),
            **with_deviation("accuracy", [100 * row["accuracy"] for row in group]),
            "n_features": mean(row["n_used"] for row in group),
        }
        for (dataset, value), group in groups.items()
    ]
    yield exhibit(__package__, "Section 5.2", rows)
