"""Selectors with p-values: samples that belong together are no independent evidence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np

from .._saved import Maybe
from ..validation.training_data import TrainingData, group_codes


def codes_of_samples(data: TrainingData, groups: Any) -> np.ndarray | None:
    """The group of every sample that is used, as a number; None where no groups are given."""
    if groups is None:
        return None
    given = np.asarray(groups)
    if data.used is not None and given.ndim == 1 and len(given) > data.used.max():
        given = given[data.used]
    return group_codes(given, data.design.shape[0])


def given_or_close(
    given: np.ndarray | None, find: Callable[[], np.ndarray | None]
) -> tuple[np.ndarray | None, int]:
    """The groups of samples that were given, or else those that are found.

    Returns
    -------
    codes : ndarray of int of shape (n_samples,) or None
        The group of every sample; None where each is one of its own.
    n_close : int
        How many samples are in found groups of several.
    """
    codes = find() if given is None else given
    if codes is None or codes.max(initial=-1) + 1 == len(codes):
        return None, 0
    return codes, int((np.bincount(codes)[codes] > 1).sum()) if given is None else 0


class TakesSampleGroups:
    """A selector whose ``fit`` takes groups of samples, and which says what it made of them."""

    # As splitters of scikit-learn do, which get the groups of a routed fit without being asked.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"groups": True}

    assumed_: Maybe[str]
    _sample_groups: Any  # while fitting

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
