"""What a reader sees move with the number of features: the section with the slider."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._text import listed_names, plural
from ...scoring.outcomes import best_first
from ...selection.selected_data import SelectedData
from ...selectors.preparation import count_selection
from .assessment import Assessment, counts_to_try
from .elements import Chart, Explorer, Section, Step, grid, make_chart
from .sample_charts import Steps, full_names, projection_chart, samples_chart
from .wording import percent

MAX_DRAWN = 40  # features or classes in a chart


def explore_section(kept: SelectedData, assessment: Assessment, steps: Steps) -> Section | None:
    """The selection at every number of features up to the one that was kept."""
    if not steps:
        return None
    projected, shares = projection_chart(kept, steps)
    made = [
        confusion_chart(kept, assessment, steps),
        held_out_chart(kept, assessment, steps),
        projected,
        class_means_chart(kept, steps),
        target_correlation_chart(kept, steps),
        samples_chart(kept, steps, MAX_DRAWN),
    ]
    shown = [
        Step(
            k,
            [kept.names[j] for j in features],
            features.tolist(),
            [*_held_out_scores(assessment, k), shares[k]],
            _group_numbers(kept, features),
        )
        for k, features in steps
    ]
    how = "mean and standard error over" if assessment.n_folds > 1 else "those of"
    note = (
        f"Scores: {how} {assessment.over_folds}; selection and model are fitted "
        "again in each." * bool(assessment.rows and len(steps) > 1)
    )
    charts = [chart for chart in made if chart is not None]
    explorer = Explorer("The selection", shown, charts, note, kept.unit)
    what = "class" if kept.classes is not None else "target"
    words = _words(what, steps, kept.unit)
    if kept.covariate_names:
        words += f" Every selection also has the covariates: {', '.join(kept.covariate_names)}."
    return Section("Explore the selection", [words], [explorer])


def _group_numbers(kept: SelectedData, features: np.ndarray) -> list[int] | None:
    """The place of the group of every column; None where columns are features themselves."""
    if kept.groups is None:
        return None
    ranks = np.asarray(kept.selector.ranking_)[features].tolist()
    places = {rank: place for place, rank in enumerate(dict.fromkeys(ranks), 1)}
    return [places[rank] for rank in ranks]


def selections(kept: SelectedData) -> Steps:
    """Columns that are selected at several numbers of features, where these can be asked for."""
    (n_kept, n_units, _), n_beside = kept.own, len(kept.covariate_units)
    if not kept.n_kept:
        return []
    smaller = [
        (k, features)
        for k in counts_to_try(n_kept, n_units)
        if k < n_kept and (features := _smaller_selection(kept.selector, k + n_beside)) is not None
    ]
    return [*smaller, (n_kept, kept.order)]


def _smaller_selection(selector: Any, k: int) -> np.ndarray | None:
    if not hasattr(selector, "at"):
        return None
    try:
        smaller = selector.at(k)
    except (ValueError, TypeError):  # such as fewer than are always kept
        return None
    return best_first(smaller) if count_selection(smaller) == k else None


def _words(what: str, steps: Steps, unit: str) -> str:
    follow = "The charts show the samples through the selected features."
    if len(steps) > 1:
        follow = (
            "Move the slider (or use the arrow keys, Home and End) to see the charts for fewer "
            f"{unit}s, selected by the same fit."
        )
    return f"{follow} Click a feature for its values by {what}, its ranks and its substitutes."


def _held_out_scores(assessment: Assessment, k: int) -> list[str]:
    """How well a selection of k features predicts, with standard errors."""
    rows = assessment.count_rows(k)
    if not rows:
        return []
    measure = assessment.measure
    if measure is not None and measure.own == "accuracy":
        said = "Held-out samples classified correctly"
        scores = [f"{r['model']} {percent(r['mean'])}" for r in rows]
        errors = [f" ± {100 * r['error']:.1f}" for r in rows]
    else:
        said, shown = "On held-out samples", assessment.format_score
        name = "R² =" if assessment.metric == "R²" else assessment.metric
        scores = [f"{r['model']} {name} {shown(r['mean'])}" for r in rows]
        errors = [f" ± {shown(r['error'])}" for r in rows]
    if assessment.n_folds > 1:
        scores = [score + error for score, error in zip(scores, errors, strict=True)]
    return [f"{said}: {', '.join(scores)}."]


def confusion_chart(kept: SelectedData, assessment: Assessment, steps: Steps) -> Chart | None:
    """Held-out samples by true and predicted class."""
    if (
        kept.classes is None
        or len(kept.classes) > MAX_DRAWN
        or assessment.balanced_accuracy is None
    ):
        return None
    names = kept.class_names
    rows: list[tuple] = []
    for k, _ in steps:
        counts = assessment.confusion(k)
        if counts is not None:
            share = counts / counts.sum(axis=1, keepdims=True)
            cells = zip(grid(share, names, names, k), counts.ravel().tolist(), strict=True)
            rows += [(*cell, count) for cell, count in cells]
    titles = {"k": f"{kept.unit}s", "y": "true class", "x": "predicted class"}
    return make_chart(
        "Held-out samples by true and predicted class",
        "heatmap",
        rows,
        {**titles, "value": "share of the true class", "count": "samples"},
        f"Predictions of the {assessment.rows[0]['model']} for every sample when it was first held "
        "out. Numbers are samples; a row adds up to its class, and off-diagonal samples were "
        f"misclassified.{_ignored_class_note(kept, assessment)}",
        labels="count" if len(names) <= 12 else None,
        domain=(0.0, 1.0),
    )


def _ignored_class_note(kept: SelectedData, assessment: Assessment) -> str:
    """A sentence where no sample is given a class, and the score does not go by these."""
    counts, measure = assessment.confusion(kept.own[0]), assessment.measure
    if counts is None or measure is None or measure.sees_labels_only or counts.any(axis=0).all():
        return ""
    never = [kept.class_names[j] for j in np.flatnonzero(~counts.any(axis=0))]
    return (
        f" With {plural(kept.own[0], kept.unit)} no sample is predicted as {listed_names(never)}, "
        f"as is usual for a rare class; {measure.title} looks at the numbers behind the labels."
    )


def held_out_chart(kept: SelectedData, assessment: Assessment, steps: Steps) -> Chart | None:
    """Predictions of numbers, the picture that confusions are of classes."""
    if kept.classes is not None or kept.targets.shape[1] > 1 or not assessment.predictions:
        return None
    if kept.task == "survival":  # which has curves instead
        return None
    true = np.asarray(assessment.true, dtype=float).ravel()
    some = np.linspace(0, len(true) - 1, min(len(true), 200)).round().astype(int)
    rows = [
        (k, float(true[i]), float(assessment.predictions[k].flat[i]))
        for k, _ in steps
        if k in assessment.predictions
        for i in some
    ]
    return make_chart(
        "Held-out samples: predicted and true target",
        "points",
        rows,
        {"k": f"{kept.unit}s", "x": "true target", "y": "predicted target"},
        f"Predictions of the {assessment.rows[0]['model']} for held-out samples; on the dashed "
        "line they are exact."
        + f" {len(some)} of {len(true):,} samples are drawn."
        * (len(some) < len(true)),
        diagonal=(float(true.min()), float(true.max())),
        size=30,
    )


def class_means_chart(kept: SelectedData, steps: Steps) -> Chart | None:
    """What the selected features look like in every class."""
    if kept.classes is None:
        return None
    rows = []
    for k, features in steps:
        drawn = features[:MAX_DRAWN]
        scaled = kept.standardise(drawn)
        known = np.ma.masked_invalid(scaled)
        means = [
            known[kept.class_codes == c].mean(axis=0).filled(np.nan)
            for c in range(len(kept.class_names))
        ]
        rows += grid(np.transpose(means), full_names(kept, drawn), kept.class_names, k)
    return make_chart(
        "Selected features by class",
        "heatmap",
        rows,
        {"k": f"{kept.unit}s", "y": "", "x": "class", "value": "mean (standard deviations)"},
        "Mean of every feature within a class, in standard deviations from its overall mean."
        f"{truncation_note(steps)}",
        diverging=True,
        shape="wide",
    )


def target_correlation_chart(kept: SelectedData, steps: Steps) -> Chart | None:
    """What the selected features have to do with the numbers to predict."""
    if kept.classes is not None:
        return None
    centred = kept.targets - kept.targets.mean(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        centred = centred / np.linalg.norm(centred, axis=0)
    rows = []
    for k, features in steps:
        drawn = features[:MAX_DRAWN]
        scaled = np.nan_to_num(kept.standardise(drawn))
        correlation = scaled.T @ centred / np.sqrt(len(scaled))
        rows += grid(correlation, full_names(kept, drawn), kept.target_names, k)
    note = truncation_note(steps).strip()
    if kept.task == "survival":
        note = f"The target is the {kept.target_names[0]}. {note}".strip()
    if len(kept.target_names) > 1:
        titles = {"k": f"{kept.unit}s", "y": "", "x": "target", "value": "correlation"}
        how: Any = {"diverging": True, "span": 1.0, "shape": "wide"}
        return make_chart("Correlation with the targets", "heatmap", rows, titles, note, **how)
    titles = {"k": f"{kept.unit}s", "y": "", "x": "correlation"}
    bars = [(k, label, value) for k, label, _, value in rows]
    how = {"digits": {"x": 3}, "shape": "wide"}
    return make_chart("Correlation with the target", "bars", bars, titles, note, **how)


def truncation_note(steps: Steps) -> str:
    """A sentence where a chart cannot hold all features."""
    most = len(steps[-1][1])
    if most <= MAX_DRAWN:
        return ""
    return f" The first {MAX_DRAWN} of {plural(most, 'feature')} are drawn."
