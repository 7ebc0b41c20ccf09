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
from .elements import Chart, Column, Section, Table, chart_of, grid
from .exploration import MAX_DRAWN
from .selected_data import SelectedData

_MAX_BARS = 25  # of the picture that a page opens with
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
    held_out = [] if check is None else [f"Checked again with a ridge model. {check.sentence()}"]
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
        "corrected for overlapping training sets. "
        f"The dashed line marks the number selected{moves}.",
        log_x=max(row["k"] for row in rows) > 20,
        marker=len(kept.order),
        most=1,
    )
    text = [
        "In every fold, the features are selected, scaled and modelled on the training samples "
        "only; the held-out samples are used for scoring alone.",
        *held_out,
    ]
    if len(assessment.true) < len(kept.y):
        drawn = f"{len(assessment.true):,} samples drawn at random from all {len(kept.y):,}"
        text.append(f"Computed on {drawn}.")
    text += _how_many(assessment, kept, search)
    if assessment.auc is not None and kept.classes is not None:
        several = "" if len(kept.classes) == 2 else ", averaged over the classes"
        text.append(f"Area under the ROC curve of the linear SVM{several}: {assessment.auc:.2f}.")
    return Section("How well it predicts", text, [chart])


def _how_many(assessment: Assessment, kept: SelectedData, search: Any) -> list[str]:
    """How flat the curve is: that of a search for the number, or else the one drawn here."""
    if search is not None:
        said = " ".join(search.summary().split())
        return [f"Number of features, by {type(search).__name__}: {said}"]
    main = assessment.main
    if main is None or not (said := assessment.flatness(main["model"], kept.guess)):
        return []
    return [f"Number of features, by the curve of the {main['model']}: {said}"]


def ranking_section(
    kept: SelectedData, null: PermutationNull | None
) -> tuple[Chart | None, Section | None]:
    """The best features as bars, and every feature in order."""
    if any(getattr(kept.selector, name, None) is None for name in ("scores_", "ranking_")):
        return None, None
    ranked = ranked_features(kept.selector)
    n_drawn = min(_MAX_BARS, max(len(kept.order) + 5, 10))
    kinds = [
        note or ("selected" if selected else "left out")
        for note, selected in zip(ranked.notes, ranked.selected, strict=True)
    ]
    finite = [float(score) if np.isfinite(score) else None for score in ranked.scores]
    text, notes = [f"Score: {ranked.meaning}"], []
    if len(kept.order) > n_drawn:
        notes.append(f"The first {n_drawn} of {len(kept.order):,} selected features.")
    if not ranked.falls:
        text.append("Features are in order of entry; scores need not fall.")
    if UNRANKED in kinds[:n_drawn]:
        text.append(
            "Beyond the end of the path, a score is what the feature would have added next."
        )
    if null is not None and _reached_by_all(null, finite):
        text.append(
            "Every fit on a shuffled target has the same highest score as this one, so the highest "
            "score does not separate signal from noise, and no noise level is drawn."
        )
        null = None
    if null is not None:
        notes.append(
            f"Dashed line: noise level, which 95 % of {null.n_repeats} fits on shuffled targets "
            "did not exceed."
        )
        if not ranked.falls or UNRANKED in kinds:
            text.append(
                "The noise level is that of the best feature of a shuffled fit, usually the first "
                "to enter. A feature that enters later explains what is left, so a bar below the "
                "line is not necessarily noise."
            )
    names = kept.labels(ranked.features[:n_drawn])
    chart = chart_of(
        "Features by score",
        "bars",
        zip(names, finite, kinds, strict=False),
        {"y": "", "x": "score", "series": ""},
        " ".join(notes),
        digits={"x": 3},
        line=None if null is None else null.level,
    )
    listed = MAX_LISTED
    columns = [
        Column("rank", list(range(1, len(finite) + 1))[:listed]),
        feature_column("feature", kept, ranked.features[:listed]),
        Column("score", finite[:listed], digits=3),
    ]
    if ranked.pvalues is not None and ranked.adjusted is not None:
        columns += [
            Column("p-value", ranked.pvalues[:listed].tolist(), digits=2),
            Column("p-value, FDR-adjusted", ranked.adjusted[:listed].tolist(), digits=2),
        ]
    columns.append(Column("selected", ranked.selected[:listed].tolist()))
    if any(ranked.notes):
        columns.append(Column("note", ranked.notes[:listed]))
    every = f"All {len(finite):,} features."
    if len(finite) > listed:
        every = f"The first {listed:,} of {len(finite):,} features; --ranking writes all of them."
    return chart, Section("Ranking", text, [Table("Ranking", columns, every)])


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
    text = ["Weight of every feature in the fitted model times the feature's standard deviation."]
    outputs = list(kept.class_names)
    signed = _one_signed_weight(weights, outputs)
    if signed is not None:
        if outputs:
            text.append(
                f"Positive weights point to {outputs[1]}, negative weights to {outputs[0]}."
            )
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
            f"The average correlation of two selected features is {2 * rate.signed:z.2f} "
            f"(absolute: {2 * rate.absolute:.2f})."
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
                    feature_column("substitute", kept, [pair[1] for pair in listed]),
                    Column("correlation", [pair[2] for pair in listed], digits=3),
                ],
                note="Features left out whose absolute correlation with a selected feature is at "
                f"least {threshold:g}: {_all_or_first(len(pairs))}.",
            )
        )
    else:
        text.append(
            "No feature that was left out has an absolute correlation of "
            f"{threshold:g} or more with a selected feature."
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
    interval = f"; its 95 % interval is {stability.low:z.2f} to {min(stability.high, 1.0):.2f}"
    text = [
        f"The selection was repeated in each of {assessment.n_folds} folds. Stability is "
        "Nogueira's index: 1 means the same features in every fold, 0 no more agreement than by "
        f"chance{interval * (assessment.n_folds > 2)}."
    ]
    drawn = seen[:MAX_DRAWN]
    kinds = ["selected" if support[j] else "left out" for j in drawn]
    chart = chart_of(
        "How often a feature was selected",
        "bars",
        zip(kept.labels(drawn), share[drawn].tolist(), kinds, strict=True),
        {"y": "", "x": "share of folds", "series": ""},
        "Blue: selected on all samples.",
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
            "This is about the fit on the chosen features, not about their choice: another set of "
            "the same size may fit better."
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
