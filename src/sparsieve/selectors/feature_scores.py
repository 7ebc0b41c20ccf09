"""What a model says about the features, and the ranking that follows from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..design import DesignMatrix, falling, ranks


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

    def ranking(self, design: DesignMatrix | None = None) -> np.ndarray:
        """Rank of every feature, 1 for the best; equal features in column order.

        With the ``design`` that the scores are of they are sorted where X is.
        """
        if self.ties is None and design is not None:
            return design.ranked(self.scores, self.order, self.constant)
        return ranks(falling(self.scores, self.ties), self.order, self.constant)
