"""The answer of a report in one sentence, by the score that was asked for."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..._text import counted, listed_names
from ...meta.guess import is_no_better
from ...meta.held_out import HeldOutCheck
from ...scoring.scorers import Score
from ...selection.selected_data import SelectedData
from .assessment import Assessment
from .wording import percent


@dataclass(frozen=True)
class HeldOut:
    """What held-out samples say of a selection: one model, one set of folds, one score.

    Attributes
    ----------
    measure : Score
    model : str
        What predicted, in words.
    score : float
    guess : float or None
        Score without features.
    doubt : str
        A sentence where predictions are no better than that.
    stability : float or None
        Nogueira's index over the folds; None where all features are kept.
    """

    measure: Score
    model: str
    score: float
    guess: float | None
    doubt: str
    stability: float | None

    @classmethod
    def of(cls, assessment: Assessment, check: HeldOutCheck | None) -> HeldOut | None:
        """That of the check, or else of the folds of the report; None where there is neither."""
        if check is not None:
            stability = check.stability if math.isfinite(check.stability) else None
            parts = check.measure, check.model, check.score, check.guess, check.warning
            return cls(*parts, stability)
        main, measure = assessment.main, assessment.measure
        if main is None or measure is None:
            return None
        found = None if assessment.stability is None else assessment.stability.value
        parts = measure, main["model"], main["mean"], assessment.guess, assessment.doubt
        return cls(*parts, found)

    @property
    def not_better(self) -> str:
        """How it compares with a guess that it is not better than: by itself, or by a test alone.

        Classes may be told apart, and significantly, by a model whose labels are those of a guess.
        """
        assert self.guess is not None
        score, guess = (float(self.measure.turned(one)) for one in (self.score, self.guess))
        return "no better" if is_no_better(score, guess) else "not significantly better"


def headline(name: str, kept: SelectedData, found: HeldOut | None) -> str:
    """The answer in one sentence."""
    (n_kept, n_units, n_columns), unit = kept.own, kept.unit
    if not n_kept:
        return f"{name} kept none of the {n_units:,} {unit}s."
    few = ""
    if kept.groups is not None:
        few = f" ({counted(n_columns, 'column')})"
    if kept.units_beside:
        few += f" beside {listed_names(kept.names_beside)}"
    units = [j for j in kept.kept_units if j not in kept.units_beside]
    if found is None:
        names = [str(kept.unit_names[j]) for j in units[:3]]
        first = listed_names(names, more=n_kept - 3)
        return f"{name} kept {n_kept:,} of {n_units:,} {unit}s{few}: {first}."
    using = f"Using these {n_kept:,} of {n_units:,} {unit}s{few}"
    if n_kept == 1:
        first = kept.unit_names[units[0]]
        using = f"Using {first}, the one {unit} kept of {n_units:,}{few}"
    return f"{using}, {_article(found.model)} {_predicted(found)}"


def _predicted(found: HeldOut) -> str:
    """What the model did, in the words of its score."""
    own, doubt = found.measure.own, found.doubt
    if own == "accuracy" and found.guess is not None:
        guess = percent(found.guess)
        end = f"; always predicting the largest class scores {guess}."
        if doubt:
            end = f", {found.not_better} than always predicting the largest class ({guess})."
        return f"classified {percent(found.score)} of held-out samples correctly{end}"
    if own == "concordance" and found.guess is not None:
        score = f"concordance {found.score:.2f}"
        if doubt:
            return (
                "ranked the risks of held-out samples not significantly better than a guess "
                f"({score}, a guess 0.50)."
            )
        return (
            f"ranked {percent(round(found.score, 2))} of the comparable pairs of held-out samples "
            f"correctly by risk ({score}); a guess ranks 50 % correctly."
        )
    if own == "deviance_explained" and found.guess is not None:
        share = percent(round(found.score, 2))
        if doubt:
            return (
                "predicted held-out counts no better than always predicting the mean (deviance "
                f"explained: {share})."
            )
        return f"explained {share} of the deviance of held-out counts."
    if own == "r2" and found.guess is not None:
        r2 = f"R² = {found.score:z.2f}"
        if doubt:
            return f"predicted held-out samples no better than always predicting the mean ({r2})."
        share = percent(round(found.score, 2))
        return f"explained {share} of the variance of held-out targets ({r2})."
    measure = found.measure
    lower = " (lower is better)" * measure.lower_is_better
    reached = f"had {_article(measure.title)} of {measure.shown(found.score)} on held-out samples"
    if found.guess is None:
        return f"{reached}{lower}."
    guess = f"a guess without features ({measure.shown(found.guess)})"
    if doubt:
        return f"{reached}{lower}, {found.not_better} than {guess}."
    return f"{reached}{lower}; {guess[:-1].replace(' (', ' has ')}."


def _article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiouAFR' else 'a'} {noun}"
