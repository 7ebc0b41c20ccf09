"""The sections of a page about a selection, certificate and stability among them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...diagnosis.null import PermutationNull
from ...meta.held_out import HeldOutCheck
from ...scoring import redundancy_rate
from ...selection.selected_data import SelectedData
from ...selectors.fitted import convergence_failure, objective_history
from ...selectors.preparation import unit_names, unit_phrase
from ...selectors.ranked import ranked_units
from .assessment import Assessment
from .elements import Chart, Column, Section, Table, make_chart
from .encodings import LEFT_OUT, SELECTED
from .exploration import MAX_DRAWN
from .selection_charts import (
    about_scores,
    about_substitutes,
    convergence_chart,
    correlation_chart,
    curve_chart,
    frequency_chart,
    ranking_chart,
    substitute_pairs,
    weights_chart,
)


def make_certificate(selector: Any, X: Any, y: Any, asked: bool) -> Any:
    """The certificate of a fitted selector, proven now if asked for; None without one."""
    found = getattr(selector, "certificate_", None)
    if found is not None or not asked:
        return found
    if not hasattr(selector, "certify"):
        raise ValueError(
            f"nothing can be proven about the selections of {type(selector).__name__}; "
            "RidgeForwardSelector and L20Selector can be certified, or pass certify=False"
        )
    return selector.certify(X, y)


def certificate_section(certificate: Any, n_kept: int, unit: str = "feature") -> Section | None:
    """Objective and proven bound over the number of features."""
    if certificate is None or len(certificate.n_features) == 0:
        return None
    sizes = certificate.n_features.tolist()
    text = [
        certificate.sentence(n_kept if n_kept in sizes else None),
        "The proof is about the training objective (squared error plus ridge penalty), not about "
        "accuracy on new samples. A wide gap means that better features may exist, or that the "
        "bound is weak, as it is with a small ridge penalty.",
    ]
    curves = {
        "this selection": certificate.objective,
        "lower bound for any selection": certificate.lower_bound,
    }
    shares = certificate.share.tolist()
    chart = make_chart(
        "Training objective and its proven lower bound",
        "lines",
        [
            (*point, name)
            for name, curve in curves.items()
            for point in zip(sizes, curve.tolist(), shares, strict=True)
        ],
        {
            "x": f"number of {unit}s",
            "y": "training objective",
            "share": "share of the best set's fit, at least",
            "series": "",
        },
        "The closer the two lines, the less another set of the same size could improve.",
        digits={"y": 6},
        log_x=max(sizes) > 20,
    )
    return Section("How good is this selection?", text, [chart])


_ASSUMED = {
    "worst_case": "nothing",
    "unimodal": "shares of runs have a single peak (unimodal)",
    "r_concave": "shares of runs fall off as usual (r-concave)",
}


def bounds_section(selector: Any, names: np.ndarray) -> Section | None:
    """Selection probabilities and error bounds; None for other selectors."""
    bounds = getattr(selector, "error_bounds_", None)
    if bounds is None:
        return None
    shares, names = selector._probabilities, unit_names(selector, names)
    unit = unit_phrase(selector)
    order = np.argsort(-shares, kind="stable")
    order = order[shares[order] > 0][:MAX_DRAWN]
    stable = shares[order] >= selector.threshold_ - 1e-9
    kinds = np.where(stable, SELECTED, LEFT_OUT).tolist()
    probabilities = make_chart(
        f"How often the runs on halves kept a {unit}",
        "bars",
        zip([str(names[j]) for j in order], shares[order].tolist(), kinds, strict=True),
        {"y": "", "x": "share of the runs", "series": ""},
        "The dashed line is the threshold.",
        digits={"x": 3},
        line=selector.threshold_,
    )
    table = Table(
        f"Expected number of {unit}s kept by mistake, at most",
        [
            Column("assumed", [_ASSUMED[name] for name in bounds]),
            Column("bound", [float(bound) for bound in bounds.values()], digits=3),
        ],
        f"A {unit} is kept by mistake if it reaches the threshold although a single run keeps it "
        f"no more often than a random choice of the same number of {unit}s would.",
    )
    return Section(f"Stability of single {unit}s", [selector.summary()], [probabilities, table])


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
    chart = curve_chart(assessment, kept.own[0], has_slider=has_slider)
    held_out = [] if check is None else [f"Model: {check.model}. {check.sentence()}"]
    if chart is None:
        sentences = [*held_out, *_how_many(assessment, kept, search)]
        return Section(f"How many {kept.unit}s", sentences) if sentences else None
    text = [
        "In every fold, the features are selected, scaled and modelled on the training samples "
        "only; the held-out samples are used for scoring alone.",
        *held_out,
    ]
    if len(assessment.true) < len(kept.y):
        drawn = f"{len(assessment.true):,} samples drawn at random from all {len(kept.y):,}"
        text.append(f"Computed on {drawn}.")
    text += _how_many(assessment, kept, search)
    is_said = assessment.measure is not None and assessment.measure.is_area  # by the curve
    if assessment.auc is not None and kept.classes is not None and not is_said:
        several = "" if len(kept.classes) == 2 else ", averaged over the classes"
        text.append(f"Area under the ROC curve of the linear SVM{several}: {assessment.auc:.2f}.")
    return Section("How well it predicts", text, [chart])


def _how_many(assessment: Assessment, kept: SelectedData, search: Any) -> list[str]:
    """Why so many: what a search for the number says, or that the number was given.

    A curve that no number was chosen by calls none of them the best.
    """
    if search is not None:
        said = " ".join(search.summary().split())
        return [f"Number of {kept.unit}s, by {type(search).__name__}: {said}"]
    if assessment.main is None or len(assessment.ks) < 2:
        return []
    return [
        f'The number of {kept.unit}s was not chosen by this curve; k="auto" (-k auto) chooses it '
        "by cross-validation."
    ]


def ranking_section(
    kept: SelectedData, null: PermutationNull | None, without_null: str = ""
) -> tuple[Chart | None, Section | None]:
    """The best features as bars, and every feature in order; or why noise has no level."""
    if any(getattr(kept.selector, name, None) is None for name in ("scores_", "ranking_")):
        return None, None
    ranked = ranked_units(kept.selector).drop_columns(kept.covariate_units)
    finite = [float(score) if np.isfinite(score) else None for score in ranked.scores]
    n_drawn = min(25, max(kept.own[0] + 5, 10))
    chart = ranking_chart(kept.selector, kept.names, null, n_drawn, ranked=ranked)
    text = [f"Score: {ranked.meaning}", *about_scores(kept.selector, ranked, null, kept.unit)]
    text += [without_null] * bool(without_null)
    listed = MAX_LISTED
    columns = [
        Column("rank", list(range(1, len(finite) + 1))[:listed]),
        *unit_columns(kept.unit, kept, ranked.features[:listed], with_sizes=True),
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
    every = f"All {len(finite):,} {kept.unit}s."
    if len(finite) > listed:
        every = (
            f"The first {listed:,} of {len(finite):,} {kept.unit}s; --ranking writes all of them."
        )
    return chart, Section("Ranking", text, [Table("Ranking", columns, every)])


def weight_section(kept: SelectedData) -> Section | None:
    """Weights of the fitted model, by class."""
    chart = weights_chart(kept)
    if chart is None:
        return None
    text: list[str] = []
    if chart.kind == "bars":
        return Section("Weights", text, [chart])
    features, outputs = kept.order[:MAX_DRAWN], list(dict.fromkeys(chart.columns["x"].values))
    own = getattr(kept.selector, "support_per_class_", None)
    blocks: list = [chart]
    if own is not None and len(own) == len(outputs):
        text.append(
            "The penalty lets every class choose its own features: a feature with one weight "
            "belongs to that class, one with several is shared."
        )
        theirs = [[o for o, mine in zip(outputs, own[:, j], strict=True) if mine] for j in features]
        columns = [
            feature_column("feature", kept, features),
            Column("number of classes", list(map(len, theirs))),
            Column("classes", list(map(", ".join, theirs))),
        ]
        blocks.append(Table("Which feature belongs to which class", columns))
    return Section("Weights", text, blocks)


def redundancy_section(
    kept: SelectedData, substitutes: dict[int, list[tuple[int, float]]] | None, threshold: float
) -> Section | None:
    """How much the selected features repeat each other and others."""
    if substitutes is None or not len(kept.order):
        return None
    blocks: list = []
    text = []
    chart = correlation_chart(kept)
    if chart is not None:
        blocks.append(chart)
        rate = redundancy_rate(kept.columns(kept.order))
        text.append(
            f"The average correlation of two selected features is {2 * rate.signed:z.2f} "
            f"(absolute: {2 * rate.absolute:.2f})."
        )
    pairs = substitute_pairs(substitutes)
    if pairs:
        first, second, correlations = map(list, zip(*pairs[:MAX_LISTED], strict=True))
        columns = [
            *unit_columns("selected", kept, first),
            *unit_columns("substitute", kept, second),
            Column("correlation", correlations, digits=3),
        ]
        note = f"{about_substitutes(kept, threshold)}: {_all_or_first(len(pairs))}."
        blocks.append(Table("Substitutes", columns, note))
    else:
        text.append(
            "No feature that was left out has an absolute correlation of "
            f"{threshold:g} or more with a selected feature."
            if kept.groups is None
            else "No feature group that was left out explains a selected one with a multiple "
            f"correlation of {threshold:g} or more."
        )
    return Section("Correlation and substitutes", text, blocks)


def _all_or_first(count: int) -> str:
    if count <= MAX_LISTED:
        return f"all {count:,}"
    return f"the first {MAX_LISTED:,} of {count:,}"


def feature_column(title: str, kept: SelectedData, features: Any) -> Column:
    """Names of features that a reader can ask about."""
    return Column(title, [kept.names[j] for j in features], features=[int(j) for j in features])


def unit_columns(
    title: str, kept: SelectedData, units: Any, *, with_sizes: bool = False
) -> list[Column]:
    """Names of features that a reader can ask about; names of groups, and how large they are."""
    if kept.groups is None:
        return [feature_column(title, kept, units)]
    columns = [Column(title, [str(kept.unit_names[g]) for g in units])]
    if with_sizes:
        columns.append(Column("columns", [len(kept.groups.columns[g]) for g in units]))
    return columns


def stability_section(assessment: Assessment, kept: SelectedData) -> Section | None:
    """How often every feature is selected."""
    stability = assessment.stability
    if stability is None:
        return None
    # Two selections always share as many features as each other: their spread tells nothing.
    interval = f"; its 95 % interval is {stability.low:z.2f} to {min(stability.high, 1.0):.2f}"
    text = [
        f"The selection was repeated in each of {assessment.n_folds} folds. Stability is "
        f"Nogueira's index: 1 means the same {kept.unit}s in every fold, 0 no more agreement than "
        f"by chance{interval * (assessment.n_folds > 2)}."
    ]
    chart = frequency_chart(assessment, kept)
    return Section("Stability", text, [chart] if chart is not None else ())


def convergence_section(selector: Any) -> Section | None:
    """The objective on its way down."""
    chart = convergence_chart(selector)
    if chart is None:
        return None
    text = [f"Relative optimality at the end (0 is exact): {selector.optimality_:.2g}."]
    if objective_history(selector).unit:
        text.append(
            "This is about the fit on the chosen features, not about their choice: another set of "
            "the same size may fit better."
        )
    reason = convergence_failure(selector)
    if reason:
        text.append(f"Not converged: {reason}.")
    return Section("Convergence", text, [chart])
