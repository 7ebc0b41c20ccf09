"""Where the data of a study come from: by name, from a file, made, or given."""

from __future__ import annotations

import hashlib
import inspect
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from .. import datasets as catalogue
from ..datasets.dataset import encode_labels
from ..io import read_table
from .kinds import StudyError, check_kinds, shortened


@dataclass(frozen=True)
class StudyData:
    """Loaded data: X, class labels, and where they exist groups and the relevant features."""

    name: str
    X: Any
    y: np.ndarray
    groups: np.ndarray | None = None
    relevant: np.ndarray | None = None
    feature_names: np.ndarray | None = None

    @cached_property
    def fingerprint(self) -> str:
        """Changes with every value of X, y and the groups, and with nothing else.

        Names of features are no part of what is computed.
        """
        digest = hashlib.sha256()
        parts = [self.y, self.groups]
        if sparse.issparse(self.X):
            X = sparse.csr_array(self.X)
            X.sum_duplicates()
            parts += [X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)]
        else:
            parts.append(self.X)
        digest.update(repr(self.X.shape).encode())
        for part in parts:
            if part is None:
                digest.update(b"none")
                continue
            array = np.ascontiguousarray(part)
            digest.update(f"{array.dtype.str}{array.shape}".encode())
            digest.update(array)  # type: ignore[arg-type]
        return digest.hexdigest()


@dataclass(frozen=True)
class DatasetSpec:
    """A data set of a study.

    Parameters
    ----------
    name : str
        What to call it; without ``file``, ``make`` and ``data`` also the name to load, see
        :func:`sparsieve.datasets.load_dataset`.
    file : str
        A data file, see :func:`sparsieve.io.read_table`.
    target : str
        The column of the class labels in ``file``.
    drop : list of str
        Columns of ``file`` to leave out.
    groups : str
        The column of ``file``, or the entry of the data set, that says which samples belong
        together.
    make : str
        A function of :mod:`sparsieve.datasets` that makes synthetic data, called with
        ``parameters``; its relevant features are known, so recovery is scored as well.
    parameters : dict
        Of ``make``.
    data : Dataset
        In Python only: the data themselves, with ``X`` and ``y`` and optionally ``groups`` and
        ``relevant``.

    Examples
    --------
    >>> from sparsieve.studies import DatasetSpec
    >>> DatasetSpec("wine").load().X.shape
    (178, 13)
    >>> made = DatasetSpec("easy", make="make_shared_features",
    ...                    parameters={"n_samples": 40, "n_features": 20, "n_relevant": 2})
    >>> len(made.load().relevant)
    2
    """

    name: str
    file: str | None = None
    target: str | None = None
    drop: Sequence[str] = ()
    groups: str | None = None
    make: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    data: Any = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise StudyError(f"a data set needs a name, got {shortened(self.name)}")
        check_kinds(
            vars(self),
            {
                "file": "text",
                "target": "text",
                "drop": "a list of texts",
                "groups": "text",
                "make": "text",
                "parameters": "a table",
            },
            f"data set {self.name!r}",
            absent=("file", "target", "groups", "make"),
        )
        origins = [o for o in ("file", "make", "data") if getattr(self, o) is not None]
        if len(origins) > 1:
            raise StudyError(f"data set {self.name!r} has both {' and '.join(origins)}; keep one")
        if self.file is None and (self.target is not None or self.drop):
            raise StudyError(f"data set {self.name!r}: target and drop belong to a file")
        if self.make is None and self.parameters:
            raise StudyError(f"data set {self.name!r}: parameters belong to make")
        if self.make is not None and self.make not in _makers():
            raise StudyError(
                f"data set {self.name!r}: make must be one of {', '.join(_makers())}, got "
                f"{self.make!r}"
            )

    def relative_to(self, folder: str | os.PathLike[str]) -> DatasetSpec:
        """The same with its file looked for in a folder."""
        if self.file is None:
            return self
        return replace(self, file=str(Path(folder, Path(self.file).expanduser())))

    def load(self) -> StudyData:
        """Read or make the data; an error says why they cannot be had."""
        relevant = None
        if self.file is not None:
            X, y, groups, names = self._read()
        else:
            data = self._dataset()
            X, y, relevant = data["X"], data["y"], data.get("relevant")
            names = data.get("feature_names")
            entry = self.groups or "groups"
            groups = data.get(entry)
            if self.groups is not None and groups is None:
                raise StudyError(f"data set {self.name!r} has no entry {self.groups!r}")
        labels, classes = encode_labels(y)
        if classes is None:
            raise StudyError(
                f"data set {self.name!r} has a target of real numbers; studies compare "
                "classifiers and need class labels"
            )
        if names is not None:
            names = np.array([str(name) for name in names])
        return StudyData(self.name, X, labels, groups, relevant, names)

    def _dataset(self) -> Mapping:
        if self.data is not None:
            return self.data
        if self.make is None:
            return catalogue.load_dataset(self.name)
        maker = getattr(catalogue, self.make)
        # The same data for every process and every resumption.
        seeded = {"random_state": 0, **self.parameters}
        unknown = [name for name in seeded if name not in inspect.signature(maker).parameters]
        if unknown:
            raise StudyError(f"{self.make} has no parameter {unknown[0]!r}")
        return maker(**seeded)

    def _read(self) -> tuple:
        assert self.file is not None
        drop = list(self.drop)
        if self.groups is None:
            table = read_table(self.file, self.target, drop)
            return table.X, table.y, None, table.feature_names
        by_column = Path(str(self.file)).suffix.lower() not in (".npz", ".mat")
        table = read_table(self.file, self.target, drop + [self.groups] * by_column)
        hidden = [self.target] if by_column and self.target is not None else []
        groups = read_table(self.file, self.groups, drop + hidden).y
        return table.X, table.y, groups, table.feature_names


def _makers() -> list[str]:
    return [name for name in catalogue.__all__ if name.startswith("make_")]
