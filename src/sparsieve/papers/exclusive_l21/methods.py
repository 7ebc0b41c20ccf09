"""The methods of Figure 2, each as a selection per class and one for all classes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from ...filters import FStatisticSelector, MRMRSelector, ReliefFSelector
from ...selectors.least_squares.exclusive_l21 import ExclusiveL21Selector
from ...selectors.least_squares.exclusive_lasso import ExclusiveLassoSelector
from .data import centred_indicators, largest_strength

FILTERS = {
    "F-statistic": FStatisticSelector(),
    "ReliefF": ReliefFSelector(),
    "mRMR": MRMRSelector(criterion="mid"),
}
# Ratio beta / alpha of the exclusive models.
RATIOS = {
    "l2,1": 0.0,
    "exclusive l2,1 (beta = alpha)": 1.0,
    "exclusive l2,1 (beta = 10 alpha)": 10.0,
}
LASSO = "exclusive lasso"
METHODS = (*FILTERS, "l2,1", LASSO, *list(RATIOS)[1:])
LEVEL = 0.1  # strength of l2,1, as a share of the one that keeps nothing, that sets the sparsity
FACTS = ("common_level", "nonzeros", "features_kept", "alpha", "beta")
FIRST = 0.5  # where to begin to look for the same sparsity


@dataclass(frozen=True)
class FilterChoice:
    """Ranks of every class against the rest, and of all classes together."""

    own: np.ndarray
    together: np.ndarray
    facts: dict = field(default_factory=dict)

    def per_class(self, count: int) -> np.ndarray:
        return self.own <= count

    def shared(self, count: int) -> np.ndarray:
        return self.together <= count


@dataclass(frozen=True)
class ModelChoice:
    """A fitted exclusive model, which ranks by coefficients of a class or norms of all.

    ``facts`` are numbers about it, named by ``FACTS``.
    """

    fitted: Any
    facts: dict

    def per_class(self, count: int) -> np.ndarray:
        return self.fitted.at(count, per_class=True).support_per_class_

    def shared(self, count: int) -> np.ndarray:
        return self.fitted.at(count).support_


def choose(method: str, X, y, largest_count: int) -> FilterChoice | ModelChoice:
    """Fit a method to a training part whose columns are standardised."""
    return (
        _ranked(FILTERS[method], X, y, largest_count) if method in FILTERS else _fit(method, X, y)
    )


def _ranked(selector, X, y, largest_count: int) -> FilterChoice:
    def ranks(labels) -> np.ndarray:
        fitted = clone(selector).set_params(n_features_to_select=largest_count).fit(X, labels)
        return fitted.ranking_

    own = [ranks((y == label).astype(int)) for label in np.unique(y)]
    return FilterChoice(np.array(own), ranks(y))


def _fit(method: str, X, y) -> ModelChoice:
    classes, codes = np.unique(y, return_inverse=True)
    largest = largest_strength(X, centred_indicators(codes, len(classes)))
    base = ExclusiveL21Selector(alpha=LEVEL * largest, beta=0.0, tol=1e-5).fit(X, y)
    level = int(np.count_nonzero(base.coef_))
    if method == LASSO:
        fitted = ExclusiveLassoSelector(beta=largest, tol=1e-4).fit(X, y)
    elif RATIOS[method]:
        alpha = FIRST * largest
        fitted = ExclusiveL21Selector(
            alpha=alpha, beta=RATIOS[method] * alpha, target_sparsity=level, tol=1e-5
        ).fit(X, y)
    else:
        fitted = base
    numbers = (
        level,
        int(np.count_nonzero(fitted.coef_)),
        int(fitted.coef_.any(axis=0).sum()),
        float(getattr(fitted, "alpha_", 0.0)),
        float(fitted.beta_),
    )
    return ModelChoice(fitted, dict(zip(FACTS, numbers, strict=True)))
