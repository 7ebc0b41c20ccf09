"""The sections of a report on a study; None where there is nothing to show."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import numpy as np

from ..evaluation import friedman_nemenyi, nogueira_stability, paired_wilcoxon
from ..evaluation.metrics import metric_name
from ..studies import ScoreTable
from .data import Chart, Column, Section, Table, table_of
from .encodings import MOST_BANDS
from .ranks import diagram_rows, groups_alike
from .study_results import BASELINE, MODELS, StudyResults, at_k, named_k, spread
from .wording import counted, listed_names

EVERY = "mean of all data sets"
_MOST_WARNINGS = 200
_MOST_LISTED = 1500  # rows of the table of means
_MOST_POINTS = 32_000  # of one chart; beyond it only some numbers of features are drawn


def curves_section(results: StudyResults) -> Section | None:
    """Scores over the number of features, by data set and classifier."""
    if len(results.ks) < 2:
        return None
    drawn = [m for m in results.means if m["k"] is not None]
    if len(drawn) > _MOST_POINTS:
        few = set(spread(results.ks, 12))
        drawn = [m for m in drawn if m["k"] in few]
    rows = [
        (
            m["dataset"],
            m["classifier"],
            m["selector"],
            m["k"],
            m[results.metric],
            _standard_error(m, results.metric),
            m["k"],
        )
        for m in drawn
    ]
    rows += _across(results)
    rows = _overall(results, rows) + rows
    columns = {
        "dataset": Column("data set", [row[0] for row in rows]),
        "classifier": Column(results.model_title, [MODELS[row[1]] for row in rows]),
        "series": Column("method", [row[2] for row in rows]),
        "x": Column("number of features", [row[3] for row in rows]),
        "y": Column(results.metric_title, [row[4] for row in rows]),
        "error": Column("standard error", [row[5] for row in rows], digits=2),
        "used": Column("features used", [row[6] for row in rows]),
    }
    chart = Chart(
        f"{_capital(metric_name(results.metric))} over the number of features",
        "lines",
        columns,
        controls=("dataset", "classifier"),
        note="Click names in the legend (with Shift for several) to bring methods out. The "
        "band is one standard error over the splits, or over the data sets for their mean."
        + " Bands are cut off where they would squeeze the lines."
        * (len(results.methods) > MOST_BANDS)
        + " The dashed line is the score with all features." * bool(results.baseline),
        options={
            "marks": len(results.ks) <= 20,
            "log_x": results.ks[-1] >= 20,
            "across": BASELINE,
            "initial": _main(results),
        },
    )
    return Section("Scores over the number of features", (), [chart])


def _across(results: StudyResults) -> list[tuple]:
    """Scores with all features, the same at every number of features that is drawn."""
    return [
        (
            m["dataset"],
            m["classifier"],
            BASELINE,
            k,
            m[results.metric],
            _standard_error(m, results.metric),
            round(m["n_selected"]),
        )
        for m in results.baseline
        for k in (results.ks[0], results.ks[-1])
    ]


def _overall(results: StudyResults, rows: list[tuple]) -> list[tuple]:
    """Means over the data sets, of what every one of them has."""
    if len(results.datasets) < 2 or not results.comparable:
        return []
    groups: dict[tuple, list[tuple]] = defaultdict(list)
    for _, classifier, method, k, score, _, used in rows:
        groups[classifier, method, k].append((score, used))
    overall = []
    for (classifier, method, k), found in groups.items():
        if len(found) == len(results.datasets):
            scores, used = zip(*found, strict=True)
            place = EVERY, classifier, method, k
            overall.append((*place, *_mean_and_error(list(scores)), round(np.mean(used))))
    return overall


def scores_section(results: StudyResults) -> Section:
    """Every method on every data set."""
    shown = [m for m in results.means if m["k"] in results.shown_ks]
    # Without selection there is one score, which stands beside those at every number.
    cells = shown + [
        {**m, "k": k, "selector": BASELINE} for m in results.baseline for k in results.shown_ks
    ]
    grid = Chart(
        f"{_capital(metric_name(results.metric))} of every method on every data set",
        "heatmap",
        {
            "classifier": Column(results.model_title, [MODELS[m["classifier"]] for m in cells]),
            "k": Column("features", [named_k(m["k"]) for m in cells]),
            "y": Column("", [m["dataset"] for m in cells]),
            "x": Column("", [m["selector"] for m in cells]),
            "value": Column(results.metric_title, [m[results.metric] for m in cells]),
            "used": Column("features used", [round(m["n_selected"], 1) for m in cells]),
        },
        controls=("classifier", "k"),
        options={"initial": _main(results)},
    )
    # A long table is for a few numbers of features; a file of all is the export's business.
    listed_ks = list(results.shown_ks)
    while len(listed_ks) > 1 and len(shown) * len(listed_ks) > _MOST_LISTED * len(results.shown_ks):
        listed_ks.remove(next(k for k in listed_ks if k != results.main_k))
    listed = [m for m in shown if m["k"] in listed_ks]
    listed += [{**m, "k": None, "selector": BASELINE} for m in results.baseline]
    rows = [
        {
            "data set": m["dataset"],
            "method": m["selector"],
            results.model_title: m["classifier"],
            "features": m["k"] if m["k"] is not None else round(m["n_selected"], 1),
            results.metric_title: m[results.metric],
            "sd": m[f"{results.metric}_sd"],
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
    return Section("Scores", (), [grid, table_of("All means", rows, note)])


def ranks_section(results: StudyResults) -> Section | None:
    """Which methods can be told apart."""
    if len(results.methods) < 3 or len(results.datasets) < 2:
        return None
    rows, span = [], len(results.methods)
    for classifier in results.classifiers:
        for k in results.shown_ks:
            table = results.table(classifier, k)
            if len(table.datasets) < 2 or len(table.selectors) < 3:
                continue
            test = friedman_nemenyi(table.scores)
            for row in diagram_rows(table.selectors, test.ranks, test.critical_difference):
                rows.append({"classifier": MODELS[classifier], "k": named_k(k), **row})
    if not rows:
        return None
    titles = {"x": "average rank (1 is best)", "classifier": results.model_title, "k": "features"}
    chart = Chart(
        "Average ranks and critical difference",
        "critical-difference",
        {key: Column(titles.get(key, key), [row[key] for row in rows]) for key in rows[0]},
        controls=("classifier", "k"),
        note="A bar joins methods whose average ranks differ by less than Nemenyi's critical "
        "difference at the 5 % level: over these data sets they cannot be told apart.",
        options={"ranks": (1, span), "initial": _main(results)},
    )
    main = results.table(results.main_classifier, results.main_k)
    blocks: list = [chart]
    text = []
    if len(main.datasets) >= 2 and len(main.selectors) >= 3:
        test = friedman_nemenyi(main.scores)
        where = f"{MODELS[results.main_classifier]}, {at_k(results.main_k)}"
        text.append(
            f"Friedman's test ({where}, {len(main.datasets)} data sets): p = "
            f"{test.p_value:.2g}; critical difference {test.critical_difference:.2f}. "
            f"{counted(len(_groups(test)), 'group')} of methods that cannot be told apart."
        )
        blocks.append(_pairs(main, where, results))
    return Section("Ranks", text, blocks)


def stability_section(results: StudyResults) -> Section | None:
    """How much the selections of the splits agree."""
    k = results.main_k
    rows: list[tuple] = []
    for (dataset, method), supports in results.supports(k).items():
        if len(supports) < 2:
            continue
        found = nogueira_stability(supports)
        if np.isfinite(found.value):
            rows.append((dataset, method, found.value, (found.high - found.low) / 2))
    if not rows:
        return None
    order = {m: i for i, m in enumerate(results.methods)}
    rows.sort(key=lambda row: (results.datasets.index(row[0]), order[row[1]]))
    overall = [
        (EVERY, method, *_mean_and_error(values))
        for method in results.methods
        if len(values := [r[2] for r in rows if r[1] == method]) == len(results.datasets) > 1
    ]
    rows = overall + rows
    chart = Chart(
        f"Stability of the selection {at_k(k)}",
        "bars",
        {
            "dataset": Column("data set", [row[0] for row in rows]),
            "y": Column("", [row[1] for row in rows]),
            "x": Column("Nogueira's index", [row[2] for row in rows], digits=3),
            "error": Column("half of the interval", [row[3] for row in rows], digits=2),
        },
        controls=("dataset",),
        note="1: the same features in every split; 0: no more agreement than by chance. Lines: "
        "95 % interval over the splits, one standard error over the data sets for their mean.",
    )
    return Section("Stability", (), [chart])


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
    chart = Chart(
        "Redundancy over the number of features",
        "lines",
        {
            "dataset": Column("data set", [m["dataset"] for m in means]),
            "series": Column("method", [m["selector"] for m in means]),
            "x": Column("number of features", [m["k"] for m in means]),
            "y": Column("absolute redundancy rate", [m["redundancy_absolute"] for m in means]),
            "signed": Column("signed redundancy rate", [m["redundancy_signed"] for m in means]),
        },
        controls=("dataset",),
        note="Half the mean correlation, in size, of two selected features on the training part: "
        "0 for features that share nothing, 1/2 for copies of one. Lower means that the "
        "features repeat each other less.",
        options={"marks": len(results.ks) <= 20, "log_x": results.ks[-1] >= 20},
    )
    return Section("Redundancy", (), [chart])


def times_section(results: StudyResults) -> Section:
    """What a fit takes."""
    seconds: dict[tuple, list[float]] = defaultdict(list)
    for row in {r["cell"]: r for r in results.rows}.values():
        seconds[row["dataset"], row["selector"]].append(max(row["seconds"], 1e-6))
    means = [
        {"dataset": dataset, "selector": method, "x": float(np.mean(seconds[dataset, method]))}
        for dataset in results.datasets
        for method in results.methods
        if (dataset, method) in seconds
    ]
    rows = [
        (m["dataset"], m["selector"], m["x"])
        for m in _over_data_sets(results, means, ("selector",), ("x",))
    ]
    chart = Chart(
        "Seconds per fit",
        "bars",
        {
            "dataset": Column("data set", [row[0] for row in rows]),
            "y": Column("", [row[1] for row in rows]),
            "x": Column("seconds per fit (logarithmic)", [row[2] for row in rows], digits=3),
        },
        controls=("dataset",),
        note="Mean over the splits of the selection with fixed parameters; choosing parameters "
        "is not counted.",
        options={"log_x": True},
    )
    return Section("Time", (), [chart])


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
        for (dataset, method, warning), n in times.most_common(_MOST_WARNINGS)
    ]
    more = len(times) - len(rows)
    note = f"And {more:,} more, in the column warnings of sparsieve study export." * (more > 0)
    return Section("What fits warned of", (), [table_of("Warnings", rows, note)])


def _over_data_sets(
    results: StudyResults, means: list[dict], place: tuple[str, ...], values: tuple[str, ...]
) -> list[dict]:
    """The means and, before them, those over all data sets, of what every one of them has."""
    if len(results.datasets) < 2:
        return means
    groups: dict[tuple, list[dict]] = defaultdict(list)
    for mean in means:
        groups[tuple(mean[name] for name in place)].append(mean)
    overall = [
        {
            "dataset": EVERY,
            **dict(zip(place, where, strict=True)),
            **{name: float(np.mean([mean[name] for mean in group])) for name in values},
        }
        for where, group in groups.items()
        if len(group) == len(results.datasets)
    ]
    return overall + means


def _main(results: StudyResults) -> dict:
    """What the headline speaks of is what a reader sees first."""
    return {"classifier": MODELS[results.main_classifier], "k": named_k(results.main_k)}


def _pairs(table: ScoreTable, where: str, results: StudyResults) -> Table:
    rows = [
        {
            "method": test.first,
            "against": test.second,
            "median difference": test.median_difference,
            "p": test.p_value,
            "p (Holm)": test.p_holm,
        }
        for test in paired_wilcoxon(table.scores, table.selectors)
    ]
    note = "Differences above 0: the first has the lower error." * (not results.comparable)
    return table_of(f"Pairs of methods: Wilcoxon's signed-rank test ({where})", rows, note)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _groups(test: Any) -> list[tuple[int, int]]:
    return groups_alike(np.sort(test.ranks), test.critical_difference)


def _mean_and_error(values: list[float]) -> tuple[float, float]:
    return float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(len(values)))


def _standard_error(mean: dict, metric: str) -> float:
    sd = mean[f"{metric}_sd"]
    return 0.0 if sd is None else float(sd / np.sqrt(mean["n_splits"]))
