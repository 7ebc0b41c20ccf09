"""What a model says about the features, and the ranking that follows from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class FeatureScores:
    """What ``_fit`` found out about the features.

    Attributes
    ----------
    scores : ndarray of shape (n_features,)
        Larger is better, and noise scores like noise: what ``score_meaning`` says.
    n_kept : int
        How many features the model itself keeps (not counting those of ``always_keep``), used
        when no number is asked for.
    order : ndarray or None
        Features in the order in which a path took them up: ranked first, whatever their scores.
    ties : ndarray or None
        Decides between equal scores before column order does.
    constant : ndarray of bool or None
        Columns that carry no information: always ranked last.
    complete : bool
        Whether the ranking means something for every number of features. Otherwise ``at`` goes
        no further than ``order``: what is left out is ranked by what it would add next only.
    """

    scores: np.ndarray
    n_kept: int
    order: np.ndarray | None = None
    ties: np.ndarray | None = None
    constant: np.ndarray | None = None
    complete: bool = True

    def ranking(self, argsort: Callable[[np.ndarray], np.ndarray] | None = None) -> np.ndarray:
        """Rank of every feature, 1 for the best; equal features in column order.

        ``argsort`` must keep equal numbers in order; None sorts where we are.
        """
        n_features = len(self.scores)
        if self.ties is not None:
            best = np.lexsort((-self.ties, -self.scores))
        elif argsort is None:
            best = np.argsort(-self.scores, kind="stable")
        else:
            best = argsort(-self.scores)
        if self.constant is not None and self.constant.any():
            last = self.constant[best]
            best = np.concatenate([best[~last], best[last]])
        if self.order is not None:
            first = np.asarray(self.order, dtype=np.intp)
            taken = np.zeros(n_features, dtype=bool)
            taken[first] = True
            best = np.concatenate([first, best[~taken[best]]])
        ranking = np.empty(n_features, dtype=np.int64)
        ranking[best] = np.arange(1, n_features + 1)
        return ranking
