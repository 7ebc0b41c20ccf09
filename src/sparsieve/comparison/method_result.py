"""One method on all splits and on all samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..meta.guess import GuessTest, better_than_a_guess
from ..registry import name_of
from ..scoring import nogueira_stability
from ..scoring.engine import FoldScores
from ..scoring.folds import Fold
from ..scoring.scorers import Score
from ..scoring.selections import Selection
from ..scoring.stability import Stability
from ..selectors.methods import parameters_of
from .data import ComparisonData


@dataclass(frozen=True, eq=False)
class MethodResult:
    """One method on all splits and on all samples.

    Attributes
    ----------
    name, cls : str
        What it is called here, and its class.
    parameters : dict
    scores : dict of str to ndarray of shape (n_ks, n_splits)
        Of every score, errors positive; NaN beyond what the method ranks on every split. Splits
        on which the score is not defined are left out.
    guess_test : GuessTest
        Whether its predictions, on average over all k, are better than a guess.
    n_reached : int
        Numbers of features that it ranks on every split.
    in_splits : list of dict of int to ndarray
        Features that it chose on the training part of every split at every number, best first.
    chosen : dict of int to ndarray
        The same on all samples.
    ranking : ndarray
        The rank of every feature on all samples.
    seconds : float
        Of one selection, the median over the splits.
    warnings : list of str
        What the fits warned of.
    """

    name: str
    cls: str
    parameters: dict[str, Any]
    scores: dict[str, np.ndarray]
    guess_test: GuessTest
    n_reached: int
    in_splits: list[dict[Any, np.ndarray]]
    chosen: dict[Any, np.ndarray]
    ranking: np.ndarray
    seconds: float
    warnings: list[str]

    @classmethod
    def of(
        cls,
        name: str,
        selector: Any,
        fits: Sequence[Any],
        data: ComparisonData,
        splits: Sequence[Fold],
        ks: list[int],
        score: Score,
    ) -> MethodResult:
        """From the scores of every split, then the selection and the ranking on all samples.

        ``score`` is the one that decides.
        """
        parts: list[FoldScores]
        whole: Selection
        *parts, (whole, ranking) = fits
        every = [*(fit.selection for fit in parts), whole]
        reached = min(len(fit.columns) for fit in every)
        metrics = next(iter(parts[0].scores.values()))
        scores = {metric: np.full((len(ks), len(parts)), np.nan) for metric in metrics}
        for metric, table in scores.items():
            for j, fit in enumerate(parts):
                (model,) = {name for name, _ in fit.scores}
                table[:reached, j] = fit.curve(model, metric)[:reached]
        return cls(
            name,
            name_of(selector),
            parameters_of(selector),
            scores,
            better_than_a_guess(parts, data.y, data.task, splits, groups=data.groups, score=score),
            reached,
            [_in_units(fit.columns, data) for fit in parts],
            _in_units(whole.columns, data),
            ranking,
            float(np.median([fit.selection.seconds for fit in parts])),
            list(dict.fromkeys(warning for fit in every for warning in fit.warnings)),
        )

    def stability(self, k: int) -> Stability:
        """Nogueira's index of what the splits chose; NaN where all or nothing is chosen."""
        every = np.arange(len(self.ranking))
        return nogueira_stability([np.isin(every, columns[k]) for columns in self.in_splits])


def _in_units(columns: dict[Any, np.ndarray], data: ComparisonData) -> dict[Any, np.ndarray]:
    """What was chosen at every number, as features or feature groups."""
    return {k: data.units(some) for k, some in columns.items()}
