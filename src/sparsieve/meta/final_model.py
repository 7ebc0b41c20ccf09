"""The model on the selected columns: which it is, what it is called, and its predictions."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils import ClassifierTags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._saved import Bools, Maybe
from ..scoring.engine import read_columns
from ..scoring.likelihood_models import LikelihoodRidge
from ..scoring.models import DEFAULT_METRICS, KINDS, MODELS, TASKS, main_model
from ..scoring.ridge_path import SizedRidge, default_estimator, trees_estimator
from ..scoring.scorers import Score, one_score, resolve_scores
from ..selectors.around import for_numbers_only, last_step, predicts_classes, predicts_numbers
from ..selectors.base import TrainingData
from ..selectors.groups import usual_model_kind
from ..selectors.linear import with_kind
from ..selectors.origins import call_with_views
from ..validation.columns import check_same_features, is_tensor
from ..validation.training_data import transform_data
from .base import MetaSelector, request_weights


def _model_has(name: str):
    """``predict`` and others exist where the final estimator has them."""

    def check(self) -> bool:
        getattr(getattr(self, "estimator_", None) or self._models()[1], name)
        return True

    return check


@dataclass(frozen=True)
class UsualModel:
    """The model on selected columns that nobody chose.

    Attributes
    ----------
    name : str
        As ``model`` of :func:`~sparsieve.compare` calls it.
    words : str
        As a reader knows it.
    estimator : Pipeline
        Not fitted.
    """

    name: str
    words: str
    estimator: Pipeline


def usual_model(
    task: str,
    n_samples: int,
    scores: Sequence[Score] = (),
    *,
    has_classes: bool,
    kind: str = "linear",
) -> UsualModel:
    """The model of every front door: for a task, and for scores that it must suit.

    The first score says whether classes count the same; any may need probabilities. ``kind`` is
    "linear", "nonnegative" where no coefficient may be negative, or "trees" for features that were
    found by trees; survival times and several columns have a linear one.

    Examples
    --------
    >>> from sparsieve.meta.final_model import usual_model
    >>> from sparsieve.scoring.scorers import resolve_scores
    >>> usual_model("classification", 50, has_classes=True).estimator[-1]
    SoftmaxRegression()
    >>> scores = resolve_scores("balanced_accuracy", "classification").values()
    >>> usual_model("classification", 50, list(scores), has_classes=True).words
    'softmax regression model of equally weighted classes'
    """
    evened = bool(scores) and scores[0].is_balanced
    # Before a fit a score that needs probabilities tells that there are classes.
    asks = any(not score.suits(SizedRidge()) for score in scores)
    is_classes = has_classes and (task == "classification" or (asks and task == "regression"))
    task = "classification" if is_classes else task
    if kind == "trees" and task in ("classification", "regression", "counts"):
        boosted = trees_estimator(task, n_samples, balanced=evened and is_classes)
        return UsualModel("trees", "boosted trees model", boosted)
    signed = kind == "nonnegative"
    estimator = default_estimator(
        task, n_samples, balanced=evened and is_classes, nonnegative=signed
    )
    name, words = "ridge", "ridge model"
    if task in ("counts", "survival"):
        name = main_model(list(MODELS[task]))
        words = f"{MODELS[task][name].words} model"
    elif is_classes:
        name, words = "softmax", f"{MODELS['classification']['softmax'].words} model"
        words += " of equally weighted classes" if evened else ""
    return UsualModel(name, f"nonnegative {words}" if signed else words, estimator)


def check_model(estimator: Any) -> None:
    """Refuse what is no model that a selection could be scored with."""
    needed = ("fit", "predict", "get_params")
    if isinstance(estimator, type) or not all(hasattr(estimator, name) for name in needed):
        raise TypeError(
            "estimator must be a model with fit and predict, such as "
            f"LogisticRegression(max_iter=1000), got {estimator!r}"
        )


class FinalModel(MetaSelector):
    """A selector with an ``estimator_`` on the columns that ``support_`` keeps."""

    estimator: Any
    scoring: Any
    estimator_: Maybe[BaseEstimator]
    support_: Annotated[Bools, "features"]
    _task: Maybe[str | None]  # of counts and survival times
    _seeing: Maybe[str | None]  # the score in the place of accuracy, where a class is rare

    def _models(self, data: TrainingData | None = None) -> tuple[Any, Any]:
        """The selector and the estimator, as given or by default."""
        if self.estimator is not None:
            return self._selector(), self.estimator
        task = self._training_task if data is None else data.target.task
        n_samples = data.design.shape[0] if data else 1
        # Before the fit nobody knows whether y holds classes, which alone have probabilities.
        kind = "classes" if data is None else KINDS.get(task, "classes")
        how: dict[str, Any] = {"has_classes": kind == "classes", "kind": self._kind}
        if data is not None and data.target.Y.shape[1] > 1 and data.target.codes is None:
            how["kind"] = "linear"
        model = usual_model(task, n_samples, self._asked_scores, **how)
        return self._selector(), request_weights(model.estimator)

    @property
    def _kind(self) -> str:
        """Which the usual model is: what the selector inside has found."""
        return usual_model_kind(self._selector())

    @property
    def _scoring(self) -> Any:
        """What was asked for, or what stands in for accuracy where a class is rare."""
        is_ours = self.scoring is None and self.estimator is None
        return vars(self).get("_seeing") if is_ours else self.scoring

    @property
    def _asked_scores(self) -> list[Score]:
        return [] if self._scoring is None else [one_score(self._scoring, None)]

    @property
    def _training_task(self) -> str:
        """How y was read in ``fit``."""
        if (task := vars(self).get("_task")) is not None:
            return task
        return "regression" if getattr(self, "classes_", None) is None else "classification"

    @property
    def measure(self) -> Score:
        """The score that chooses the number of features: its name, and how values are shown."""
        if self._scoring is None and self.estimator is None:
            return next(iter(resolve_scores(None, self._training_task).values()))
        return one_score(self._scoring, self._models()[1])

    def _usual_score(self, task: str) -> Score | None:
        """What an estimator that was given scores itself by; None for our own models."""
        if self.estimator is None or task not in ("classification", "regression"):
            return None
        if not (is_classifier(self.estimator) or is_regressor(self.estimator)):
            return None
        return next(iter(resolve_scores(None, task).values()))

    def _cannot_test(self, task: str) -> str:
        """Why held-out predictions cannot be compared with a guess; empty where they can."""
        if task not in TASKS:
            return "y has several columns of labels"
        if self.estimator is None or self.scoring is not None:
            return ""
        model, name = last_step(self.estimator), self.model_words
        if isinstance(model, LikelihoodRidge):
            return ""
        if task == "survival" and not getattr(model, "_predict_risk_score", False):
            return f'{name} may predict times; pass scoring="concordance" if it predicts risks'
        if task != "survival" and not (predicts_classes(model) or predicts_numbers(model)):
            usual = DEFAULT_METRICS[task][0]
            return f"what {name} scores itself by is not known; pass scoring={usual!r}, for example"
        return ""

    @property
    def model_words(self) -> str:
        """What predicts the held-out samples, in words."""
        if self.estimator is not None:
            return type(last_step(self.estimator)).__name__
        task, scores = self._training_task, self._asked_scores
        is_classes = KINDS.get(task, "classes") == "classes"
        return usual_model(task, 1, scores, has_classes=is_classes, kind=self._kind).words

    @property
    def scorer_(self) -> Callable[..., Any]:
        """What scores the held-out samples: ``scorer_(model, X, y)``."""
        check_is_fitted(self)
        model = getattr(self, "estimator_", None) or self._models()[1]
        return one_score(self._scoring, model).scorer

    @property
    def _scale_free(self):  # type: ignore[override]
        return False  # the estimator may not be, and predicts from the columns as they are

    @property
    def _accepts_regression(self) -> bool:  # type: ignore[override]
        scores_classes = self.estimator is not None and is_classifier(self.estimator)
        return super()._accepts_regression and not scores_classes

    @property
    def _needs_numbers(self) -> bool:  # type: ignore[override]
        scores_numbers = self.estimator is not None and for_numbers_only(self.estimator)
        return scores_numbers or super()._needs_numbers

    def _take_features(self, X: Any) -> Any:
        check_is_fitted(self)
        if not hasattr(self, "estimator_"):
            raise NotFittedError(
                "this SelectorCV was made by at(k) and has no model for its columns; fit a "
                "SelectorCV with ks=[k] instead"
            )
        if is_tensor(X):
            check_same_features(self, X)
        else:
            X = self._prepare(X)
        return read_columns(X, np.flatnonzero(self.support_), dense=self.estimator is None)

    def _prepare(self, X: Any) -> Any:
        """X as an array or sparse matrix, as the selector and the estimator have seen it."""
        X = transform_data(self, X)
        prepare = getattr(self, "prepare_", None)
        return X if prepare is None else call_with_views(prepare.transform, X)

    @available_if(_model_has("predict"))
    def predict(self, X: Any) -> Any:
        """Predict with the final model."""
        X = self._take_features(X)
        return self.estimator_.predict(X)

    @available_if(_model_has("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """Class probabilities of the final model."""
        X = self._take_features(X)
        return self.estimator_.predict_proba(X)

    @available_if(_model_has("decision_function"))
    def decision_function(self, X: Any) -> Any:
        """Decision values of the final model."""
        X = self._take_features(X)
        return self.estimator_.decision_function(X)

    def score(self, X: Any, y: Any, **params: Any) -> float:
        """Score the final model on other data with the scorer of the cross-validation."""
        return self.scorer_(self.estimator_, self._take_features(X), y, **params)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.estimator is not None:
            of_model = get_tags(self.estimator)
            tags.estimator_type = of_model.estimator_type
            tags.target_tags.multi_output &= of_model.target_tags.multi_output
            tags.classifier_tags = copy.deepcopy(of_model.classifier_tags)
            if tags.classifier_tags is not None:
                tags.classifier_tags.multi_label &= tags.target_tags.multi_output
            tags.regressor_tags = copy.deepcopy(of_model.regressor_tags)
            return tags
        # Before the fit only a selector inside that was told may know.
        task = self._training_task if "support_" in vars(self) else self.task
        tags = with_kind(tags, task, multi_label=tags.target_tags.multi_output)
        if tags.estimator_type is None:  # it may turn out to be one, with probabilities
            tags.classifier_tags = ClassifierTags()
        return tags
