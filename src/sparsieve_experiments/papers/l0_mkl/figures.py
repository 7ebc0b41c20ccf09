"""The figures of the l0-MKL paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...studies.exhibits import Drawing, Exhibit, by_method
from ..base import Bench
from ..numbers import grouped, mean, mean_rows, rounded, share, wide_rows, with_deviation
from ..verdicts import verdict_of
from .choices import INNER_CV, Choice, chance, choose, protocol, ran, sources
from .plan import kernel_parameters, scale_of
from .tables import fewer_features, verdicts
from .work import follow, norm, try_parameters

# Numbers of features that the summary of Figure 1 shows.
SUMMARISED_KS = (1, 2, 5, 10, 20, 30, 40)


def _followed(bench: Bench, choices: Sequence[Choice]) -> list[list[dict]]:
    """A closer look at every chosen fit, in the order of the choices."""
    ks = list(scale_of(bench).ks)
    settings = [
        {
            "dataset": row["dataset"],
            "method": row["method"],
            "parameters": row["parameters"],
            "repeat": row["repeat"],
            "ks": ks,
        }
        for choice in choices
        for row in choice.rows
    ]
    found = {_identity(row): row for row in bench.jobs("l0-mkl curves", follow, settings)}
    return [
        [found[_identity(row)] for row in choice.rows if _identity(row) in found]
        for choice in choices
    ]


def _identity(row: dict) -> tuple:
    return row["dataset"], row["method"], row["repeat"], tuple(row["parameters"].items())


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
            row.update(with_deviation(column, values))
    rows = list(at.values())
    last = max((row["k"] for row in rows), default=0)
    end = [row for row in rows if row["k"] == last]
    yield Exhibit(
        "Figure 1",
        "Accuracy in percent against the number of features",
        rows,
        [
            by_method("k", "accuracy", "accuracy (%)"),
            by_method("k", "accuracy_best_on_test", "accuracy (%), parameters best on test"),
        ],
        note=(
            f"{protocol(bench)} The k features that add most to the fitted machine's margin are "
            "kept (the paper keeps those with the largest kernel weights) and its coefficients "
            "solved again; features without a weight take no part. "
            f"{verdicts(bench, end, 'accuracy', f'accuracy at {last} features', ran(choices))}"
        ),
        summary=wide_rows(rows, "method", "accuracy", {"k": SUMMARISED_KS}, "at {}"),
    )


def convergence(bench: Bench) -> Iterator[Exhibit]:
    """Figure 2: the objective of l0-MKL from round to round."""
    choices = [
        choice
        for choice in choose(bench)
        if choice.method == "l0-MKL" and choice.chosen_by == INNER_CV
    ]
    rows: list[dict] = []
    settled: list[int] = []
    rises = 0
    for choice, fits in zip(choices, _followed(bench, choices), strict=True):
        if not fits:
            continue
        history = np.array(fits[0]["history"])
        falls = -np.diff(history)
        rises += int(np.sum(falls < -1e-9 * np.abs(history[:-1])))
        close = history - history[-1] <= 1e-2 * history[-1]
        settled.append(int(np.argmax(close)) + 1)
        rows += [
            {
                "dataset": choice.source.label,
                "iteration": iteration,
                "objective": rounded(value, 6),
                "difference": rounded(falls[iteration - 2]) if iteration > 1 else None,
            }
            for iteration, value in enumerate(history, start=1)
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
    yield Exhibit(
        "Figure 2",
        "Objective of l0-MKL and its fall in every round",
        rows,
        [
            Drawing("iteration", "difference", colour="dataset", y_title="fall of the objective"),
            Drawing("iteration", "objective", colour="dataset", log_y=True),
        ],
        note=(
            f"{protocol(bench)} First split, parameters by inner cv. The objective rises in "
            f"{rises} rounds. Within 10 rounds it comes within 1% of its last value on "
            f"{share([n <= 10 for n in settled])} sets."
        ),
        summary=summary,
    )


def theta(bench: Bench) -> Iterator[Exhibit]:
    """Section 5.2: how much the tightness of the surrogate matters."""
    used = sources(bench)
    thetas = scale_of(bench).section_thetas
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
        for repeat in range(scale_of(bench).n_repeats)
    ]
    found = bench.jobs("l0-mkl theta", try_parameters, settings)
    labels = {source.dataset: source.label for source in used}
    groups = grouped([{**row, **row["parameters"]} for row in found], "dataset", "theta")
    rows: list[dict] = [
        {
            "dataset": labels[dataset],
            "theta": value,
            "norm": norm("l0-MKL", {"theta": value}).split(",")[0],
            **with_deviation("accuracy", [100 * row["accuracy"] for row in group]),
            "n_features": mean(row["n_used"] for row in group),
        }
        for (dataset, value), group in groups.items()
    ]
    named = [{**row, "method": f"theta = {row['theta']:g}"} for row in rows]
    splits = scale_of(bench).n_repeats
    others = [f"theta = {value:g}" for value in thetas if value != 5.0]
    five = "theta = 5"
    accurate = verdict_of(named, "accuracy", five, others, splits=splits, chance=chance(bench))
    sparse = fewer_features(named, five, ["theta = 1"], splits=splits)
    yield Exhibit(
        "Section 5.2",
        "l0-MKL against the tightness theta of the capped l1 norm",
        rows,
        [
            Drawing("theta", "accuracy", colour="dataset", log_x=True, y_title="accuracy (%)"),
            Drawing("theta", "n_features", colour="dataset", log_x=True, log_y=True),
        ],
        note=(
            f"{protocol(bench)} Here a = 0.1, r = 0.01, lambda1 = 1 and lambda2 = 0.1 throughout, "
            "no choice is made. Theta also scales the price of a small weight, lambda2 theta. "
            "The paper reports, without numbers, that theta = 5 was inferior to the best of other "
            f"values on test. {accurate} Up to theta = 1 the norm is l1: {sparse}"
        ),
        summary=mean_rows(rows, "theta", ("accuracy", "n_features")),
    )
