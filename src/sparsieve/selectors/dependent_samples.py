"""Selectors with p-values: samples that belong together are no independent evidence."""

from __future__ import annotations

from typing import Any, Self

from .._saved import Maybe


class TakesSampleGroups:
    """A selector whose ``fit`` takes groups of samples, and which says what it made of them."""

    assumed_: Maybe[str]
    _sample_groups: Maybe[Any]  # while fitting

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Test the features of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training data; also data larger than memory, as other selectors take them.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            What features are tested for.
        sample_weight : array-like of shape (n_samples,), default=None
            How many samples a row stands for.
        groups : array-like of shape (n_samples,), default=None
            Samples that depend on each other, such as those of a patient. Without it, samples that
            are nearly copies of each other are found and count as one.

        Returns
        -------
        self : object
            The fitted selector.
        """
        self._sample_groups = groups
        try:
            return super().fit(X, y, sample_weight)  # type: ignore[misc]
        finally:
            del self._sample_groups
