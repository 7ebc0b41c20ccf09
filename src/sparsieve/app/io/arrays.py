"""Files that hold arrays: NumPy's .npz, MATLAB's .mat and svmlight."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..._checks import format_names
from ...memory import machine_memory
from .errors import (
    DataError,
    check_fits,
    check_unique,
    decode_name,
    dropped_names,
    explain_failure,
    number_names,
)
from .labels import Column, convert_values, not_a_column, read_target
from .layout import opened_text
from .roles import Roles, make_column, what
from .rows import Contents

_TARGETS = ("y", "Y")
NAMES = ("feature_names", "features")
_MAX_COLUMNS = 50_000_000  # each gets a name
_CLASSES = "class_names"  # of the labels 0, 1, ... in y


def read_npz(path: Path, roles: Roles) -> Contents:
    """Read arrays X and y of an .npz file; see ``read_table``."""
    arrays, stored = npz_arrays(path, _role_names(roles))
    return _from_arrays(arrays, stored, roles, path.name)


def npz_arrays(
    path: Path, wanted: Iterable[str] | None = None
) -> tuple[dict[str, np.ndarray], list[str]]:
    """(the wanted arrays that there are, the names of all) of an .npz file; None wants all.

    Arrays nobody asked for are not touched: they may be large or pickled.
    """
    failure = f"{path.name} is not a readable .npz file"
    if not zipfile.is_zipfile(path):
        raise DataError(failure)
    with explain_failure(failure), np.load(path, allow_pickle=False) as archive:
        stored = list(archive.files)
        asked = stored if wanted is None else [name for name in wanted if name in stored]
        sizes = {
            info.filename.removesuffix(".npy"): info.file_size for info in archive.zip.infolist()
        }
        check_fits(sum(sizes[name] for name in set(asked)), path.name)
        return {name: _read_member(archive, name, path.name) for name in asked}, stored


def _read_member(archive: Any, name: str, owner: str) -> np.ndarray:
    try:
        return archive[name]
    except ValueError as error:
        if "pickle" in str(error) or "Object arrays" in str(error):
            raise DataError(
                f"the array {name!r} of {owner} holds pickled Python objects, which can run code "
                "when loaded; save it again as plain numbers, and text labels as a string array"
            ) from None
        raise


def read_mat(path: Path, roles: Roles) -> Contents:
    """Read arrays X and Y of a .mat file; see ``read_table``."""
    arrays, stored = mat_arrays(path, _role_names(roles))
    return _from_arrays(arrays, stored, roles, path.name)


def _role_names(roles: Roles) -> list[str]:
    return [*roles.columns_by_role.values(), "X", *_TARGETS, *NAMES, _CLASSES]


def read_svmlight(path: Path, roles: Roles) -> Contents:
    """Read an svmlight file, whose features have numbers but no names; see ``read_table``."""
    from sklearn.datasets import load_svmlight_file

    with explain_failure(f"{path.name} is not a readable svmlight file"), opened_text(path) as file:
        X, y = load_svmlight_file(file, zero_based=True)
    if X.shape[1] > _MAX_COLUMNS:
        raise DataError(
            f"{path.name} numbers its features up to {X.shape[1] - 1:,}; more than "
            f"{_MAX_COLUMNS:,} are not read"
        )
    if X.shape[0] == 0:
        raise DataError(f"{path.name} holds no samples")
    first = 0 if X.shape[1] == 1 or X[:, [0]].nnz else 1  # most writers count from one
    X = X[:, first:]
    notes = (f"the features are called x0, x1, ...: x0 is number {first} in the file",)
    columns = {"target": make_column("target", roles.target or "target", y)}
    contents = Contents(path.name, X, number_names(X.shape[1]), columns, notes=notes)
    return drop_features(contents, roles.drop, path.name)


def _from_arrays(
    arrays: Mapping[str, np.ndarray],
    stored: Sequence[str],
    roles: Roles,
    owner: str,
) -> Contents:
    asked = asked_arrays(roles, arrays, stored, owner, default=_TARGETS)
    X = arrays["X"]
    if X.ndim != 2 or not X.shape[0] or not X.shape[1]:
        raise DataError(f"X of {owner} must have rows and columns, but its shape is {X.shape}")
    X = as_real(X, owner)
    columns = {}
    for role, name in asked.items():
        values = arrays[name]
        if not isinstance(values, np.ndarray) or not values.ndim:
            raise not_a_column(what(role, name), owner)
        values = convert_values(
            values.ravel() if 1 in values.shape[:2] else values, what(role, name), owner
        )
        columns[role] = make_column(role, name, values)
        check_length(X, values, name, owner)
    if asked.get("target") in _TARGETS and _CLASSES in arrays:
        columns["target"] = _named_classes(columns["target"], arrays[_CLASSES], owner)
    names = number_names(X.shape[1])
    for key in NAMES:
        if key in arrays and np.size(arrays[key]) == X.shape[1]:
            try:
                names = tuple(decode_name(name).strip() for name in np.ravel(arrays[key]).tolist())
            except UnicodeDecodeError:
                raise DataError(f"{key} of {owner} is text, but not UTF-8") from None
    check_unique(names, owner)
    contents = Contents(owner, X, names, columns)
    left_out = set(stored) - {asked.get("target", "")}
    return drop_features(contents, roles.drop, owner, left_out)


def asked_arrays(
    roles: Roles,
    arrays: Collection[str],
    stored: Sequence[str],
    owner: str,
    default: Sequence[str] = ("y",),
) -> dict[str, str]:
    """The arrays about the samples, by role; all of them and X must be there.

    The target is the first of the ``default`` names that is there, where none is named.
    """
    asked = roles.columns_by_role
    if "target" not in asked and not roles.survival:
        found = next((name for name in default if name in arrays), None)
        if found is not None or roles.needs_target:
            asked = {"target": found or default[0], **asked}
    for name in ("X", *asked.values()):
        if name not in arrays:
            raise DataError(
                f"{owner} has no array {name!r}; it holds {format_names(stored) or 'none'}"
            )
    return asked


def check_length(X: Any, values: Any, name: str, owner: str) -> None:
    """Refuse an array that has not one value for each row of X."""
    if len(values) != X.shape[0]:
        raise DataError(f"X of {owner} has {X.shape[0]} rows but {name} has {len(values)} values")


def _named_classes(column: Column, names: np.ndarray, owner: str) -> Column:
    """The classes by name, where the file names them all; gaps stay gaps."""
    values, gaps = column.values, column.gaps
    if np.ndim(values) != 1 or gaps.all():
        return column
    codes, _ = read_target(column.rows(np.flatnonzero(~gaps)), owner)
    named = Column(
        _CLASSES, f"array {_CLASSES!r}", convert_values(np.ravel(names), _CLASSES, owner)
    )
    labels, _ = read_target(named, owner)
    if codes.dtype.kind not in "iu" or labels.dtype.kind != "U":
        return column
    if len(set(labels)) < len(labels) or codes.min() != 0 or codes.max() != len(labels) - 1:
        return column
    found = np.full(len(values), None, dtype=object)
    found[~gaps] = labels[codes]
    return replace(column, values=found.tolist() if gaps.any() else labels[codes])


def drop_features(
    contents: Contents, drop: Sequence[str], owner: str, left_out: Collection[str] = ()
) -> Contents:
    """The contents less the dropped features; what is ``left_out`` anyway may be dropped too."""
    dropped = dropped_names(drop, contents.features, owner, left_out)
    if not dropped & set(contents.features):
        return contents
    kept = [j for j, name in enumerate(contents.features) if name not in dropped]
    if not kept:
        raise DataError(f"every feature of {owner} is dropped; nothing is left to select from")
    names, X = tuple(contents.features[j] for j in kept), contents.X
    # A design stays in its file.
    few = X.columns(kept) if hasattr(X, "columns") else X[:, kept]
    return replace(contents, X=few, features=names)


def as_real(X: Any, owner: str) -> Any:
    """X as float32 where it is no wider, else float64; sparse matrices as CSR."""
    if X.dtype.kind not in "biuf":
        raise DataError(f"X of {owner} must hold real numbers, but its dtype is {X.dtype}")
    dtype = np.float32 if X.dtype in (np.float16, np.float32) else np.float64
    if hasattr(X, "tocsr"):
        return X.tocsr().astype(dtype, copy=False)
    return np.asarray(X[:], dtype=dtype)


_SECONDS = 60  # and one more for every megabyte
_SCRIPT = Path(__file__).with_name("_matlab_subprocess.py")


def mat_arrays(path: Path, wanted: Iterable[str]) -> tuple[dict[str, Any], list[str]]:
    """(the wanted arrays that there are, the names of all) of a .mat file.

    SciPy's reader can take the whole process down on damaged files, so it runs in another one,
    with limits on time and memory.
    """
    from scipy import sparse

    from ...validation.containers import check_sparse

    wanted, failure = list(dict.fromkeys(wanted)), f"{path.name} is not a readable .mat file"
    seconds = _SECONDS + path.stat().st_size // 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        asked = {
            "file": os.fspath(path.resolve()),
            "wanted": wanted,
            "folder": folder,
            "memory": machine_memory() or 64 << 30,
            "seconds": seconds,
        }
        try:
            done = subprocess.run(
                [sys.executable, "-P", os.fspath(_SCRIPT), json.dumps(asked)],
                capture_output=True,
                stdin=subprocess.DEVNULL,
                timeout=2 * seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise DataError(f"{failure}: reading it takes more than {2 * seconds} s") from None
        answer = _answer(done.stdout)
        if done.returncode != 0 or answer is None:
            raise DataError(f"{failure}: it is damaged")
        if "error" in answer:
            raise DataError(f"{failure}: {answer['error']}")
        arrays: dict[str, Any] = {}
        for number, name in enumerate(wanted):  # a name from a file is no name for one
            dense, packed = (Path(folder) / f"{number}.{kind}" for kind in ("npy", "npz"))
            if dense.exists():
                arrays[name] = np.load(dense, allow_pickle=False)
            elif packed.exists():
                with explain_failure(failure):
                    arrays[name] = sparse.load_npz(packed)
                    check_sparse(arrays[name])
    return arrays, list(answer["names"])


def _answer(text: bytes) -> dict[str, Any] | None:
    try:
        answer = json.loads(text)
    except ValueError:
        return None
    return answer if isinstance(answer, dict) and ("error" in answer or "names" in answer) else None
