"""The sections of a report on one selection; None where there is nothing to show."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..diagnosis import PermutationNull
from ..evaluation import redundancy_rate
from ..evaluation.held_out import HeldOutCheck
from ..selectors.ranked import UNRANKED, ranked_features
from ..selectors.trace import FEATURE_COUNT, descent_of, why_not_converged
from .assessment import Assessment
from .data import Chart, Column, Section, Table
from .exploration import MOST_DRAWN
from .selected_data import SelectedData
from .wording import percent

MOST_LISTED = 30_000  # rows of a table; a browser stays quick with these


def accuracy_section(
    assessment: Assessment,
    kept: SelectedData,
    *,
    has_slider: bool,
    search: Any = None,
    check: HeldOutCheck | None = None,
) -> Section | None:
    """Scores over the number of features."""
    moves = "; the slider below moves it" * has_slider
    held_out = [] if check is None else [f"{check.sentence()} (A ridge model predicts.)"]
    if not assessment.rows:
        told = [*held_out, *_how_many(assessment, kept, search)]
        return Section("How many features", told) if told else None
    rows = assessment.rows
    words = assessment.metric
    chart = Chart(
        f"Cross-validated {words} over the number of features",
        "lines",
        {
            "x": Column("number of features", [row["k"] for row in rows]),
            "y": Column(words, [row["mean"] for row in rows]),
            "error": Column("standard error", [row["error"] for row in rows], digits=2),
            "series": Column("model", [row["model"] for row in rows]),
        },
        note=f"Mean of {assessment.n_folds} folds; the band is one standard error to either side, "
        "with training parts that overlap allowed for. "
        f"The upright line is the number of features selected{moves}.",
        options={
            "log_x": max(row["k"] for row in rows) > 20,
            "marker": len(kept.order),
            "most": 1,
        },
    )
    every = ", ".join(
        f"{model} {percent(score) if kept.classes is not None else f'R² = {score:.2f}'}"
        for model, score in assessment.baseline.items()
    )
    text = [
        *held_out,
        "Selection, scaling and model learn from the training part of every fold alone; the rest "
        f"of the samples only score them. With all features: {every}.",
    ]
    if assessment.n_samples < len(kept.y):
        text.append(f"Done on {assessment.n_samples:,} samples drawn from all {len(kept.y):,}.")
    text += _how_many(assessment, kept, search)
    if assessment.confusion is not None and kept.classes is not None:
        text.append(_by_class(assessment, len(kept.classes)))
    return Section("How well it predicts", text, [chart])


def _how_many(assessment: Assessment, kept: SelectedData, search: Any) -> list[str]:
    """How flat the curve is: that of a search for the number, and the one drawn here."""
    told = []
    if search is not None:
        said = " ".join(search.summary().split())
        told.append(f"How many, says {type(search).__name__}: {said}")
    best = assessment.best
    if best is not None:
        sentences = assessment.flatness(best["model"], kept.guess)
        if sentences:
            told.append(f"How many, by the curve of the {best['model']} below: {sentences}")
    return told


def _by_class(assessment: Assessment, n_classes: int) -> str:
    """What accuracy hides where classes differ in size."""
    balanced = percent(assessment.balanced or 0.0)
    sentence = f"Balanced accuracy, where every class counts the same: {balanced}"
    if assessment.auc is not None:
        several = "" if n_classes == 2 else ", the mean over classes"
        sentence += f"; area under the ROC curve{several}: {assessment.auc:.3f}"
    return f"{sentence} (linear SVM with as many features as were selected)."


def ranking_section(kept: SelectedData, null: PermutationNull | None) -> Section | None:
    """Every feature in order."""
    if kept.scores() is None or getattr(kept.selector, "ranking_", None) is None:
        return None
    ranked = ranked_features(kept.selector)
    n_drawn = min(MOST_DRAWN, max(len(kept.order) + 10, 15))
    kinds = [
        note or ("selected" if selected else "left out")
        for note, selected in zip(ranked.notes, ranked.selected, strict=True)
    ]
    finite = [float(score) if np.isfinite(score) else None for score in ranked.scores]
    notes = [] if ranked.falls else ["In order of entry: gains need not fall."]
    if UNRANKED in kinds[:n_drawn]:
        notes.append(
            "Beyond the end of the path a bar is what the feature would have added next: an "
            "unranked gain."
        )
    if null is not None and _reached_by_all(null, finite):
        notes.append(
            "Every fit on a shuffled target has the same highest score as this one, which "
            "therefore does not tell signal from noise: no level of noise is drawn."
        )
        null = None
    if null is not None:
        notes.append(
            f"The line is the level of noise: {null.n_repeats} fits on shuffled targets reached "
            f"at most {null.level:.4g} in 95 % of cases."
        )
        if not ranked.falls or UNRANKED in kinds:
            notes.append(
                "That is their best feature, mostly the first to enter; one that entered later "
                "explains what was left, so a shorter bar does not make it noise."
            )
    names = kept.labels(ranked.features[:n_drawn])
    chart = Chart(
        "Scores of the first features",
        "bars",
        {
            "y": Column("", names),
            "x": Column("score", finite[:n_drawn]),
            "series": Column("", kinds[:n_drawn]),
        },
        note=" ".join(notes),
        options={"line": None if null is None else null.level},
    )
    listed = MOST_LISTED
    columns = [
        Column("rank", list(range(1, len(finite) + 1))[:listed]),
        feature_column("feature", kept, ranked.features[:listed]),
        Column("score", finite[:listed]),
    ]
    if ranked.pvalues is not None and ranked.adjusted is not None:
        columns += [
            Column("p-value", ranked.pvalues[:listed].tolist(), digits=3),
            Column("p-value, FDR-adjusted", ranked.adjusted[:listed].tolist(), digits=3),
        ]
    columns.append(Column("selected", ranked.selected[:listed].tolist()))
    if any(ranked.notes):
        columns.append(Column("note", ranked.notes[:listed]))
    every = f"All {len(finite):,} features."
    if len(finite) > listed:
        every = f"The first {listed:,} of {len(finite):,} features; --ranking writes all of them."
    return Section(
        "Ranking", [f"Score: {ranked.meaning}"], [chart, Table("Ranking", columns, every)]
    )


def weight_section(kept: SelectedData) -> Section | None:
    """Weights of the fitted model, by class."""
    coef = getattr(kept.selector, "coef_", None)
    if coef is None or not len(kept.order):
        return None
    coef = coef.toarray() if sparse.issparse(coef) else np.asarray(coef, dtype=float)
    if coef.ndim != 2 or coef.shape[1] != kept.X.shape[1]:
        return None
    features = kept.order[:MOST_DRAWN]
    # A weight acts on a column in its own units; times its spread they can be compared.
    spread = kept.columns(features).std(axis=0)
    weights = (coef[:, features] * spread).T
    names = kept.labels(features)
    text = ["Weight of every feature in the fitted model, times the feature's standard deviation."]
    outputs = list(kept.class_names)
    signed = _one_signed_weight(weights, outputs)
    if signed is not None:
        if outputs:
            text.append(f"Positive weights speak for {outputs[1]}, negative ones for {outputs[0]}.")
        chart = Chart(
            "Weights", "bars", {"y": Column("", names), "x": Column("weight", signed, digits=3)}
        )
        return Section("Weights", text, [chart])
    if len(outputs) != len(coef):
        outputs = [f"target {j}" for j in range(len(coef))]
    across = "class" if kept.classes is not None else "target"
    rows = _grid(weights, names, outputs)
    own = getattr(kept.selector, "support_per_class_", None)
    blocks: list = [_heatmap(f"Weights by {across}", "weight", across, rows)]
    if own is not None and len(own) == len(outputs):
        text.append(
            "The penalty lets every class choose its own features: a feature with one weight "
            "belongs to that class, one with several is shared."
        )
        n_classes = np.asarray(own)[:, features].sum(axis=0)
        blocks.append(
            Table(
                "Which feature belongs to which class",
                [
                    feature_column("feature", kept, features),
                    Column("number of classes", [int(n) for n in n_classes]),
                    Column(
                        "classes",
                        [
                            ", ".join(o for o, mine in zip(outputs, own[:, j], strict=True) if mine)
                            for j in features
                        ],
                    ),
                ],
            )
        )
    return Section("Weights", text, blocks)


def _one_signed_weight(weights: np.ndarray, classes: list[str]) -> list[float] | None:
    """The weight of a single output, or of the second of two classes against the first."""
    if weights.shape[1] == 1:
        return weights[:, 0].tolist()
    if weights.shape[1] != 2 or len(classes) != 2:
        return None
    return ((weights[:, 1] - weights[:, 0]) / 2.0).tolist()


def redundancy_section(
    kept: SelectedData, substitutes: dict[int, list[tuple[int, float]]] | None, threshold: float
) -> Section | None:
    """How much the selected features repeat each other and others."""
    if substitutes is None or not len(kept.order):
        return None
    features = kept.order[:MOST_DRAWN]
    values = kept.columns(features)
    names = kept.labels(features)
    blocks: list = []
    text = []
    if len(features) > 1:
        with np.errstate(invalid="ignore", divide="ignore"):
            correlation = np.corrcoef(values, rowvar=False)
        rows = _grid(correlation, names, names)
        blocks.append(
            _heatmap("Correlation of the selected features", "correlation", "", rows, span=1.0)
        )
        rate = redundancy_rate(kept.columns(kept.order))
        text.append(
            f"Two selected features have a correlation of {2 * rate.signed:.3f} on average, of "
            f"{2 * rate.absolute:.3f} in size."
        )
    pairs = [
        (feature, other, correlation)
        for feature, others in substitutes.items()
        for other, correlation in others
    ]
    if pairs:
        listed = pairs[:MOST_LISTED]
        blocks.append(
            Table(
                "Substitutes",
                [
                    feature_column("selected", kept, [pair[0] for pair in listed]),
                    feature_column("could stand in", kept, [pair[1] for pair in listed]),
                    Column("correlation", [pair[2] for pair in listed]),
                ],
                note=f"Features left out whose correlation with a selected one is at least "
                f"{threshold:g} in size: {_all_or_first(len(pairs))}.",
            )
        )
    else:
        text.append(
            f"No feature that was left out has a correlation of {threshold:g} or more with a "
            "selected one."
        )
    return Section("Correlation and substitutes", text, blocks)


def _all_or_first(count: int) -> str:
    if count <= MOST_LISTED:
        return f"all {count:,}"
    return f"the first {MOST_LISTED:,} of {count:,}"


def feature_column(title: str, kept: SelectedData, features: Any) -> Column:
    """Names of features that a reader can ask about."""
    return Column(title, [kept.names[j] for j in features], features=[int(j) for j in features])


def stability_section(assessment: Assessment, kept: SelectedData) -> Section | None:
    """How often every feature is selected."""
    stability = assessment.stability
    if stability is None or assessment.supports is None:
        return None
    share = assessment.supports.mean(axis=0)
    seen = np.flatnonzero(share)
    seen = seen[np.lexsort((kept.selector.ranking_[seen], -share[seen]))]
    support = kept.selector.get_support()
    # Two selections always share as many features as each other: their spread tells nothing.
    interval = f" (95 % interval {stability.low:.2f} to {stability.high:.2f})"
    text = [
        f"The same number of features, selected anew in each of {assessment.n_folds} folds: "
        f"Nogueira's index is {stability.value:.2f}{interval * (assessment.n_folds > 2)}, where 1 "
        "means always the same features and 0 no more agreement than by chance."
    ]
    chart = Chart(
        "How often a feature was selected",
        "bars",
        {
            "y": Column("", kept.labels(seen[:MOST_DRAWN])),
            "x": Column("share of folds", [float(share[j]) for j in seen[:MOST_DRAWN]]),
            "series": Column(
                "", ["selected" if support[j] else "left out" for j in seen[:MOST_DRAWN]]
            ),
        },
        note="Colour: whether the selection from all samples holds it.",
    )
    return Section("Stability", text, [chart])


def _reached_by_all(null: PermutationNull, scores: list[float | None]) -> bool:
    """Whether every fit, on noise too, has the highest score that this one has."""
    largest = max((score for score in scores if score is not None), default=0.0)
    return bool(np.allclose(null.best, largest, rtol=1e-9, atol=0.0))


def convergence_section(selector: Any) -> Section | None:
    """The objective on its way down."""
    if len(getattr(selector, "history_", ())) == 0:
        return None
    found = descent_of(selector)
    rows = [
        (found.first + step, float(value))
        for step, value in enumerate(found.values)
        if np.isfinite(value)
    ]
    if len(rows) < 2:
        return None
    columns = {
        "x": Column(found.step_name, [step for step, _ in rows]),
        "y": Column("objective", [value for _, value in rows], digits=7),
    }
    text = [f"Relative optimality at the end (0 is exact): {selector.optimality_:.2g}."]
    if found.step_name == FEATURE_COUNT:
        text.append(
            "This is about the fit on the features chosen, not about their choice: another "
            "choice of as many may fit better."
        )
    reason = why_not_converged(selector)
    if reason:
        text.append(f"Not converged: {reason}.")
    chart = Chart(
        f"Objective by {found.step_name}", "lines", columns, options={"marks": len(rows) < 100}
    )
    return Section("Convergence", text, [chart])


def _grid(values: Any, rows: Any, columns: Any) -> list[tuple]:
    return [
        (row, column, float(values[i, j]) if np.isfinite(values[i, j]) else None)
        for i, row in enumerate(rows)
        for j, column in enumerate(columns)
    ]


def _heatmap(title: str, what: str, across: str, rows: Any, span: float | None = None) -> Chart:
    return Chart(
        title,
        "heatmap",
        {
            "y": Column("", [row[0] for row in rows]),
            "x": Column(across, [row[1] for row in rows]),
            "value": Column(what, [row[2] for row in rows], digits=3),
        },
        options={"diverging": True, "span": span},
    )
