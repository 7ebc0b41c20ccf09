"""What selectors around other estimators share: they say of themselves what those can take."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from sklearn import config_context, get_config
from sklearn.base import is_classifier, is_regressor
from sklearn.feature_selection import (
    chi2,
    f_classif,
    f_regression,
    mutual_info_classif,
    mutual_info_regression,
    r_regression,
)
from sklearn.pipeline import Pipeline
from sklearn.utils import InputTags, Tags, TargetTags, get_tags
from sklearn.utils.validation import column_or_1d, has_fit_parameter

from ..registry import selector_name
from ..validation.training_data import is_scale_free
from .base import BaseSelector, TrainingData
from .groups import usual_model_kind

# Scores of scikit-learn that would make something of any y, and nonsense of the wrong one.
_OF_CLASSES = (chi2, f_classif, mutual_info_classif)
_OF_NUMBERS = (f_regression, mutual_info_regression, r_regression)


def _all_members(holds: Callable[[Any], Any]) -> Any:
    """A property: whether something holds for all members."""
    return property(lambda self: all(map(holds, self._members())))


class AroundSelectors(BaseSelector):
    """Base of selectors that ask other estimators."""

    _accepts_several_targets: ClassVar[bool] = True  # members say themselves what they take
    _accepts_regression = _all_members(lambda one: not for_classes_only(one))
    _accepts_survival = _all_members(lambda one: takes_task(one, "survival"))
    _accepts_counts = _all_members(lambda one: takes_task(one, "counts"))
    _accepts_sparse = _all_members(lambda one: estimator_tags(one).input_tags.sparse)
    _accepts_nan = _all_members(lambda one: estimator_tags(one).input_tags.allow_nan)
    _accepts_device = _all_members(
        lambda one: isinstance(one, BaseSelector) and (one._accepts_device or one._accepts_external)
    )
    _adjusts_for_kept = _all_members(lambda one: getattr(one, "_adjusts_for_kept", False))
    _scale_free = _all_members(lambda one: is_scale_free(one))

    def _members(self) -> list:
        """The estimators, or functions, that will see X."""
        raise NotImplementedError

    @property
    def _needs_numbers(self) -> bool:  # type: ignore[override]
        return any(for_numbers_only(member) for member in self._members())

    def _training_data(self, X: Any, y: Any, sample_weight: Any) -> TrainingData:
        is_column = getattr(y, "shape", ())[1:] == (1,)
        if is_column and not get_tags(self).target_tags.multi_output:
            y = column_or_1d(y, warn=True)
        return super()._training_data(X, y, sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        told = [estimator_tags(member) for member in self._members()]
        tags.input_tags.positive_only = any(one.input_tags.positive_only for one in told)
        tags.target_tags.multi_output = all(one.target_tags.multi_output for one in told)
        return tags


def estimator_tags(member: Any) -> Tags:
    """What an estimator says of itself; of a class that says nothing, the least.

    A function gets sparse data as they are.
    """
    # Of what has no tags, scikit-learn before 1.8 makes some up, with a warning.
    if hasattr(member, "__sklearn_tags__"):
        with contextlib.suppress(AttributeError, NotImplementedError):
            tags = get_tags(member)
            if isinstance(member, Pipeline):
                tags.input_tags.allow_nan = _takes_gaps(member)
            return tags
    return Tags(
        estimator_type=None,
        target_tags=TargetTags(required=True),
        input_tags=InputTags(sparse=not hasattr(member, "fit")),
    )


def take_gaps(selector: Any, estimator: Any = None) -> bool:
    """Whether a selector and the model on what it keeps take NaN; of the usual ones trees do."""
    if estimator is None and usual_model_kind(selector) != "trees":
        return False
    asked = [selector] if estimator is None else [selector, estimator]
    return all(estimator_tags(one).input_tags.allow_nan for one in asked)


def _takes_gaps(pipeline: Pipeline) -> bool:
    """Whether a pipeline takes missing values: all its steps do, up to one that fills them."""
    for _, step in pipeline.steps:
        if step is None or isinstance(step, str):  # "passthrough"
            continue
        if not estimator_tags(step).input_tags.allow_nan:
            return False
        if type(step).__name__.endswith("Imputer"):
            return True
    return True


def last_step(estimator: Any) -> Any:
    """The end of a pipeline, also of one at the end of another; anything else as it is."""
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    return estimator


def for_classes_only(member: Any) -> bool:
    """Whether an estimator, the end of a pipeline or a function cannot take numbers as target."""
    last = last_step(member)
    if isinstance(last, BaseSelector):
        return not last._accepts_regression
    return _is(last, is_classifier, _OF_CLASSES)


def for_numbers_only(member: Any) -> bool:
    """Whether an estimator, the end of a pipeline or a function takes numbers as target only."""
    last = last_step(member)
    if isinstance(last, BaseSelector):
        return last._needs_numbers
    return _is(last, is_regressor, _OF_NUMBERS)


def predicts_classes(model: Any) -> bool:
    """Whether scikit-learn knows it as a classifier, pipelines and searches included."""
    return hasattr(model, "__sklearn_tags__") and is_classifier(model)


def predicts_numbers(model: Any) -> bool:
    """Whether scikit-learn knows it as a regressor, pipelines and searches included."""
    return hasattr(model, "__sklearn_tags__") and is_regressor(model)


def check_predicts(model: Any, task: str) -> None:
    """Refuse a model that predicts something else than the target holds.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from sparsieve.selectors.around import check_predicts
    >>> check_predicts(LinearRegression(), "regression")
    """
    wrong, instead, remedy = "", "", ""
    name = type(last_step(model)).__name__
    if task == "classification" and predicts_numbers(model):
        wrong, instead = "numbers, but y holds classes", "LogisticRegression(max_iter=1000)"
        remedy = 'task="regression" if y holds quantities'
    elif task in ("regression", "counts") and predicts_classes(model):
        wrong, instead = "classes, but y holds numbers", "Ridge()"
        remedy = 'task="classification" if y holds classes'
    if wrong:
        raise ValueError(
            f"{name}, given as estimator, predicts {wrong}; pass a model such as {instead}, or "
            f"{remedy}"
        )


def takes_task(member: Any, task: str) -> bool:
    """Whether an estimator, the end of a pipeline or a function may take such a target.

    Other libraries' models of survival times are neither classifiers nor regressors.
    """
    last = last_step(member)
    if task == "counts" and isinstance(last, BaseSelector) and last._accepts_counts:
        return True
    if task in ("regression", "counts"):
        return not for_classes_only(last)
    if task != "survival":
        return True
    if isinstance(last, BaseSelector):
        return last._accepts_survival or not last._needs_target
    of_others = _is(last, is_classifier, _OF_CLASSES) or _is(last, is_regressor, _OF_NUMBERS)
    return not of_others


def _is(member: Any, kind: Any, functions: tuple[Any, ...]) -> bool:
    """Whether it, the model that it asks, or the function that it scores by is of this kind."""
    asked = member, getattr(member, "score_func", None), getattr(member, "func", None)
    if any(one is function for one in asked for function in functions):
        return True
    models = [member, getattr(member, "estimator", None)]
    return any(hasattr(model, "__sklearn_tags__") and kind(model) for model in models)


def weight_arguments(estimator: Any, sample_weight: np.ndarray | None) -> dict[str, Any]:
    """Arguments of ``fit`` that hand over the weights, also to the steps of a pipeline."""
    if sample_weight is None:
        return {}
    if not isinstance(estimator, Pipeline):
        arguments = {"sample_weight": sample_weight} if _takes_weights(estimator) else {}
    elif get_config()["enable_metadata_routing"]:
        arguments = {"sample_weight": sample_weight}  # steps have said whether they want them
    else:
        arguments = dict.fromkeys(_weighted_steps(estimator), sample_weight)
    if not arguments:
        name = f"{selector_name(estimator)}.fit" if hasattr(estimator, "fit") else "a function"
        raise ValueError(
            f"sample_weight was given but {name} does not take it; leave it out, or say who gets "
            "it with scikit-learn's metadata routing"
        )
    return arguments


def _weighted_steps(pipeline: Pipeline) -> list[str]:
    """The arguments of ``fit`` that give weights to the steps that take them, at any depth."""
    names = []
    for name, step in pipeline.steps:
        within = _weighted_steps(step) if isinstance(step, Pipeline) else ["sample_weight"]
        names += [f"{name}__{one}" for one in within if _takes_weights(step)]
    return names


def group_arguments(estimator: Any, groups: Any) -> dict[str, Any]:
    """Arguments of ``fit`` that hand over the groups of samples, to whoever takes them."""
    takes = groups is not None and has_fit_parameter(estimator, "groups")
    return {"groups": groups} if takes else {}


def _takes_weights(estimator: Any) -> bool:
    """Whether ``fit`` takes weights, or hands them on to the estimator that it asks."""
    if not hasattr(estimator, "fit") or has_fit_parameter(estimator, "sample_weight"):
        return hasattr(estimator, "fit")
    if isinstance(estimator, AroundSelectors):
        return all(map(_takes_weights, estimator._members()))
    if isinstance(estimator, Pipeline):
        return any(_takes_weights(step) for _, step in estimator.steps)
    kinds = [each.kind for each in inspect.signature(estimator.fit).parameters.values()]
    inner = getattr(estimator, "estimator", None)
    return inspect.Parameter.VAR_KEYWORD in kinds and inner is not None and _takes_weights(inner)


def without_routing() -> Any:
    """Hand weights and groups to whoever takes them, as the caller has found out.

    Where scikit-learn routes metadata, every estimator inside would have to ask for them.
    """
    return config_context(enable_metadata_routing=False)
