"""The answer of a report: in one sentence, and as a card of the model."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._text import listed_names, plural
from ...meta.guess import is_no_better
from ...meta.held_out import HeldOutCheck
from ...scoring.scorers import Score
from ...selection.selected_data import SelectedData
from .assessment import Assessment
from .elements import Column, Facts, Section, Table
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
    def from_assessment(cls, assessment: Assessment, check: HeldOutCheck | None) -> HeldOut | None:
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
        few = f" ({plural(n_columns, 'column')})"
    if kept.covariate_units:
        few += f" beside {listed_names(kept.covariate_names)}"
    units = [j for j in kept.kept_units if j not in kept.covariate_units]
    if found is None:
        names = [str(kept.unit_names[j]) for j in units[:3]]
        first = listed_names(names, more=n_kept - 3)
        return f"{name} kept {n_kept:,} of {n_units:,} {unit}s{few}: {first}."
    using = f"Using these {n_kept:,} of {n_units:,} {unit}s{few}"
    if n_kept == 1:
        first = kept.unit_names[units[0]]
        using = f"Using {first}, the one {unit} kept of {n_units:,}{few}"
    return f"{using}, {_article(found.model)} {_prediction_phrase(found)}"


def _prediction_phrase(found: HeldOut) -> str:
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


_UNIT = re.compile(r"[(\[]([^()\[\]]+)[)\]]\s*$")
_ZEROS_AND_ONES = "0 or 1"


def parse_unit(name: str) -> str:
    """The unit that a column name ends with, in brackets; empty without one.

    Examples
    --------
    >>> from sparsieve.app.report.answer import parse_unit
    >>> parse_unit("petal width (cm)"), parse_unit("glucose [mg/dl]"), parse_unit("age")
    ('cm', 'mg/dl', '')
    """
    found = _UNIT.search(name)
    return found[1].strip() if found else ""


def model_card(
    kept: SelectedData,
    answer: HeldOut | None,
    check: HeldOutCheck | None,
    *,
    X: Any = None,
    groups: Any = None,
) -> Section | None:
    """Data, folds, score, ranges of the features, and what the model must not be used for.

    ``X`` are the data before they were prepared. None where nothing was kept.
    """
    if not len(kept.order):
        return None
    table = _ranges(kept, kept.X if X is None else X)
    facts = Facts("How it was made", _made(kept, answer, check, groups))
    return Section("Model card", _limitations(kept, answer), [facts, table])


def _made(
    kept: SelectedData, answer: HeldOut | None, check: HeldOutCheck | None, groups: Any
) -> dict[str, str]:
    (n_kept, n_units, _), n_samples = kept.own, kept.X.shape[0]
    facts = {"training data": f"{n_samples:,} samples, {plural(n_units, kept.unit)}"}
    if groups is not None:
        n_groups = len(np.unique(np.asarray(groups).astype(str)))
        facts["training data"] += f", {plural(n_groups, 'group')} of samples"
    facts["target"] = _target(kept)
    facts["model"] = f"of {plural(n_kept, kept.unit)}" + (
        f" beside {', '.join(kept.covariate_names)}" if kept.covariate_names else ""
    )
    if answer is None:
        facts["held-out samples"] = "not checked"
        return facts
    facts["model"] = f"{answer.model} {facts['model']}"
    measure, title = answer.measure, answer.measure.title
    score = f"{title} {measure.shown(answer.score)}"
    if check is not None and np.isfinite(check.low):
        score += f" (95 % interval {measure.shown(check.low)} to {measure.shown(check.high)})"
    if check is not None:
        score += f"; {plural(check.n_folds, 'fold')}"
    facts["held-out samples"] = score
    if answer.guess is not None:
        facts["a guess"] = f"{title} {measure.shown(answer.guess)}"
    return facts


def _target(kept: SelectedData) -> str:
    if kept.classes is not None:
        sizes = zip(kept.class_names, kept.class_sizes.tolist(), strict=True)
        parts = [f"{name} ({size:,})" for name, size in sizes]
        more = len(parts) - 10
        return ", ".join(parts[:10]) + (f" and {more} more" if more > 0 else "")
    if kept.task == "survival":
        times = kept.y["time"]
        events = int(kept.y["event"].sum())
        return f"survival times up to {float(times.max()):.4g}, {plural(events, 'event')}"
    values = np.asarray(kept.y, dtype=float)
    return f"{kept.task}: {values.min():.4g} to {values.max():.4g}"


def _ranges(kept: SelectedData, X: Any) -> Table:
    """Every column that the model uses, with its values in training."""
    places = kept.order
    values = X[:, places]
    values = np.asarray(values.toarray() if hasattr(values, "toarray") else values, dtype=float)
    missing = np.isnan(values)
    low, high = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
    filled = np.where(missing, 0.0, values)
    binary: Any = np.isin(filled, (0.0, 1.0)).all(axis=0)
    names = [str(kept.names[j]) for j in places]
    units = [parse_unit(name) for name in names]
    columns = [Column("column", names, features=[int(j) for j in places])]
    if any(units):
        columns.append(Column("unit", [unit or None for unit in units]))
    columns += [
        Column("smallest", [None if np.isnan(one) else float(one) for one in low]),
        Column("largest", [None if np.isnan(one) else float(one) for one in high]),
        Column("values", [_ZEROS_AND_ONES if one else "numbers" for one in binary]),
    ]
    if missing.any():
        shares = [percent(share) if share else None for share in missing.mean(axis=0)]
        columns.append(Column("missing", shares))
    note = "Values of the training samples, before anything was done to them."
    if not all(units):
        note += " Units are those of the training table where a name does not say one."
    return Table("What the model needs", columns, note)


def _limitations(kept: SelectedData, answer: HeldOut | None) -> list[str]:
    """What nobody knows of this model, as sentences."""
    said = []
    if answer is None:
        said.append("Not checked on held-out samples: nobody knows how well this model predicts.")
    elif answer.doubt:
        said.append(f"Not for predictions: {answer.doubt[:1].lower()}{answer.doubt[1:]}")
    shares = ""
    if kept.classes is not None:
        shares = " Probabilities suppose that the classes are as frequent as here."
    said += [
        "Not for values outside the ranges below, for other units, or for samples from elsewhere "
        "than the training data, such as another population, laboratory or device, before it was "
        f"checked there.{shares}",
        "Not a statement about causes: a feature that predicts need not be one, and others may "
        "stand in for it.",
    ]
    return said
