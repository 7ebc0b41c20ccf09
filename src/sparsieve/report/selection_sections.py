"""The sections of a report on one selection; None where there is nothing to show."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..diagnosis.null import PermutationNull
from ..meta.held_out import HeldOutCheck
from ..scoring import redundancy_rate
from ..selectors.ranked import UNRANKED, ranked_features
from ..selectors.trace import FEATURE_COUNT, descent_of, why_not_converged
from .assessment import Assessment
from .elements import Column, Section, Table, chart_of, grid
from .exploration import MAX_DRAWN
from .selected_data import SelectedData
from .wording import percent

MAX_LISTED = 30_000  # rows of a table; a browser stays quick with these


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
    held_out = [] if check is None else [f"{check.sentence()} (A {check.model} predicts.)"]
    if not assessment.rows:
        sentences = [*held_out, *_how_many(assessment, kept, search)]
        return Section("How many features", sentences) if sentences else None
    rows = assessment.rows
    words = assessment.metric
    titles = {"x": "number of features", "y": words, "error": "standard error", "series": "model"}
    chart = chart_of(
        f"Cross-validated {words} over the number of features",
        "lines",
        [(row["k"], row["mean"], row["error"], row["model"]) for row in rows],
        titles,
        f"Mean of {assessment.n_folds} folds; the band is one standard error to either side, "
        "with training parts that overlap allowed for. "
        f"The upright line is the number of features selected{moves}.",
        log_x=max(row["k"] for row in rows) > 20,
        marker=len(kept.order),
        most=1,
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
    if len(assessment.true) < len(kept.y):
        text.append(f"Done on {len(assessment.true):,} samples drawn from all {len(kept.y):,}.")
    text += _how_many(assessment, kept, search)
    if assessment.balanced is not None and kept.classes is not None:
        text.append(_by_class(assessment, len(kept.classes)))
    return Section("How well it predicts", text, [chart])


def _how_many(assessment: Assessment, kept: SelectedData, search: Any) -> list[str]:
    """How flat the curve is: that of a search for the number, and the one drawn here."""
    found = []
    if search is not None:
        said = " ".join(search.summary().split())
        found.append(f"How many, says {type(search).__name__}: {said}")
    best = assessment.best
    if best is not None:
        sentences = assessment.flatness(best["model"], kept.guess)
        if sentences:
            found.append(f"How many, by the curve of the {best['model']} below: {sentences}")
    return found


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
    if any(getattr(kept.selector, name, None) is None for name in ("scores_", "ranking_")):
        return None
    ranked = ranked_features(kept.selector)
    n_drawn = min(MAX_DRAWN, max(len(kept.order) + 10, 15))
    kinds = [
        note or ("selected" if selected else "left out")
        for note, selected in zip(ranked.notes, ranked.selected, strict=True)
    ]
    finite = [float(score) if np.isfinite(score) else None for score in ranked.scores]
    notes = [] if ranked.falls else ["In order of entry: gains need not fall."]
    if UNRANKED in kinds[:n_drawn]:
        notes.append(
            "Grey bars are features that were not ranked: a bar shows what the feature would have "
            "added next."
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
    chart = chart_of(
        "Scores of the first features",
        "bars",
        zip(names, finite, kinds, strict=False),
        {"y": "", "x": "score", "series": ""},
        " ".join(notes),
        line=None if null is None else null.level,
    )
    listed = MAX_LISTED
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
    features = kept.order[:MAX_DRAWN]
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
        rows, titles = zip(names, signed, strict=True), {"y": "", "x": "weight"}
        chart = chart_of("Weights", "bars", rows, titles, digits={"x": 3})
        return Section("Weights", text, [chart])
    if len(outputs) != len(coef):
        outputs = [f"target {j}" for j in range(len(coef))]
    across = "class" if kept.classes is not None else "target"
    own = getattr(kept.selector, "support_per_class_", None)
    titles, cells = {"y": "", "x": across, "value": "weight"}, grid(weights, names, outputs)
    blocks: list = [chart_of(f"Weights by {across}", "heatmap", cells, titles, diverging=True)]
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
    features = kept.order[:MAX_DRAWN]
    values = kept.columns(features)
    names = kept.labels(features)
    blocks: list = []
    text = []
    if len(features) > 1:
        with np.errstate(invalid="ignore", divide="ignore"):
            correlation = np.corrcoef(values, rowvar=False)
        blocks.append(
            chart_of(
                "Correlation of the selected features",
                "heatmap",
                grid(correlation, names, names),
                {"y": "", "x": "", "value": "correlation"},
                diverging=True,
                span=1.0,
            )
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
        listed = pairs[:MAX_LISTED]
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
    if count <= MAX_LISTED:
        return f"all {count:,}"
    return f"the first {MAX_LISTED:,} of {count:,}"


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
    drawn = seen[:MAX_DRAWN]
    kinds = ["selected" if support[j] else "left out" for j in drawn]
    chart = chart_of(
        "How often a feature was selected",
        "bars",
        zip(kept.labels(drawn), share[drawn].tolist(), kinds, strict=True),
        {"y": "", "x": "share of folds", "series": ""},
        "Colour: whether the selection from all samples holds it.",
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
    text = [f"Relative optimality at the end (0 is exact): {selector.optimality_:.2g}."]
    if found.step_name == FEATURE_COUNT:
        text.append(
            "This is about the fit on the features chosen, not about their choice: another "
            "choice of as many may fit better."
        )
    reason = why_not_converged(selector)
    if reason:
        text.append(f"Not converged: {reason}.")
    chart = chart_of(
        f"Objective by {found.step_name}",
        "lines",
        rows,
        {"x": found.step_name, "y": "objective"},
        digits={"y": 7},
        marks=len(rows) < 100,
    )
    return Section("Convergence", text, [chart])
