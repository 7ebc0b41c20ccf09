"""Whether what was read fits together: compiled code trusts the shapes of its arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ..kernels.bank import KernelBank
from ..selectors.base import BaseSelector
from ..selectors.fixed import FixedColumns
from ..solvers.base import Path
from ..solvers.mkl.model import MKLModel
from ..solvers.row_norms.problem import RobustData
from .errors import SavedFileError


def check_consistent(instance: Any) -> None:
    """Refuse an instance whose parts contradict each other."""
    if isinstance(instance, Path):
        instance.__post_init__()
    elif isinstance(instance, RobustData):
        n_samples = instance.design.shape[0]
        _agree(instance, len(instance.Y) == n_samples == len(instance.weights))
    elif isinstance(instance, KernelBank):
        _agree(instance, instance.values.ndim == 2)
        _agree(instance, instance.weights.shape == (instance.n_samples,))
        _agree(instance, instance.weights.dtype == np.float64)
    elif isinstance(instance, MKLModel):
        _agree(instance, instance.y.shape == (instance.bank.n_samples,))
    elif isinstance(instance, BaseEstimator) and hasattr(instance, "n_features_in_"):
        _check_fitted(instance)


def _check_fitted(estimator: Any) -> None:
    n_features = estimator.n_features_in_
    _agree(estimator, type(n_features) is int and n_features > 0)
    _check_columns(estimator, "feature_names_in_", "O", n_features)
    if isinstance(estimator, BaseSelector) and hasattr(estimator, "support_"):
        for name, kinds in (("support_", "b"), ("ranking_", "iu"), ("scores_", "f")):
            _check_columns(estimator, name, kinds, n_features)
        places = np.sort(estimator.ranking_)
        _agree(estimator, np.array_equal(places, np.arange(1, n_features + 1)))
        fixed = getattr(estimator, "_fixed", None)
        if fixed is not None:
            _agree(estimator, isinstance(fixed, FixedColumns))
            _check_columns(fixed, "always", "b", n_features)
            _check_columns(fixed, "never", "b", n_features)
            counts = (estimator._n_kept, estimator._n_ranked)
            _agree(estimator, all(0 <= count <= n_features for count in counts))
    if "sparsieve" in type(estimator).__module__:
        coef = getattr(estimator, "coef_", None)
        _agree(estimator, coef is None or np.shape(coef)[-1] == n_features)
        path = getattr(estimator, "path_", None)
        if isinstance(path, Path):
            _check_path(estimator, path, n_features)


def _check_path(estimator: Any, path: Path, n_features: int) -> None:
    for support in path.supports:
        _agree(estimator, support.dtype.kind == "i" and support.ndim == 1)
        if len(support):
            _agree(estimator, support.min() >= 0 and support.max() < n_features)
    for coef in path.coefs or ():
        _agree(estimator, coef.shape[1] == n_features)


def _check_columns(owner: Any, name: str, kinds: str, n_features: int) -> None:
    """One value per feature."""
    values = vars(owner).get(name)
    if values is None:
        return
    fits = isinstance(values, np.ndarray) and values.shape == (n_features,)
    _agree(owner, fits and values.dtype.kind in kinds)


def _agree(instance: Any, holds: Any) -> None:
    if not holds:
        raise SavedFileError(
            f"the parts of its {type(instance).__name__} contradict each other; fit and save anew"
        )
