"""The classes that a saved file may name: nothing else is ever made from one."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
from functools import cache, cached_property
from types import FunctionType
from typing import Any

from sklearn.base import BaseEstimator

from ..selectors.settings import SolverSettings
from .errors import SavedFileError

# What fitted estimators keep beside arrays, by the module it lives in.
_STATE = {
    "choose.stability": ("StabilityPath",),
    "kernels.expansion": ("Expansion",),
    "kernels.functions": ("PolynomialKernel", "RBFKernel", "SigmoidKernel"),
    "penalties.surrogates": (
        "CappedL1Surrogate",
        "ExpSurrogate",
        "L1Surrogate",
        "LogSurrogate",
        "SCADSurrogate",
    ),
    "selectors.covariates": ("Covariates",),
    "selectors.fixed": ("FixedColumns",),
    "selectors.hinge.base": ("_Model",),
    "selectors.least_squares.certificate": ("Certificate",),
    "selectors.least_squares.l20_greedy": ("SupportsBySize",),
    "selectors.least_squares.support_fit": ("SupportFit", "SupportLeastSquares"),
    "selectors.mkl.kernel_machine": ("FittedKernelMachine",),
    "selectors.preparation": ("Units",),
    "selectors.row_norms.base": ("ModelOnSupports", "RobustProblem"),
    "solvers.base": ("Path", "Result"),
    "solvers.mkl.model": ("MKLModel",),
    "solvers.mkl.published": ("PublishedMKLModel",),
    "solvers.mkl.weights": ("KernelWeights",),
    "solvers.row_norms.problem": ("RobustData",),
}

# Made anew by their own constructor, which checks its arguments, from these attributes.
_BY_ARGUMENTS: dict[str, dict[str, tuple[str, ...]]] = {
    "design.dense": {"DenseDesign": ("array",)},
    "design.sparse": {"SparseDesign": ("matrix",)},
    "kernels.bank": {"KernelBank": ("values", "kernel", "weights", "centred", "max_memory")},
}
_ARGUMENT_OF = {"array": "X", "matrix": "X", "weights": "sample_weight"}

# Of scikit-learn only what predicts with plain arrays in plain Python.
_SCIKIT_LEARN = {
    "discriminant_analysis": ("LinearDiscriminantAnalysis",),
    "linear_model": (
        "ElasticNet",
        "Lasso",
        "LinearRegression",
        "LogisticRegression",
        "Ridge",
        "RidgeClassifier",
    ),
    "model_selection": (
        "GroupKFold",
        "KFold",
        "RepeatedKFold",
        "RepeatedStratifiedKFold",
        "ShuffleSplit",
        "StratifiedGroupKFold",
        "StratifiedKFold",
        "StratifiedShuffleSplit",
        "TimeSeriesSplit",
    ),
    "naive_bayes": ("GaussianNB",),
    "pipeline": ("Pipeline",),
    "preprocessing": (
        "LabelBinarizer",
        "MaxAbsScaler",
        "MinMaxScaler",
        "RobustScaler",
        "StandardScaler",
    ),
    "svm": ("LinearSVC", "LinearSVR"),
}


@cache
def classes_by_name() -> dict[str, type]:
    """Every class that may be saved, by the name it has in files."""
    import sparsieve

    public = (getattr(sparsieve, name) for name in sparsieve.__all__)
    found = {
        member.__name__: member
        for member in public
        if inspect.isclass(member) and issubclass(member, BaseEstimator | SolverSettings)
    }
    for module, names in (*_STATE.items(), *_BY_ARGUMENTS.items()):
        home = importlib.import_module(f"sparsieve.{module}")
        found |= {name.lstrip("_"): getattr(home, name) for name in names}
    for module, names in _SCIKIT_LEARN.items():
        home = importlib.import_module(f"sklearn.{module}")
        found |= {f"sklearn.{name}": getattr(home, name) for name in names}
    return found


@cache
def names_by_class() -> dict[type, str]:
    """The same, the other way round."""
    return {cls: name for name, cls in classes_by_name().items()}


def fields_of(instance: Any) -> dict[str, Any]:
    """What has to be kept of an instance of one of these classes."""
    cls = type(instance)
    if (arguments := _arguments(cls)) is not None:
        return {name: getattr(instance, name) for name in arguments}
    if issubclass(cls, tuple):
        return instance._asdict()
    left_out = getattr(cls, "_not_saved", ())
    return {
        name: value
        for name, value in vars(instance).items()
        if name not in left_out
        and not isinstance(inspect.getattr_static(cls, name, None), cached_property)
    }


def rebuilt(name: str, fields: dict[str, Any], written_by: str) -> Any:
    """An instance with these fields; classes and fields that are not known are refused."""
    cls = classes_by_name().get(name)
    if cls is None:
        raise SavedFileError(
            f"it names the class {name[:60]!r}, which this version does not load; it was written "
            f"by sparsieve {written_by}"
        )
    if (arguments := _arguments(cls)) is not None:
        _check_names(cls, fields, set(arguments), set(arguments), written_by)
        return cls(**{_ARGUMENT_OF.get(name, name): value for name, value in fields.items()})
    if issubclass(cls, tuple):
        names = list(cls._fields)  # type: ignore[attr-defined]
        _check_names(cls, fields, set(names), set(names), written_by)
        return tuple.__new__(cls, [fields[name] for name in names])
    if dataclasses.is_dataclass(cls) and not issubclass(cls, BaseEstimator | SolverSettings):
        own = {field.name for field in dataclasses.fields(cls)}
        _check_names(cls, fields, own, own, written_by)
    else:
        fields = _with_parameters(cls, fields, written_by)
    instance = object.__new__(cls)
    vars(instance).update(fields)
    return instance


def _arguments(cls: type) -> tuple[str, ...] | None:
    room = cls.__module__.partition(".")[2]
    return _BY_ARGUMENTS.get(room, {}).get(cls.__name__)


def _with_parameters(cls: type, fields: dict[str, Any], written_by: str) -> dict[str, Any]:
    """The fields of an estimator; a parameter that is new since then has its default."""
    signature = inspect.signature(cls).parameters
    parameters = {
        name: parameter.default
        for name, parameter in signature.items()
        if parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
    }
    for name in fields:
        # Values must not take the place of methods, nor of what Python itself looks up.
        own = inspect.getattr_static(cls, name, None)
        if name.startswith("__") or isinstance(own, FunctionType | property | classmethod):
            raise SavedFileError(f"its {cls.__name__} has a value for {name[:60]!r}")
        fitted = name.endswith("_") or name.startswith("_") or cls.__module__[:7] == "sklearn"
        if name not in parameters and not fitted:
            raise SavedFileError(
                f"its {cls.__name__} has {name[:60]!r}, which this version does not know; it was "
                f"written by sparsieve {written_by}: fit and save it anew"
            )
    if fields.get("memory") is not None:
        raise SavedFileError(f"its {cls.__name__} has a memory, which could hold code")
    missing = {name: default for name, default in parameters.items() if name not in fields}
    if inspect.Parameter.empty in missing.values():
        raise SavedFileError(f"its {cls.__name__} lacks {', '.join(missing)}")
    return missing | fields


def _check_names(
    cls: type, fields: dict[str, Any], known: set[str], needed: set[str], written_by: str
) -> None:
    if not needed <= set(fields) <= known:
        raise SavedFileError(
            f"its {cls.__name__.lstrip('_')} is not that of this version; it was written by "
            f"sparsieve {written_by}: fit and save it anew"
        )
