"""Selectors that look at X alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from ...selectors.base import BaseSelector


@dataclass(eq=False, repr=False, kw_only=True)
class UnsupervisedSelector(BaseSelector):
    """Base of the selectors whose ``fit`` needs no y.

    Weights are not taken: these methods ask which samples are near each other, or rank them,
    and a sample given twice is not a sample of weight two there.
    """

    _needs_target: ClassVar[bool] = False

    def fit(self, X: Any, y: Any = None) -> Self:  # type: ignore[override]
        """Rank the features of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training data.
        y : None
            Ignored; present for compatibility with scikit-learn pipelines.

        Returns
        -------
        self : object
            The fitted selector.
        """
        return super().fit(X, y)
