"""What a user brings along: folds, a model, weights of samples, a seed, and how many jobs."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn import config_context

from ..meta import SelectorCV
from ..meta.final_model import check_model
from ..registry import find_selector, name_of
from ..selectors.around import weights_for
from ..validation.containers import plain_vector


@dataclass(frozen=True)
class Own:
    """Parameters of :func:`~sparsieve.select` that are not those of the method.

    Attributes
    ----------
    cv : int, splitter, list of folds or None
        None is the usual number of folds.
    estimator : estimator or None
        The model on the selected features; None is the usual one.
    sample_weight : ndarray, name of a column, or None
    random_state : int, RandomState or None
        None leaves every seed as it is.
    n_jobs : int or None
    """

    cv: Any = None
    estimator: Any = None
    sample_weight: Any = None
    random_state: Any = None
    n_jobs: int | None = None

    @classmethod
    def of(cls, cv: Any, estimator: Any, sample_weight: Any, random_state: Any, n_jobs: Any) -> Own:
        """Checked; folds that could be read only once are kept."""
        if isinstance(cv, Iterable) and not hasattr(cv, "split") and not isinstance(cv, str):
            cv = list(cv)
        if isinstance(cv, str) or (cv is not None and isinstance(cv, bool)):
            raise ValueError(
                f"cv must be a number of folds, a scikit-learn splitter or a list of (train, test) "
                f"pairs, got {cv!r}"
            )
        if estimator is not None:
            check_model(estimator)
        return cls(cv, estimator, sample_weight, random_state, n_jobs)

    def weighing(self, sample_weight: Any) -> Own:
        """The same with the weights that were given, or named."""
        if sample_weight is not None:
            sample_weight = np.asarray(plain_vector("sample_weight", sample_weight))
        return replace(self, sample_weight=sample_weight)

    @property
    def folds(self) -> dict[str, Any]:
        """Parameters of :class:`~sparsieve.SelectorCV`; those left open keep their defaults."""
        named = {
            "cv": self.cv,
            "estimator": self.estimator,
            "random_state": self.random_state,
            "n_jobs": self.n_jobs,
        }
        return {name: value for name, value in named.items() if value is not None}

    def for_method(self, method: Any) -> dict[str, Any]:
        """What of it a class or a function takes as parameters of its own."""
        named = {name: value for name, value in self.folds.items() if name != "cv"}
        method = find_selector(method) if isinstance(method, str) else method
        if isinstance(method, type) or (callable(method) and not hasattr(method, "fit")):
            taken = _parameters(method)
            return {name: value for name, value in named.items() if name in taken}
        return {}

    def set_on(self, selector: Any) -> Any:
        """A selector that was given as an object: its open seed, and its jobs."""
        taken = selector.get_params(deep=False)
        for name in ("random_state", "n_jobs"):
            value = getattr(self, name)
            if value is not None and name in taken and not isinstance(selector, SelectorCV):
                selector.set_params(**{name: value})
        return selector

    def weights(self, selector: Any) -> dict[str, Any]:
        """Arguments of the fit of a selector; refused by name where it takes no weights."""
        if self.sample_weight is None:
            return {}
        if isinstance(selector, SelectorCV):
            return {"sample_weight": self.sample_weight}
        try:
            return weights_for(selector, self.sample_weight)
        except ValueError:
            raise ValueError(
                f"sample_weight was given, but {name_of(selector)} does not take weights of "
                "samples; leave sample_weight out, or choose another method"
            ) from None


def unrouted() -> Any:
    """Hand weights and groups to whoever takes them: select has said who does.

    Where scikit-learn routes metadata, every estimator inside would have to ask for them.
    """
    return config_context(enable_metadata_routing=False)


def _parameters(method: Any) -> set[str]:
    try:
        return set(inspect.signature(method).parameters)
    except (TypeError, ValueError):
        return set()
