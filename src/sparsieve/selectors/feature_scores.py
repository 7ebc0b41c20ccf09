"""What a model says about the features, and the ranking that follows from it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._beside import to_numpy
from .._checks import warn_user
from ..design import DesignMatrix, best_first, ranks


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
    ties : ndarray, tuple of them or None
        Decides between equal scores before column order does, the first one first; differences
        below a hundred-millionth of the largest do not count. For features that the model left at
        zero: what it would say next.
    constant : ndarray of bool or None
        Columns that carry no information: always ranked last.
    complete : bool
        Whether the ranking means something for every number of features. Otherwise ``at`` goes
        no further than ``order``: what is left out is ranked by what it would add next only.
    passed_over : dict or None
        Near copies that the model left out because of ``max_correlation``, with their correlations,
        by the feature that stays: ranked after all others. None where the model has not looked, so
        that it is done on the ranking.
    beyond, remedy : str
        What ranks features without weight, and what would give weight to more of them, both as
        parts of a sentence. Where ``beyond`` is empty no feature is without weight, or it means
        nothing.

    See Also
    --------
    sparsieve.BaseSelector : Base of a selector of your own.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve import FeatureScores
    >>> FeatureScores(np.array([0.1, 0.7, 0.4]), n_kept=2).ranking()
    array([3, 1, 2])
    """

    scores: np.ndarray
    n_kept: int
    order: np.ndarray | None = None
    ties: np.ndarray | tuple[np.ndarray, ...] | None = None
    constant: np.ndarray | None = None
    complete: bool = True
    passed_over: dict[int, dict[int, float]] | None = None
    beyond: str = ""
    remedy: str = ""

    @classmethod
    def by_norms(
        cls, norms: np.ndarray, ties: Any, constant: np.ndarray, remedy: str, least: float = 0.0
    ) -> FeatureScores:
        """Of a penalised model, which keeps those above the least; ``ties`` are correlations."""
        return cls(
            norms,
            n_kept=int((norms > least).sum()),
            ties=to_numpy(ties),
            constant=constant,
            beyond="the gradient of the loss",
            remedy=remedy,
        )

    def ranking(self, design: DesignMatrix | None = None) -> np.ndarray:
        """Rank of every feature, 1 for the best; equal features in column order.

        With the ``design`` that the scores are of they are sorted where X is.
        """
        ties = self.ties if isinstance(self.ties, tuple) else (self.ties,)
        ties = tuple(one for one in ties if one is not None)
        if design is not None and not self.passed_over:
            return design.rank_scores(self.scores, self.order, self.constant, ties)
        best = best_first(self.scores, ties)
        if self.passed_over:
            behind = np.isin(best, [j for others in self.passed_over.values() for j in others])
            best = np.concatenate([best[~behind], best[behind]])
        return ranks(best, self.order, self.constant)

    def beside(self, always: np.ndarray) -> FeatureScores:
        """The same of a model that knew nothing of features that are always kept.

        Of those that it keeps, the others are its own choice.
        """
        kept = self.ranking() <= self.n_kept
        return replace(self, n_kept=int(np.count_nonzero(kept & ~always)))

    def warn_of_few(self, asked: int, n_always: int = 0, unit: str = "feature") -> None:
        """Tell who asked for more features than carry weight what ranks the others.

        ``n_always`` features have weight beside those of the model; ``unit`` is what is counted.
        """
        n_weighted = max(self.n_kept, 0 if self.order is None else len(self.order)) + n_always
        rest = asked - n_weighted
        if not self.beyond or rest <= 0:
            return
        few = f"No {unit} has" if n_weighted == 0 else f"Only {n_weighted} {unit}s have"
        if n_weighted == 1:
            few = f"Only 1 {unit} has"
        others = "the" if n_weighted == 0 else f"the other {rest} of the"
        verb = "is" if rest == 1 else "are"
        remedy = f"{self.remedy}, or " if self.remedy else ""
        warn_user(
            f"{few} a nonzero weight in this model; {others} {asked} requested {verb} ranked by "
            f"{self.beyond}; {remedy}request fewer {unit}s"
        )
