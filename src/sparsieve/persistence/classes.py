"""Objects as their fields, and back: only classes that declared themselves, and a few others."""

from __future__ import annotations

import importlib
import inspect
from functools import cache, cached_property
from types import FunctionType
from typing import Any

from .._saved import CLASSES, Savable, has_declared_types, name_in_files, required
from .errors import SavedFileError

# Of scikit-learn only what predicts with plain arrays in plain Python.
_SCIKIT_LEARN = {
    "discriminant_analysis": "LinearDiscriminantAnalysis",
    "linear_model": "ElasticNet Lasso LinearRegression LogisticRegression Ridge RidgeClassifier",
    "model_selection": "GroupKFold KFold RepeatedKFold RepeatedStratifiedKFold ShuffleSplit "
    "StratifiedGroupKFold StratifiedKFold StratifiedShuffleSplit TimeSeriesSplit",
    "naive_bayes": "GaussianNB",
    "pipeline": "Pipeline",
    "preprocessing": "LabelBinarizer MaxAbsScaler MinMaxScaler RobustScaler StandardScaler",
    "svm": "LinearSVC LinearSVR",
}
_SETTINGS = {"_sklearn_output_config", "_metadata_request"}  # of scikit-learn, before any fit


@cache
def load_all() -> None:
    """Import every module of ours, so that all classes have declared themselves."""
    import sparsieve
    from sparsieve import solvers

    for home in (sparsieve, solvers):
        for name in home.__all__:
            getattr(home, name)


@cache
def _others() -> dict[str, type]:
    """The classes of scikit-learn by their names in files; ours have declared themselves then."""
    load_all()
    return {
        f"sklearn.{name}": getattr(importlib.import_module(f"sklearn.{module}"), name)
        for module, names in _SCIKIT_LEARN.items()
        for name in names.split()
    }


def _class_named(name: str) -> Any:
    return _others().get(name) or CLASSES.get(name)


def name_of(cls: type) -> str | None:
    """The name that a class has in files, None where it cannot be in one."""
    name = name_in_files(cls) if issubclass(cls, Savable) else f"sklearn.{cls.__name__}"
    return name if _class_named(name) is cls else None


def fields_of(instance: Any) -> dict[str, Any]:
    """What has to be kept of an instance of one of these classes."""
    cls: Any = type(instance)
    if not hasattr(cls, "get_params"):
        return {name: getattr(instance, name) for name in _parameters(cls)}
    left_out = getattr(cls, "_not_saved", ())
    return {
        name: value
        for name, value in vars(instance).items()
        if name not in left_out
        and not isinstance(inspect.getattr_static(cls, name, None), cached_property)
    }


def rebuilt(name: str, fields: dict[str, Any], written_by: str) -> Any:
    """An instance with these fields; what is not known or contradicts itself is refused."""
    cls = _class_named(name)
    if cls is None:
        raise SavedFileError(
            f"it contains the class {name[:60]!r}, which this version cannot load; it was written "
            f"by sparsieve {written_by}"
        )
    if hasattr(cls, "get_params") or not issubclass(cls, Savable):
        fields = _with_parameters(cls, fields, written_by)
        instance = object.__new__(cls)
        vars(instance).update(fields)
        if issubclass(cls, Savable) and not set(fields) <= {*_parameters(cls), *_SETTINGS}:
            _check_fitted(instance, fields)
    else:
        # What is new since then, and can be left out, has its default.
        known = {n: v for n, v in _parameters(cls).items() if v is not inspect.Parameter.empty}
        fields = known | fields
        if set(fields) != set(_parameters(cls)):
            raise SavedFileError(
                f"its {cls.__name__.lstrip('_')} differs from that of this version; it was "
                f"written by sparsieve {written_by}: fit and save it again"
            )
        _agree(cls, has_declared_types(cls, fields, {}))
        instance = cls(**fields)
        _agree(cls, instance._is_consistent())
    if isinstance(instance, Savable):
        instance._restored()
    return instance


@cache
def _parameters(cls: type) -> dict[str, Any]:
    """The parameters of the constructor with their defaults."""
    return {
        name: parameter.default
        for name, parameter in inspect.signature(cls).parameters.items()
        if parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
    }


def _check_fitted(instance: Any, fields: dict[str, Any]) -> None:
    """Leaving out one attribute must not end all checks: more than parameters means fitted."""
    cls: Any = type(instance)
    d: Any = fields.get("n_features_in_")
    fitted = {name: value for name, value in fields.items() if name not in _parameters(cls)}
    _agree(cls, type(d) is int and d > 0 and required(cls) <= set(fields))
    _agree(cls, has_declared_types(cls, fitted, {"features": d}) and instance._is_consistent())


def _with_parameters(cls: type, fields: dict[str, Any], written_by: str) -> dict[str, Any]:
    """The fields of an estimator; a parameter that is new since then has its default."""
    parameters = _parameters(cls)
    for name in fields:
        # Values must not take the place of methods, nor of what Python itself looks up.
        own = inspect.getattr_static(cls, name, None)
        if name.startswith("__") or isinstance(own, FunctionType | property | classmethod):
            raise SavedFileError(f"its {cls.__name__} has a value for {name[:60]!r}")
        fitted = name.endswith("_") or name.startswith("_") or cls.__module__[:7] == "sklearn"
        if name not in parameters and not fitted:
            raise SavedFileError(
                f"its {cls.__name__} has {name[:60]!r}, which this version does not know; it was "
                f"written by sparsieve {written_by}: fit and save it again"
            )
    if fields.get("memory") is not None:
        raise SavedFileError(f"its {cls.__name__} has a cache (memory), which could contain code")
    missing = {name: default for name, default in parameters.items() if name not in fields}
    if inspect.Parameter.empty in missing.values():
        raise SavedFileError(f"its {cls.__name__} lacks {', '.join(missing)}")
    return missing | fields


def _agree(cls: type, holds: Any) -> None:
    if not holds:
        raise SavedFileError(
            f"the parts of its {cls.__name__.lstrip('_')} contradict each other; fit and save it "
            "again"
        )
