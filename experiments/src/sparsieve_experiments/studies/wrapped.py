"""Estimators from study files: selectors around selectors, and what may stand before them.

Study files come from anywhere. A name in one of them stands for a selector of this package, a
model that studies score with, or one of the preprocessors below. ``package.module:Class`` is
imported only where the user, not the file, allows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.utils import get_tags

from sparsieve._checks import did_you_mean, format_names
from sparsieve.meta.base import MetaSelector
from sparsieve.scoring.models import CLASSIFIERS, MODELS, REGRESSORS
from sparsieve.scoring.protocol import TimeOrdered
from sparsieve.selectors.around import takes_task
from sparsieve.selectors.base import BaseSelector
from sparsieve.selectors.groups import configure
from sparsieve.selectors.methods import as_selector, seed_selector

from .kinds import StudyError, check_kinds, shortened, shortened_text
from .names import class_name, imported, is_elsewhere, selector_class

PREPROCESSORS: dict[str, type] = {
    cls.__name__: cls
    for cls in (
        SimpleImputer, KNNImputer, StandardScaler, RobustScaler, MinMaxScaler, MaxAbsScaler,
        OneHotEncoder, OrdinalEncoder,
    )
}  # fmt: skip
# A test part may hold categories that the training part lacks; scores need dense columns.
_ENCODERS: dict[type, dict[str, Any]] = {
    OneHotEncoder: {"handle_unknown": "ignore", "sparse_output": False},
    OrdinalEncoder: {"handle_unknown": "use_encoded_value", "unknown_value": -1},
}
_MAX_DEPTH = 3  # selectors around selectors around selectors
_MAX_MEMBERS = 50
_COUNT = "n_features_to_select"
CHOOSES_COUNT = "SelectorCV"


# -- selectors ----------------------------------------------------------------------------


def built(
    name: str,
    parameters: Mapping[str, Any],
    *,
    task: str | None = None,
    seed: int | None = None,
    depth: int = 1,
    allow_import: bool = False,
) -> Any:
    """The selector that a study file describes.

    Parameters
    ----------
    name : str
        Class name.
    parameters : dict
        Plain data. Selectors inside others are names or tables with ``name`` and ``parameters``;
        the estimator of a SelectorCV is the name of a model that studies score with.
    task : {"classification", "regression", "counts", "survival"}, default=None
        Which model a name means; None where it does not matter yet.
    seed : int, default=None
        Of what is random and has no ``random_state`` of its own.
    depth : int, default=1
        How many selectors there are around and including this one.
    allow_import : bool, default=False
        Whether ``package.module:Class`` may be imported.

    Examples
    --------
    >>> from sparsieve_experiments.studies.wrapped import built
    >>> built("StabilitySelection", {"selector": "fisher", "n_subsamples": 20})
    StabilitySelection(n_subsamples=20, selector=FisherSelector())
    """
    if depth > _MAX_DEPTH:
        raise StudyError(f"{name} is nested too deeply: {_MAX_DEPTH} selectors may wrap each other")
    if is_elsewhere(name):
        return _guest(name, parameters, seed, depth, allow_import=allow_import)
    cls = selector_class(name)
    values = dict(parameters)
    if issubclass(cls, MetaSelector):
        within: dict[str, Any] = {"task": task, "seed": seed, "depth": depth + 1}
        within["allow_import"] = allow_import
        for key, value in parameters.items():
            if key == "selector":
                values[key] = _member(value, f"selector of {name}", **within)
            elif key == "selectors":
                values[key] = _members(value, f"selectors of {name}", **within)
            elif key == "estimator":
                values[key] = _model(value, name, task)
    if seed is not None and "random_state" in cls().get_params(deep=False):
        values.setdefault("random_state", seed)
    try:
        return configure(cls, values, hidden=[_COUNT])
    except (ValueError, TypeError) as error:
        raise StudyError(str(error)) from None


def _guest(
    name: str, parameters: Mapping[str, Any], seed: int | None, depth: int, *, allow_import: bool
) -> BaseSelector:
    """The selector made of a class or function of another package."""
    found = imported(name, allow_import=allow_import)
    values = {
        key: _part(value, depth + 1, allow_import=allow_import) for key, value in parameters.items()
    }
    try:
        selector = as_selector(found, values)
    except (ValueError, TypeError) as error:
        raise StudyError(str(error)) from None
    return selector if seed is None else seed_selector(selector, seed)


def _part(value: Any, depth: int, *, allow_import: bool) -> Any:
    """A parameter of a guest: plain, or an estimator or function as ``{name = "module:Class"}``."""
    if not isinstance(value, Mapping) or not is_elsewhere(value.get("name")):
        return value
    name, parameters = named(value, "a parameter")
    if depth > _MAX_DEPTH:
        raise StudyError(
            f"{name} is nested too deeply: {_MAX_DEPTH} estimators may wrap each other"
        )
    found = imported(name, allow_import=allow_import)
    inner = {k: _part(v, depth + 1, allow_import=allow_import) for k, v in parameters.items()}
    try:
        is_function = not isinstance(found, type)
        return (partial(found, **inner) if inner else found) if is_function else found(**inner)
    except (ValueError, TypeError) as error:
        raise StudyError(f"{name} cannot be made from its parameters: {error}") from None


def _members(value: Any, what: str, **within: Any) -> list:
    if not isinstance(value, list | tuple) or not 0 < len(value) <= _MAX_MEMBERS:
        raise StudyError(
            f"{what} must be a list of 1 to {_MAX_MEMBERS} selectors, got {shortened(value)}"
        )
    return [_member(each, what, **within) for each in value]


def _member(value: Any, what: str, **within: Any) -> Any:
    name, parameters = named(value, what)
    if _COUNT in parameters:
        raise StudyError(f"{what}: how many features it selects is said by what is around it")
    if class_name(name) == CHOOSES_COUNT:
        raise StudyError(
            f"{what}: {CHOOSES_COUNT} chooses how many features there are and can only stand "
            "outside; name the selector itself"
        )
    return built(class_name(name), parameters, **within)


def _model(value: Any, owner: str, task: str | None) -> Any:
    known = MODELS[task] if task else {**CLASSIFIERS, **REGRESSORS}
    if not isinstance(value, str) or value not in known:
        raise StudyError(
            f"estimator of {owner} must be one of {format_names(list(known))}"
            + f" for {task}" * bool(task)
            + f", got {shortened(value)}"
        )
    return known[value]()


def named(value: Any, what: str) -> tuple[str, Mapping[str, Any]]:
    """(name, parameters) of an estimator given as text or as a table."""
    if isinstance(value, str):
        return value, {}
    if not isinstance(value, Mapping):
        raise StudyError(f"{what} must be a name or a table with a name, got {shortened(value)}")
    for key in value:
        if key not in ("name", "parameters"):
            raise StudyError(f"{what} has no setting {shortened(key)}; it has name and parameters")
    parameters = value.get("parameters", {})
    check_kinds(
        {"name": value.get("name"), "parameters": parameters},
        {"name": "text", "parameters": "a table"},
        what,
    )
    return value["name"], parameters


def names_within(name: str, parameters: Mapping[str, Any]) -> Iterator[str]:
    """Class names of a selector and of all within it, and of what guests are made with."""
    yield name
    if is_elsewhere(name):
        for value in parameters.values():
            if isinstance(value, Mapping) and is_elsewhere(value.get("name")):
                yield from names_within(*named(value, "a parameter"))
        return
    if not issubclass(selector_class(name), MetaSelector):
        return
    for key in ("selector", "selectors"):
        value = parameters.get(key, ())
        for each in value if isinstance(value, list | tuple) else [value]:
            inner, values = named(each, key)
            yield from names_within(class_name(inner), values)


def described(value: Any) -> str:
    """A parameter for a label: selectors as their constructors look."""
    if isinstance(value, Mapping) and "name" in value:
        inner = value.get("parameters", {})
        settings = ", ".join(f"{name}={described(each)}" for name, each in inner.items())
        return shortened_text(f"{value['name']}({settings})" if settings else str(value["name"]))
    if isinstance(value, list | tuple) and any(isinstance(each, Mapping) for each in value):
        return shortened_text(f"[{', '.join(described(each) for each in value)}]")
    return repr(value)


def why_not(selector: Any, y: np.ndarray, task: str) -> str:
    """Why a selector cannot be used for a target; "" if it can."""
    if not takes_task(selector, task):
        if task == "survival":
            return "cannot select for survival times"
        return "is for classes, but the target holds numbers"
    if y.ndim == 2 and not get_tags(selector).target_tags.multi_output:
        return f"takes one target, but there are {y.shape[1]}"
    return ""


def in_time(selector: Any) -> Any:
    """Let what chooses by cross-validation learn from the past only."""
    for key, value in selector.get_params(deep=False).items():
        if isinstance(value, BaseEstimator):
            in_time(value)
        elif isinstance(value, list):
            for member in value:
                if isinstance(member, BaseEstimator):
                    in_time(member)
        elif key == "cv" and isinstance(value, int) and not isinstance(value, bool):
            selector.set_params(cv=_PastFirst(value))
    return selector


class _PastFirst:
    """Folds in order of time as scikit-learn wants splitters; groups are not torn apart."""

    def __init__(self, n_splits: int) -> None:
        self.n_splits = n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple]:
        """Rows to train and to test on."""
        for split in TimeOrdered(self.n_splits).splits(np.empty(X.shape[0]), groups):
            yield split.train, split.test

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many folds."""
        return self.n_splits


# -- before the selector ------------------------------------------------------------------


def checked_steps(steps: Sequence[Any], owner: str) -> list[dict[str, Any]]:
    """Preprocessors of a study file as plain tables; all that can be is checked."""
    if len(steps) > _MAX_MEMBERS:
        raise StudyError(f"{owner}: before may name {_MAX_MEMBERS} steps, got {len(steps)}")
    checked = []
    for step in steps:
        columns = None
        if isinstance(step, Mapping):
            columns = step.get("columns")
            step = {key: value for key, value in step.items() if key != "columns"}
        name, parameters = named(step, f"a step before {owner}")
        check_kinds({"columns": columns}, {"columns": "a list of texts"}, name, absent=["columns"])
        table = {"name": name, "parameters": dict(parameters), "columns": columns and [*columns]}
        _preprocessor(table)
        checked.append({key: value for key, value in table.items() if value})
    return checked


def _preprocessor(step: Mapping[str, Any]) -> Any:
    name, parameters = step["name"], step.get("parameters", {})
    if name not in PREPROCESSORS:
        hint = did_you_mean(name, PREPROCESSORS, 0.5, "did you mean {!r}? ")
        raise StudyError(
            f"unknown preprocessor {shortened(name)}; {hint}known are {', '.join(PREPROCESSORS)}"
        )
    cls = PREPROCESSORS[name]
    if cls in _ENCODERS and not step.get("columns"):
        raise StudyError(
            f'{name} needs columns, such as columns = ["grade"]: every value of every column would '
            "become a category"
        )
    for key in parameters:
        if key not in cls().get_params(deep=False):
            raise StudyError(f"{name} has no parameter {shortened(key)}")
    return cls(**{**_ENCODERS.get(cls, {}), **parameters})


class Preparation(TransformerMixin, BaseEstimator):
    """What comes before a selector, one step after the other, with names for all columns.

    Parameters
    ----------
    steps : list of dict
        ``name`` of a preprocessor, and optionally ``parameters`` and ``columns``, the names of
        those that it works on; the others pass by.
    names : list of str or None
        Of the columns of X; x0, x1, ... if not given.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve_experiments.studies.wrapped import Preparation
    >>> steps = [{"name": "OneHotEncoder", "columns": ["grade"]}, {"name": "SimpleImputer"}]
    >>> prepare = Preparation(steps, ["grade", "age"])
    >>> prepare.fit_transform(np.array([[1, 30.0], [2, np.nan], [1, 50.0]])).tolist()
    [[1.0, 0.0, 30.0], [0.0, 1.0, 40.0], [1.0, 0.0, 50.0]]
    >>> prepare.get_feature_names_out().tolist()
    ['grade_1.0', 'grade_2.0', 'age']
    """

    def __init__(self, steps: Sequence[Mapping[str, Any]], names: Sequence[str] | None = None):
        self.steps = steps
        self.names = names

    def fit(self, X: Any, y: Any = None) -> Preparation:
        """Learn every step from what the one before it makes."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:  # type: ignore[override]
        """Learn every step and return what comes out of the last."""
        given = [f"x{j}" for j in range(X.shape[1])] if self.names is None else self.names
        names = [str(name) for name in given]
        self.fitted_ = []
        for step in self.steps:
            transformer = clone(_preprocessor(step))
            if step.get("columns"):
                places = [_place(column, names, step["name"]) for column in step["columns"]]
                transformer = ColumnTransformer(
                    [("step", transformer, places)],
                    remainder="passthrough",
                    sparse_threshold=0.0,
                    verbose_feature_names_out=False,
                )
            X = transformer.fit_transform(X, y)
            names = list(transformer.get_feature_names_out(np.array(names, dtype=object)))
            self.fitted_.append(transformer)
        self.names_out_ = np.array(names, dtype=object)
        return X

    def transform(self, X: Any) -> Any:
        """What the steps make of other samples."""
        for transformer in self.fitted_:
            X = transformer.transform(X)
        return X

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns that come out."""
        return self.names_out_


def _place(column: str, names: Sequence[str], step: str) -> int:
    if column not in names:
        hint = did_you_mean(column, names)
        raise StudyError(f"{step} finds no column {shortened(column)}{hint}")
    return list(names).index(column)
