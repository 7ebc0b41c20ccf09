"""The sections of a report on a study; None where there is nothing to show."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import product
from operator import itemgetter

import numpy as np
from scipy.stats import sem

from sparsieve._text import format_p_value, listed_names, plural, shortened
from sparsieve.app.report.comparison_sections import diagram_rows, method_stability, method_times
from sparsieve.app.report.elements import Chart, Column, Section, Table, make_chart, make_table
from sparsieve.app.report.wording import capitalise
from sparsieve.scoring import friedman_nemenyi, nogueira_stability, paired_wilcoxon
from sparsieve.scoring.metrics import metric_name
from sparsieve.scoring.models import MODEL_WORDS
from sparsieve.scoring.statistics import groups_alike

from ..studies import ScoreTable
from .study_results import BASELINE, StudyResults, at_k, named_k, spread


def picture(results: StudyResults) -> Chart:
    """Scores over the number of features, or of every method on every data set."""
    return curves(results) if len(results.ks) > 1 else score_map(results)


def curves(results: StudyResults) -> Chart:
    """Scores over the number of features, by data set and classifier."""
    drawn = [m for m in results.means if m["k"] is not None]
    if len(drawn) > 32_000:  # points
        few = set(spread(results.ks, 12))
        drawn = [m for m in drawn if m["k"] in few]
    rows = [_curve_row(results, {**m, "used": m["k"]}) for m in drawn]
    rows += [  # scores with all features, the same at every number of features that is drawn
        _curve_row(results, {**m, "selector": BASELINE, "k": k, "used": m["n_selected"]})
        for m in results.baseline
        for k in (results.ks[0], results.ks[-1])
    ]
    if results.comparable:
        place = ("classifier", "selector", "k")
        rows = _over_data_sets(results, rows, place, ("score", "used"), error_of="score")
    fields = itemgetter("dataset", "model", "selector", "k", "score", "error", "used")
    return make_chart(
        f"{capitalise(metric_name(results.metric))} over the number of features",
        "lines",
        [
            fields({**r, "model": MODEL_WORDS[r["classifier"]], "used": round(r["used"])})
            for r in rows
        ],
        {
            **_controls(results, "dataset"),
            **{"series": "method", "x": "number of features", "y": results.metric_title},
            **{"error": "standard error", "used": "features used"},
        },
        "Point at a line, or click a name in the legend, to see its band: one standard error "
        "over the splits, or over the data sets for their mean."
        + " The dashed line is the score with all features."
        * bool(results.baseline),
        controls=("dataset", "classifier"),
        marks=len(results.ks) <= 20,
        log_x=results.ks[-1] >= 20,
        across=BASELINE,
        initial=_main(results),
    )


def _controls(results: StudyResults, *first: str) -> dict[str, str]:
    """What the fields are called that a reader chooses."""
    return dict.fromkeys(first, "data set") | {"classifier": results.model_title}


def _curve_row(results: StudyResults, mean: dict) -> dict:
    """A point of a curve; its error is the standard error over the splits."""
    score, sd = mean[results.metric], mean[f"{results.metric}_sd"]
    error = 0.0 if sd is None else float(sd / np.sqrt(mean["n_splits"]))
    return {**mean, "score": score, "error": error}


def score_map(results: StudyResults) -> Chart:
    """Every method on every data set, with the values in the cells."""
    cells = [m for m in results.means if m["k"] in results.shown_ks]
    # Without selection there is one score, which stands beside those at every number.
    cells += [
        {**m, "k": k, "selector": BASELINE} for m in results.baseline for k in results.shown_ks
    ]
    values = [m[results.metric] for m in cells]
    known = [value for value in values if value is not None]
    scale, digits = (100.0, 1) if results.task == "classification" else (1.0, 2)
    unit = " (%)" * (results.task == "classification")
    columns = (
        [MODEL_WORDS[m["classifier"]] for m in cells],
        [named_k(m["k"]) for m in cells],
        shortened_like([m["dataset"] for m in cells]),
        shortened_like([m["selector"] for m in cells]),
        values,
        ["" if value is None else f"{scale * value:.{digits}f}" for value in values],
        [round(m["n_selected"], 1) for m in cells],
    )
    shown = {"value": results.metric_title, "shown": f"{metric_name(results.metric)}{unit}"}
    return make_chart(
        f"{capitalise(metric_name(results.metric))}{unit} of every method on every data set",
        "heatmap",
        zip(*columns, strict=True),
        {**_controls(results), "k": "features", "y": "", "x": "", **shown, "used": "features used"},
        digits={"value": 4},
        controls=("classifier", "k"),
        initial=_main(results),
        labels="shown",
        domain=(min(known, default=0.0), max(known, default=1.0)),
    )


def shortened_like(names: list[str]) -> list[str]:
    """The same short label wherever a name occurs.

    Examples
    --------
    >>> from sparsieve_experiments.report.study_sections import shortened_like
    >>> shortened_like(["a", "L21Selector(alpha=1.0, ridge=0.1)", "a"])
    ['a', 'L21Selector...dge=0.1)', 'a']
    """
    different = list(dict.fromkeys(names))
    labels = dict(zip(different, shortened(different, most=22), strict=True))
    return [labels[name] for name in names]


def scores_section(results: StudyResults) -> Section:
    """Every method on every data set."""
    shown = [m for m in results.means if m["k"] in results.shown_ks]
    # A long table is for a few numbers of features; a file of all is the export's business.
    listed_ks = list(results.shown_ks)
    while len(listed_ks) > 1 and len(shown) * len(listed_ks) > 1500 * len(results.shown_ks):
        listed_ks.remove(next(k for k in listed_ks if k != results.main_k))
    listed = [m for m in shown if m["k"] in listed_ks]
    listed += [{**m, "k": None, "selector": BASELINE} for m in results.baseline]
    rows = [
        {
            "data set": m["dataset"],
            "method": m["selector"],
            results.metric_title: m[results.metric],
            "sd": m[f"{results.metric}_sd"],
            "features": m["k"] if m["k"] is not None else round(m["n_selected"], 1),
            results.model_title: m["classifier"],
            "splits": m["n_splits"],
            "redundancy": m["redundancy_absolute"],
            "precision": m["precision"],
            "recall": m["recall"],
            "seconds": m["seconds"],
            "chosen on test": m["tuning"] == "best-on-test",
        }
        for m in listed
    ]
    known = [key for key in rows[0] if any(row[key] is not None for row in rows)]
    rows = [{key: row[key] for key in known} for row in rows]
    note = (
        ""
        if listed_ks == [None] or len(listed_ks) == len(results.ks)
        else f"At {listed_names([str(k) for k in listed_ks])} features; sparsieve study "
        "export writes all."
    )
    digits = dict.fromkeys(known, 2) | {results.metric_title: 3}
    table = make_table("All means", rows, note, digits=digits)
    maps = [score_map(results)] if len(results.ks) > 1 else []  # else the page opens with it
    return Section("Scores", (), [*maps, table])


def ranks_section(results: StudyResults) -> Section | None:
    """Which methods can be told apart."""
    if len(results.methods) < 3 or len(results.datasets) < 2:
        return None
    rows, span = [], len(results.methods)
    for classifier, k in product(results.classifiers, results.shown_ks):
        table = results.table(classifier, k)
        if not _can_rank(table):
            continue
        test = friedman_nemenyi(table.scores)
        place = {"classifier": MODEL_WORDS[classifier], "k": named_k(k)}
        made = diagram_rows(table.selectors, test.ranks, test.critical_difference)
        rows += [{**place, **row} for row in made]
    if not rows:
        return None
    titles = {"x": "average rank (1 is best)", "classifier": results.model_title, "k": "features"}
    chart = make_chart(
        "Average ranks and critical difference",
        "critical-difference",
        [tuple(row.values()) for row in rows],
        {key: titles.get(key, key) for key in rows[0]},
        "A bar joins methods whose average ranks do not differ significantly (Nemenyi's test, 5 % "
        "level).",
        controls=("classifier", "k"),
        ranks=(1, span),
        initial=_main(results),
    )
    main = results.table(results.main_classifier, results.main_k)
    blocks: list = [chart]
    text = []
    if _can_rank(main):
        test = friedman_nemenyi(main.scores)
        groups = groups_alike(np.sort(test.ranks), test.critical_difference)
        where = f"{MODEL_WORDS[results.main_classifier]}, {at_k(results.main_k)}"
        text.append(
            f"Friedman's test ({where}, {len(main.datasets)} data sets): "
            f"{format_p_value(test.p_value)}; critical difference {test.critical_difference:.2f}; "
            f"{plural(len(groups), 'group')} of methods without significant differences."
        )
        blocks.append(_pairs(main, where, results))
    return Section("Ranks", text, blocks)


def stability_section(results: StudyResults) -> Section | None:
    """How much the selections of the splits agree."""
    k = results.main_k
    found = {
        place: nogueira_stability(supports)
        for place, supports in results.supports(k).items()
        if len(supports) > 1
    }
    rows: list[dict] = [
        {"dataset": dataset, "selector": method, "x": s.value, "error": (s.high - s.low) / 2}
        for (dataset, method), s in found.items()
        if np.isfinite(s.value)
    ]
    if not rows:
        return None
    datasets, methods = results.datasets, results.methods
    rows.sort(key=lambda row: (datasets.index(row["dataset"]), methods.index(row["selector"])))
    rows = _over_data_sets(results, rows, ("selector",), ("x",), error_of="x")
    return method_stability(
        f"Stability of the selection {at_k(k)}",
        map(itemgetter("dataset", "selector", "x", "error"), rows),
        ". The line is the 95 % interval over the splits, or one standard error over the data sets "
        "for their mean.",
        several=True,
    )


def redundancy_section(results: StudyResults) -> Section | None:
    """How much the selected features repeat each other."""
    first = results.classifiers[0]
    means = [
        m
        for m in results.means
        if m["classifier"] == first and m["k"] is not None and m["redundancy_absolute"] is not None
    ]
    if len(results.ks) < 2 or not means:
        return None
    means = _over_data_sets(
        results, means, ("selector", "k"), ("redundancy_absolute", "redundancy_signed")
    )
    titles = {"dataset": "data set", "series": "method", "x": "number of features"}
    rates = {"y": "absolute redundancy rate", "signed": "signed redundancy rate"}
    fields = ("dataset", "selector", "k", "redundancy_absolute", "redundancy_signed")
    chart = make_chart(
        "Redundancy over the number of features",
        "lines",
        map(itemgetter(*fields), means),
        titles | rates,
        "Half the mean absolute correlation of two selected features on the training samples: 0 "
        "for uncorrelated features, 1/2 for copies. Lower is better.",
        controls=("dataset",),
        marks=len(results.ks) <= 20,
        log_x=results.ks[-1] >= 20,
    )
    return Section("Redundancy", (), [chart])


def times_section(results: StudyResults) -> Section:
    """What a fit takes."""
    seconds: dict[tuple, list[float]] = defaultdict(list)
    for row in {r["cell"]: r for r in results.rows}.values():
        seconds[row["dataset"], row["selector"]].append(row["seconds"])
    means = [
        {"dataset": place[0], "selector": place[1], "x": float(np.mean(seconds[place]))}
        for place in product(results.datasets, results.methods)
        if place in seconds
    ]
    means = _over_data_sets(results, means, ("selector",), ("x",))
    return method_times(
        map(itemgetter("dataset", "selector", "x"), means),
        "Mean over the splits, with fixed parameters; the search for parameters is not counted.",
        several=True,
    )


def warnings_section(results: StudyResults) -> Section | None:
    """What the fits warned of, such as that they did not converge."""
    fits = {row["cell"]: row for row in results.rows}.values()
    times = Counter(
        (row["dataset"], row["selector"], warning)
        for row in fits
        for warning in row["warnings"].split(" | ")
        if warning
    )
    if not times:
        return None
    rows = [
        {"data set": dataset, "method": method, "warning": warning, "fits": n}
        for (dataset, method, warning), n in times.most_common(200)
    ]
    more = len(times) - len(rows)
    note = f"{more:,} more are in the column warnings of sparsieve study export." * (more > 0)
    return Section("Warnings", (), [make_table("Warnings", rows, note)])


def _over_data_sets(
    results: StudyResults,
    means: list[dict],
    place: tuple[str, ...],
    values: tuple[str, ...],
    error_of: str = "",
) -> list[dict]:
    """The means and, before them, those over all data sets, of what every one of them has.

    ``error`` is then the standard error over the data sets of the value that is named so.
    """
    if len(results.datasets) < 2:
        return means
    groups: dict[tuple, list[dict]] = defaultdict(list)
    for mean in means:
        groups[tuple(mean[name] for name in place)].append(mean)
    overall = [
        {
            "dataset": "mean of all data sets",
            **dict(zip(place, where, strict=True)),
            **{name: float(np.mean([mean[name] for mean in group])) for name in values},
            **({"error": float(sem([mean[error_of] for mean in group]))} if error_of else {}),
        }
        for where, group in groups.items()
        if len(group) == len(results.datasets)
    ]
    return overall + means


def _main(results: StudyResults) -> dict:
    """What the headline speaks of is what a reader sees first."""
    return {"classifier": MODEL_WORDS[results.main_classifier], "k": named_k(results.main_k)}


def _can_rank(table: ScoreTable) -> bool:
    """Whether there are enough methods and data sets for Friedman's test."""
    return len(table.datasets) >= 2 and len(table.selectors) >= 3


def _pairs(table: ScoreTable, where: str, results: StudyResults) -> Table:
    titles = ("method", "against", "p (Holm)", "median difference", "p, uncorrected")
    rows = [
        (test.first, test.second, test.p_holm, test.median_difference, test.p_value)
        for test in paired_wilcoxon(table.scores, table.selectors)
    ]
    columns = [
        Column(title, v, digits=2) for title, v in zip(titles, zip(*rows, strict=True), strict=True)
    ]
    note = "Differences above 0: the first has the lower error." * (not results.comparable)
    return Table(f"Pairs of methods: Wilcoxon's signed-rank test ({where})", columns, note)
