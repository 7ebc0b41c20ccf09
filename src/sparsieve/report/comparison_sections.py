"""The sections of a report on a comparison; None where there is nothing to show."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..scoring.engine import ALL_FEATURES
from ..scoring.folds import error_over_splits
from ..scoring.metrics import metric_name
from .elements import Chart, Column, Section, Table, chart_of, grid, table_of
from .wording import capitalised, counted

GUESS = "guess"
_MAX_DRAWN = 40  # features of a heat map, combinations of methods
_MAX_NAMED = 12  # features in the label of a combination
_MAX_LISTED = 30_000


def scores_section(comparison: Any) -> Section:
    """Scores over the number of features, and the differences at the one compared at."""
    rows: list[tuple] = []
    for metric in comparison.guess:
        for name in comparison.verdict.means:
            points = zip(*(part.tolist() for part in comparison.curve(name, metric)), strict=True)
            rows += [(metric_name(metric), name, *point) for point in points]
        for label, level in _levels(comparison).items():
            mean = float(level[metric].mean())
            error = float(error_over_splits(level[metric], comparison.test_share))
            ends = dict.fromkeys((comparison.ks[0], comparison.ks[-1]))
            rows += [(metric_name(metric), label, k, mean, error) for k in ends]
    several = len(comparison.guess) > 1
    title = metric_name(comparison.metric)
    y = "mean score" if several else title
    titles = {"series": "method", "x": "number of features", "y": y, "error": "standard error"}
    if several:
        titles = {"metric": "score", **titles}
    chart = chart_of(
        f"{capitalised(title)} over the number of features",
        "lines",
        [row[len(row) - len(titles) :] for row in rows],
        titles,
        "Mean over the splits; the band is one standard error to either side, with training "
        "parts that overlap allowed for. Click names in the legend (with Shift for several) to "
        "bring methods out.",
        controls=("metric",) if several else (),
        log_x=comparison.ks[-1] >= 20,
        across=ALL_FEATURES,
        most=_largest(comparison),
        initial={"metric": title},
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
        *(Column(s.label, found[name].tolist()) for name, s in comparison.scoring.items()),
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
        f"Differences are in {metric_name(metric)}, paired by split.",
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
    names = [str(name) for name in found["feature"][:_MAX_DRAWN]]
    cells = [
        (name, method, float(found[f"share_{method}"][i]), method in chosen.split(", "))
        for i, (name, chosen) in enumerate(zip(names, found["chosen_by"], strict=False))
        for method in methods
    ]
    shares = chart_of(
        "How often the splits chose each feature",
        "heatmap",
        cells,
        {"y": "", "x": "", "value": "share of the splits", "chosen": "chosen on all samples"},
        "The features that most methods chose come first"
        + f"; {_MAX_DRAWN} of {len(found['rank'])} are drawn." * (len(found["rank"]) > len(names))
        + "." * (len(found["rank"]) <= len(names)),
    )
    titles = {"share": "share of all fits", "median_rank": "median rank", "chosen_by": "chosen by"}
    table = Table(
        "Consensus of the methods",
        [
            Column(
                titles.get(key, key),
                found[key][:_MAX_LISTED].tolist(),
                digits=3 if key == "share" else 4,
            )
            for key in ("rank", "feature", "methods", *titles)
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
    for methods, features in every[:_MAX_DRAWN]:
        names = ", ".join(features[:_MAX_NAMED]) + ", ..." * (len(features) > _MAX_NAMED)
        label = f"{len(features)}: {names}"
        for method in comparison.methods:
            rows.append((label, method, "selected" if method in methods else "left out"))
    more = len(every) - _MAX_DRAWN
    return chart_of(
        "Who chose what",
        "dots",
        rows,
        {"y": "", "x": "", "series": ""},
        "A row is a set of features that exactly the marked methods chose on all samples: "
        "their number, and their names." + f" {more} smaller sets are not drawn." * (more > 0),
    )


def alike_section(comparison: Any) -> Section | None:
    """How alike the rankings are."""
    methods = list(comparison.methods)
    if len(methods) < 2:
        return None
    blocks = [
        chart_of(
            f"Features in common, of {comparison.k}",
            "heatmap",
            grid(comparison.shared, methods, methods),
            {"y": "", "x": "", "value": "features"},
            digits={"value": 4},
            labels="value",
            domain=(0, comparison.k),
        )
    ]
    if np.isfinite(comparison.correlations).all():
        blocks.append(
            chart_of(
                "Rank correlation",
                "heatmap",
                grid(comparison.correlations, methods, methods),
                {"y": "", "x": "", "value": "Spearman's correlation"},
                "Over all features, most of which may be noise that no method ranks for a "
                "reason; what the methods have in common at the top is above.",
                diverging=True,
                span=1.0,
            )
        )
    return Section("How alike the methods are", (), blocks, label="Alike")


def stability_section(comparison: Any) -> Section | None:
    """How much the selections of the splits agree."""
    found = {n: s for n, s in comparison.stabilities.items() if np.isfinite(s.value)}
    if not found:
        return None
    chart = chart_of(
        f"Stability at {counted(comparison.k, 'feature')}",
        "bars",
        [(name, s.value, (s.high - s.low) / 2) for name, s in found.items()],
        {"y": "", "x": "Nogueira's index", "error": "half of the interval"},
        "1 where every split chose the same features, 0 where they agree no more than random "
        "choices do; the line is the 95 % interval. Splits share most of their samples, so "
        "independent samples would agree less.",
        digits={"x": 3},
    )
    return Section("Stability", (), [chart])


def times_section(comparison: Any) -> Section:
    """What a fit takes."""
    chart = chart_of(
        "Seconds per fit",
        "bars",
        [(name, max(result.seconds, 1e-6)) for name, result in comparison.methods.items()],
        {"y": "", "x": "seconds per fit (logarithmic)"},
        "Median over the splits, of the selection alone.",
        digits={"x": 3},
        log_x=True,
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


def _largest(comparison: Any) -> float:
    """What no band of a score goes beyond; errors have no largest value."""
    bounded = all(score.most == 1 for score in comparison.scoring.values())
    return 1 if bounded else sys.float_info.max
