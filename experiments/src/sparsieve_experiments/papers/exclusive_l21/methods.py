"""The methods of Figure 2, each as a selection per class and one for all classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone

from sparsieve.datasets import load_dataset
from sparsieve.filters import FStatisticSelector, MRMRSelector, ReliefFSelector
from sparsieve.papers.exclusive_l21.exclusive_lasso import ExclusiveLassoSelector
from sparsieve.papers.exclusive_l21.selector import ExclusiveL21Selector


def loaded(name: str):
    """(X, class codes, number of classes), X dense."""
    data = load_dataset(name)
    X = data["X"].toarray() if sparse.issparse(data["X"]) else data["X"]
    classes, codes = np.unique(data["y"], return_inverse=True)
    return np.asarray(X, dtype=np.float64), codes, len(classes)


def centred_indicators(codes, n_classes: int) -> np.ndarray:
    """One column per class, centred."""
    Y = np.eye(n_classes)[codes]
    return Y - Y.mean(axis=0)


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


class Choice(NamedTuple):
    """Masks of so many features of every class, and of so many for all classes together.

    ``facts`` are numbers about a model, named by ``FACTS``; a filter has none.
    """

    per_class: Callable[[int], np.ndarray]
    shared: Callable[[int], np.ndarray]
    facts: dict


def choose(method: str, X, y, largest_count: int) -> Choice:
    """Fit a method to a training part whose columns are standardised."""
    return (
        _ranked(FILTERS[method], X, y, largest_count) if method in FILTERS else _fit(method, X, y)
    )


def _ranked(selector, X, y, largest_count: int) -> Choice:
    """By the ranks of every class against the rest, and of all classes together."""

    def ranks(labels) -> np.ndarray:
        fitted = clone(selector).set_params(n_features_to_select=largest_count).fit(X, labels)
        return fitted.ranking_

    own = np.array([ranks((y == label).astype(int)) for label in np.unique(y)])
    together = ranks(y)
    return Choice(lambda count: own <= count, lambda count: together <= count, {})


def _fit(method: str, X, y) -> Choice:
    """By the coefficients of a class, or the norms of all, of an exclusive model."""
    classes, codes = np.unique(y, return_inverse=True)
    Y = centred_indicators(codes, len(classes))
    largest = float(2.0 * np.linalg.norm(X.T @ Y, axis=1).max())  # from it on nothing is kept
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
    return Choice(
        lambda count: fitted.at(count, per_class=True).support_per_class_,
        lambda count: fitted.at(count).support_,
        dict(zip(FACTS, numbers, strict=True)),
    )
