"""Where the data of a study come from: by name, from a file, made, or given."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from sparsieve import datasets as catalogue
from sparsieve._checks import check_choice
from sparsieve.app.io import read_table
from sparsieve.datasets.load import registry
from sparsieve.scoring.models import TASKS

from .kinds import StudyError, check_kinds, shortened
from .targets import read_target, read_times


@dataclass(frozen=True)
class StudyData:
    """Loaded data: X, the target, and where they exist groups, times and relevant features."""

    name: str
    X: Any
    y: np.ndarray
    groups: np.ndarray | None = None
    relevant: np.ndarray | None = None
    feature_names: np.ndarray | None = None
    task: str = "classification"
    read_as: str = ""
    hint: str = ""
    times: np.ndarray | None = None
    grouped: bool = False

    @cached_property
    def fingerprint(self) -> str:
        """Changes with every value of X, y, the groups and times, and with nothing else.

        The seeds of selectors follow from it, and not from names.
        """
        parts = [self.y, self.groups]
        if sparse.issparse(self.X):
            X = sparse.csr_array(self.X)
            X.sum_duplicates()
            parts += [X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)]
        else:
            parts.append(self.X)
        if self.times is not None:
            parts.append(self.times)
        return _digest(repr(self.X.shape), parts)

    @cached_property
    def description(self) -> str:
        """Changes with the names of features and with which of them are relevant.

        Preprocessors find their columns by name, and recovery is scored by what is relevant.
        """
        return _digest("", [self.feature_names, self.relevant])


def _digest(start: str, parts: Sequence[Any]) -> str:
    """Changes with every value, whatever kind of array holds it."""
    digest = hashlib.sha256(start.encode())
    for part in parts:
        if part is None:
            digest.update(b"none")
            continue
        array = np.ascontiguousarray(part)
        if array.dtype.kind in "OT":  # in memory these are pointers to values
            values = [(type(value).__name__, str(value)) for value in array.ravel().tolist()]
            array = np.frombuffer(json.dumps([array.shape, values]).encode(), dtype=np.uint8)
        array = array.view(np.int64) if array.dtype.kind in "mM" else array
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
        A data file, see :func:`sparsieve.app.io.read_table`.
    target : str or list of str
        The column of the target in ``file``; several columns of numbers are predicted together.
    task : {"classification", "regression", "counts", "survival"}
        How to read the target; "survival" needs two columns, ``target = ["months", "died"]``. If
        not given, text, booleans, categories and whole numbers are classes, numbers with fractions
        quantities, and so are whole numbers that could be either, which is said.
    drop : list of str
        Columns of ``file`` to leave out.
    groups : str
        The column of ``file``, or the entry of the data set, that says which samples belong
        together. Whatever the protocol, they are never torn apart.
    time : str
        The column of ``file``, or the entry of the data set, that says when samples were taken
        (numbers, or dates such as 2026-01-31), for a protocol in order of time. If not given, the
        samples are in order.
    make : str
        A function of :mod:`sparsieve.datasets` that makes synthetic data, called with
        ``parameters``; its relevant features are known, so recovery is scored as well.
    parameters : dict
        Of ``make``.
    data : Dataset
        In Python only: the data themselves, with ``X`` and ``y`` and optionally ``groups`` and
        ``relevant``.

    See Also
    --------
    sparsieve_experiments.studies.Study : What to compare.
    sparsieve_experiments.studies.SelectorSpec : A selector of a study.

    Examples
    --------
    >>> from sparsieve_experiments.studies import DatasetSpec
    >>> DatasetSpec("wine").load().X.shape
    (178, 13)
    >>> made = DatasetSpec("easy", make="make_shared_features",
    ...                    parameters={"n_samples": 40, "n_features": 20, "n_relevant": 2})
    >>> len(made.load().relevant)
    2
    """

    name: str
    file: str | None = None
    target: str | Sequence[str] | None = None
    drop: Sequence[str] = ()
    groups: str | None = None
    make: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    data: Any = field(default=None, repr=False, compare=False)
    task: str | None = None
    time: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise StudyError(f"a data set needs a name, got {shortened(self.name)}")
        check_kinds(
            vars(self),
            {
                "file": "text",
                "target": "text or a list of texts",
                "drop": "a list of texts",
                "groups": "text",
                "time": "text",
                "task": "text",
                "make": "text",
                "parameters": "a table",
            },
            f"data set {self.name!r}",
            absent=("file", "target", "groups", "time", "task", "make"),
        )
        if self.task is not None:
            check_choice(f"task of data set {self.name!r}", self.task, TASKS)
        if self.target is not None and not isinstance(self.target, str):
            if not self.target or len(set(self.target)) < len(self.target):
                raise StudyError(f"data set {self.name!r}: target must name different columns")
            object.__setattr__(self, "target", tuple(self.target))
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
        owner = f"data set {self.name!r}"
        relevant = class_names = None
        if self.file is not None:
            X, y, groups, times, names = self._read()
        else:
            data = self._dataset()
            X, y, relevant = data["X"], data["y"], data.get("relevant")
            names, class_names = data.get("feature_names"), data.get("class_names")
            groups = data.get(self.groups or "groups")
            times = None if self.time is None else data.get(self.time)
            for entry, found in ((self.groups, groups), (self.time, times)):
                if entry is not None and found is None:
                    raise StudyError(f"{owner} has no entry {entry!r}")
        target = read_target(y, class_names, self.task or self._known_task(), owner)
        if len(target.y) != X.shape[0]:
            raise StudyError(
                f"X of {owner} has {X.shape[0]} rows, but y has {len(target.y)} values"
            )
        return StudyData(
            self.name,
            X,
            target.y,
            None if groups is None else np.asarray(groups),
            relevant,
            None if names is None else np.array([str(name) for name in names]),
            target.task,
            target.read_as,
            target.hint,
            None if times is None else read_times(times, owner),
            grouped=self.groups is not None,
        )

    def _known_task(self) -> str | None:
        """What the registry says of a data set."""
        if self.file is not None or self.make is not None or self.data is not None:
            return None
        info = registry().get(self.name.lower())
        if info is None or info.n_classes is None:
            return None
        return "classification" if info.n_classes else "regression"

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
        """X, y, groups, times and names of the features; each column is read by name."""
        file = self.file
        assert file is not None
        several = isinstance(self.target, tuple)
        targets: list[Any] = list(self.target or ()) if several else [self.target]
        beside = [name for name in (self.groups, self.time) if name is not None]
        # Arrays of such files lie beside X, columns of the others within it.
        by_column = Path(str(file)).suffix.lower() not in (".npz", ".mat", ".h5ad")
        named = [name for name in (*targets, *beside) if name is not None] * by_column

        def read(column: str | None, task: str) -> Any:
            others = [name for name in dict.fromkeys(named) if name != column]
            return read_table(file, column, [*self.drop, *others], task=task)

        # Numbers where there are several targets; groups that are written differently stay apart.
        numeric = several or self.task == "survival"
        task = "regression" if numeric else self.task or "auto"
        table = read(targets[0], task)
        columns = [table.y, *(read(name, task).y for name in targets[1:])]
        y = columns[0] if len(columns) == 1 else np.column_stack(columns)
        groups = None if self.groups is None else read(self.groups, "classification").y
        times = None if self.time is None else read(self.time, "regression").y
        return table.X, y, groups, times, table.feature_names


def _makers() -> list[str]:
    return [name for name in catalogue.__all__ if name.startswith("make_")]
