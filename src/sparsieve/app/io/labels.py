"""Labels, times and targets of the samples: text until somebody asks for numbers.

Every reader keeps the columns that say something about the samples as its file has them. What a
column becomes is decided here, by its role: groups, strata and ids stay text, times become numbers,
and the target becomes numbers only where no two labels would become one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np

from ...validation.written import (
    MISSING,
    TRUTH,
    grouped_number,
    is_gap,
    with_point,
    written_number,
)
from .errors import DataError

MAX_CHARACTERS = 1000  # of a label: in an array all take as much as the longest

_WRITTEN_AS_FLOAT = re.compile(r"[+-]?\d+\.0")
_LEADING_ZERO = re.compile(r"[+-]?0\d+")
_DIGITS = re.compile(r"[+-]?\d+")


@dataclass(frozen=True)
class Column:
    """A column about the samples, as its file has it.

    Attributes
    ----------
    name : str
        What the file calls it.
    what : str
        What it is for and what it is called, such as ``target 'kind'``.
    values : list or ndarray
        Text, or typed values with None, NaN and their like where they are missing.
    is_written : bool
        Whether these are fields of a text file, where words such as NA are gaps. Files with types
        say by themselves what is missing, and there only blank text is a gap, too.
    decimal : str
        The decimal sign of written numbers.
    """

    name: str
    what: str
    values: Any
    is_written: bool = False
    decimal: str = "."

    @property
    def gaps(self) -> np.ndarray:
        """Where the value of a sample is missing."""
        values = self.values
        kind = values.dtype.kind if isinstance(values, np.ndarray) else "O"
        if kind in "biu":
            return np.zeros(len(values), dtype=bool)
        if kind in "fcmM":
            return _any(np.isnat(values) if kind in "mM" else np.isnan(values))
        if kind == "U" and not self.is_written:
            return _any((values == "") | np.char.isspace(values))
        if self.is_written:
            return np.array([value.strip() in MISSING for value in values], dtype=bool)
        return np.array([is_gap(value, ("",)) for value in values], dtype=bool)

    def rows(self, index: np.ndarray) -> Column:
        """The column of these samples only, in this order."""
        values = self.values
        if isinstance(values, np.ndarray):
            return replace(self, values=values[index])
        return replace(self, values=[values[i] for i in index.tolist()])


def _any(missing: np.ndarray) -> np.ndarray:
    """Which rows have one in any of their columns."""
    return np.asarray(missing.reshape(len(missing), -1).any(axis=1))


def convert_values(values: Any, what: str, owner: str) -> Any:
    """Values of a file with types as an array or a list, one for each sample; text as str."""
    if isinstance(values, list):
        return [_decode(value, what, owner) for value in values]
    values = np.asarray(values)
    if values.ndim == 2 and 1 in values.shape:
        values = values.ravel()
    if values.ndim not in (1, 2) or 0 in values.shape[1:] or values.dtype.kind in "cV":
        raise not_a_column(what, owner)
    if values.dtype.kind == "S":
        try:
            return np.char.decode(values, "utf-8")
        except UnicodeDecodeError:
            raise not_utf8(what, owner) from None
    if values.dtype.kind == "T":  # text of any length
        values = values.astype(object)
    if values.dtype.kind == "O" and values.ndim == 1:
        return [_decode(value, what, owner) for value in values]
    return values


def _decode(value: Any, what: str, owner: str) -> Any:
    if not isinstance(value, bytes):
        return value
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise not_utf8(what, owner) from None


def not_utf8(what: str, owner: str) -> DataError:
    """The sentence for bytes that are no text."""
    return DataError(f"{what} of {owner} is text, but not UTF-8")


def not_a_column(what: str, owner: str) -> DataError:
    """The sentence for a target, or another role, that is something else."""
    return DataError(f"{what} of {owner} is not a column of numbers or text")


# -- text ------------------------------------------------------------------------------------


def format_labels(column: Column, owner: str) -> np.ndarray:
    """Labels as text, the same for 7 in one file and 7.0 in another; '007' is another label."""
    values = column.values
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise not_a_column(column.what, owner)
        values = values.tolist() if values.dtype.kind not in "mM" else values.astype(str).tolist()
    texts = [_text(value) for value in values]
    # A column of whole numbers with gaps is one of floats to many programs, which write it so.
    if all(map(_WRITTEN_AS_FLOAT.fullmatch, set(texts))):
        texts = [text.removesuffix(".0") for text in texts]
    return _short(texts, column, owner)


def _text(value: Any) -> str:
    return str(int(value) if _is_whole(value) else value).strip()


def _is_whole(value: Any) -> bool:
    """Whether a float or a decimal number is a whole number."""
    if isinstance(value, Decimal):
        return value == value.to_integral_value()
    return isinstance(value, float | np.floating) and value.is_integer()


def _short(texts: list[str], column: Column, owner: str) -> np.ndarray:
    """The texts as an array, if they are short enough for labels."""
    length = max(map(len, texts), default=0)
    if length > MAX_CHARACTERS:
        raise DataError(
            f"{column.what} of {owner} holds a text of {length} characters, which is no label; "
            "name another column"
        )
    return np.array(texts, dtype=str)


# -- numbers ---------------------------------------------------------------------------------


def parse_numbers(column: Column, owner: str) -> np.ndarray:
    """Numbers or truth values where all are such, else the text, for who asked to refuse."""
    values = _array(column, owner)
    if values.dtype.kind != "U" or values.ndim != 1:
        return values
    found = {text: text.strip().lower() for text in set(values.tolist())}
    if set(found.values()) <= set(TRUTH):
        return np.array([found[text] == "true" for text in values.tolist()])
    numbers = _as_numbers(values.tolist(), column.decimal)
    return values if numbers is None else numbers


def read_target(column: Column, owner: str, task: str = "auto") -> tuple[np.ndarray, str]:
    """The target, and a sentence where it is not obvious whether its labels are numbers.

    Integers where all are integers, else floats, else the text itself. ``task`` is how it will be
    read: "regression" and "counts" ask for numbers, and "classification" keeps any two texts
    apart. Otherwise numbers with fractions are read as quantities, and whole numbers as text where
    two of them would become one ('1e1' and '10'), or are written with leading zeros as codes are.
    """
    values = _array(column, owner)
    asked = task in ("regression", "counts")
    if values.dtype.kind != "U" or values.ndim != 1 or not (asked or column.is_written):
        return values.astype(np.int64) if are_whole(values) else values, ""
    texts = values.tolist()
    found = _as_numbers(texts, column.decimal)
    if found is None or asked:
        return values if found is None else found, ""
    is_whole = bool(np.isfinite(found).all() and (found == np.trunc(found)).all())
    if task == "auto" and not is_whole:
        return found, ""
    spelled: dict[Any, set[str]] = {}
    for text, number in set(zip(texts, found.tolist(), strict=True)):
        spelled.setdefault(number, set()).add(text)
    several = sorted(sorted(ways) for ways in spelled.values() if len(ways) > 1)
    odd = [ways for ways in several if len({_plain(way, column.decimal) for way in ways}) > 1]
    reason = _one_number_twice(odd[0]) if odd else _why_labels({*texts})
    if task == "classification":
        return (values if several or reason else found), ""
    if reason:
        labels = "they are read as labels; --task regression (task= from Python) reads numbers"
        return values, f"{column.what} {reason}: {labels}"
    if several:
        one = "that is one value; --task classification (task= from Python) keeps them apart"
        return found, f"{column.what} {_one_number_twice(several[0])}: {one}"
    return found, ""


def _one_number_twice(ways: list[str]) -> str:
    return f"writes one number as {ways[0]!r} and {ways[1]!r}"


def _why_labels(texts: Iterable[str]) -> str:
    """Why whole numbers are labels rather than quantities, if they are."""
    for is_odd, why in (
        (_LEADING_ZERO.fullmatch, "is written with leading zeros"),
        (_is_too_long, "has more digits than whole numbers are read with"),
    ):
        example = min(filter(is_odd, texts), default=None)
        if example is not None:
            return f"{why} ({example!r})"
    return ""


def _array(column: Column, owner: str) -> np.ndarray:
    """The values as an array of numbers, truth values or text without blanks around it."""
    values = column.values
    if isinstance(values, np.ndarray) and values.dtype.kind not in "OU":
        return values if values.dtype.kind in "biuf" else values.astype(str)
    flat = np.ravel(values).tolist() if isinstance(values, np.ndarray) else values
    texts = [value for value in flat if isinstance(value, str)]
    if column.is_written:
        texts = [text.strip() for text in texts]
    short = _short(texts, column, owner)
    if len(texts) == len(flat):
        return short.reshape(values.shape) if isinstance(values, np.ndarray) else short
    if all(isinstance(value, Decimal) for value in flat):
        flat = [int(value) if _is_whole(value) else float(value) for value in flat]
    try:
        array = np.array(flat)
    except ValueError:  # of lists of several lengths
        raise not_a_column(column.what, owner) from None
    if array.dtype.kind == "f" and all(isinstance(value, int) for value in flat):
        array = np.array([str(value) for value in flat])  # too large for whole numbers
    array = array if array.dtype.kind in "biufU" else array.astype(str)
    return array.reshape(values.shape) if isinstance(values, np.ndarray) else array


def are_whole(values: np.ndarray) -> bool:
    """Whether these are floats that are whole numbers, so that integers lose nothing."""
    if values.dtype.kind != "f" or not np.isfinite(values).all():
        return False
    return bool((values == np.trunc(values)).all() and (np.abs(values) < 2**53).all())


def read_covariate(column: Column) -> np.ndarray:
    """Numbers where all values are such, else text; NaN or None where they are missing."""
    values, gaps = column.values, column.gaps.tolist()
    if isinstance(values, np.ndarray) and values.dtype.kind in "biufM":
        return values
    if column.is_written:
        numbers = [
            np.nan if gap else written_number(value, column.decimal)
            for value, gap in zip(values, gaps, strict=True)
        ]
        if None not in numbers:
            return np.array(numbers, dtype=np.float64)
    some = [None if gap else value for value, gap in zip(list(values), gaps, strict=True)]
    found = np.empty(len(some), dtype=object)
    found[:] = some
    return found


def _as_numbers(texts: list[str], decimal: str) -> np.ndarray | None:
    """Integers where all are integers, else floats; None where one is neither."""
    if any("_" in text for text in texts):  # Python reads 1_2 as 12
        return None
    plain = [with_point(text, decimal) for text in texts]
    kinds: tuple[tuple[Callable[[str], Any], Any], ...] = (
        (int, np.int64),
        (float, np.float64),
        (partial(grouped_number, decimal=decimal), np.float64),
    )
    for number, dtype in kinds:
        try:
            read = texts if isinstance(number, partial) else plain
            return np.array([number(text) for text in read], dtype=dtype)
        except (ValueError, OverflowError):
            continue
    return None


def _plain(text: str, decimal: str) -> str:
    """A whole number without zeros behind the decimal sign: 1.0 is another way to write 1."""
    whole, _, fraction = text.partition(decimal)
    return text if fraction.strip("0") else whole


def _is_too_long(text: str) -> bool:
    return _DIGITS.fullmatch(text) is not None and not -(2**63) <= int(text) < 2**63
