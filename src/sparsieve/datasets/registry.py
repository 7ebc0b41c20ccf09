"""Data sets that are known by name, and what one consists of.

The known data sets: facts from ``registry.csv``, one row per set.

Papers are called robust-l20, l20, exclusive-l21, l0-mkl and l0-mpm. In the column ``papers``
``l20=Brain`` says that l20 prints the set as "Brain". A row with a reason under ``unavailable``
was used by a paper but cannot be had in that version; ``stand_in`` names the nearest registered
set (same samples, other features).

What a data set is here: X, y and their names.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import Bunch


class Dataset(Bunch):
    """A data set with feature and class names; entries are available as attributes or keys.

    Attributes
    ----------
    X : array or sparse array of shape (n_samples, n_features)
        Features, as float64 (float32 if the source is float32).
    y : array of shape (n_samples,)
        Class labels 0, ..., c - 1, floats for regression, or a structured array of survival times.
    feature_names : array of shape (n_features,)
        Names of the columns of X; ``x0, x1, ...`` if the source has none.
    class_names : array of shape (c,) or None
        ``class_names[k]`` is the original name of label k; None for regression.
    name, description : str

    Synthetic data sets also contain the relevant features (``relevant`` and similar), and further
    arrays of an ``.npz`` file keep their names.

    See Also
    --------
    sparsieve.datasets.load_dataset : Loads a data set by name.
    sparsieve.datasets.make_shared_features : Classes that differ on the same few features.

    Examples
    --------
    >>> from sparsieve.datasets import load_dataset
    >>> wine = load_dataset("wine")
    >>> wine
    <Dataset 'wine': 178 samples, 13 features, 3 classes>
    >>> X, y = wine.X, wine.y
    """

    def __init__(
        self,
        /,
        *,
        name: str,
        X: Any,
        y: Any,
        feature_names: Any = None,
        class_names: Any = None,
        description: str = "",
        **more: Any,
    ) -> None:
        if feature_names is None:
            feature_names = [f"x{j}" for j in range(X.shape[1])]
        super().__init__(
            name=name,
            X=X,
            y=y,
            feature_names=np.asarray(feature_names, dtype=str),
            class_names=None if class_names is None else np.asarray(class_names, dtype=str),
            description=description,
            **more,
        )

    @property
    def target_names(self) -> np.ndarray | None:
        """Class names, under scikit-learn's name for them."""
        return self.class_names

    def __repr__(self) -> str:
        n_samples, n_features = self.X.shape
        target = "regression" if self.class_names is None else f"{len(self.class_names)} classes"
        if getattr(self.y.dtype, "names", None):
            target = f"survival times with {int(self.y['event'].sum())} events"
        return f"<Dataset {self.name!r}: {n_samples} samples, {n_features} features, {target}>"


def encode_labels(labels: Any) -> tuple[np.ndarray, np.ndarray | None]:
    """Labels 0..c-1 and their names for text or whole numbers, else a float target and None."""
    labels = np.asarray(labels)
    if labels.dtype.kind in "US":
        names, codes = np.unique(labels.astype(str), return_inverse=True)
        return codes.astype(np.int64), names
    if labels.dtype.kind not in "biuf":
        raise ValueError(f"the target must contain numbers or text, got dtype {labels.dtype}")
    if not np.isfinite(labels).all():
        raise ValueError("the target has missing or infinite values; drop those rows")
    if labels.dtype.kind == "f" and (labels != np.round(labels)).any():
        return labels.astype(np.float64), None
    values, codes = np.unique(labels.astype(np.int64), return_inverse=True)
    return codes.astype(np.int64), values.astype(str)


def as_features(X: Any) -> Any:
    """X as a two-dimensional float array (float32 is kept), CSR where it was sparse."""
    X = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X)
    if X.dtype.kind not in "biuf":
        raise ValueError(f"X must contain real numbers, got dtype {X.dtype}")
    if X.ndim != 2 or 0 in X.shape:
        raise ValueError(f"X must be a non-empty 2D array, got shape {X.shape}")
    # MATLAB files of other machines may come in the other byte order, which astype turns
    single = X.dtype.kind == "f" and X.dtype.itemsize == 4
    return X.astype(np.float32 if single else np.float64, copy=False)


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
