"""Raw data frames: text, dates, gaps and names of samples made into numbers, each with a note."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.pipeline import make_pipeline

from .._checks import check_integer, check_real, listed
from ..validation.columns import columns_mask
from ..validation.dataframes import check_names, column_kinds, opened, text_named
from ..validation.feature_groups import asks_for_marks
from ..validation.feature_groups import feature_groups as groups_given
from ..validation.written import (
    MAX_CATEGORIES,
    MAX_MISSING,
    TextKind,
    dates_read,
    is_gap,
    taken_for_id,
    text_kind,
    too_few_values,
    written_number,
)
from ..validation.written_dates import days_of
from .preprocessor import (
    FramePreprocessor,
    GapMarker,
    check_kinds,
    encoder_of_text,
    in_days,
    preprocessor_of,
)

_PLAIN = "biuf"  # kinds of NumPy dtypes that are numbers


@dataclass(frozen=True)
class Readied:
    """A data frame that is ready to select from.

    Attributes
    ----------
    X : data frame or array-like
        Numbers; gaps are NaN. What was given where there was nothing to do.
    encode : FramePreprocessor or None
        What made them, fitted; None where there was nothing to do.
    feature_groups : dict, or as given
        The columns made of each column, where they are to be kept together.
    gaps : list of str
        Columns of numbers with missing values.
    notes : list of str
        What was done, one sentence each.
    sources : dict of str to list of str
        The names of the columns made of each column of the frame; empty without an encoder.
    id_name : str
        The column that was taken for the names of the samples; empty where there is none.
    """

    X: Any
    encode: FramePreprocessor | None
    feature_groups: Any
    gaps: list[str]
    notes: list[str]
    sources: dict[str, list[str]]
    id_name: str = ""


@dataclass
class _Plan:
    """What becomes of every column."""

    numbers: list[str]
    text: list[str]
    notes: list[str]
    gaps: list[str]
    changes: bool = False
    id_name: str = ""


def readied(
    X: Any,
    feature_groups: Any = None,
    *,
    takes_groups: bool = True,
    max_categories: int = MAX_CATEGORIES,
    max_missing: float = MAX_MISSING,
    keep: Sequence[str] = (),
    parameter: str = "max_missing",
) -> Readied:
    """Turn text and dates of a data frame into numbers and leave out what says nothing.

    Text of a few values becomes columns of zeros and ones, which are kept or left out together, one
    column where there are two values; a missing text is a value of its own. Text that is numbers
    or dates is read as such, and dates become days since 1970. Names of samples, text of too
    many values and columns that are mostly missing are left out. Gaps in numbers stay, to be filled
    inside the folds. Frames of numbers without such columns, and arrays, are returned as they are.

    Parameters
    ----------
    X : data frame or array-like
    feature_groups : as in :func:`~sparsieve.select`, default=None
        Of the columns of the frame.
    takes_groups : bool, default=True
        Whether the method keeps whole groups; otherwise every column counts for itself.
    max_categories : int, default=20
        Text with more different values is left out.
    max_missing : float, default=0.5
        Columns with a larger share of missing values are left out.
    keep : sequence of str, default=()
        Columns that are used in any case: what would leave them out is an error.
    parameter : str, default="max_missing"
        What ``max_missing`` is called in the note.

    Examples
    --------
    >>> import pandas as pd
    >>> from sparsieve.preprocessing.raw import readied
    >>> frame = pd.DataFrame({
    ...     "who": ["p1", "p2", "p3"], "age": [40, None, 61], "sex": ["m", "f", "m"]
    ... })
    >>> ready = readied(frame)
    >>> list(ready.X.columns), ready.gaps
    (['age', 'sex=m'], ['age'])
    >>> ready.notes[0]
    "left out 'who': all 3 values are different, so it was taken for the sample ID"
    """
    check_integer("max_categories", max_categories)
    check_real("max_missing", max_missing, minimum=0, maximum=1)
    check_names(X)
    frame = opened(X)
    if frame is None:
        return Readied(X, None, feature_groups, [], [], {})
    if not len(frame.columns) or not len(frame):
        return Readied(X, None, feature_groups, [], [], {})  # the selector says it
    given, X = X, text_named(X)
    frame = opened(X)
    marks = asks_for_marks(feature_groups)
    plan = _planned(frame, max_categories, max_missing, keep, parameter)
    if not plan.changes and not (marks and plan.gaps):
        X = _without_na(X, plan.gaps) if hasattr(given, "iloc") else given
        return Readied(X, None, feature_groups, plan.gaps, plan.notes, {})
    if not plan.numbers and not plan.text:
        raise ValueError(
            "no column of X is left to select from: " + "; ".join(plan.notes or ["it has none"])
        )
    kinds = column_kinds(frame)
    parts: list[tuple[str, Any, list[str]]]
    if marks:
        parts = _marking_parts(plan, kinds)
    else:
        parts = [("numbers", AsNumbers(), plan.numbers)]
    parts.append(("categories", encoder_of_text(), plan.text))
    encode = preprocessor_of(X, parts).fit(X)
    made = encode.groups_
    names = [str(name) for name in encode.get_feature_names_out()]
    sources = {name: [names[j] for j in places] for name, places in made.items()}
    notes = list(plan.notes)
    if plan.text:
        how = "" if takes_groups else "; the method selects single columns, so each counts alone"
        notes.append(f"encoded {listed(plan.text)} as columns of zeros and ones{how}")
    grouped = _regrouped(feature_groups, list(map(str, frame.columns)), made, takes_groups)
    made_by = encode, grouped, plan.gaps, notes, sources, plan.id_name
    return Readied(encode.transform(X), *made_by)


def _without_na(frame: Any, gaps: Sequence[str]) -> Any:
    """NaN instead of pandas' NA, which NumPy does not know."""
    nullable = [name for name in gaps if not isinstance(frame[name].dtype, np.dtype)]
    return frame.astype(dict.fromkeys(nullable, np.float64)) if nullable else frame


def _marking_parts(plan: _Plan, kinds: Mapping[str, str]) -> list[tuple[str, Any, list[str]]]:
    """The parts for ``feature_groups="categories"``, where gaps of numbers are marked."""
    of_kind = {
        kind: [name for name in plan.numbers if kinds[name] == kind]
        for kind in ("number", "text", "date or time")
    }
    return [
        ("numbers", GapMarker(), of_kind["number"]),
        ("written", make_pipeline(AsNumbers(), GapMarker()), of_kind["text"]),
        ("dates", make_pipeline(AsNumbers(), GapMarker()), of_kind["date or time"]),
    ]


def _planned(
    frame: Any, max_categories: int, max_missing: float, keep: Sequence[str], parameter: str
) -> _Plan:
    plan = _Plan([], [], [], [])
    shares = _missing_shares(frame)
    if shares is None:  # numbers without gaps, as most frames are
        plan.numbers = [str(name) for name in frame.columns]
        return plan
    kinds = column_kinds(frame)
    check_kinds(kinds)
    missing: list[str] = []
    wordy: list[str] = []
    dates: dict[str, TextKind] = {}
    written: list[str] = []
    names: list[str] = []
    for given, kind in kinds.items():
        name, share = str(given), shares[given]
        found = None
        if kind == "text":
            found = text_kind(frame.get_column(given).to_list(), max_categories)
            if found.numbers is not None:
                share = float(np.isnan(found.numbers).mean())
        if share == 1.0 or share > max_missing:
            _refuse_where_kept(name, keep, f"{100 * share:.0f} % of its values are missing")
            missing.append(name)
            continue
        if found is not None and found.kind == "category":
            plan.text.append(name)
            continue
        if found is not None and found.numbers is None:
            several = f"its text has {found.n_values} different values; raise max_categories"
            _refuse_where_kept(name, keep, several)
            if found.kind == "name" and not names:
                names.append(name)
            else:
                wordy.append(f"{name!r} ({found.n_values})")
            continue
        if kind == "date or time" or (found is not None and found.kind == "date"):
            dates[name] = found or TextKind("date", 0)
        elif found is not None:
            written.append(name)
        plan.numbers.append(name)
        if share:
            plan.gaps.append(name)
    if names:
        plan.id_name = names[0]
        plan.notes.append(f"left out {names[0]!r}: {taken_for_id(len(frame))}")
    if wordy:
        plan.notes.append(
            f"left out text with more than max_categories={max_categories} different values: "
            f"{', '.join(wordy)}"
        )
    if missing:
        plan.notes.append(
            f"left out {listed(missing)}: {too_few_values(max_missing)} ({parameter}="
            f"{max_missing:g})"
        )
    if written:
        plan.notes.append(f"read the text of {listed(written)} as numbers")
    plan.notes += dates_read(dates)
    plan.changes = bool(names or wordy or missing or written or dates or plan.text)
    return plan


def _refuse_where_kept(name: str, keep: Sequence[str], why: str) -> None:
    if name in keep:
        raise ValueError(f"column {name!r} cannot be used: {why}")


def _missing_shares(frame: Any) -> dict[Any, float] | None:
    """The share of missing values of every column; None for numbers without any gap."""
    native, n_rows = frame.to_native(), len(frame)
    if hasattr(native, "to_numpy") and _all_plain(native):
        values = _matrix(native)
        if values.dtype.kind in "biu" or not np.isnan(values.sum(dtype=np.float64)):
            return None
        share = np.isnan(values).mean(axis=0).tolist()
        return dict(zip(frame.columns, share, strict=True)) if any(share) else None
    shares: dict[Any, float] = {}
    is_plain = True
    for name, dtype in frame.schema.items():
        column = frame.get_column(name)
        gaps = column.is_null()
        if dtype.is_float():
            gaps = gaps | column.is_nan()
        shares[name] = float(gaps.sum()) / n_rows
        is_plain &= dtype.is_numeric()
    return None if is_plain and not any(shares.values()) else shares


def _matrix(native: Any) -> np.ndarray:
    """Plain columns as one array; of truth values beside numbers pandas makes objects."""
    values = native.to_numpy()
    return values.astype(np.float64) if values.dtype.kind == "O" else values


def _all_plain(native: Any) -> bool:
    """Whether the columns are numbers of NumPy's own kinds."""
    kinds = set(getattr(native, "dtypes", "x"))
    return all(isinstance(one, np.dtype) and one.kind in _PLAIN for one in kinds)


def _regrouped(
    given: Any, columns: list[str], made: Mapping[str, list[int]], takes_groups: bool
) -> Any:
    """The feature groups of the columns that were made."""
    if given is None or asks_for_marks(given):
        several = any(len(places) > 1 for places in made.values())
        return dict(made) if takes_groups and (several or given is not None) else None
    groups = groups_given(given, len(columns), columns)
    found: dict[str, list[int]] = {}
    for name, places in groups.by_place().items():
        kept = [j for place in places for j in made.get(columns[place], ())]
        if kept:
            found[name] = kept
    return found


def made_of(parameter: str, given: Any, columns: Sequence[str], ready: Readied) -> Any:
    """Columns that a parameter names among those of the frame, as the columns made of them."""
    if given is None or not ready.sources:
        return given
    names = [given] if isinstance(given, str) else given
    made = [name for group in ready.sources.values() for name in group]
    if all(isinstance(name, str) and name in made for name in names):
        return list(names)
    mask = columns_mask(parameter, names, len(columns), list(columns))
    chosen = [columns[j] for j in np.flatnonzero(mask).tolist()]
    return [name for column in chosen for name in ready.sources.get(column, ())]


class AsNumbers(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """The columns of a data frame as numbers: written ones read, dates as days; gaps are NaN.

    It learns which of day and month comes first where a date is written as 05/31/2024.

    Examples
    --------
    >>> import pandas as pd
    >>> from sparsieve.preprocessing.raw import AsNumbers
    >>> step = AsNumbers().fit(pd.DataFrame({"when": ["01/31/1970", "02/01/1970"]}))
    >>> step.transform(pd.DataFrame({"when": ["01/03/1970"]})).tolist()
    [[2.0]]
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn how dates are written."""
        columns = opened(X)
        self.feature_names_in_: np.ndarray = np.array(list(columns.columns), dtype=object)
        self.n_features_in_: int = len(self.feature_names_in_)
        self.kinds_: dict[str, TextKind] = {}
        for name, kind in column_kinds(columns).items():
            if kind == "text":
                self.kinds_[str(name)] = text_kind(columns.get_column(name).to_list())
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The numbers, one column for each."""
        kinds = self.kinds_
        return as_numbers(X, {name for name, one in kinds.items() if one.month_first})


def as_numbers(frame: Any, month_first: Collection[str] = ()) -> np.ndarray:
    """The columns of a data frame as numbers: written ones read, dates as days; gaps are NaN.

    ``month_first`` names the columns whose dates have the month in front of the day.

    Examples
    --------
    >>> import pandas as pd
    >>> from sparsieve.preprocessing.raw import as_numbers
    >>> as_numbers(pd.DataFrame({"when": ["1970-01-03", None], "paid": ["1,200", "7 %"]})).tolist()
    [[2.0, 1200.0], [nan, 7.0]]
    """
    if _all_plain(frame):
        values = _matrix(frame)
        return values if values.dtype == np.float32 else values.astype(np.float64)
    columns = opened(frame)
    made = [
        column_as_numbers(columns.get_column(name), str(name) in month_first)
        for name in columns.columns
    ]
    return np.column_stack(made)


def column_as_numbers(column: Any, month_first: bool = False) -> np.ndarray:
    """One column, a series as narwhals sees it, as numbers."""
    import narwhals as nw

    dtype = column.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        kind = np.float32 if dtype == nw.Float32 else np.float64
        values = column.cast(nw.Float32 if kind is np.float32 else nw.Float64)
        return np.asarray(values.fill_null(float("nan")).to_numpy(), dtype=kind)
    if dtype.is_temporal() or str(getattr(column.to_native(), "dtype", "")).startswith("period"):
        return in_days(column)
    return np.array([_read(value, month_first) for value in column.to_list()], dtype=np.float64)


def reads_as_number(text: str, month_first: bool = False) -> bool:
    """Whether text is a number, a date, or a way to write a gap among these."""
    return days_of(text, month_first) is not None or written_number(text) is not None


def _read(value: Any, month_first: bool) -> float:
    if is_gap(value):
        return np.nan
    if isinstance(value, str):
        found = days_of(value, month_first)
        found = written_number(value) if found is None else found
        return np.nan if found is None else found
    return float(value)
