"""The model card: what a model was made from, how well it did, and what it is not for."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..._text import counted
from ...meta.held_out import HeldOutCheck
from ...selection.selected_data import SelectedData
from .elements import Column, Facts, Section, Table
from .headline import HeldOut
from .wording import percent

_UNIT = re.compile(r"[(\[]([^()\[\]]+)[)\]]\s*$")
_ZEROS_AND_ONES = "0 or 1"


def unit_in(name: str) -> str:
    """The unit that a column name ends with, in brackets; empty without one.

    Examples
    --------
    >>> from sparsieve.app.report.model_card import unit_in
    >>> unit_in("petal width (cm)"), unit_in("glucose [mg/dl]"), unit_in("age")
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
    return Section("Model card", _not_for(kept, answer), [facts, table])


def _made(
    kept: SelectedData, answer: HeldOut | None, check: HeldOutCheck | None, groups: Any
) -> dict[str, str]:
    (n_kept, n_units, _), n_samples = kept.own, kept.X.shape[0]
    facts = {"training data": f"{n_samples:,} samples, {counted(n_units, kept.unit)}"}
    if groups is not None:
        n_groups = len(np.unique(np.asarray(groups).astype(str)))
        facts["training data"] += f", {counted(n_groups, 'group')} of samples"
    facts["target"] = _target(kept)
    facts["model"] = f"of {counted(n_kept, kept.unit)}" + (
        f" beside {', '.join(kept.names_beside)}" if kept.names_beside else ""
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
        score += f"; {counted(check.n_folds, 'fold')}"
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
        return f"survival times up to {float(times.max()):.4g}, {counted(events, 'event')}"
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
    units = [unit_in(name) for name in names]
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


def _not_for(kept: SelectedData, answer: HeldOut | None) -> list[str]:
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
