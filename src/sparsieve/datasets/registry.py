"""The known data sets: facts from ``registry.csv``, one row per set.

Papers are called robust-l20, l20, exclusive-l21, l0-mkl and l0-mpm. In the column ``papers``
``l20=Brain`` says that l20 prints the set as "Brain". A row with a reason under ``unavailable``
was used by a paper but cannot be had in that version; ``stand_in`` names the nearest registered
set (same samples, other features).
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path, PurePosixPath
from typing import Any

PAPERS = ("robust-l20", "l20", "exclusive-l21", "l0-mkl", "l0-mpm")


@dataclass(frozen=True)
class DatasetInfo:
    """Information about one registered data set.

    Attributes
    ----------
    name : str
    n_samples, n_features, n_classes : int or None
        Size of the data set; None for a file that is not registered. Numeric targets have 0
        classes.
    kind : str
        "image", "gene expression", "text", "tabular", ...
    papers : dict
        Name of the data set in each paper that uses it.
    origin, origin_file : str
        Where the data are published; "scikit-learn" means that they come with it.
    sha256 : str
        Checksum of the ``.npz`` file, empty if unknown.
    stand_in : str
        Name of the most similar available data set, for an unavailable one.
    unavailable : str
        Why the data set is not available, otherwise empty.
    note : str
    status : str
        "embedded" (comes with scikit-learn), "present" (a file in the data folder), "missing"
        (obtainable, but no file there) or "unavailable".
    path : Path or None
        The file, if it is present.

    See Also
    --------
    sparsieve.datasets.list_datasets : Lists all data sets.

    Examples
    --------
    >>> from sparsieve.datasets import list_datasets
    >>> info = next(info for info in list_datasets() if info.name == "wine")
    >>> info.n_samples, info.n_features, info.n_classes, info.status
    (178, 13, 3, 'embedded')
    """

    name: str
    n_samples: int | None = None
    n_features: int | None = None
    n_classes: int | None = None
    kind: str = "file"
    papers: dict[str, str] = field(default_factory=dict)
    origin: str = ""
    origin_file: str = ""
    sha256: str = ""
    stand_in: str = ""
    unavailable: str = ""
    note: str = ""
    status: str = "missing"
    path: Path | None = None

    @property
    def public_stem(self) -> str:
        """Name, without ending, of the public .mat file, which is read as it is; else empty."""
        public = PurePosixPath(self.origin_file)
        return public.stem.lower() if public.suffix == ".mat" else ""

    @property
    def shape(self) -> str:
        """``72 x 7129, 2 classes``, for messages."""
        if self.n_samples is None:
            return "not registered"
        target = f"{self.n_classes} classes" if self.n_classes else "numbers"
        return f"{self.n_samples} x {self.n_features}, {target}"

    @property
    def summary(self) -> str:
        """Describe the data set and its source in one line."""
        facts = [f"{self.kind}, {self.shape}", self.note.rstrip("."), self.source]
        return "; ".join(fact for fact in facts if fact)

    @property
    def source(self) -> str:
        """Public origin in one phrase."""
        return ", ".join(part for part in (self.origin, self.origin_file) if part)


@cache
def registry() -> dict[str, DatasetInfo]:
    """All registered sets by name, in the order of the table."""
    table = resources.files(__package__).joinpath("registry.csv").read_text(encoding="utf-8")
    return {row["name"]: _info(row) for row in csv.DictReader(table.splitlines())}


def _info(row: dict[str, str]) -> DatasetInfo:
    """The columns of the table are fields of the same name."""
    known: dict[str, Any] = dict(row)
    known |= {name: int(row[name]) for name in ("n_samples", "n_features", "n_classes")}
    known["papers"] = dict(pair.split("=") for pair in row["papers"].split(";") if pair)
    if row["origin"] == "scikit-learn":
        known["status"] = "embedded"
    elif row["unavailable"]:
        known["status"] = "unavailable"
    return DatasetInfo(**known)
