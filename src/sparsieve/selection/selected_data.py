"""The data of a report on one selection."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import check_array

from .._text import distinct, shortened
from ..diagnosis.null import looks_at_target
from ..scoring import martingale_residuals
from ..scoring.outcomes import best_first
from ..selectors.base import BaseSelector
from ..selectors.preparation import count_selection, find_groups, unit_names, unit_phrase
from ..validation.feature_groups import FeatureGroups, source_names
from ..validation.reading import read_task
from ..validation.survival import as_survival, is_survival
from ..validation.target import encode_target, training_task


@dataclass(frozen=True)
class SelectedData:
    """The data and the selection, with names for everything."""

    selector: Any
    X: Any  # without names, dense or CSR
    y: np.ndarray
    names: np.ndarray
    classes: np.ndarray | None
    order: np.ndarray  # selected columns, best first
    task: str = "classification"
    beside: tuple[int, ...] = ()  # covariates: columns of the model that are no features

    @classmethod
    def from_selector(
        cls, selector: Any, X: Any, y: Any, names: Any = None, beside: Sequence[int] = ()
    ) -> SelectedData:
        """What a fitted selector kept of the data it was fitted on."""
        if names is None:
            names = getattr(selector, "feature_names_in_", None)
        if names is None and hasattr(X, "columns"):
            names = np.asarray(X.columns).astype(str)
        values = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X)
        y = as_survival(y) if _task_of(selector, y) == "survival" else np.asarray(y)
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
        names = np.array(distinct(names.ravel().tolist()), dtype=object)
        if names.shape != (values.shape[1],):
            raise ValueError(
                f"feature_names holds {names.size} names for {values.shape[1]} features; give "
                "one for each"
            )
        is_ranking = getattr(selector, "ranking_", None) is not None
        chosen = best_first(selector) if is_ranking else np.flatnonzero(selector.get_support())
        task = _task_of(selector, y)
        if task == "auto" and y.ndim == 1:
            task, _ = read_task(y, values)
        if task == "survival":
            return cls(selector, values, y, names, None, chosen, task, tuple(beside))
        target = encode_target(y, task=task, dtype=np.dtype(float), owner=type(selector).__name__)
        parts = selector, values, y, names, target.classes, chosen, target.task
        return cls(*parts, tuple(beside))

    @cached_property
    def groups(self) -> FeatureGroups | None:
        """The feature groups that were chosen among, or None for single features."""
        return find_groups(self.selector)

    @property
    def unit(self) -> str:
        """What is counted: "feature" or "feature group"."""
        return unit_phrase(self.selector)

    @property
    def n_kept(self) -> int:
        """How many of them are selected."""
        return len(self.order) if self.groups is None else count_selection(self.selector)

    @property
    def n_units(self) -> int:
        """How many of them there are."""
        return self.X.shape[1] if self.groups is None else self.groups.n_groups

    @cached_property
    def covariate_units(self) -> list[int]:
        """The covariates among them, which are neither ranked nor counted."""
        if self.groups is None:
            return list(self.beside)
        columns = enumerate(self.groups.columns)
        return [unit for unit, some in columns if np.isin(some, self.beside).any()]

    @property
    def n_always(self) -> int:
        """How many of them the selection cannot do without, such as covariates."""
        choices = getattr(getattr(self.selector, "selector_", self.selector), "_choices", None)
        return 0 if choices is None else int(choices.n_always)

    @property
    def own(self) -> tuple[int, int, int]:
        """How many are selected, how many there are, and how many columns: without covariates."""
        n_beside = len(self.covariate_units)
        n_columns = int((~np.isin(self.order, self.beside)).sum())
        return self.n_kept - n_beside, self.n_units - n_beside, n_columns

    @property
    def covariate_names(self) -> list[str]:
        """The names of the covariates, as the user knows them."""
        return list(dict.fromkeys(source_names(self.unit_names[self.covariate_units])))

    @property
    def unit_names(self) -> np.ndarray:
        """Their names."""
        return unit_names(self.selector, self.names)

    @cached_property
    def kept_units(self) -> np.ndarray:
        """Those selected, the best first."""
        if self.groups is None:
            return self.order
        ranking = getattr(self.selector, "selector_", self.selector).group_ranking_
        return np.argsort(ranking, kind="stable")[: self.n_kept]

    @cached_property
    def class_names(self) -> list[str]:
        """Labels of the classes for charts; none for numbers."""
        return [] if self.classes is None else shortened([str(label) for label in self.classes])

    @cached_property
    def class_codes(self) -> np.ndarray:
        """The place of every sample's class among the classes."""
        assert self.classes is not None
        return np.searchsorted(self.classes, self.y)

    @cached_property
    def targets(self) -> np.ndarray:
        """Numbers to predict, of shape (n_samples, n_targets).

        Of survival times the residuals of the model without features: high for early events.
        """
        if self.task == "survival":
            return martingale_residuals(self.y)[:, None]
        return np.asarray(self.y, dtype=float).reshape(len(self.y), -1)

    @cached_property
    def target_names(self) -> list[str]:
        """Names of the numbers to predict."""
        if self.task == "survival":
            return ["martingale residual (high: early event)"]
        n_targets = self.targets.shape[1]
        return ["target"] if n_targets == 1 else [f"target {j}" for j in range(n_targets)]

    def marks(self, samples: np.ndarray) -> list[Any]:
        """The class, or the first number to predict, of some samples."""
        if self.classes is None:
            return self.targets[samples, 0].tolist()
        return [self.class_names[code] for code in self.class_codes[samples]]

    @cached_property
    def class_sizes(self) -> np.ndarray:
        """Samples of every class; none for numbers."""
        return np.bincount(self.class_codes) if self.classes is not None else np.zeros(0, int)

    def standardise(self, features: Any) -> np.ndarray:
        """Columns in standard deviations from their means; what is missing stays missing."""
        values = self.columns(features)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a column without any value
            spread = np.nanstd(values, axis=0)
            return (values - np.nanmean(values, axis=0)) / np.where(spread > 0, spread, 1.0)

    def substitutes(self, threshold: float) -> dict[int, list[tuple[int, float]]] | None:
        """For every selected feature, or group, others that could stand in, and how strongly."""
        if not hasattr(self.selector, "find_substitutes"):
            return None
        values = self.X.data if sparse.issparse(self.X) else self.X
        if np.isnan(np.asarray(values, dtype=float)).any():  # no correlations with gaps
            return None
        # By column, as two columns may have the same name.
        unnamed = copy.copy(self.selector)
        unnamed.__dict__.pop("feature_names_in_", None)
        found = unnamed.find_substitutes(self.X, threshold)
        if self.groups is None:
            return found
        place = {name: g for g, name in enumerate(self.groups.names)}
        return {place[a]: [(place[b], r) for b, r in others] for a, others in found.items()}

    def clone_selector(self) -> Any:
        """The selector as it was, to be fitted on parts of X, which have no names any more.

        Of a search for the number of features: the selector that it searched with.
        """
        inner = getattr(self.selector, "selector_", None)
        fitted = inner if isinstance(inner, BaseSelector) else self.selector
        selector = clone(fitted)
        fixed = getattr(fitted, "_fixed", None)
        known = selector.get_params(deep=False)
        if self.groups is not None and known.get("feature_groups") is not None:
            selector.set_params(feature_groups=self.groups.by_place())
        if fixed is not None:
            for name, mask in (("always_keep", fixed.always), ("never_keep", fixed.never)):
                if known.get(name) is not None:
                    selector.set_params(**{name: np.flatnonzero(mask).tolist()})
        return selector

    def columns(self, features: Any) -> np.ndarray:
        """Dense values of some columns."""
        values = self.X[:, features]
        return values.toarray() if sparse.issparse(values) else np.asarray(values, dtype=float)


def _task_of(selector: Any, y: Any) -> str:
    """How the fit read y."""
    if is_survival(y):
        return "survival"
    if not looks_at_target(selector):
        return "auto"  # the fit did not read it; the page does, as anybody would
    if isinstance(selector, BaseSelector):
        return training_task(selector, y)
    return str(getattr(selector, "task", "auto"))


def raw_values(X: Any) -> Any:
    """X as it was given, gaps included, for a transformer that learns inside the folds."""
    return check_array(X, accept_sparse="csr", dtype=(float, np.float32), ensure_all_finite=False)
