"""What a reader sees move with the number of features: the section with the slider."""

from __future__ import annotations

from typing import Any

import numpy as np

from .assessment import Assessment, counts_to_try
from .data import Chart, Column, Explorer, Section, Step
from .sample_charts import clustered_chart, projection_chart
from .selected_data import SelectedData
from .wording import counted, percent

MOST_DRAWN = 40  # features or classes in a chart

Steps = list[tuple[int, np.ndarray]]  # numbers of features and the columns, best first


def explore_section(kept: SelectedData, assessment: Assessment, steps: Steps) -> Section | None:
    """The selection at every number of features up to the one that was kept."""
    if not steps:
        return None
    projected, shares = projection_chart(kept, steps)
    made = [
        _confusion_chart(kept, assessment, steps),
        _held_out_chart(kept, assessment, steps),
        projected,
        _class_chart(kept, steps),
        _target_chart(kept, steps),
        clustered_chart(kept, steps, MOST_DRAWN),
    ]
    explorer = Explorer(
        "The selection",
        [
            Step(
                k,
                [kept.names[j] for j in features],
                features.tolist(),
                [*_told(assessment, k), shares[k]],
            )
            for k, features in steps
        ],
        [chart for chart in made if chart is not None],
        note=_note(kept, steps, assessment),
    )
    what = "class" if kept.classes is not None else "target"
    return Section("Explore the selection", [_words(what, steps)], [explorer], label="Explore")


def selections(kept: SelectedData) -> Steps:
    """Columns that are selected at several numbers of features, where these can be asked for."""
    n_kept = len(kept.order)
    if not n_kept:
        return []
    found: Steps = []
    for k in counts_to_try(n_kept, kept.X.shape[1]):
        features = _selected_at(kept.selector, k) if k < n_kept else None
        if features is not None:
            found.append((k, features))
    return [*found, (n_kept, kept.order)]


def _selected_at(selector: Any, k: int) -> np.ndarray | None:
    if not hasattr(selector, "at"):
        return None
    try:
        smaller = selector.at(k)
    except (ValueError, TypeError):  # such as fewer than are always kept
        return None
    chosen = np.flatnonzero(smaller.get_support())
    return chosen[np.argsort(smaller.ranking_[chosen], kind="stable")] if len(chosen) == k else None


def _words(what: str, steps: Steps) -> str:
    follow = "The charts show the samples through the selected features."
    if len(steps) > 1:
        follow = (
            "Move the slider (or use the arrow keys, Home and End) to see what fewer features "
            f"would show; charts follow. The selection below {steps[-1][0]} features is that of "
            "the same fit."
        )
    return f"{follow} Click a feature for its values by {what}, its ranks and its substitutes."


def _note(kept: SelectedData, steps: Steps, assessment: Assessment) -> str:
    if not assessment.rows or len(steps) < 2:
        return ""
    return (
        f"Scores: mean and standard error of {assessment.n_folds} folds, each with a selection "
        "and a model of its own."
    )


def _told(assessment: Assessment, k: int) -> list[str]:
    """How well so many features predict, with what chance has to do with it."""
    rows = assessment.at(k)
    if not rows:
        return []
    if assessment.metric == "accuracy":
        scores = [
            f"{row['model']} {percent(row['mean'])} ± {100 * row['error']:.1f}" for row in rows
        ]
        return [f"Correct on samples held out: {', '.join(scores)}."]
    scores = [f"{row['model']} R² = {row['mean']:.3f} ± {row['error']:.3f}" for row in rows]
    return [f"On samples held out: {', '.join(scores)}."]


def _confusion_chart(kept: SelectedData, assessment: Assessment, steps: Steps) -> Chart | None:
    if kept.classes is None or len(kept.classes) > MOST_DRAWN or assessment.confusion is None:
        return None
    names = kept.class_names
    rows: list[tuple] = []
    for k, _ in steps:
        counts = assessment.confusion_at(k)
        if counts is None:
            continue
        share = counts / counts.sum(axis=1, keepdims=True)
        rows += [
            (k, names[i], names[j], float(share[i, j]), int(counts[i, j]))
            for i in range(len(names))
            for j in range(len(names))
        ]
    return Chart(
        "Held-out samples by true and predicted class",
        "heatmap",
        {
            "k": Column("features", [row[0] for row in rows]),
            "y": Column("true class", [row[1] for row in rows]),
            "x": Column("predicted class", [row[2] for row in rows]),
            "value": Column("share of the true class", [row[3] for row in rows], digits=3),
            "count": Column("samples", [row[4] for row in rows]),
        },
        note="Linear SVM. Numbers are samples; a row adds up to its class, and what is off the "
        "diagonal was taken for another.",
        options={"labels": "count" if len(names) <= 12 else None, "domain": (0.0, 1.0)},
    )


def _held_out_chart(kept: SelectedData, assessment: Assessment, steps: Steps) -> Chart | None:
    """Predictions of numbers, the picture that confusions are of classes."""
    if kept.classes is not None or kept.targets.shape[1] > 1 or not assessment.predictions:
        return None
    true = np.asarray(assessment.true, dtype=float).ravel()
    some = np.linspace(0, len(true) - 1, min(len(true), 200)).round().astype(int)
    shown = [
        (k, assessment.predictions[k].ravel()) for k, _ in steps if k in assessment.predictions
    ]
    ends = (float(true.min()), float(true.max()))
    return Chart(
        "Held-out samples: predicted and true target",
        "points",
        {
            "k": Column("features", [k for k, _ in shown for _ in some]),
            "x": Column("true target", [float(true[i]) for _ in shown for i in some]),
            "y": Column("predicted target", [float(p[i]) for _, p in shown for i in some]),
        },
        note="Ridge regression. On the line a prediction is right."
        + f" {len(some)} of {len(true):,} samples." * (len(some) < len(true)),
        options={"diagonal": ends, "size": 30},
    )


def _class_chart(kept: SelectedData, steps: Steps) -> Chart | None:
    """What the selected features look like in every class."""
    if kept.classes is None:
        return None
    rows = []
    for k, features in steps:
        drawn = features[:MOST_DRAWN]
        scaled = kept.standardised(drawn)
        means = np.array(
            [_mean(scaled[kept.class_codes == c]) for c in range(len(kept.class_names))]
        )
        rows += [
            (k, label, name, None if np.isnan(means[c, i]) else float(means[c, i]))
            for i, label in enumerate(kept.labels(drawn))
            for c, name in enumerate(kept.class_names)
        ]
    return Chart(
        "Selected features by class",
        "heatmap",
        {
            "k": Column("features", [row[0] for row in rows]),
            "y": Column("", [row[1] for row in rows]),
            "x": Column("class", [row[2] for row in rows]),
            "value": Column("mean (standard deviations)", [row[3] for row in rows], digits=3),
        },
        note="Mean of every feature within a class, in standard deviations from its overall mean: "
        f"what stands out marks the class.{first_drawn(steps)}",
        options={"diverging": True, "shape": "wide"},
    )


def _target_chart(kept: SelectedData, steps: Steps) -> Chart | None:
    """What the selected features have to do with the numbers to predict."""
    if kept.classes is not None:
        return None
    centred = kept.targets - kept.targets.mean(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        centred = centred / np.linalg.norm(centred, axis=0)
    rows = []
    for k, features in steps:
        drawn = features[:MOST_DRAWN]
        scaled = np.nan_to_num(kept.standardised(drawn))
        correlation = scaled.T @ centred / np.sqrt(len(scaled))
        rows += [
            (k, label, name, float(r) if np.isfinite(r := correlation[i, t]) else None)
            for i, label in enumerate(kept.labels(drawn))
            for t, name in enumerate(kept.target_names)
        ]
    shared = {"k": Column("features", [row[0] for row in rows])}
    shared["y"] = Column("", [row[1] for row in rows])
    values = Column("correlation", [row[3] for row in rows], digits=3)
    if len(kept.target_names) == 1:
        note = first_drawn(steps).strip()
        columns = {**shared, "x": values}
        wide = {"shape": "wide"}
        return Chart("Correlation with the target", "bars", columns, note=note, options=wide)
    return Chart(
        "Correlation with the targets",
        "heatmap",
        {**shared, "x": Column("target", [row[2] for row in rows]), "value": values},
        note=first_drawn(steps).strip(),
        options={"diverging": True, "span": 1.0, "shape": "wide"},
    )


def first_drawn(steps: Steps) -> str:
    """A sentence where a chart cannot hold all features."""
    most = steps[-1][0]
    if most <= MOST_DRAWN:
        return ""
    return f" The first {MOST_DRAWN} of {counted(most, 'feature')} are drawn."


def _mean(values: np.ndarray) -> np.ndarray:
    """Column means of what is known."""
    known = ~np.isnan(values)
    total = np.where(known, values, 0.0).sum(axis=0)
    return np.divide(
        total, known.sum(axis=0), out=np.full(len(total), np.nan), where=known.any(axis=0)
    )
