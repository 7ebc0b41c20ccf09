"""A table of numbers with named features and a target."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .._checks import listed, suggestion
from .errors import DataError, TargetNeededError

# How text files spell a missing value; compared after stripping blanks.
MISSING = frozenset(("", "NA", "N/A", "n/a", "NaN", "nan", "NAN", "NULL", "null", "None", "#N/A"))

MAX_CHARACTERS = 1000  # of a label: in an array all take as much as the longest


@dataclass(frozen=True)
class Table:
    """Features, target and their names, as read from a file.

    Attributes
    ----------
    X : ndarray, sparse matrix or design of shape (n_samples, n_features)
        The features; float32 where the file holds nothing wider, float64 otherwise. A design
        where they are too many for the memory limit: selectors take it as it is.
    y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        The target: integers, floats or text labels; no columns where there is none.
    feature_names : tuple of str
        One name per column of X.
    target_name : str
        Name of the target.
    notes : tuple of str
        What the reader decided on its own and a user should know.
    groups, ids : ndarray of str of shape (n_samples,) or None
        The group and the name of every sample, where they were asked for.
    id_name : str
        The column of the names.
    text_groups : dict of str to tuple of int
        Columns of zeros and ones by the text column that they were made of; missing texts are NaN.

    See Also
    --------
    sparsieve.io.read_table : Reads a file.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.io import Table
    >>> table = Table(np.eye(3), np.array([0, 1, 1]), ("a", "b", "c"), "label")
    >>> list(table.select([2, 0]).columns())
    ['c', 'a', 'label']
    """

    X: Any  # a dense array or any sparse matrix
    y: np.ndarray
    feature_names: tuple[str, ...]
    target_name: str
    notes: tuple[str, ...] = ()
    groups: np.ndarray | None = None
    ids: np.ndarray | None = None
    id_name: str = ""
    text_groups: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def select(self, indices: Sequence[int] | np.ndarray) -> Table:
        """The table with these features only, in this order."""
        names = tuple(self.feature_names[j] for j in indices)
        taken = self.X.taken if hasattr(self.X, "taken") else lambda few: self.X[:, few]
        return replace(self, X=taken(np.asarray(indices)), feature_names=names, text_groups={})

    def rows(self, indices: Sequence[int] | np.ndarray) -> Table:
        """The table with these samples only, in this order."""
        some: dict[str, Any] = {
            name: None if values is None else values[indices]
            for name, values in (("y", self.y), ("groups", self.groups), ("ids", self.ids))
        }
        return replace(self, X=self.X[indices], **some)

    def columns(self) -> dict[str, np.ndarray]:
        """The ids, where there are any, every feature and the target as dense columns by name."""
        X = self.X.toarray() if hasattr(self.X, "toarray") else self.X
        columns = {name: X[:, j] for j, name in enumerate(self.feature_names)}
        if self.ids is not None and self.id_name not in columns:
            columns = {self.id_name: self.ids, **columns}
        targets = {self.target_name: self.y}
        if self.y.dtype.names:  # survival times
            targets = {name: self.y[name] for name in self.y.dtype.names}
        if self.y.ndim == 2:
            targets = {f"{self.target_name}{j}": column for j, column in enumerate(self.y.T)}
        for name, column in targets.items():
            if name in columns:
                raise DataError(f"a feature and the target are both called {name!r}; rename one")
            columns[name] = column
        return columns


def rows_of(columns: Mapping[str, np.ndarray]) -> list[dict[str, Any]]:
    """A dictionary for every row of the named columns."""
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def find_target(names: Sequence[str], target: str | None, owner: str) -> int:
    """Position of the target among the named columns."""
    check_unique(names, owner)
    if target is None:
        raise TargetNeededError(f"name the column of {owner} to predict: {listed(names)}")
    if target not in names:
        raise DataError(
            f"{owner} has no column {target!r}{suggestion(target, names, 'its columns are')}"
        )
    return list(names).index(target)


def dropped_names(
    drop: Sequence[str], names: Sequence[str], owner: str, left_out: Collection[str] = ()
) -> set[str]:
    """The columns to drop; a text with commas that is no name of a column means several.

    Refused is what is neither a column nor ``left_out`` anyway.
    """
    known, dropped = {*names, *left_out}, set()
    for text in drop:
        parts = [text] if text in known else [part.strip() for part in text.split(",")]
        for name in parts:
            if name not in known:
                hint = suggestion(name, names, "its columns are")
                raise DataError(f"{owner} has no column {name!r} to drop{hint}")
        dropped.update(parts)
    return dropped


def check_unique(names: Sequence[str], owner: str) -> None:
    """Refuse names that mean more than one column."""
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise DataError(
            f"{owner} has duplicate column names: {listed(repeated)}; rename or remove the copies, "
            "because a selected name must mean one column"
        )


def text_columns_error(
    names: Sequence[str], owner: str, example: str = "", *, first: str = ""
) -> DataError:
    """The sentence for feature columns that are not numbers; ``first`` is the first column."""
    several = len(names) > 1
    is_id = f"; if {first!r} names the samples, add --id {first} (sample_id= from Python)"
    return DataError(
        f"{owner} has {'text columns' if several else 'a text column'} besides the target: "
        f"{listed(names)}{example}; leave {'them' if several else 'it'} out with --drop NAME "
        "(drop=[...] from Python), or turn text into columns of zeros and ones with --encode-text "
        f"(encode_text=True from Python){is_id * (first in names)}"
    )


def target_from_text(texts: Sequence[str], name: str, owner: str) -> np.ndarray:
    """Integers where all are integers, else floats, else the text itself."""
    stripped = [text.strip() for text in texts]
    _check_none_missing([text in MISSING for text in stripped], name, owner)
    if not any("_" in text for text in set(stripped)):  # Python reads 1_2 as 12
        for number, dtype in ((int, np.int64), (float, np.float64)):
            try:
                return np.array([number(text) for text in stripped], dtype=dtype)
            except (ValueError, OverflowError):
                continue
    _check_short(max(map(len, stripped)), name, owner)
    return np.array(stripped)


def _check_short(length: int, name: str, owner: str) -> None:
    if length > MAX_CHARACTERS:
        raise DataError(
            f"target {name!r} of {owner} holds a text of {length} characters, which is no label; "
            "name another column"
        )


def target_from_values(values: Any, name: str, owner: str, *, can_drop: bool = True) -> np.ndarray:
    """A target from typed values (None or NaN where missing).

    ``can_drop`` is whether ``drop_unlabelled`` is an answer to missing ones.
    """
    values = np.array(values, dtype=object) if isinstance(values, list) else np.asarray(values)
    if values.ndim == 2 and 1 in values.shape:
        values = values.ravel()
    try:
        if values.dtype.kind == "O":
            flat = values.ravel().tolist()
            gaps = [not isinstance(value, str) and is_missing(value) for value in flat]
            _check_none_missing(gaps, name, owner, can_drop=can_drop)
            texts = [value for value in flat if isinstance(value, str | bytes)]
            _check_short(max(map(len, texts), default=0), name, owner)
            values = np.array(values.tolist())
        if values.dtype.kind == "S":
            values = np.char.decode(values, "utf-8")
    except UnicodeDecodeError:
        raise DataError(f"target {name!r} of {owner} is text, but not UTF-8") from None
    except DataError:
        raise
    except ValueError:  # of lists of several lengths
        values = np.empty(())
    if values.ndim not in (1, 2) or 0 in values.shape[1:] or values.dtype.kind in "cV":
        raise not_a_column(name, owner)
    if values.dtype.kind == "f":
        gaps = np.isnan(values.reshape(len(values), -1)).any(axis=1)
        _check_none_missing(gaps, name, owner, can_drop=can_drop)
        whole = np.isfinite(values).all() and (values == np.trunc(values)).all()
        if whole and np.abs(values).max(initial=0) < 2**53:
            return values.astype(np.int64)
    return values if values.dtype.kind in "biuf" else values.astype(str)


def not_a_column(name: str, owner: str) -> DataError:
    """The sentence for a target that is something else."""
    return DataError(f"target {name!r} of {owner} is not a column of numbers or text")


def is_missing(value: Any) -> bool:
    """Empty text and its like, None, NaN, and pandas' NA and NaT (which do not compare)."""
    if isinstance(value, str):
        return value.strip() in MISSING
    if isinstance(value, np.ndarray):
        return any(map(is_missing, value.tolist()))
    return value is None or type(value).__name__ in ("NAType", "NaTType") or value != value


def _check_none_missing(missing: Any, name: str, owner: str, *, can_drop: bool = True) -> None:
    rows = np.flatnonzero(missing)
    if not len(rows):
        return
    times = len(rows)
    raise DataError(
        f"target {name!r} of {owner} is missing in {times} row{'s' * (times != 1)} (first in data "
        f"row {rows[0] + 1}); fill it in, or leave out such rows"
        + " with --drop-unlabelled (drop_unlabelled=True from Python)"
        * can_drop
    )


def text_of(value: Any) -> str:
    """A name from a file, where it may be bytes."""
    return value.decode() if isinstance(value, bytes) else str(value)


def no_target(n_samples: int) -> np.ndarray:
    """The y of a table without a target."""
    return np.empty((n_samples, 0))


def numbered(n_features: int) -> tuple[str, ...]:
    """Names for columns that have none: x0, x1, ... as scikit-learn does."""
    return tuple(f"x{j}" for j in range(n_features))
