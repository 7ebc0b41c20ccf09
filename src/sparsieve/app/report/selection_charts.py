"""What a chart of a selection shows: numbers, title, labels and caption, for pages and figures.

A page draws these descriptions with Vega (:mod:`sparsieve.app.report.charts`), a notebook or a
paper with Matplotlib (:mod:`sparsieve.app.plotting`). More of them are in ``exploration.py`` and
``sample_charts.py``. None where there is nothing to show.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ..._text import plural
from ...diagnosis.null import PermutationNull
from ...selection.selected_data import SelectedData
from ...selectors.fitted import objective_history
from ...selectors.preparation import unit_names, unit_phrase
from ...selectors.ranked import UNRANKED, RankedFeatures, ranked_units
from .assessment import Assessment
from .elements import Chart, correlations_chart, grid, make_chart
from .encodings import LEFT_OUT, MAX_BANDS, SELECTED
from .exploration import MAX_DRAWN

_WEIGHTS = "Weight of every feature in the fitted model times the feature's standard deviation."
NOISE, OWN = "noise", "selected features"


def curve_chart(assessment: Assessment, n_kept: int, *, has_slider: bool = False) -> Chart | None:
    """Scores of held-out samples over the number of features, one line for every model."""
    rows = assessment.rows
    if not rows:
        return None
    words = assessment.metric
    moves = "; the slider below moves it" * has_slider
    band = "one standard error to either side, corrected for overlapping training sets"
    bands = f"; the band is {band}."
    if len(assessment.scores) > MAX_BANDS:
        bands = f". Point at a line, or click its name in the legend, to see its band: {band}."
    if assessment.n_folds == 1:
        bands = ", which has no standard error."
    return make_chart(
        f"Cross-validated {words} over the number of {assessment.unit}s",
        "lines",
        [(row["k"], row["mean"], row["error"], row["model"]) for row in rows],
        {
            "x": f"number of {assessment.unit}s",
            "y": words,
            "error": "standard error",
            "series": "model",
        },
        f"Mean of {assessment.over_folds}{bands} "
        f"The vertical line marks the number selected{moves}.",
        log_x=max(row["k"] for row in rows) > 20,
        marker=n_kept,
        most=1,
    )


def ranking_chart(
    selector: Any,
    names: Any,
    null: PermutationNull | None = None,
    n_drawn: int | None = None,
    ranked: RankedFeatures | None = None,
) -> Chart:
    """The best features as bars, with the level of noise where that is known."""
    ranked = ranked_units(selector) if ranked is None else ranked
    names, unit = unit_names(selector, names), unit_phrase(selector)
    n_selected = int(ranked.selected.sum())
    if n_drawn is None:
        n_drawn = min(MAX_DRAWN, max(n_selected + 10, 15))
    kinds = [
        note or (SELECTED if selected else LEFT_OUT)
        for note, selected in zip(ranked.notes, ranked.selected, strict=True)
    ]
    finite = [float(score) if np.isfinite(score) else None for score in ranked.scores]
    notes = []
    if n_selected > n_drawn:
        notes.append(f"The first {n_drawn} of {n_selected:,} selected {unit}s.")
    if UNRANKED in kinds[:n_drawn]:
        notes.append(f"Light grey bars show what a {unit} that was not ranked would add next.")
    if null is not None and _reached_by_all(null, finite):
        null = None
    drawn = ranked.features[:n_drawn]
    if null is not None and not _all_compare(selector, ranked):
        notes.append(_first_and_noise(null, str(names[drawn[0]]), finite[0], unit))
        null = None
    if null is not None:
        notes.append(
            f"Dashed line: noise level, which 95 % of {null.n_repeats} fits on shuffled targets "
            "did not exceed."
        )
    return make_chart(
        f"{unit.capitalize()}s by score",
        "bars",
        zip([str(names[j]) for j in drawn], finite, kinds, strict=False),
        {"y": "", "x": "score", "series": ""},
        " ".join(notes),
        digits={"x": 3},
        line=None if null is None else null.level,
        line_name="level of noise",
        meaning=ranked.meaning,
    )


def about_scores(
    selector: Any, ranked: RankedFeatures, null: PermutationNull | None, unit: str
) -> list[str]:
    """What a reader of the scores has to know beside their meaning."""
    found = []
    is_unranked = UNRANKED in ranked.notes
    if not ranked.falls:
        found.append("Listed in the order added, so scores may rise.")
    if is_unranked:
        found.append(
            f"Beyond the end of the path, a score is what the {unit} would have added next."
        )
    if null is None:
        return found
    if _reached_by_all(null, [float(s) for s in ranked.scores if np.isfinite(s)]):
        found.append(
            "Every fit on a shuffled target has the same highest score as this one, so the highest "
            "score does not separate signal from noise, and no noise level is drawn."
        )
    elif not _all_compare(selector, ranked):
        found.append(
            f"Noise is what the best {unit} of a shuffled fit reaches, usually the first to enter, "
            f"so the first {unit} alone is compared with it: a {unit} that enters later explains "
            "what is left."
        )
    return found


def _all_compare(selector: Any, ranked: RankedFeatures) -> bool:
    """Whether every score stands for itself; of features that enter one by one the first does."""
    model = getattr(selector, "selector_", selector)  # the one inside a search
    is_stepwise = len(getattr(model, "history_", ())) and objective_history(model).unit
    return ranked.falls and UNRANKED not in ranked.notes and not is_stepwise


def _first_and_noise(null: PermutationNull, name: str, score: float | None, unit: str) -> str:
    """How the first feature compares with what noise reaches, in a sentence."""
    is_above = score is not None and score > null.level
    where = "above" if is_above else "not above"
    shown = "" if score is None else f" ({score:.3g})"
    return (
        f"The first {unit}, {name}{shown}, is {where} the noise level of {null.level:.3g}, which "
        f"95 % of {null.n_repeats} fits on shuffled targets did not exceed; later ones cannot be "
        "compared with it."
    )


def _reached_by_all(null: PermutationNull, scores: Sequence[float | None]) -> bool:
    """Whether every fit, on noise too, has the highest score that this one has."""
    largest = max((score for score in scores if score is not None), default=0.0)
    return bool(np.allclose(null.best, largest, rtol=1e-9, atol=0.0))


def null_chart(selector: Any, null: PermutationNull) -> Chart:
    """The best scores of fits on shuffled targets beside those of the selected features."""
    ranked = ranked_units(selector)
    own = ranked.scores[ranked.selected & np.isfinite(ranked.scores)]
    noise = null.best[np.isfinite(null.best)]
    rows = [(float(score), OWN) for score in own] + [(float(score), NOISE) for score in noise]
    return make_chart(
        "Scores of the selected features and of noise",
        "distribution",
        rows,
        {"x": "score", "y": ""},
        f"Noise: the best score of each of {null.n_repeats} fits on shuffled targets. 95 % of them "
        f"are at most {null.level:.4g}, the dashed line.",
        line=null.level if np.isfinite(null.level) else None,
        meaning=ranked.meaning,
    )


def weights_chart(kept: SelectedData) -> Chart | None:
    """Weights of the fitted model, times the spread of the feature; by class or target."""
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
    names = [str(kept.names[j]) for j in features]
    outputs = list(kept.class_names)
    signed = _one_signed_weight(weights, outputs)
    if signed is not None:
        rows, titles = zip(names, signed, strict=True), {"y": "", "x": "weight"}
        note = _WEIGHTS
        if outputs:
            note += f" Positive weights point to {outputs[1]}, negative weights to {outputs[0]}."
        return make_chart("Weights", "bars", rows, titles, note, digits={"x": 3})
    if len(outputs) != len(coef):
        outputs = [f"target {j}" for j in range(len(coef))]
    across = "class" if kept.classes is not None else "target"
    cells = grid(weights, names, outputs)
    titles = {"y": "", "x": across, "value": "weight"}
    return make_chart(f"Weights by {across}", "heatmap", cells, titles, _WEIGHTS, diverging=True)


def _one_signed_weight(weights: np.ndarray, classes: list[str]) -> list[float] | None:
    """The weight of a single output, or of the second of two classes against the first."""
    if weights.shape[1] == 1:
        return weights[:, 0].tolist()
    if weights.shape[1] != 2 or len(classes) != 2:
        return None
    return ((weights[:, 1] - weights[:, 0]) / 2.0).tolist()


def correlation_chart(kept: SelectedData) -> Chart | None:
    """How much the selected features repeat each other."""
    features = kept.order[:MAX_DRAWN]
    if len(features) < 2:
        return None
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation = np.corrcoef(kept.columns(features), rowvar=False)
    names = [str(kept.names[j]) for j in features]
    return correlations_chart("Correlation of the selected features", correlation, names)


def substitutes_chart(
    kept: SelectedData, substitutes: dict[int, list[tuple[int, float]]], threshold: float
) -> Chart | None:
    """Features left out that are nearly copies of selected ones."""
    pairs = substitute_pairs(substitutes)
    drawn = sorted(pairs, key=lambda pair: -abs(pair[2]))[:MAX_DRAWN]
    if not drawn:
        return None
    place = {int(feature): i for i, feature in enumerate(kept.kept_units)}
    drawn.sort(key=lambda pair: place.get(int(pair[0]), len(place)))
    names, used = kept.unit_names, [pair[0] for pair in drawn]
    first = f" The {len(drawn)} strongest of {len(pairs):,} are drawn." * (len(pairs) > len(drawn))
    return make_chart(
        f"Substitutes of the selected {kept.unit}s",
        "bars",
        [(f"{names[b]} for {names[a]}", value, str(names[a])) for a, b, value in drawn],
        {"y": "", "x": "correlation", "series": f"selected {kept.unit}"},
        f"{about_substitutes(kept, threshold)}.{first}",
        digits={"x": 3},
        series_names=[str(names[j]) for j in dict.fromkeys(used)],
    )


def substitute_pairs(
    substitutes: dict[int, list[tuple[int, float]]],
) -> list[tuple[int, int, float]]:
    """(selected, left out, correlation) of every pair."""
    return [(one, other, r) for one, others in substitutes.items() for other, r in others]


def about_substitutes(kept: SelectedData, threshold: float) -> str:
    """What makes a substitute, in words."""
    if kept.groups is None:
        return (
            "Features left out whose absolute correlation with a selected feature is at least "
            f"{threshold:g}"
        )
    return (
        "Feature groups left out whose columns explain those of a selected group with a multiple "
        f"correlation of at least {threshold:g} (the root of the explained variance, adjusted for "
        "the number of columns)"
    )


def frequency_chart(assessment: Assessment, kept: SelectedData) -> Chart | None:
    """How often every feature is selected in the folds."""
    if assessment.supports is None:
        return None
    share = assessment.supports.mean(axis=0)
    seen = np.flatnonzero(share)
    of_units = "ranking_" if kept.groups is None else "group_ranking_"
    model = getattr(kept.selector, "selector_", kept.selector)
    ranking = getattr(model, of_units, np.zeros(len(share)))
    seen = seen[np.lexsort((ranking[seen], -share[seen]))]
    support, drawn = np.isin(np.arange(len(share)), kept.kept_units), seen[:MAX_DRAWN]
    kinds = [SELECTED if support[j] else LEFT_OUT for j in drawn]
    first = f" {len(drawn)} of {plural(len(seen), kept.unit)} are drawn." * (len(seen) > len(drawn))
    return make_chart(
        f"How often a {kept.unit} was selected",
        "bars",
        zip([str(kept.unit_names[j]) for j in drawn], share[drawn].tolist(), kinds, strict=True),
        {"y": "", "x": "share of folds", "series": ""},
        f"The selection was repeated in {assessment.n_folds} folds. Colour: whether the selection "
        f"from all samples contains the {kept.unit}.{first}",
    )


def convergence_chart(selector: Any) -> Chart | None:
    """The objective over the iterations."""
    if len(getattr(selector, "history_", ())) == 0:
        return None
    found = objective_history(selector)
    rows = [
        (found.first + step, float(value))
        for step, value in enumerate(found.values)
        if np.isfinite(value)
    ]
    if len(rows) < 2:
        return None
    return make_chart(
        f"Objective by {found.step_name}",
        "lines",
        rows,
        {"x": found.step_name, "y": "objective"},
        digits={"y": 7},
        marks=len(rows) < 100,
    )
