"""The fits of all methods on all splits, and the model and the scores that judge them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.parallel import Parallel, delayed

from ..._checks import check_choice
from ..._sklearn import check_method_params
from ..._text import listed_names, plural
from ...meta.base import request_weights
from ...meta.final_model import check_model, usual_model
from ...meta.progress import Pace
from ...scoring.engine import (
    ALL_FEATURES,
    fit_preparation,
    score_columns,
    score_features,
    score_fold,
)
from ...scoring.folds import Fold, one_by_one, seeing_score, why_seeing
from ...scoring.metrics import calibrated_losses
from ...scoring.models import MODELS
from ...scoring.outcomes import Outcome, Progress, call_guardedly, fit_selection
from ...scoring.ridge_path import RIDGE, default_scoring
from ...scoring.scorers import Score, check_models, finite_folds, resolve_scores
from ...selectors.around import check_predicts, group_arguments, last_step, weight_arguments
from ...selectors.base import BaseSelector
from ...validation.target import with_task
from .data import ComparisonData
from .method_result import MethodResult

ALL_SAMPLES = -1  # instead of the number of a split
NO_FEATURES = 0  # features that a guess is made from
_FASTER = "fewer methods or numbers in ks, n_repeats=1 or n_jobs=-1 make it faster"
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


class Fits:
    """The fits of all methods on all splits and on all samples."""

    def __init__(
        self,
        data: ComparisonData,
        methods: dict[str, BaseSelector],
        splits: list[Fold],
        ks: list[int],
        judge: Judge,
        scores: Mapping[str, Score],
    ) -> None:
        self.data: ComparisonData = data
        self.methods: dict[str, BaseSelector] = methods
        self.splits: list[Fold] = splits
        self.ks: list[int] = ks
        metrics = list(scores.values())
        self.how: dict[str, Any] = {"task": data.task, "metrics": metrics, **judge.how}
        weights = data.sample_weight
        self.score_params: dict[str, Any] = {} if weights is None else {"sample_weight": weights}
        self.path: dict[str, Any] = {}
        if judge.how.get("dense"):  # the usual model, at all numbers in one go
            made = default_scoring(judge.estimator, data.target, splits, metrics)
            self.path = {name: made[name] for name in ("path",) if name in made}
        if judge.name == "ridge" or len(ks) == 1:
            self.path = {}
        self.how["calibrate"] = data.task == "classification" and len(ks) > 1
        self.failed: dict[str, str] = {}
        self.stopped: str = ""  # what an interrupt left, as a sentence
        self.model_params: dict[str, Any] = weight_arguments(judge.estimator, data.sample_weight)

    def run(
        self, n_jobs: int | None, on_progress: Callable[[Progress], None] | None
    ) -> dict[str, list[Any]]:
        """The fits by method: on every split in order, then on all samples."""
        total = len(self.methods) * (len(self.splits) + 1)
        done: dict[str, dict[int, Any]] = {name: {} for name in self.methods}
        pace = Pace("compare", total, "fit", _FASTER)
        try:
            for finished, outcome in enumerate(pace.follow(self._outcomes(n_jobs)), 1):
                number, _, name = outcome.key.partition(" ")
                if outcome.result is None:
                    pace.n_failed += 1
                    self.failed.setdefault(name, outcome.error)
                else:
                    done[name][int(number)] = outcome.result
                if on_progress is not None:
                    done_well = finished - pace.n_failed
                    on_progress(Progress(total, done_well, pace.n_failed, finished, name))
        except KeyboardInterrupt:
            self._stop([name for name, fits in done.items() if len(fits) == len(self.splits) + 1])
        return {
            name: [fits[split] for split in [*range(len(self.splits)), ALL_SAMPLES]]
            for name, fits in done.items()
            if name not in self.failed
        }

    def _stop(self, finished: list[str]) -> None:
        """Leave out what an interrupt has left unfinished, or give up where that is all."""
        if not finished:
            raise KeyboardInterrupt(
                f"interrupted before any of the {len(self.methods)} methods was finished on all "
                f"{len(self.splits)} splits, so nothing is compared; fewer methods or numbers in "
                "ks, n_repeats=1 or n_jobs=-1 make a comparison shorter"
            ) from None
        left = [name for name in self.methods if name not in finished and name not in self.failed]
        self.failed |= dict.fromkeys(left, "interrupted")
        self.stopped = (
            f"interrupted: {len(finished)} of {plural(len(self.methods), 'method')} "
            f"{'was' if len(finished) == 1 else 'were'} finished, and {listed_names(left)} "
            f"{'is' if len(left) == 1 else 'are'} left out"
        )

    def _outcomes(self, n_jobs: int | None) -> Iterable[Outcome]:
        parts = [*enumerate(self.splits), (ALL_SAMPLES, None)]

        def tasks() -> Iterator[Any]:
            # One method after the other, so that an interrupt leaves some that are finished.
            for name, selector in self.methods.items():
                for number, split in parts:
                    if name in self.failed:  # by now, where jobs are made as they are needed
                        break
                    work = self._on_all_samples if split is None else self._score_fold
                    yield delayed(call_guardedly)(f"{number} {name}", work, selector, split)

        return one_by_one(tasks(), n_jobs, ordered=False)

    def _score_fold(self, selector: BaseSelector, split: Fold) -> Any:
        return score_fold(
            self._for_task(selector),
            self.data.X,
            self.data.y,
            *split,
            ks=self.ks,
            prepare=self.data.prepare,
            fit_params=self._fit_arguments(selector),
            model_params=self.model_params,
            score_params=self.score_params,
            record_warnings=True,
            **{**self.how, **self.path},
        )

    def losses(
        self, fits: Sequence[Any], ks: list[int], known: np.ndarray, repeats: np.ndarray
    ) -> tuple[np.ndarray, float] | None:
        """The log loss of what is said of the classes at every number, and of a guess, if known."""
        table = [one.losses for one in fits[:-1]]
        if not all(len(one) >= len(ks) for one in table) or not table[0]:
            return None
        (model,) = {name for name, _ in table[0]}
        found = np.array([[losses[model, k] for losses in table] for k in ks])
        sizes = np.array([len(test) for _, test in self.splits])
        of_guess = float(np.average(found[0, known, 0], weights=sizes[known]))
        return calibrated_losses(found[:, known], sizes[known], repeats), of_guess

    def score_count(self, k: int, fits: Sequence[Any], n_jobs: int | None) -> dict[str, np.ndarray]:
        """By score: what the model gives on every split with the k features chosen there."""
        how = {name: value for name, value in self.how.items() if name != "calibrate"}
        found = Parallel(n_jobs=n_jobs)(
            delayed(score_features)(
                self.data.X,
                self.data.y,
                *split,
                {k: fit.columns[k]},
                prepare=self.data.prepare,
                model_params=self.model_params,
                score_params=self.score_params,
                **how,
            )
            for split, fit in zip(self.splits, fits, strict=False)
        )
        tables = [next(iter(one.scores.values())) for one in found]
        return {name: np.array([table[name] for table in tables]) for name in tables[0]}

    def _on_all_samples(self, selector: BaseSelector, _: None) -> Any:
        """(the selection, the ranking), without the fitted selector, which may be large."""
        X = fit_preparation(self.data.prepare, self.data.X, slice(None))[1]
        selector = self._for_task(selector)
        given = self._fit_arguments(selector)
        found = fit_selection(
            selector, X, self.data.y, self.ks, fit_params=given, record_warnings=True
        )
        return replace(found, fitted=None), (
            found.fitted.ranking_
            if self.data.feature_groups is None
            else found.fitted.group_ranking_
        )

    def _fit_arguments(self, selector: BaseSelector) -> dict[str, Any]:
        """What the fit of a method gets beside X and y."""
        weights = weight_arguments(selector, self.data.sample_weight)
        return group_arguments(selector, self.data.groups) | weights

    def _for_task(self, selector: BaseSelector) -> BaseSelector:
        return with_task(selector, self.data.task if self.data.y.ndim == 1 else "auto")

    def levels(self) -> dict[Any, dict[str, np.ndarray]]:
        """Scores on every split without any feature and, if that takes seconds only, with all."""
        n_features = self.data.X.shape[1]
        columns: dict[Any, np.ndarray] = {NO_FEATURES: np.arange(0)}
        # Squared training samples times features times splits, up to which it takes seconds.
        if float(len(self.splits[0][0])) ** 2 * n_features * len(self.splits) <= 4e10:
            columns[ALL_FEATURES] = np.arange(n_features)
        found = {
            key: call_guardedly(str(key), self._level, some).result for key, some in columns.items()
        }
        return {key: level for key, level in found.items() if level is not None}

    def _level(self, columns: np.ndarray) -> dict[str, np.ndarray]:
        scores: list[dict[str, float]] = []
        for train, test in self.splits:
            X = fit_preparation(self.data.prepare if len(columns) else None, self.data.X, train)[1]
            y = self.data.y
            parts = X[train], y[train], X[test], y[test]
            # A guess has no steps that weights could go to.
            params = self.model_params if len(columns) else self.score_params
            params = check_method_params(X, params, indices=train)
            given = check_method_params(X, self.score_params, indices=test)
            found = score_columns(
                *parts, {None: columns}, model_params=params, score_params=given, **self.how
            )
            scores += found.scores.values()
        return {name: np.array([one[name] for one in scores]) for name in scores[0]}


def without_gaps(
    scores: Mapping[str, Score],
    results: Mapping[str, MethodResult],
    levels: Mapping[Any, dict[str, np.ndarray]],
    fits: Mapping[str, Any],
) -> tuple[list[str], np.ndarray]:
    """Leave out the splits on which a score is not defined for some method, and say so.

    Returns what is to be said, and a mask of the splits that are kept for the first score.
    """
    said, masks = [], []
    for name, score in scores.items():
        every = np.concatenate([r.scores[name][: r.n_reached] for r in results.values()])
        failures = [
            next((one.failures[name] for one in of_split if name in one.failures), "")
            for of_split in zip(*(parts[:-1] for parts in fits.values()), strict=True)
        ]
        try:
            known, sentence = finite_folds(score, every, failures)
        except ValueError as error:
            if name == next(iter(scores)):
                raise
            known, sentence = np.ones(every.shape[-1], dtype=bool), str(error)
        said.append(sentence)
        masks.append(known)
        for table in (*(result.scores for result in results.values()), *levels.values()):
            table[name] = table[name][..., known]
    return said, masks[0]
