"""Read one data file: .npz, .mat or .csv. Whatever is wrong with it is said in one sentence."""

from __future__ import annotations

import csv
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from .._checks import are_row_names, listed, warn_user
from ..io.matlab import mat_arrays
from .dataset import Dataset, as_features, encode_labels

TARGET_COLUMNS = ("target", "class", "label")
# Names of data and labels in .mat files of the benchmark collections
MAT_KEYS = (("X", "Y"), ("X", "y"), ("x", "y"), ("x", "Y"), ("fea", "gnd"))
MISSING_CELLS = ("", "NA", "?")
MAX_CHARACTERS = 1000  # of a label: in an array all take as much as the longest


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
    if not zipfile.is_zipfile(path):
        raise ValueError("the file is not an .npz archive, or it is truncated")
    with np.load(path, allow_pickle=False) as archive:
        entries = {key: _member(archive, key) for key in archive.files}
    missing = [key for key in ("X", "y") if key not in entries]
    if missing:
        raise ValueError(
            f"the archive lacks the array{'s' * (len(missing) > 1)} {listed(missing)}; "
            f"it holds {listed(entries) or 'nothing'}"
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


def _member(archive: Any, key: str) -> Any:
    try:
        return archive[key]
    except ValueError as error:
        if "pickle" in str(error):
            raise ValueError(
                f"the array '{key}' holds pickled Python objects, which could run code when "
                "loaded; save it again as plain numbers or fixed-width text"
            ) from None
        raise ValueError(f"the array '{key}' is damaged ({error})") from error


def read_mat(path: Path) -> dict[str, Any]:
    """Data and labels of a MATLAB file; the labels may have any integer coding."""
    try:
        content, stored = mat_arrays(path, [key for pair in MAT_KEYS for key in pair])
    except ValueError as error:
        raise ValueError(f"the file is not a MATLAB file that can be read: {error}") from None
    for data, labels in MAT_KEYS:
        if data in content and labels in content:
            y, class_names = encode_labels(_plain_labels(content[labels]))
            return {"X": content[data], "y": y, "class_names": class_names}
    wanted = ", ".join(f"{data}/{labels}" for data, labels in MAT_KEYS)
    raise ValueError(
        f"no data and labels found; looked for {wanted}, but the file holds "
        f"{listed(stored) or 'nothing'}"
    )


def _plain_labels(labels: Any) -> np.ndarray:
    if hasattr(labels, "toarray"):
        labels = labels.toarray()
    labels = np.ravel(labels)
    return np.char.strip(labels) if labels.dtype.kind == "U" else labels


def read_csv(path: Path) -> dict[str, Any]:
    """A header row, numbers, and a target column named so or in the last place."""
    with path.open(newline="", encoding="utf-8-sig") as handle:
        try:
            rows = [[cell.strip() for cell in row] for row in csv.reader(handle) if row]
        except csv.Error as error:
            raise ValueError(f"the file is not comma-separated text ({error})") from None
        except UnicodeDecodeError:
            raise ValueError("the file is not UTF-8 text") from None
    if len(rows) < 2:
        raise ValueError("a header row and at least one row of data are needed")
    header = rows[0]
    _check_table(header, rows)
    # Objects: in an array of text one long cell would make all others as long.
    table = np.array(rows[1:], dtype=object)
    if header[0] == "":
        if are_row_names(table[:, 0]):  # the row index that data frames write
            header, table = header[1:], table[:, 1:]
        else:
            header[0] = "x0" if "x0" not in header else "unnamed x0"
            warn_user(f"the first column of {path.name} has no name and is called {header[0]}")
    target = _target_column(header)
    features = [j for j in range(len(header)) if j != target]
    y, class_names = encode_labels(_csv_target(table[:, target], header[target]))
    names = [header[j] for j in features]
    X = _numbers(table[:, features], names)
    return {"X": X, "y": y, "class_names": class_names, "feature_names": names}


def _check_table(header: list[str], rows: list[list[str]]) -> None:
    if len(header) < 2:
        raise ValueError("only one column was found; columns must be separated by commas")
    if all(_is_number(cell) for cell in header):
        raise ValueError("the first row holds numbers; a header row with column names is needed")
    repeated = sorted({cell for cell in header if header.count(cell) > 1})
    if repeated:
        raise ValueError(f"the header has duplicate column names: {listed(repeated)}")
    for position, row in enumerate(rows[1:], start=1):
        if len(row) != len(header):
            raise ValueError(
                f"data row {position} has {len(row)} cells but the header has {len(header)}"
            )


def _target_column(header: list[str]) -> int:
    lowered = [cell.lower() for cell in header]
    named = [lowered.index(name) for name in TARGET_COLUMNS if name in lowered]
    return named[0] if named else len(header) - 1


def _csv_target(cells: Any, name: str) -> np.ndarray:
    if np.isin(cells, MISSING_CELLS).any():
        raise ValueError(f"the target column '{name}' has empty cells; drop those rows")
    with suppress(ValueError):
        return cells.astype(np.float64)
    longest = max(map(len, cells))
    if longest > MAX_CHARACTERS:
        raise ValueError(
            f"the target column '{name}' has a text of {longest} characters, which is too long "
            "for a class name"
        )
    return cells.astype(str)


def _numbers(cells: Any, names: list[str]) -> np.ndarray:
    with suppress(ValueError):
        return cells.astype(np.float64)
    cells = np.where(np.isin(cells, MISSING_CELLS), "nan", cells)
    for j, name in enumerate(names):
        wrong = next((cell for cell in cells[:, j] if not _is_number(cell)), None)
        if wrong is not None:
            raise ValueError(
                f"column '{name}' holds text ('{wrong}'); encode it as numbers or drop it "
                f"(the target is the column named {', '.join(TARGET_COLUMNS)}, else the last)"
            )
    return cells.astype(np.float64)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


# In the order of preference where a folder holds several files of one name
READERS = {".npz": read_npz, ".mat": read_mat, ".csv": read_csv}
