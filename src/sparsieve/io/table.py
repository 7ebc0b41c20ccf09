"""A table of numbers with named features and a target."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._checks import listed
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

    def select(self, indices: Sequence[int] | np.ndarray) -> Table:
        """The table with these features only, in this order."""
        names = tuple(self.feature_names[j] for j in indices)
        taken = self.X.taken if hasattr(self.X, "taken") else lambda few: self.X[:, few]
        return Table(taken(np.asarray(indices)), self.y, names, self.target_name, self.notes)

    def columns(self) -> dict[str, np.ndarray]:
        """Every feature and then the target as a dense column by name."""
        X = self.X.toarray() if hasattr(self.X, "toarray") else self.X
        columns = {name: X[:, j] for j, name in enumerate(self.feature_names)}
        targets = {self.target_name: self.y}
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


def split_columns(
    names: Sequence[str],
    target: str | None,
    drop: Sequence[str],
    owner: str,
    left_out: Collection[str] = (),
    *,
    needs_target: bool = True,
) -> tuple[int | None, list[int]]:
    """(position of the target, positions of the features) among the named columns.

    What is ``left_out`` anyway may be dropped too. The target has no position where none is named
    and none is needed.
    """
    label = None
    if target is not None or needs_target:
        label = find_target(names, target, owner)
    else:
        check_unique(names, owner)
    check_dropped(drop, names, owner, left_out)
    if target in drop:
        raise DataError(f"column {target!r} cannot be dropped: it is the target")
    dropped = {*drop, *left_out}
    features = [j for j, name in enumerate(names) if j != label and name not in dropped]
    if not features:
        besides = "" if label is None else f" besides the target {target!r}"
        raise DataError(f"{owner} has no column{besides} to select from")
    return label, features


def find_target(names: Sequence[str], target: str | None, owner: str) -> int:
    """Position of the target among the named columns."""
    check_unique(names, owner)
    if target is None:
        raise TargetNeededError(f"say which column of {owner} is the target: {listed(names)}")
    if target not in names:
        raise DataError(f"{owner} has no column {target!r}{_hint(target, names)}")
    return list(names).index(target)


def check_dropped(
    drop: Sequence[str], names: Sequence[str], owner: str, left_out: Collection[str] = ()
) -> None:
    """Refuse to drop what is neither a column nor ``left_out`` anyway."""
    known = {*names, *left_out}
    for name in drop:
        if name not in known:
            raise DataError(f"{owner} has no column {name!r} to drop{_hint(name, names)}")


def check_unique(names: Sequence[str], owner: str) -> None:
    """Refuse names that mean more than one column."""
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise DataError(
            f"{owner} has duplicate column names: {listed(repeated)}; rename or remove the copies, "
            "because a selected name must mean one column"
        )


def text_columns_error(names: Sequence[str], owner: str, example: str = "") -> DataError:
    """The sentence for feature columns that are not numbers."""
    several = len(names) > 1
    return DataError(
        f"{owner} has {'text columns' if several else 'a text column'} besides the target: "
        f"{listed(names)}{example}; leave {'them' if several else 'it'} out with --drop NAME "
        "(drop=[...] from Python) or encode as numbers"
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


def target_from_values(values: Any, name: str, owner: str) -> np.ndarray:
    """A target from typed values (None or NaN where missing)."""
    values = np.array(values, dtype=object) if isinstance(values, list) else np.asarray(values)
    if values.ndim == 2 and 1 in values.shape:
        values = values.ravel()
    try:
        if values.dtype.kind == "O":
            flat = values.ravel().tolist()
            _check_none_missing([_is_missing(value) for value in flat], name, owner)
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
        _check_none_missing(np.isnan(values.reshape(len(values), -1)).any(axis=1), name, owner)
        whole = np.isfinite(values).all() and (values == np.trunc(values)).all()
        if whole and np.abs(values).max(initial=0) < 2**53:
            return values.astype(np.int64)
    return values if values.dtype.kind in "biuf" else values.astype(str)


def not_a_column(name: str, owner: str) -> DataError:
    """The sentence for a target that is something else."""
    return DataError(f"target {name!r} of {owner} is not a column of numbers or text")


def _is_missing(value: Any) -> bool:
    """None, NaN, and pandas' NA and NaT (which do not compare)."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or value != value


def _check_none_missing(missing: Any, name: str, owner: str) -> None:
    rows = np.flatnonzero(missing)
    if not len(rows):
        return
    times = len(rows)
    raise DataError(
        f"target {name!r} of {owner} is missing in {times} row{'s' * (times != 1)} (first in data "
        f"row {rows[0] + 1}); fill in or remove {'that row' if times == 1 else 'those rows'}"
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


def _hint(name: str, names: Sequence[str]) -> str:
    # Tens of thousands of gene names take difflib seconds: look among the most alike in length.
    candidates = names if len(names) <= 5000 else [n for n in names if abs(len(n) - len(name)) <= 2]
    folded = {candidate.casefold(): candidate for candidate in reversed(candidates[:50_000])}
    close = difflib.get_close_matches(name.casefold(), list(folded), n=3, cutoff=0.6)
    if close:
        return f"; did you mean {' or '.join(repr(folded[match]) for match in close)}?"
    return f"; its columns are {listed(names)}"
