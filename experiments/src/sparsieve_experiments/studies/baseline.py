"""The baseline of every comparison: no selection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparsieve.selectors.base import BaseSelector, FeatureScores, TrainingData


@dataclass(eq=False, repr=False, kw_only=True)
class AllFeatures(BaseSelector):
    """Keep every feature, whatever number is asked for.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or None, default=None
        Taken so that it can stand where a selector does; all features are kept.

    See Also
    --------
    sparsieve_experiments.studies.Study : What to compare.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve_experiments.studies import AllFeatures
    >>> X, y = load_wine(return_X_y=True)
    >>> AllFeatures().fit(X, y).at(3).transform(X).shape
    (178, 13)
    """

    _score_meaning: ClassVar[str] = "Zero for every feature: nothing is judged."

    def _fit(self, data: TrainingData) -> FeatureScores:
        n_features = data.design.shape[1]
        return FeatureScores(np.zeros(n_features), n_features)

    def _set_support(self) -> None:
        self.support_ = np.ones(len(self.ranking_), dtype=bool)
