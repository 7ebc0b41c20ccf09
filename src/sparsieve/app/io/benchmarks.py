"""Read one data file: .npz, .mat or .csv. Whatever is wrong with it is said in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..._checks import format_names, warn_user
from ...datasets.load import Dataset, as_features, encode_labels
from ...validation.written import plain_number
from .arrays import mat_arrays, npz_arrays
from .delimited import is_number, read_text_table
from .labels import read_target
from .layout import detect_layout, opened_text
from .roles import Roles
from .rows import Contents

TARGET_COLUMNS = ("target", "class", "label")
# Names of data and labels in .mat files of the benchmark collections
MAT_KEYS = (("X", "Y"), ("X", "y"), ("x", "y"), ("x", "Y"), ("fea", "gnd"))


def read_file(path: Path, name: str, description: str) -> Dataset:
    """The data set in ``path``."""
    try:
        if path.stat().st_size == 0:
            raise ValueError("the file is empty")
        entries = READERS[path.suffix.lower()](path)
        X = entries["X"] = as_features(entries["X"])
        if len(entries["y"]) != X.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows but y has {len(entries['y'])} labels")
        names = entries.get("feature_names")
        if names is not None and np.shape(names) != (X.shape[1],):
            raise ValueError(f"X has {X.shape[1]} columns but {np.size(names)} feature names")
        return Dataset(name=name, description=description, **entries)
    except PermissionError as error:
        raise PermissionError(f"cannot read '{path}': permission denied") from error
    except MemoryError as error:
        raise MemoryError(
            f"cannot load '{path}': it is too large for memory, or its header is damaged"
        ) from error
    # A damaged file can raise nearly anything from the depths of zip, zlib and MATLAB parsing.
    except Exception as error:
        raise ValueError(f"cannot load '{path}': {_one_line(error)}") from error


def _one_line(error: Exception) -> str:
    text = " ".join(str(error).split())
    if isinstance(error, ValueError) and not isinstance(error, UnicodeError):
        return text
    return f"the file is truncated or damaged ({type(error).__name__}: {text})"


def read_npz(path: Path) -> dict[str, Any]:
    """X, y and, where given, class_names and feature_names; other arrays keep their names."""
    entries: dict[str, Any] = npz_arrays(path)[0]
    missing = [key for key in ("X", "y") if key not in entries]
    if missing:
        raise ValueError(
            f"the archive lacks the array{'s' * (len(missing) > 1)} {format_names(missing)}; "
            f"it holds {format_names(entries) or 'nothing'}"
        )
    for key in ("name", "description"):  # ours to give
        entries.pop(key, None)
    y = np.ravel(entries["y"])
    if "class_names" not in entries:
        entries["y"], entries["class_names"] = encode_labels(y)
        return entries
    names = entries["class_names"] = np.ravel(entries["class_names"])
    if y.dtype.kind not in "iu" or (y.size and not 0 <= y.min() <= y.max() < names.size):
        raise ValueError(f"y must hold integers from 0 to {names.size - 1}, one per class name")
    entries["y"] = y.astype(np.int64)
    return entries


def read_mat(path: Path) -> dict[str, Any]:
    """Data and labels of a MATLAB file; the labels may have any integer coding."""
    content, stored = mat_arrays(path, [key for pair in MAT_KEYS for key in pair])
    for data, labels in MAT_KEYS:
        if data in content and labels in content:
            y, class_names = encode_labels(_plain_labels(content[labels]))
            return {"X": content[data], "y": y, "class_names": class_names}
    wanted = ", ".join(f"{data}/{labels}" for data, labels in MAT_KEYS)
    raise ValueError(
        f"no data and labels found; looked for {wanted}, but the file holds "
        f"{format_names(stored) or 'nothing'}"
    )


def _plain_labels(labels: Any) -> np.ndarray:
    if hasattr(labels, "toarray"):
        labels = labels.toarray()
    labels = np.ravel(labels)
    return np.char.strip(labels) if labels.dtype.kind == "U" else labels


def read_csv(path: Path) -> dict[str, Any]:
    """A header row, numbers, and a target column named so or in the last place."""
    with opened_text(path) as stream:
        layout = detect_layout(stream, path)
    if all(name and is_number(name) for name in layout.header):
        raise ValueError("the first row holds numbers; a header row with column names is needed")
    # Text columns are read as well, for what is missing in them.
    roles = Roles(_target_column(layout.names), encode_text=True)
    contents = read_text_table(path, roles)
    if layout.unnamed and not layout.has_row_names:
        warn_user(f"the first column of {path.name} has no name and is called {layout.names[0]}")
    target = contents.columns["target"]
    if target.gaps.any() or any(map(_is_unknown, target.values)):
        raise ValueError(f"the target column '{target.name}' has empty cells; drop those rows")
    y, class_names = encode_labels(read_target(target, contents.owner)[0])
    X, names = _numbers(contents), contents.features
    return {"X": X, "y": y, "class_names": class_names, "feature_names": names}


def _target_column(names: Sequence[str]) -> str:
    lowered = [name.lower() for name in names]
    named = [names[lowered.index(name)] for name in TARGET_COLUMNS if name in lowered]
    return [*named, names[-1]][0]


def _is_unknown(cell: str) -> bool:
    """Whether a cell holds the question mark that some collections write for a missing value."""
    return cell.strip() == "?"


def _numbers(contents: Contents) -> np.ndarray:
    """All features, of which some may hold question marks."""
    X = np.empty((contents.X.shape[0], len(contents.features)))
    X[:, [j for j in range(X.shape[1]) if j not in contents.texts]] = contents.X
    for j, column in contents.texts.items():
        for i, cell in enumerate(column.values):
            number = np.nan if _is_unknown(cell) else plain_number(cell)
            if number is None:
                raise ValueError(
                    f"column '{column.name}' holds text ('{cell.strip()}'); encode it as numbers "
                    "or drop it (the target is the column named "
                    f"{', '.join(TARGET_COLUMNS)}, else the last)"
                )
            X[i, j] = number
    return X


# As ``datasets.load.SUFFIXES`` names them.
READERS = {".npz": read_npz, ".mat": read_mat, ".csv": read_csv}
