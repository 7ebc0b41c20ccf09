"""Whether what was read fits together: compiled code trusts the shapes of its arrays."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ..choose.base import MetaSelector
from ..choose.error_bounds import BOUNDS
from ..choose.selector_cv import SelectorCV
from ..choose.stability import StabilitySelection
from ..kernels.functions import FeatureKernel
from ..selectors.base import BaseSelector
from ..selectors.fixed import FixedColumns
from ..selectors.hinge.base import HingeSelector, _Model
from ..selectors.least_squares.exclusive_l21 import ExclusiveSelector
from ..selectors.least_squares.l20 import L20Selector
from ..selectors.least_squares.l20_greedy import SupportsBySize
from ..selectors.least_squares.ridge_forward import RidgeForwardSelector
from ..selectors.least_squares.support_fit import SupportFit, SupportLeastSquares
from ..selectors.margins import MarginPredictions, class_pairs
from ..selectors.minimax.base import MinimaxSelector
from ..selectors.minimax.similarities import SimilarityMargins
from ..selectors.mkl.base import MKLSelector
from ..selectors.mkl.kernel_machine import FittedKernelMachine
from ..selectors.preparation import Units
from ..selectors.row_norms.base import ModelOnSupports
from ..selectors.row_norms.robust_l20 import RobustL20Selector
from ..selectors.row_norms.rpmfs import RPMFSSelector
from ..selectors.settings import SolverSettings
from ..solvers.base import Path, Result
from .errors import SavedFileError
from .parts import are_places, has_declared_types, is_array, sizes_agree

# Fitted attributes with one entry per feature in their last axis: number of axes (0 where it is one
# or two), kinds of number.
_PER_FEATURE = {
    "support_": (1, "b"),
    "ranking_": (1, "iu"),
    "scores_": (1, "f"),
    "feature_names_in_": (1, "O"),
    "coef_": (2, "f"),
    "kernel_weights_": (0, "f"),
    "pvalues_": (1, "f"),
    "rankings_": (2, "iu"),
    "relevance_": (1, "f"),
    "selection_probabilities_": (1, "f"),
    "support_per_class_": (2, "b"),
    "support_vectors_": (2, "f"),
    "_centre": (1, "f"),
    "_constant": (1, "b"),
    "_leftover": (1, "f"),
    "_scale": (1, "f"),
}
# Attributes that hold an object, and of which class; lists of them where it is in brackets.
_PARTS: dict[str, Any] = {
    "_by_size": SupportsBySize | None,
    "_fixed": FixedColumns,
    "_machines": [FittedKernelMachine],
    "_models": [_Model],
    "_own": SupportFit | None,
    "_units": Units,
    "_used": [FittedKernelMachine],
    "_way": Result,
    "kernel_": FeatureKernel,
    "path_": Path,
}
# Other samples would give other ones: these are samples, not features, where there are vectors.
_OF_SAMPLES = ("support_",)
_SETTINGS = ("_sklearn_output_config", "_metadata_request")  # of scikit-learn, before any fit
# What methods of a fitted estimator read, beside what all selectors have.
_NEEDED: dict[type, tuple[str, ...]] = {
    MarginPredictions: ("classes_",),
    SimilarityMargins: ("intercept_",),
    HingeSelector: ("_models", "_dtype", "_units", "coef_", "intercept_"),
    MinimaxSelector: ("coef_", "intercept_"),
    MKLSelector: ("_centre", "_scale", "_machines", "_used"),
    ExclusiveSelector: ("_W",),
    L20Selector: ("_own", "_by_size", "lam_", "_model", "_seen", "path_"),
    RidgeForwardSelector: ("_model", "_seen", "path_"),
    RobustL20Selector: ("lam_", "_supports", "_way", "_leftover", "_constant", "_model"),
    RPMFSSelector: ("_kept", "_model", "_way"),
    SelectorCV: ("selector_", "best_k_", "_told"),
    StabilitySelection: (
        "error_bounds_",
        "n_features_per_run_",
        "selection_probabilities_",
        "threshold_",
    ),
}
_NUMBERS = ("lam_", "objective_", "optimality_", "_gamma", "_gap", "guess_", "p_value_")


def check_consistent(instance: Any) -> None:
    """Refuse an instance whose parts contradict each other."""
    if isinstance(instance, BaseEstimator):
        if _is_ours(instance) and _is_fitted(instance):
            _check_fitted(instance)
        return
    is_state = dataclasses.is_dataclass(instance) and not isinstance(instance, SolverSettings)
    if is_state or isinstance(instance, tuple):
        _agree(instance, has_declared_types(instance))
    _agree(instance, sizes_agree(instance))


def _check_fitted(estimator: Any) -> None:
    fitted = vars(estimator)
    d = fitted.get("n_features_in_")
    _agree(estimator, type(d) is int and d > 0)
    for cls, names in _NEEDED.items():
        _agree(estimator, not isinstance(estimator, cls) or set(names) <= set(fitted))
    for name, (n_axes, kinds) in _PER_FEATURE.items():
        if name in fitted and not (name in _OF_SAMPLES and "support_vectors_" in fitted):
            n_axes = n_axes or np.ndim(fitted[name])
            shape = (*(None,) * (n_axes - 1), d)
            _agree(estimator, _is_array_or_sparse(fitted[name], kinds, *shape))
    for name, cls in _PARTS.items():
        if name in fitted:
            many = fitted[name] if isinstance(cls, list) else [fitted[name]]
            _agree(estimator, isinstance(many, list))
            wanted = cls[0] if isinstance(cls, list) else cls
            _agree(estimator, all(isinstance(one, wanted) for one in many))
    for name in _NUMBERS:
        if fitted.get(name) is not None:
            _agree(estimator, isinstance(fitted[name], int | float | np.floating))
    for name in ("estimator_", "selector_", "selectors_"):
        inside = fitted.get(name, [])
        for one in inside if isinstance(inside, list) else [inside]:
            _agree(estimator, isinstance(one, BaseEstimator) and hasattr(one, "n_features_in_"))
            _agree(estimator, one.n_features_in_ == d or name == "estimator_")
    if isinstance(estimator, MetaSelector):
        members = [*estimator._members(), getattr(estimator, "estimator", None)]
        _agree(estimator, all(m is None or isinstance(m, BaseEstimator) for m in members))
    _agree(estimator, isinstance(fitted.get("_frame_library"), str | None))
    _agree(estimator, isinstance(fitted.get("prepare_"), BaseEstimator | None))
    if isinstance(estimator, StabilitySelection):
        bounds = fitted["error_bounds_"]
        _agree(estimator, isinstance(bounds, dict) and set(bounds) == set(BOUNDS))
        _agree(estimator, all(isinstance(bound, float) for bound in bounds.values()))
    if isinstance(estimator, BaseSelector):
        estimator._check_parameters()
        _check_ranking(estimator, d)
    _check_models(estimator, d)
    _check_outputs(estimator)


def _check_ranking(selector: Any, d: int) -> None:
    fitted = vars(selector)
    own = set() if isinstance(selector, SelectorCV) else {"_fixed", "_n_kept", "_n_ranked"}
    _agree(selector, {"support_", "ranking_", "scores_", *own} <= set(fitted))
    _agree(selector, np.array_equal(np.sort(selector.ranking_), np.arange(1, d + 1)))
    if "_fixed" in fitted:
        _agree(selector, len(selector._fixed.always) == d)
        for count in (selector._n_kept, selector._n_ranked):
            _agree(selector, type(count) is int and 0 <= count <= d)
    path = fitted.get("path_")
    if path is not None:
        _agree(selector, all(are_places(support, d) for support in path.supports))
        _agree(selector, all(coef.shape[1] == d for coef in path.coefs or ()))


def _check_models(estimator: Any, d: int) -> None:
    """Features that models name exist, and units are those of all features."""
    fitted = vars(estimator)
    for one in (*fitted.get("_machines", ()), *fitted.get("_used", ())):
        _agree(estimator, are_places(one.weights.features, d))
    for one in fitted.get("_models", ()):
        _agree(estimator, are_places(one.features, d))
    for support in fitted.get("_supports", ()):
        _agree(estimator, are_places(support, d))
    units = [fitted["_units"]] if "_units" in fitted else []
    model = fitted.get("_model")
    if isinstance(model, SupportLeastSquares):
        units.append(model.units)
        known = estimator.path_.supports if "path_" in fitted else ()
        _agree(estimator, all(np.isin(support, model.features).all() for support in known))
    elif isinstance(model, ModelOnSupports):
        units.append(model.problem.units)
        kept = [*fitted.get("_supports", ()), *([fitted["_kept"]] if "_kept" in fitted else [])]
        _agree(estimator, all(np.isin(support, model.features).all() for support in kept))
        if "_kept" in fitted:
            kept_first = np.argsort(estimator.ranking_)[: len(fitted["_kept"])]
            always = np.flatnonzero(estimator._fixed.always)
            _agree(estimator, np.isin(kept_first, [*fitted["_kept"], *always]).all())
    elif isinstance(model, tuple):
        directions, responses, unit = model
        k = len(estimator.path_.features)
        _agree(estimator, is_array(directions, "f", None, k) and len(directions) >= k)
        _agree(estimator, is_array(responses, "f", None, None) and len(responses) >= k)
        _agree(estimator, len(estimator.path_) == k and is_array(estimator.gains_, "f", k))
        _agree(estimator, estimator.path_.objective is not None)
        units.append(unit)
    else:
        _agree(estimator, model is None)
    if fitted.get("_by_size") is not None:
        units.append(fitted["_by_size"].model.units)
    _agree(estimator, all(isinstance(u, Units) and len(u.scale) == d for u in units))


def _check_outputs(estimator: Any) -> None:
    """As many rows of coefficients, intercepts and machines as there are models."""
    fitted = vars(estimator)
    classes = fitted.get("classes_")
    _agree(estimator, classes is None or (isinstance(classes, np.ndarray) and classes.ndim == 1))
    rows = [len(fitted[n]) for n in ("_machines", "_used", "_models") if n in fitted]
    rows += [fitted[n].shape[0] for n in ("coef_", "kernel_weights_", "dual_coef_") if n in fitted]
    for name in ("intercept_", "_lengths"):
        if fitted.get(name) is not None:
            _agree(estimator, is_array(fitted[name], "f", None))
            rows.append(len(fitted[name]))
    _agree(estimator, len(set(rows)) <= 1)
    if rows and classes is not None and hasattr(estimator, "decision_function"):
        pairs = class_pairs(len(classes), getattr(estimator, "multi_class", "ovr"))
        _agree(estimator, len(classes) >= 2 and rows[0] == len(pairs))
    if "_W" in fitted:
        _agree(estimator, is_array(fitted["_W"], "f", estimator.n_features_in_, None))
        _agree(estimator, fitted["_W"].shape[1] == rows[0])
    if isinstance(estimator, SimilarityMargins):
        own = {"coef_"} if fitted.get("kernel") is None else {"support_vectors_", "_gamma"}
        known = {"coef_", "support_vectors_", "_gamma"} & set(fitted)
        _agree(estimator, known == own)
    if "support_vectors_" in fitted:
        vectors = fitted["support_vectors_"]
        _agree(estimator, is_array(fitted["dual_coef_"], "f", None, vectors.shape[0]))


def _is_array_or_sparse(value: Any, kinds: str, *shape: int | None) -> bool:
    if kinds == "O":
        return isinstance(value, np.ndarray) and value.dtype.kind == "O" and value.shape == shape
    if isinstance(value, np.ndarray):
        return is_array(value, kinds, *shape)
    is_sparse = getattr(value, "format", None) in ("csr", "csc") and value.dtype.kind in kinds
    return is_sparse and len(shape) == 2 and value.shape[1] == shape[1]


def _is_fitted(estimator: Any) -> bool:
    """Whether it holds more than parameters: leaving out one attribute must not end all checks."""
    return not set(vars(estimator)) <= {*estimator.get_params(deep=False), *_SETTINGS}


def _is_ours(estimator: Any) -> bool:
    return type(estimator).__module__.startswith("sparsieve")


def _agree(instance: Any, holds: Any) -> None:
    if not holds:
        raise SavedFileError(
            f"the parts of its {type(instance).__name__.lstrip('_')} contradict each other; fit "
            "and save anew"
        )
