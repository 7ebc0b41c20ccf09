"""The sections of a report on a comparison; None where there is nothing to show."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._cross_validation import error_over_splits
from .data import Chart, Column, Section, Table, table_of
from .wording import counted

ALL_FEATURES = "all features"
GUESS = "guess"
TITLES = {"accuracy": "accuracy", "balanced_accuracy": "balanced accuracy", "r2": "R²"}
_MOST_DRAWN = 40  # features of a heat map, combinations of methods
_MOST_NAMED = 12  # features in the label of a combination
_MOST_LISTED = 30_000


def scores_section(comparison: Any) -> Section:
    """Scores over the number of features, and the differences at the one compared at."""
    rows: list[tuple] = []
    for metric in comparison.guess:
        for name in comparison.verdict.means:
            result = comparison.methods[name]
            scores = result.scores[metric][: result.n_reached]
            errors = error_over_splits(scores, comparison.test_share)
            rows += [
                (metric, name, k, mean, error)
                for k, mean, error in zip(
                    comparison.ks, scores.mean(axis=1).tolist(), errors.tolist(), strict=False
                )
            ]
        for label, level in _levels(comparison).items():
            mean = float(level[metric].mean())
            error = float(error_over_splits(level[metric], comparison.test_share))
            ends = dict.fromkeys((comparison.ks[0], comparison.ks[-1]))
            rows += [(metric, label, k, mean, error) for k in ends]
    several = len(comparison.guess) > 1
    title = TITLES[comparison.metric]
    columns = {
        "series": Column("method", [row[1] for row in rows]),
        "x": Column("number of features", [row[2] for row in rows]),
        "y": Column("mean score" if several else title, [row[3] for row in rows]),
        "error": Column("standard error", [row[4] for row in rows], digits=2),
    }
    if several:
        columns = {"metric": Column("score", [TITLES[row[0]] for row in rows]), **columns}
    chart = Chart(
        f"{title[:1].upper()}{title[1:]} over the number of features",
        "lines",
        columns,
        controls=("metric",) if several else (),
        note="Mean over the splits; the band is one standard error to either side, with training "
        "parts that overlap allowed for. Click names in the legend (with Shift for several) to "
        "bring methods out.",
        options={
            "log_x": comparison.ks[-1] >= 20,
            "across": ALL_FEATURES,
            "most": 1,
            "initial": {"metric": title},
        },
    )
    blocks: list = [_standing(comparison)]
    if len(comparison.ks) > 1:
        blocks.insert(0, chart)
    return Section("How well they predict", (), blocks)


def _levels(comparison: Any) -> dict[str, dict[str, np.ndarray]]:
    """Scores to compare the curves with; a guess would squeeze curves far above it."""
    levels = {} if comparison.all_features is None else {ALL_FEATURES: comparison.all_features}
    return levels if comparison.verdict.predictive else {**levels, GUESS: comparison.guess}


def _standing(comparison: Any) -> Table:
    found = comparison.table_columns()
    metric, best = comparison.metric, comparison.verdict.best
    columns = [
        Column("method", found["method"].tolist()),
        *(Column(TITLES[name], found[name].tolist()) for name in comparison.guess),
        Column("standard error", found[f"{metric}_se"].tolist(), digits=2),
        Column(f"behind {best}", found["behind_best"].tolist(), digits=3),
        Column("its standard error", found["behind_best_se"].tolist(), digits=2),
        Column("lower beyond chance", found["separable"].tolist()),
        Column("above a guess", found["over_guess"].tolist(), digits=3),
        Column("standard error of that", found["over_guess_se"].tolist(), digits=2),
        Column("better than a guess", found["better_than_guess"].tolist()),
    ]
    return Table(
        f"Methods at {counted(comparison.k, 'feature')}",
        columns,
        f"Differences are in {TITLES[metric]}, paired by split.",
    )


def agreement_section(comparison: Any) -> Section:
    """Which features agree."""
    found = comparison.consensus_columns()
    methods = list(comparison.methods)
    n_all = int((found["methods"] == len(methods)).sum())
    text = [
        f"Chosen on all samples, {counted(comparison.k, 'feature')} by each method: "
        f"{counted(n_all, 'feature')} by all {len(methods)} of them, "
        f"{counted(int((found['methods'] > 0).sum()), 'feature')} by at least one."
    ]
    few = slice(None, _MOST_DRAWN)
    names = [str(name) for name in found["feature"][few]]
    cells = [
        (name, method, float(found[f"share_{method}"][i]), method in chosen.split(", "))
        for i, (name, chosen) in enumerate(zip(names, found["chosen_by"], strict=False))
        for method in methods
    ]
    shares = Chart(
        "How often the splits chose each feature",
        "heatmap",
        {
            "y": Column("", [cell[0] for cell in cells]),
            "x": Column("", [cell[1] for cell in cells]),
            "value": Column("share of the splits", [cell[2] for cell in cells], digits=3),
            "chosen": Column("chosen on all samples", [cell[3] for cell in cells]),
        },
        note="The features that most methods chose come first"
        + f"; {_MOST_DRAWN} of {len(found['rank'])} are drawn." * (len(found["rank"]) > len(names))
        + "." * (len(found["rank"]) <= len(names)),
    )
    listed = slice(None, _MOST_LISTED)
    table = Table(
        "Consensus of the methods",
        [
            Column("rank", found["rank"][listed].tolist()),
            Column("feature", found["feature"][listed].tolist()),
            Column("methods", found["methods"][listed].tolist()),
            Column("share of all fits", found["share"][listed].tolist(), digits=3),
            Column("median rank", found["median_rank"][listed].tolist()),
            Column("chosen by", found["chosen_by"][listed].tolist()),
        ],
        "By the number of methods that chose a feature on all samples, then by the share of the "
        "fits on training parts, of all methods together, that chose it. Methods that see the "
        "same data may agree on a mistake: agreement is no proof.",
    )
    return Section(
        "Which features they agree on",
        text,
        [_combinations(comparison), shares, table],
        label="Features",
    )


def _combinations(comparison: Any) -> Chart:
    """An UpSet-like matrix: who chose what, exactly."""
    every = comparison.combinations
    rows = []
    for methods, features in every[:_MOST_DRAWN]:
        names = ", ".join(features[:_MOST_NAMED]) + ", ..." * (len(features) > _MOST_NAMED)
        label = f"{len(features)}: {names}"
        for method in comparison.methods:
            rows.append((label, method, "selected" if method in methods else "left out"))
    more = len(every) - _MOST_DRAWN
    return Chart(
        "Who chose what",
        "dots",
        {
            "y": Column("", [row[0] for row in rows]),
            "x": Column("", [row[1] for row in rows]),
            "series": Column("", [row[2] for row in rows]),
        },
        note="A row is a set of features that exactly the marked methods chose on all samples: "
        "their number, and their names." + f" {more} smaller sets are not drawn." * (more > 0),
    )


def alike_section(comparison: Any) -> Section | None:
    """How alike the rankings are."""
    methods = list(comparison.methods)
    if len(methods) < 2:
        return None
    pairs = [(i, j) for i in range(len(methods)) for j in range(len(methods))]
    place = {
        "y": Column("", [methods[i] for i, _ in pairs]),
        "x": Column("", [methods[j] for _, j in pairs]),
    }
    correlations, shared = comparison.correlations, comparison.shared
    blocks = [
        Chart(
            f"Features in common, of {comparison.k}",
            "heatmap",
            {**place, "value": Column("features", [int(shared[pair]) for pair in pairs])},
            options={"labels": "value", "domain": (0, comparison.k)},
        )
    ]
    if np.isfinite(correlations).all():
        values = [float(correlations[pair]) for pair in pairs]
        blocks.append(
            Chart(
                "Rank correlation",
                "heatmap",
                {**place, "value": Column("Spearman's correlation", values, digits=3)},
                note="Over all features, most of which may be noise that no method ranks for a "
                "reason; what the methods have in common at the top is above.",
                options={"diverging": True, "span": 1.0},
            )
        )
    return Section("How alike the methods are", (), blocks, label="Alike")


def stability_section(comparison: Any) -> Section | None:
    """How much the selections of the splits agree."""
    found = {n: s for n, s in comparison.stabilities.items() if np.isfinite(s.value)}
    if not found:
        return None
    chart = Chart(
        f"Stability at {counted(comparison.k, 'feature')}",
        "bars",
        {
            "y": Column("", list(found)),
            "x": Column("Nogueira's index", [s.value for s in found.values()], digits=3),
            "error": Column(
                "half of the interval", [(s.high - s.low) / 2 for s in found.values()], digits=2
            ),
        },
        note="1 where every split chose the same features, 0 where they agree no more than random "
        "choices do; the line is the 95 % interval. Splits share most of their samples, so "
        "independent samples would agree less.",
    )
    return Section("Stability", (), [chart])


def times_section(comparison: Any) -> Section:
    """What a fit takes."""
    results = list(comparison.methods.values())
    chart = Chart(
        "Seconds per fit",
        "bars",
        {
            "y": Column("", [result.name for result in results]),
            "x": Column(
                "seconds per fit (logarithmic)",
                [max(result.seconds, 1e-6) for result in results],
                digits=3,
            ),
        },
        note="Median over the splits, of the selection alone.",
        options={"log_x": True},
    )
    return Section("Time", (), [chart])


def left_out_section(comparison: Any) -> Section | None:
    """What failed and what fits warned of."""
    failed = [{"method": n, "reason": reason} for n, reason in comparison.left_out.items()]
    warned = [
        {"method": name, "warning": warning}
        for name, result in comparison.methods.items()
        for warning in result.warnings
    ]
    blocks = [
        table_of(title, rows)
        for title, rows in (("Methods left out", failed), ("Warnings", warned))
        if rows
    ]
    return Section("What went wrong", (), blocks) if blocks else None
