"""What becomes of every column of a table: used as numbers, encoded, read, or left out and why."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._checks import format_names
from .raw_columns import AS_NAN, TEXT, RawColumn, RawValues, output_places, stack_numbers
from .written import (
    COMMA,
    MAX_CATEGORIES,
    POINT,
    TextKind,
    alike,
    date_notes,
    decimal_sign,
    shared_sign,
    text_kind,
)

_NAMED = 3  # cases of values that differ only by capital letters


@dataclass
class Plan:
    """What becomes of every column.

    Attributes
    ----------
    values : dict of str to RawValues
        What was given.
    columns : list of RawColumn
        What is made of those that are used, in their order.
    gaps : list of str
        Columns of numbers with missing values.
    left_out : dict of str to TextKind or None
        What is not used, with what its text is.
    wordy : dict of str to int
        Text of too many values, with their number.
    id_name : str
        The column that was taken for the names of the samples; empty where there is none.
    notes : list of str
        What was decided, one sentence each.
    odd : list of str
        Those of them about cells that were taken for missing.
    changes : bool
        Whether a column is anything but a number as it is.
    """

    values: Mapping[str, RawValues]
    columns: list[RawColumn] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)
    left_out: dict[str, TextKind | None] = field(default_factory=dict)
    wordy: dict[str, int] = field(default_factory=dict)
    id_name: str = ""
    notes: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)
    changes: bool = False

    @property
    def names(self) -> list[str]:
        """Names of all that is made."""
        return [name for column in self.columns for name in column.outputs]

    @property
    def encoded_columns(self) -> list[str]:
        """The columns that become zeros and ones."""
        return [one.name for one in self.columns if one.kind == TEXT and one.outputs]

    @property
    def places(self) -> dict[str, list[int]]:
        """The places of what is made of each column that is used."""
        return output_places(self.columns)

    def numbers(self) -> np.ndarray:
        """All that is made, beside each other."""
        return stack_numbers(self.columns, self.values)


def make_plan(
    values: Mapping[str, RawValues],
    *,
    gaps: str = AS_NAN,
    max_categories: int = MAX_CATEGORIES,
    max_missing: float | None = None,
    keep: Collection[str] = (),
    decides: bool = True,
    decimal: str = POINT,
) -> Plan:
    """Decide what becomes of every column.

    Text of a few values becomes columns of zeros and ones, one column where there are two values.
    Text that is numbers or dates is read as such, and a few cells that are none are missing values.
    Text of too many values, the first column in which every row has another text, columns that are
    mostly missing and those of one value are left out.

    Parameters
    ----------
    values : dict of str to RawValues
        What the columns hold, by name.
    gaps : {"nan", "value", "mark"}, default="nan"
        What becomes of missing values: NaN; for text a value of its own; for numbers also a
        column that marks them.
    max_categories : int, default=20
        How many values text may have to be encoded.
    max_missing : float or None, default=None
        Columns with a larger share of missing values are left out; None keeps them.
    keep : collection of str, default=()
        Columns that are used in any case: what would leave them out is an error.
    decides : bool, default=True
        Whether text in which every row differs names the samples, and columns of one value are
        left out. Otherwise only the number of values counts, and the caller refuses what is
        ``wordy``.
    decimal : {".", ","}, default="."
        The decimal sign of columns that could have either, where no other column shows one.

    Examples
    --------
    >>> from sparsieve.validation.raw_columns import values_of_array
    >>> from sparsieve.validation.raw_tables import make_plan
    >>> table = {"who": ["p1", "p2", "p3"], "age": ["40", "-", "61"], "sex": ["m", "f", "m"]}
    >>> plan = make_plan({name: values_of_array(some) for name, some in table.items()})
    >>> plan.names, plan.gaps, plan.id_name
    (['age', 'sex=m'], ['age'], 'who')
    """
    plan = Plan({})
    found: dict[str, RawValues] = {}
    missing: list[str] = []
    constant: list[str] = []
    written: list[str] = []
    commas: list[str] = []
    dates: dict[str, TextKind] = {}
    odd: dict[str, TextKind] = {}
    texts = {n: [*filter(None, v.texts)] for n, v in values.items() if v.texts is not None}
    shared = shared_sign(texts.values(), decimal)
    for name, given in values.items():
        text, sign = None, decimal
        if given.texts is not None:
            sign = decimal_sign(texts[name], shared)
            text = text_kind(given.texts.tolist(), max_categories, sign)
        if text is not None and text.numbers is not None:
            given = RawValues(text.numbers, is_date=text.kind == "date")
        missed = given.gaps
        share = float(missed.mean()) if len(missed) else 0.0
        if max_missing is not None and (share == 1.0 or share > max_missing):
            _refuse_required_column(name, keep, f"{100 * share:.0f} % of its values are missing")
            missing.append(name)
            plan.left_out[name] = text
            continue
        if text is not None and given.texts is not None:
            is_name = decides and text.kind == "name"
            if is_name or text.n_values > max_categories:
                several = f"its text has {text.n_values} different values; raise max_categories"
                _refuse_required_column(name, keep, several)
                plan.left_out[name] = text
                if is_name and not plan.id_name:
                    plan.id_name = name
                else:
                    plan.wordy[name] = text.n_values
                continue
        if decides and name not in keep and _is_constant(given):
            constant.append(name)
            plan.left_out[name] = TextKind("constant", 1)
            continue
        if given.is_date:
            dates[name] = text or TextKind("date", 0)
        elif text is not None and given.numbers is not None:
            written.append(name)
            if sign == COMMA and any(COMMA in one for one in texts[name]):
                commas.append(name)
        if text is not None and text.odd:
            odd[name] = text
        if share and given.numbers is not None:
            plan.gaps.append(name)
        found[name] = given
        how: dict[str, Any] = {"decimal": sign}
        if text is not None:
            how |= {"month_first": text.month_first, "odd": [*text.odd]}
        plan.columns.append(RawColumn.from_values(name, given, gaps, **how))
    plan.values = found
    plan.notes = list(_notes(plan, max_categories, max_missing, missing))
    if constant:
        plan.notes.append(f"left out {format_names(constant)}: the same value in every row")
    if written:
        plan.notes.append(f"read the text of {format_names(written)} as numbers")
    if commas:
        plan.notes.append(f"took the commas of {format_names(commas)} for decimal signs")
    plan.notes += date_notes(dates)
    plan.odd = list(_odd_cells(odd))
    plan.notes += plan.odd
    plan.notes += _spelt_alike(plan)
    plan.changes = bool(plan.left_out or written or dates or plan.encoded_columns)
    names = plan.names
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(f"two columns would be called {format_names(twice)}; rename one")
    return plan


def _notes(
    plan: Plan, max_categories: int, max_missing: float | None, missing: Iterable[str]
) -> Iterable[str]:
    """Why columns are left out."""
    if plan.id_name:
        n_values = plan.left_out[plan.id_name].n_values  # type: ignore[union-attr]
        why = f"all {n_values:,} values are different, so it was taken for the sample ID"
        yield f"left out {plan.id_name!r}: {why}"
    if plan.wordy:
        wordy = ", ".join(f"{name!r} ({times})" for name, times in plan.wordy.items())
        most = f"max_categories={max_categories}"
        yield f"left out text with more than {most} different values: {wordy}"
    if missing:
        share = float(max_missing or 0.0)
        why = "all" if share >= 1.0 else f"more than {100 * share:g} % of the"
        yield f"left out {format_names(missing)}: {why} values are missing (max_missing={share:g})"


def _is_constant(values: RawValues) -> bool:
    """Whether a column holds the same value in every row; a gap is another one."""
    given = values.texts if values.numbers is None else values.numbers
    if given is None or len(given) < 2 or values.gaps.any():
        return False
    return bool((given == given[0]).all())


def _odd_cells(columns: Mapping[str, TextKind]) -> Iterable[str]:
    """Which cells of numbers and dates are none."""
    for name, text in columns.items():
        n_cells = sum(text.odd.values())
        those = "cells of {} that are" if n_cells > 1 else "cell of {} that is"
        cells = f"{n_cells} {those.format(repr(name))} no {text.kind}"
        yield f"took {cells} for missing: {format_names(text.odd)}"


def _spelt_alike(plan: Plan) -> Iterable[str]:
    """Which values of text may be one."""
    for column in plan.columns:
        known = [value for value in column.known if value is not None]
        groups = alike(known)
        if groups:
            several = "; ".join(", ".join(map(repr, some)) for some in groups[:_NAMED])
            several += "; ..." * (len(groups) > _NAMED)
            yield (
                f"values of {column.name!r} differ only by capital letters or blanks ({several}), "
                "and each counts for itself: write them in one way if they mean the same"
            )


def _refuse_required_column(name: str, keep: Collection[str], why: str) -> None:
    if name in keep:
        raise ValueError(f"column {name!r} cannot be used: {why}")
