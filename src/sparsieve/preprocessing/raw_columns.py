"""One column of a raw table as numbers, in a form that a file can hold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from .._checks import listed
from .._saved import Savable
from ..io.labels import is_missing
from ..validation.feature_groups import GAP, SEPARATOR
from ..validation.written import is_gap, levels_encoded
from .preprocessor import FramePreprocessor, GapMarker
from .raw import column_as_numbers, reads_as_number

NUMBER, DATE, TEXT = KINDS = ("number", "date", "text")
VALUE, MARK, LEVEL = MADE = ("value", "gap", "level")


@dataclass(frozen=True)
class RawColumn(Savable):
    """What is made of one column of a data frame: its numbers, marks of gaps, zeros and ones.

    Attributes
    ----------
    name : str
        The column.
    kind : {"number", "date", "text"}
    outputs : list of str
        Names of what is made of it.
    made : list of {"value", "gap", "level"}
        What each of them holds: the number, where values are missing, where the text is the one
        that ``levels`` has in the same place.
    levels : list
    known : list
        All values of a text column in the training data; None where some were missing.
    fill : float or None
        What missing numbers become; None leaves them.
    month_first : bool
        Whether dates such as 05/31/2024 have the month in front of the day.
    leaves_gaps : bool
        Whether a missing text is missing in what is made of it, too, to be filled by what follows;
        otherwise it is a value as any other.
    """

    name: str
    kind: str
    outputs: list[str]
    made: list[str]
    levels: list[Any]
    known: list[Any] = field(default_factory=list)
    fill: float | None = None
    month_first: bool = False
    leaves_gaps: bool = False

    def _state_checks(self) -> Any:
        yield self.kind in KINDS and set(self.made) <= set(MADE)
        yield len(self.outputs) == len(self.made) == len(self.levels)

    def restricted(self, outputs: set[str]) -> RawColumn:
        """The same with some of what it makes."""
        some = [j for j, name in enumerate(self.outputs) if name in outputs]
        parts: dict[str, Any] = {
            name: [getattr(self, name)[j] for j in some] for name in ("outputs", "made", "levels")
        }
        return replace(self, **parts)

    def numbers(self, column: Any) -> list[np.ndarray]:
        """What is made of a column of new data, a series as narwhals sees it."""
        if self.kind == TEXT:
            return self.encoded(column.to_list())
        found = self._values(column)
        gaps = np.isnan(found)
        if self.fill is not None:
            found = np.where(gaps, self.fill, found)
        return [found if made == VALUE else gaps.astype(np.float64) for made in self.made]

    def encoded(self, texts: Iterable[Any]) -> list[np.ndarray]:
        """What is made of the texts of a text column."""
        values = np.array([_level(text) for text in texts], dtype=object)
        gaps = (values == GAP) & self.leaves_gaps
        return [np.where(gaps, np.nan, values == _level(level)) for level in self.levels]

    def _values(self, column: Any) -> np.ndarray:
        what = "dates" if self.kind == DATE else "numbers"
        if self.kind == DATE and column.dtype.is_numeric() and _has_values(column):
            raise ValueError(
                f"column {self.name!r} holds numbers, but the model was trained on dates; convert "
                "it first"
            )
        try:
            found = column_as_numbers(column, self.month_first)
        except (TypeError, ValueError, AttributeError):
            raise ValueError(
                f"column {self.name!r} holds {column.dtype}, but the model was trained on {what}; "
                "convert it first"
            ) from None
        for value in column.to_list() if not column.dtype.is_numeric() else ():
            if not isinstance(value, str) or is_gap(value):
                continue
            if not reads_as_number(value, self.month_first):
                raise ValueError(
                    f"column {self.name!r} holds {value!r}, but the model was trained on {what}; "
                    "convert it first"
                )
        return found

    def unknown(self, column: Any) -> str:
        """Which values of a text column are new, in words; empty where there are none."""
        if self.kind != TEXT:
            return ""
        known = {_level(value) for value in self.known}
        new = sorted({str(v) for v in map(_level, column.unique().to_list()) if v not in known})
        return f"{self.name!r} has values unknown to the model: {listed(new)}" if new else ""


def _has_values(column: Any) -> bool:
    return any(_level(value) != GAP for value in column.to_list())


def _level(value: Any) -> Any:
    """A value of a text column; the same for all ways to write that it is missing."""
    return GAP if is_missing(value, ()) else value


def column_of_text(name: str, values: Iterable[Any]) -> RawColumn:
    """What is made of a text column with these values, None where they are missing."""
    found = set(values)
    known: list[Any] = [*sorted(found - {None}), *[None] * (None in found)]
    levels = levels_encoded(known)
    outputs = [f"{name}{SEPARATOR}{_level(level)}" for level in levels]
    return RawColumn(name, TEXT, outputs, [LEVEL] * len(levels), levels, known=known)


def raw_columns(encoder: FramePreprocessor) -> list[RawColumn]:
    """What a fitted preprocessor makes of every column of its frame.

    Examples
    --------
    >>> import pandas as pd
    >>> from sparsieve import make_preprocessor
    >>> from sparsieve.preprocessing.raw_columns import raw_columns
    >>> frame = pd.DataFrame({"age": [40, None, 61], "sex": ["m", "f", "m"]})
    >>> [column.outputs for column in raw_columns(make_preprocessor(frame).fit(frame))]
    [['age', 'age=(missing)'], ['sex=m']]
    """
    names = {str(name) for name in encoder.get_feature_names_out()}
    found: list[RawColumn] = []
    for part, transformer, columns in encoder.transformers_:
        if part == "categories":
            for column, levels in zip(columns, transformer.categories_, strict=True):
                values = [None if _level(v) == GAP else _plain(v) for v in levels]
                outputs = [f"{column}{SEPARATOR}{_level(v)}" for v in levels]
                kept = [j for j, name in enumerate(outputs) if name in names]  # one of two values
                made = [LEVEL] * len(kept)
                outputs, some = [outputs[j] for j in kept], [values[j] for j in kept]
                found.append(RawColumn(column, TEXT, outputs, made, some, known=values))
        elif part in ("numbers", "written", "dates"):
            steps = transformer.steps if isinstance(transformer, Pipeline) else [("", transformer)]
            last, written = steps[-1][1], getattr(steps[0][1], "kinds_", {})
            filled = getattr(last, "statistics_", [np.nan] * len(columns))
            for column, middle in zip(columns, filled, strict=True):
                both = {column: VALUE, f"{column}{SEPARATOR}{GAP}": MARK}
                outputs = [name for name in both if name in names]
                made = [both[name] for name in outputs]
                fill = None if isinstance(last, GapMarker) or middle != middle else float(middle)
                text = written.get(column)
                is_date = part == "dates" or (text is not None and text.kind == "date")
                how: dict[str, Any] = {
                    "fill": fill,
                    "month_first": text is not None and text.month_first,
                }
                kind = DATE if is_date else NUMBER
                found.append(RawColumn(column, kind, outputs, made, [None] * len(made), **how))
    return found


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
