"""The sections of a page about a comparison, and the ranks that their diagrams show."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..._text import plural
from ...scoring.engine import ALL_FEATURES
from ...scoring.folds import error_over_splits
from ...scoring.metrics import metric_name
from ...scoring.statistics import groups_alike
from .elements import (
    Chart,
    Column,
    Section,
    Table,
    correlations_chart,
    grid,
    make_chart,
    make_table,
)
from .encodings import LEFT_OUT, SELECTED
from .exploration import MAX_DRAWN
from .selection_sections import MAX_LISTED
from .wording import capitalise


def diagram_rows(methods: Sequence[str], ranks: Any, difference: float) -> list[dict[str, Any]]:
    """The parts of a diagram: stems from the axis, arms to the names, bars over groups alike.

    Parameters
    ----------
    methods : sequence of str
    ranks : sequence of float
        Average rank of every method.
    difference : float
        Average ranks that differ by no more cannot be told apart.

    Returns
    -------
    rows : list of dict
        part, x, x2, y, y2, text. The axis is at y = 0; below it are first the bars, then the
        names: the better half at the left, the others at the right.

    Examples
    --------
    >>> from sparsieve.app.report.comparison_sections import diagram_rows
    >>> [row["part"] for row in diagram_rows(["a", "b", "c"], [1, 1.5, 3], 1.0)][:4]
    ['alike', 'stem', 'arm', 'left']
    """
    order = np.argsort(ranks, kind="stable")
    sorted_ranks = [float(ranks[i]) for i in order]
    groups = groups_alike(sorted_ranks, difference)
    n_methods = len(order)
    left, right = 1.0, float(n_methods)
    rows = [
        _row("alike", sorted_ranks[first] - 0.03, x2=sorted_ranks[last] + 0.03, y=-0.45 * (i + 1))
        for i, (first, last) in enumerate(groups)
    ]
    top = 0.45 * len(groups) + 0.6
    half = (n_methods + 1) // 2
    for position, (method, rank) in enumerate(zip(order, sorted_ranks, strict=True)):
        better = position < half
        # Outer names lie higher, so that no arm crosses another's stem.
        level = position if better else n_methods - 1 - position
        y = -(top + level)
        edge = left if better else right
        rows += [
            _row("stem", rank, y=0.0, y2=y),
            _row("arm", rank, x2=edge, y=y),
            _row("left" if better else "right", edge, y=y, text=f"{methods[method]} {rank:.2f}"),
        ]
    return rows


def _row(part: str, x: float, **others: Any) -> dict[str, Any]:
    return {"part": part, "x": x, "x2": None, "y": None, "y2": None, "text": "", **others}


_MAX_NAMED = 12  # features in the label of a combination


def picture(comparison: Any) -> Chart:
    """Scores over the number of features, or of the one number."""
    title = comparison.score.title
    if len(comparison.ks) == 1:
        return _bars(comparison, title)
    rows: list[tuple[Any, ...]] = []
    for metric in comparison.guess:
        for name in comparison.verdict.means:
            points = zip(*(part.tolist() for part in comparison.curve(name, metric)), strict=True)
            rows += [(metric_name(metric), name, *point) for point in points]
        for label, level in _levels(comparison).items():
            mean = float(level[metric].mean())
            error = float(error_over_splits(level[metric], comparison.test_share))
            ends = dict.fromkeys((comparison.ks[0], comparison.ks[-1]))
            rows += [(metric_name(metric), label, k, mean, error) for k in ends]
    several, over = len(comparison.guess) > 1, f"number of {comparison.data.unit}s"
    y = "mean score" if several else title
    titles = {"series": "method", "x": over, "y": y, "error": "standard error"}
    if several:
        titles = {"metric": "score", **titles}
    return make_chart(
        f"{capitalise(title)} over the {over}",
        "lines",
        [row[len(row) - len(titles) :] for row in rows],
        titles,
        "Mean over the splits. Point at a line, or click a name in the legend, to see its band of "
        "one standard error.",
        digits={"y": 3},
        controls=("metric",) if several else (),
        log_x=comparison.ks[-1] >= 20,
        across=ALL_FEATURES,
        most=_largest(comparison),
        initial={"metric": title},
    )


def _bars(comparison: Any, title: str) -> Chart:
    found, metric = comparison.table_columns(), comparison.metric
    names = (found[key].tolist() for key in ("method", metric, f"{metric}_se"))
    return make_chart(
        f"{capitalise(title)} using {plural(comparison.k, comparison.data.unit)}",
        "bars",
        zip(*names, strict=True),
        {"y": "", "x": title, "error": "standard error"},
        "Mean over the splits; the line is one standard error to either side.",
        digits={"x": 3},
    )


def _levels(comparison: Any) -> dict[str, dict[str, np.ndarray]]:
    """Scores to compare the curves with; a guess would squeeze curves far above it."""
    levels = {} if comparison.all_features is None else {ALL_FEATURES: comparison.all_features}
    return levels if comparison.verdict.predictive else {**levels, "guess": comparison.guess}


def standing_section(
    comparison: Any, header: Sequence[str], rows: Sequence[tuple[Any, ...]]
) -> Section:
    """The methods with intervals and verdicts, as the command line shows them."""
    cells = dict(enumerate(zip(*rows, strict=True)))

    def both(value: int, interval: int) -> list[str]:
        return [
            f"{v} ({i})" if i else v for v, i in zip(cells[value], cells[interval], strict=True)
        ]

    columns = [
        Column(header[0], cells[0]),
        Column(f"{header[1]}, 95 % interval", both(1, 2)),
        Column(f"{header[3]}, 95 % interval", both(3, 4)),
        Column(header[5], [text.replace("p = ", "p\u00a0=\u00a0") for text in cells[5]]),
        *(Column(header[place], cells[place]) for place in (6, 7)),
    ]
    table = Table(
        f"Methods using {plural(comparison.k, comparison.data.unit)}",
        columns,
        "Differences are paired by split; p-values are corrected for all pairs of methods. "
        f"Stability: 1 if every split chose the same {comparison.data.unit}s, 0 for random "
        "choices.",
    )
    return Section("Methods side by side", (), [table], is_open=True)


def numbers_section(comparison: Any) -> Section:
    """Everything that the table of methods leaves out."""
    columns = [
        Column(key.replace("_se", " (standard error)").replace("_", " "), values.tolist(), 3)
        for key, values in comparison.table_columns().items()
    ]
    return Section("All numbers", (), [Table("All numbers", columns)])


def agreement_section(comparison: Any) -> Section:
    """Which features agree."""
    found = comparison.consensus_columns()
    methods = list(comparison.methods)
    n_all = int((found["methods"] == len(methods)).sum())
    unit = comparison.data.unit
    text = [
        f"Each method chose {plural(comparison.k, unit)} on all samples: "
        f"{plural(n_all, unit)} were chosen by all {plural(len(methods), 'method')}, "
        f"{plural(int((found['methods'] > 0).sum()), unit)} by at least one."
    ]
    names = [str(name) for name in found["feature"][:MAX_DRAWN]]
    cells = [
        (name, method, float(found[f"share_{method}"][i]), method in chosen.split(", "))
        for i, (name, chosen) in enumerate(zip(names, found["chosen_by"], strict=False))
        for method in methods
    ]
    n_chosen = len(found["rank"])
    first = f"; the first {MAX_DRAWN} of {n_chosen} are drawn" * (n_chosen > len(names))
    shares = make_chart(
        f"How often the splits chose each {comparison.data.unit}",
        "heatmap",
        cells,
        {"y": "", "x": "", "value": "share of the splits", "chosen": "chosen on all samples"},
        f"The {unit}s that most methods chose come first{first}.",
    )
    titles = {"share": "share of all fits", "median_rank": "median rank", "chosen_by": "chosen by"}
    table = Table(
        "Consensus of the methods",
        [
            Column(
                titles.get(key, key), found[key][:MAX_LISTED].tolist(), 3 if key == "share" else 4
            )
            for key in ("rank", "feature", "methods", *titles)
        ],
        "Sorted by the number of methods that chose a feature on all samples, then by the share of "
        "all fits on training sets that chose it. Methods that see the same data may agree on the "
        "same mistake: agreement is no proof.",
    )
    return Section(
        f"Which {comparison.data.unit}s they agree on",
        text,
        [_combinations(comparison), shares, table],
    )


def _combinations(comparison: Any) -> Chart:
    """An UpSet-like matrix: who chose what, exactly."""
    every = comparison.combinations
    rows = []
    for methods, features in every[:MAX_DRAWN]:
        names = ", ".join(features[:_MAX_NAMED]) + ", ..." * (len(features) > _MAX_NAMED)
        kinds = {m: SELECTED if m in methods else LEFT_OUT for m in comparison.methods}
        rows += [(f"{len(features)}: {names}", *row) for row in kinds.items()]
    more = len(every) - MAX_DRAWN
    return make_chart(
        f"Which methods chose which {comparison.data.unit}s",
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
    shared = make_chart(
        f"Features in common, of {comparison.k}",
        "heatmap",
        grid(comparison.shared, methods, methods),
        {"y": "", "x": "", "value": "features"},
        digits={"value": 4},
        labels="value",
        domain=(0, comparison.k),
    )
    note = "Over all features, most of which may be noise; the map above compares the selected "
    correlated = correlations_chart(
        "Rank correlation",
        comparison.correlations,
        methods,
        f"{note}features alone.",
        value="Spearman's correlation",
    )
    known = np.isfinite(comparison.correlations).all()
    return Section("How alike the methods are", (), [shared, *[correlated] * bool(known)])


def stability_section(comparison: Any) -> Section | None:
    """How much the selections of the splits agree."""
    found = {n: s for n, s in comparison.stabilities.items() if np.isfinite(s.value)}
    if not found:
        return None
    return method_stability(
        f"Stability at {plural(comparison.k, comparison.data.unit)}",
        [(name, s.value, (s.high - s.low) / 2) for name, s in found.items()],
        "; the line is the 95 % interval. Splits share most of their samples: independent samples "
        "would agree less.",
        several=False,
    )


def times_section(comparison: Any) -> Section:
    """What a fit takes."""
    seconds = [(name, result.seconds) for name, result in comparison.methods.items()]
    note = "Median over the splits, of the selection alone."
    return method_times(seconds, note, several=False)


def left_out_section(comparison: Any) -> Section | None:
    """What failed and what fits warned of."""
    failed = [{"method": n, "reason": reason} for n, reason in comparison.left_out.items()]
    warned = [
        {"method": name, "warning": warning}
        for name, result in comparison.methods.items()
        for warning in result.warnings
    ]
    blocks = [
        make_table(title, rows)
        for title, rows in (("Methods left out", failed), ("Warnings", warned))
        if rows
    ]
    return Section("Failures and warnings", (), blocks) if blocks else None


def _largest(comparison: Any) -> float:
    """What no band of a score goes beyond; errors have no largest value."""
    bounded = all(score.most == 1 for score in comparison.scoring.values())
    return 1 if bounded else sys.float_info.max


_BY_METHOD = {"y": ""}
_BY_SET_AND_METHOD = {"dataset": "data set", **_BY_METHOD}


def method_stability(
    title: str, rows: Iterable[tuple[Any, ...]], note: str, *, several: bool
) -> Section:
    """How much the selections of the splits agree: the index and half of its interval."""
    note = f"1 if every split chose the same features, 0 for random choices{note}"
    values = {"x": "Nogueira's index", "error": "half of the interval"}
    return _method_bars("Stability", title, rows, values, note, several)


def method_times(rows: Iterable[tuple[Any, ...]], note: str, *, several: bool) -> Section:
    """The seconds of a fit."""
    timed = [(*names, max(seconds, 1e-6)) for *names, seconds in rows]
    values = {"x": "seconds per fit (logarithmic)"}
    return _method_bars("Time", "Seconds per fit", timed, values, note, several, log_x=True)


def _method_bars(
    heading: str, title: str, rows: Any, values: dict, note: str, several: bool, **options: Any
) -> Section:
    names, controls = (_BY_SET_AND_METHOD, ("dataset",)) if several else (_BY_METHOD, ())
    options |= {"digits": {"x": 3}, "controls": controls}
    return Section(heading, (), [make_chart(title, "bars", rows, names | values, note, **options)])
