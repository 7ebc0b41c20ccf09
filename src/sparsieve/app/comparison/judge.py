"""What every selection is scored by: the scores, and the model that predicts held-out samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ..._checks import check_choice
from ...meta.base import request_weights
from ...meta.final_model import check_model, usual_model
from ...scoring.folds import Fold, seeing_score, why_seeing
from ...scoring.models import MODELS
from ...scoring.ridge_path import RIDGE
from ...scoring.scorers import Score, check_models, resolve_scores
from ...selectors.around import check_predicts, last_step
from .data import ComparisonData

AUTO = "auto"
METRICS = {
    "classification": ("accuracy", "balanced_accuracy"),
    "regression": ("r2",),
    "counts": ("deviance_explained",),
    "survival": ("concordance", "uno_concordance"),
}


@dataclass(frozen=True)
class Judge:
    """The model that scores, and how the engine is told."""

    name: str
    words: str
    estimator: Any
    how: dict[str, Any]


def choose_scores(
    scoring: Any, estimator: Any, data: ComparisonData, splits: Sequence[Fold]
) -> tuple[dict[str, Score], str]:
    """What is measured, and why that is not what is usual."""
    scores = resolve_scores(scoring, data.task, default=METRICS)
    is_open = scoring is None and estimator is None and data.task == "classification"
    if not is_open or (seeing := seeing_score(data.y, splits)) is None:
        return scores, ""
    first = resolve_scores(seeing, data.task)
    return first | scores, why_seeing(data.y, next(iter(first.values())).title)


def choose_judge(
    model: str, estimator: Any, scores: Mapping[str, Score], data: ComparisonData
) -> Judge:
    """The model that scores every selection."""
    if estimator is not None:
        name = _check_own(estimator, model, scores)
        check_predicts(estimator, data.task)
        return Judge(name, name, estimator, {"models": {name: estimator}})
    usual = usual_model(
        *(data.task, len(data.y), list(scores.values())),
        has_classes=data.task == "classification",
        kind="trees" if model == "trees" else "linear",
    )
    if model in (AUTO, usual.name):
        made = request_weights(usual.estimator)
        how = {"models": {usual.name: made}, "dense": True}
        return Judge(usual.name, f"a {usual.words}", made, how)
    known = dict.fromkeys([usual.name, "ridge", *MODELS[data.task], "trees"])
    if data.task in ("counts", "survival"):
        known.pop("ridge")
    if data.task == "survival":
        known.pop("trees")
    check_choice("model", model, known)
    if model == "ridge":  # of classes
        ridge = RidgeClassifier(alpha=RIDGE * len(data.y))
        for score in scores.values():
            score.check_model(ridge, "'ridge'", 'use model="softmax"')
        made = request_weights(make_pipeline(StandardScaler(), ridge))
        return Judge("ridge", "a ridge model", made, {"models": {"ridge": made}, "dense": True})
    check_models(scores, data.task, [model])
    made = MODELS[data.task][model]
    how = {"models": [model], "standardize": True}
    return Judge(model, made.words, made(), how)


def _check_own(estimator: Any, model: str, scores: Mapping[str, Score]) -> str:
    """What a model of the user's own is called."""
    if model != AUTO:
        raise ValueError(f"give either model={model!r} or an estimator, not both")
    check_model(estimator)
    name = type(last_step(estimator)).__name__
    for score in scores.values():
        score.check_model(estimator, name, "give another estimator")
    return name
