"""The data of a report on one selection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from ..selectors.base import BaseSelector
from ..selectors.target import encode_target


@dataclass(frozen=True)
class SelectedData:
    """The data and the selection, with names for everything."""

    selector: Any
    X: Any  # without names, dense or CSR
    y: np.ndarray
    names: np.ndarray
    classes: np.ndarray | None
    order: np.ndarray  # selected columns, best first

    @classmethod
    def of(cls, selector: Any, X: Any, y: Any, names: Any = None) -> SelectedData:
        """What a fitted selector kept of the data it was fitted on."""
        if names is None:
            names = getattr(selector, "feature_names_in_", None)
        if names is None and hasattr(X, "columns"):
            names = np.asarray(X.columns).astype(str)
        values = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X)
        y = np.asarray(y)
        if values.ndim != 2 or values.shape[1] != selector.n_features_in_:
            raise ValueError(
                f"X has shape {values.shape}, but the selector was fitted on "
                f"{selector.n_features_in_} features; pass the data it was fitted on"
            )
        if len(y) != values.shape[0]:
            raise ValueError(f"X has {values.shape[0]} samples and y {len(y)}; they must agree")
        if names is None:
            names = np.array([f"column {j}" for j in range(values.shape[1])])
        names = np.asarray(names, dtype=object).astype(str)
        if names.shape != (values.shape[1],):
            raise ValueError(
                f"feature_names holds {names.size} names for {values.shape[1]} features; give "
                "one for each"
            )
        support = selector.get_support()
        ranking = getattr(selector, "ranking_", None)
        chosen = np.flatnonzero(support)
        if ranking is not None:
            chosen = chosen[np.argsort(np.asarray(ranking)[chosen], kind="stable")]
        task = _task_of(selector)
        target = encode_target(y, task=task, dtype=np.dtype(float), owner=type(selector).__name__)
        return cls(selector, values, y, names, target.classes, chosen)

    def unfitted(self) -> Any:
        """The selector as it was, to be fitted on parts of X, which have no names any more."""
        selector = clone(self.selector)
        fixed = getattr(self.selector, "_fixed", None)
        known = selector.get_params(deep=False)
        if fixed is not None:
            masks = {"always_keep": fixed.always, "never_keep": fixed.never}
            selector.set_params(
                **{
                    name: np.flatnonzero(mask).tolist()
                    for name, mask in masks.items()
                    if known.get(name) is not None
                }
            )
        return selector

    def columns(self, features: Any) -> np.ndarray:
        """Dense values of some columns."""
        values = self.X[:, features]
        return values.toarray() if sparse.issparse(values) else np.asarray(values, dtype=float)

    def scores(self) -> np.ndarray | None:
        """Score of every feature."""
        scores = getattr(self.selector, "scores_", None)
        return None if scores is None else np.asarray(scores, dtype=float)


def _task_of(selector: Any) -> str:
    """How the fit read y."""
    if isinstance(selector, BaseSelector):
        return "regression" if getattr(selector, "classes_", None) is None else "classification"
    return str(getattr(selector, "task", "auto"))
