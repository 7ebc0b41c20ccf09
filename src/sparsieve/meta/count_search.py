"""The search for the number of features: scores on every fold, a choice, and the final fit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, clone
from sklearn.utils.parallel import Parallel, delayed

from .._checks import warn_user
from .._saved import Bools, Maybe
from ..preprocessing.covariates import preparation
from ..scoring.engine import FoldScores, fit_preparation, read_columns, score_features, score_fold
from ..scoring.folds import Fold, error_over_splits, fold_repeats, seeing_score, why_seeing
from ..scoring.metrics import calibrated_losses, metric_name
from ..scoring.models import DEFAULT_METRICS, TASKS
from ..scoring.outcomes import count_fixed_features, fit_selection
from ..scoring.ridge_path import default_scoring
from ..scoring.scorers import Score, finite_folds, one_score, warn_ignored_weights
from ..selectors.around import check_predicts
from ..selectors.base import BaseSelector, FeatureScores, RandomState, TrainingData
from ..validation.columns import FixedColumns, is_on_device
from ..validation.target import check_varies, with_task
from .base import check_weighted_classes, count_jobs, route_arguments
from .final_model import FinalModel
from .guess import TestedModel, better_than_a_guess, gain_without_features, score_without_features
from .progress import Interrupted, follow_tasks
from .rules import CountCurve, Kept, as_well, choices, describe, not_the_median
from .trials import (
    LINEAR_STEPS,
    MOST_REPEATS,
    TREE_STEPS,
    count_repeats,
    most_to_try,
    numbers_to_try,
    search_folds,
)

MODEL = "estimator"  # what the one model is called in the scores of a fold


class CountSearch(FinalModel):
    """A selector around another that scores numbers of features on folds, and takes one by a rule.

    Its subclass has the parameters.
    """

    _one_model: ClassVar[bool] = False  # no other model searches for the number

    ks: str | Iterable[int]
    rule: str
    cv: Any
    n_repeats: str | int
    random_state: RandomState
    n_jobs: int | None
    verbose: int

    estimator_: Maybe[BaseEstimator]
    support_: Annotated[Bools, "features"]
    prepare: Any

    selector_: BaseSelector
    prepare_: Maybe[BaseEstimator | None]
    best_k_: int
    guess_: Maybe[float | None]
    p_value_: Maybe[float | None]
    _description: str
    _search_words: Maybe[str]
    _kept_error: Maybe[float]
    _untested: Maybe[str]  # why nothing is known of a guess
    _as_well: Maybe[str]
    _n_beside: ClassVar[int] = 0  # covariates, which sentences do not count
    _stopped: Maybe[str]
    _n_held_out: Maybe[int]

    def _fit(self, data: TrainingData, params: Any = None, groups: Any = None) -> FeatureScores:
        self._stopped = ""
        given, task = {"groups": groups, **(params or {})}, data.target.task
        if task == "regression":
            check_varies(data.target.Y[:, 0] if data.target.Y.shape[1] == 1 else data.target.Y)
        self._task = task if task in ("counts", "survival") else None
        is_rare = self.scoring is None and self.estimator is None and task == "classification"
        self._seeing = seeing_score(data.target.codes) if is_rare else None
        selector, estimator, score, arguments = self._parts(data, given)
        check_predicts(estimator, task)
        check_weighted_classes(given, data.target)
        n_always, fixed = (
            count_fixed_features(selector),
            FixedColumns.from_selector(selector, data.design.shape[1]),
        )
        if data.groups is not None:
            fixed = data.groups.choices(data.groups.widen(fixed))
            n_always = fixed.n_always
        sizes = None if data.groups is None else np.diff(data.groups.starts)
        most = most_to_try([selector], data.target, sizes)
        last, steps = fixed.n_available, TREE_STEPS if self._kind == "trees" else LINEAR_STEPS
        span: dict[str, Any] = {"most": most, "steps": steps, "strict": False}
        self.ks_: np.ndarray = numbers_to_try(self.ks, last, n_always, **span)
        if "sample_weight" in arguments.scorer.score and self.scoring is not None:
            warn_ignored_weights([score])
        X, y = data.samples()
        if self.prepare is not None and is_on_device(X):
            raise TypeError("prepare needs X in main memory, not on a device; pass X.cpu().numpy()")
        how_often = self.cv, self._repeats(data, groups), self.random_state
        folds = search_folds(*how_often, X, y, data.target, arguments.splitter.split, groups)
        if self._seeing and seeing_score(data.target.codes, folds) is None:
            self._seeing = None
            selector, estimator, score, arguments = self._parts(data, given)
        scoring = self._scoring
        selector = with_task(selector, task)
        how = {
            "ks": self.ks_.tolist(),
            "prepare": preparation(self.prepare),
            "fit_params": arguments.selector.fit,
            "model_params": arguments.estimator.fit,
            "score_params": arguments.scorer.score,
            "need_all": True,
            "models": {MODEL: estimator},
            "dense": self.estimator is None,
            "task": task,
            "metrics": [score],
            "predict": task in TASKS,
        }
        if scoring is not None:
            score.check_target(y, task)
            score.check_model(estimator, type(estimator).__name__, "give another estimator")
        if self.estimator is None:
            asked = [] if scoring is None else [score]
            how |= default_scoring(estimator, data.target, folds, asked)
        is_other = self._kind == "trees" or task == "classification"  # than the one that is kept
        if is_other and (len(self.ks_) == 1 or (self._one_model and self._kind == "linear")):
            how.pop("path", None)
        how["calibrate"] = task == "classification" and len(self.ks_) > 1
        tasks = (delayed(score_fold)(selector, X, y, *fold, **how) for fold in folds)
        n_jobs, verbose = count_jobs(X, self.n_jobs), self.verbose
        try:
            results = follow_tasks(
                self, tasks, len(folds), name="fold", n_jobs=n_jobs, verbose=verbose
            )
        except Interrupted as stopped:
            folds, self._stopped = _whole_repeats(folds, len(stopped.results), len(y))
            results = stopped.results[: len(folds)]
        self._watch(folds, results, how)
        self.n_splits_: int = len(folds)
        self.n_samples_: int = X.shape[0]
        self._n_held_out = len(np.unique(np.concatenate([test for _, test in folds])))
        share = float(np.mean([len(test) / len(train) for train, test in folds]))
        name = how["metrics"][0] if isinstance(how["metrics"][0], str) else score.name
        values = np.array([result.curve(MODEL, name) for result in results]).T
        reasons = [result.failures.get(name, "") for result in results]
        known, missing = finite_folds(self._asked_score(score, task), values, reasons)
        if missing:
            warn_user(missing)
        scores = score.turned(values)
        named = None if scoring is None and self.estimator is not None else self.measure
        repeats = fold_repeats(folds, len(y))[known]
        curve = CountCurve(self.ks_, scores[:, known], share, named, fixed.unit, repeats=repeats)
        if (losses := _calibrated_losses(results, folds, self.ks_, known, repeats)) is not None:
            curve = replace(curve, losses=losses[0], guess_loss=losses[1])
        self.guess_ = self.p_value_ = None
        self.beats_guess_: bool | None = None
        self._warning = ""
        # Models of scikit-learn score themselves by accuracy or R squared.
        asked_score = score if scoring is not None else self._usual_score(task)
        if asked_score is not None and task in TASKS:
            sound = [fold for fold, is_known in zip(folds, known, strict=True) if is_known]
            weights = None if get_config()["enable_metadata_routing"] else given
            weights = (weights or {}).get("sample_weight")
            params = how["score_params"]
            self.guess_ = gain_without_features(asked_score, y, sound, task, params, weights)
        elif all(result.predictions for result in results):
            weights = how["score_params"].get("sample_weight")
            self.guess_ = score_without_features(data.target, weights)
        self._untested = self._cannot_test(task)
        if self.guess_ is None and not self._untested:
            self._untested = f"the {score.title} of a guess is not known"
        named, test = asked_score or self.measure, None
        if self.guess_ is not None and not self._untested:
            test = better_than_a_guess(results, y, task, folds, groups=groups, score=named)
            self.p_value_ = test.p_value
        self._why = why_seeing(data.target.codes, score.title) if self._seeing else ""
        curve = replace(curve, guess=self.guess_, p_value=self.p_value_)
        row = self._choose(curve, scores, results, int(n_always))
        self.kept_scores_: np.ndarray = scores[row]
        self._search_words = self.model_words
        if how.get("path") is not None and is_other:
            self._search_words = "quick trees" if self._kind == "trees" else "ridge model"
            self.kept_scores_ = self._score_final_models(score, X, y, folds, results, how)
        sound = self.kept_scores_[np.isfinite(self.kept_scores_)]
        self._kept_error = float(error_over_splits(sound, share))
        self.best_score_: float = float(sound.mean())
        if test is not None and self.guess_ is not None:
            # Where another model searched, the one that ships is spoken of.
            by_other = self._search_words != self.model_words
            top = self.best_score_ if by_other else float(curve.means[curve.top])
            self.beats_guess_ = test.beats_guess(top, self.guess_)
            is_linear = self.estimator is None and self._kind == "linear"
            tested = TestedModel(task, "" if is_linear else self.model_words)
            said = named.title, named.shown_gain, named.better, tested
            self._warning = test.sentence(top, self.guess_, *said)
        kept = Kept(row, self.rule, self.best_score_, self._kept_error, self.model_words)
        counted = replace(curve, ks=curve.ks - self._n_beside)
        self._description = describe(counted, kept, self._warning, self._search_words)
        if self.rule == "median":
            self._description += not_the_median(curve)
        if curve.score is not None and self._why:
            self._description += (
                f" {curve.score.title} stands in for accuracy, because one class is large."
            )
        try:
            self._fit_on_all(selector, estimator, X, y, how)
        except KeyboardInterrupt:
            self.__dict__.pop("support_", None)
            raise KeyboardInterrupt(
                f"interrupted in the fit on all samples, so {type(self).__name__} is not fitted; "
                f"the folds chose {self.best_k_}, which can be selected without a search"
            ) from None
        return FeatureScores(self.scores_, n_kept=self.best_k_)

    def _fit_on_all(self, selector: Any, estimator: Any, X: Any, y: Any, how: Any) -> None:
        """Fit what was chosen: the same long path as in the folds, which the curve speaks of."""
        self.prepare_, X = fit_preparation(how["prepare"], X, slice(None))
        largest = [int(self.ks_[-1])]
        found = fit_selection(selector, X, y, largest, fit_params=how["fit_params"], need_all=True)
        self._set_selection(found.fitted, self.best_k_)
        kept = read_columns(X, np.flatnonzero(self.support_), dense=self.estimator is None)
        self.estimator_ = clone(estimator).fit(kept, y, **how["model_params"])

    def _repeats(self, data: TrainingData, groups: Any) -> int:
        if not isinstance(self.n_repeats, str):
            return int(self.n_repeats)
        # The median is one of repeats.
        return MOST_REPEATS if self.rule == "median" else count_repeats(data.target, groups)

    def _parts(self, data: TrainingData, given: dict[str, Any]) -> tuple[Any, Any, Score, Any]:
        """The selector and the estimator, the score, and what each of them is told."""
        selector, estimator = self._models(data)
        selector = self._place_member(selector)
        if self.max_correlation is not None:
            selector = clone(selector).set_params(max_correlation=self.max_correlation)
        arguments = route_arguments(
            self,
            given,
            weighted_members={"selector": selector, "estimator": estimator},
            direct={"groups": ("splitter", "split")},
        )
        return selector, estimator, one_score(self._scoring, estimator), arguments

    def _watch(self, folds: list[Any], results: list[FoldScores], how: dict[str, Any]) -> None:
        """Nothing here: a search that keeps what the folds gave would be large."""

    def _asked_score(self, score: Score, task: str) -> Score:
        """The score by the name that a reader knows, where nobody gave it one."""
        is_ours = self._scoring is None and self.estimator is None
        if not is_ours or task not in DEFAULT_METRICS:
            return score
        return replace(score, asked=metric_name(DEFAULT_METRICS[task][0]))

    def _set_selection(self, fitted: Any, k: int) -> None:
        """Keep the features that a selector fitted on all samples has at k."""
        self.selector_ = fitted.at(k)
        self.scores_: NDArray[np.floating[Any]] = np.asarray(self.selector_.scores_, np.float64)
        self.ranking_: NDArray[np.int64] = self.selector_.ranking_
        self.support_ = self.selector_.support_
        for name in ("group_names_", "group_scores_", "group_ranking_", "group_support_"):
            self.__dict__.pop(name, None)  # of an earlier fit
            if name in vars(self.selector_):
                setattr(self, name, getattr(self.selector_, name))

    def _score_final_models(
        self,
        score: Score,
        X: Any,
        y: np.ndarray,
        folds: list[Fold],
        results: list[FoldScores],
        how: dict[str, Any],
    ) -> np.ndarray:
        """The gains of the model that ships on every fold, with the features kept there."""
        left_out = ("ks", "path", "fit_params", "need_all", "calibrate")
        how = {name: value for name, value in how.items() if name not in left_out}
        k = self.best_k_
        found = Parallel(n_jobs=count_jobs(X, self.n_jobs))(
            delayed(score_features)(X, y, *fold, {k: result.columns[k]}, **how)
            for fold, result in zip(folds, results, strict=True)
        )
        name = how["metrics"][0] if isinstance(how["metrics"][0], str) else score.name
        return np.asarray(score.turned(np.array([one.scores[MODEL, k][name] for one in found])))

    def _choose(
        self, curve: CountCurve, scores: np.ndarray, results: list[FoldScores], n_always: int
    ) -> int:
        """Keep the curve and what the rules take; ``scores`` are those of all folds.

        Returns the place of the number that is kept.
        """
        self.cv_results_: dict[str, Any] = curve.results(scores)
        seconds = np.mean([(one.selection.seconds, one.model_seconds) for one in results], axis=0)
        for name, mean in zip(("fit", "score"), seconds, strict=True):
            self.cv_results_[f"mean_{name}_time"] = np.full(len(self.ks_), mean)
        chosen = choices(curve)
        self.k_by_rule_: dict[str, int] = {name: int(self.ks_[i]) for name, i in chosen.items()}
        self.best_k_ = self.k_by_rule_[self.rule]
        first, last = curve.plateau
        self.plateau_: tuple[int, int] = (int(self.ks_[first]), int(self.ks_[last]))
        self.selected_in_folds_: np.ndarray = _pad_rows([r.columns[self.best_k_] for r in results])
        # Who reads the selection counts what is chosen, without what is always kept.
        self._as_well = as_well(replace(curve, ks=curve.ks - n_always), chosen[self.rule])
        return chosen[self.rule]


def _calibrated_losses(
    results: list[FoldScores],
    folds: list[Fold],
    ks: np.ndarray,
    known: np.ndarray,
    repeats: np.ndarray,
) -> tuple[np.ndarray, float] | None:
    """The log loss of what is said of the classes, on every fold that counts, and of a guess.

    None where it is not known.
    """
    found = [result.losses for result in results]
    if not all((MODEL, int(k)) in losses for losses in found for k in ks):
        return None
    table = np.array([[losses[MODEL, int(k)] for losses in found] for k in ks])
    sizes = np.array([len(test) for _, test in folds])
    of_guess = float(np.average(table[0, known, 0], weights=sizes[known]))
    return calibrated_losses(table[:, known], sizes[known], repeats), of_guess


def _whole_repeats(folds: list[Fold], n_done: int, n_samples: int) -> tuple[list[Fold], str]:
    """The folds of an interrupted search that hold out every sample as often, and what to say."""
    repeats = fold_repeats(folds, n_samples)
    whole = folds[: int(np.argmax(repeats == repeats[n_done]))]
    where = f"interrupted in fold {n_done + 1} of {len(folds)}"
    if not whole:
        raise KeyboardInterrupt(
            f"{where}, before every sample was held out once, so no number of features is chosen; "
            "cv=3, n_jobs=-1 or fewer samples make a search shorter"
        ) from None
    said = f"{where}: the number of features is chosen on the first {len(whole)} folds"
    warn_user(f"{said}, and a fit on all samples follows")
    return whole, said


def _pad_rows(lists: list[np.ndarray]) -> np.ndarray:
    """Lists as rows; shorter ones, where groups have different sizes, end in -1."""
    found = np.full((len(lists), max(map(len, lists))), -1, dtype=np.int64)
    for row, some in zip(found, lists, strict=True):
        row[: len(some)] = some
    return found
