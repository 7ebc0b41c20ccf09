"""Find a data set by name, in scikit-learn or in the data folder, and load it."""

from __future__ import annotations

import csv
import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import Bunch

from .._checks import check_choice, check_flag, did_you_mean
from .._wings import load_entry

#: Of files that hold a data set, the first choice first.
SUFFIXES = (".npz", ".mat", ".csv")
HOW_TO_LIST = "sparsieve.datasets.list_datasets() lists all"


def get_data_home(data_home: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder in which data files are searched for; it need not exist.

    Parameters
    ----------
    data_home : str or path, default=None
        The folder. None uses the environment variable ``SPARSIEVE_DATA``, else
        ``$XDG_CACHE_HOME/sparsieve``, else ``~/.cache/sparsieve``.

    Returns
    -------
    path : pathlib.Path
        The folder.

    See Also
    --------
    sparsieve.datasets.load_dataset : Loads a data set by name.
    sparsieve.datasets.list_datasets : Lists all data sets.

    Examples
    --------
    >>> from sparsieve.datasets import get_data_home
    >>> get_data_home("my_data").name
    'my_data'
    """
    if data_home is None:
        data_home = os.environ.get("SPARSIEVE_DATA") or None
    if data_home is not None:
        return Path(data_home).expanduser()
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "sparsieve"


def list_datasets(
    *, paper: str | None = None, data_home: str | os.PathLike[str] | None = None
) -> list[DatasetInfo]:
    """List all data sets, and whether they can be loaded.

    Parameters
    ----------
    paper : {"robust-l20", "l20", "exclusive-l21", "l0-mkl", "l0-mpm"}, default=None
        List only the data sets used in this paper.
    data_home : str or path, default=None
        Folder of data files, see :func:`get_data_home`.

    Returns
    -------
    rows : list of DatasetInfo
        Registered data sets, followed by other files in the data folder. ``row.status`` is
        "embedded", "present", "missing" or "unavailable". ``pandas.DataFrame(rows)`` makes a table.

    See Also
    --------
    sparsieve.datasets.load_dataset : Loads a data set by name.
    sparsieve.datasets.load.DatasetInfo : Information about a data set.

    Examples
    --------
    >>> from sparsieve.datasets import list_datasets
    >>> [row.name for row in list_datasets() if row.status == "embedded"]
    ['digits', 'breast_cancer', 'wine', 'diabetes', 'wdbc']
    >>> [row.papers["l20"] for row in list_datasets(paper="l20")][:3]
    ['Brain', 'Breast3', 'Leukemia']
    """
    if paper is not None:
        check_choice("paper", paper, PAPERS)
    files = _data_files(get_data_home(data_home))
    rows = [_locate(info, files) for info in registry().values()]
    if paper is not None:
        return [row for row in rows if paper in row.papers]
    taken = {row.path for row in rows}
    unregistered = [
        DatasetInfo(name=path.stem, status="present", path=path)
        for stem, path in files.items()
        if path not in taken and stem not in registry()
    ]
    return rows + unregistered


def load_dataset(
    name: str, *, data_home: str | os.PathLike[str] | None = None, verify: bool = True
) -> Dataset:
    """Load a data set by name.

    Data sets that come with scikit-learn need no file. The others are read from the data folder:
    the first of ``<name>.npz`` (arrays X, y and optionally class_names, feature_names),
    ``<name>.mat`` (X and Y, or fea and gnd) and ``<name>.csv`` (a header row; the target is the
    column named target, class or label, else the last; empty cells become NaN) that exists,
    ignoring case. Any such file can be loaded by its name, registered or not. Text or whole numbers
    as the target mean classes, other numbers mean regression.

    Parameters
    ----------
    name : str
        Name of the data set, see :func:`list_datasets`.
    data_home : str or path, default=None
        Folder of data files, see :func:`get_data_home`.
    verify : bool, default=True
        Check the checksum (``.npz``), or the shape and number of classes, of a registered data set.
        Pass False to load your own version under that name.

    Returns
    -------
    dataset : Dataset
        Data set with X, y, feature_names, class_names, name and description.

    See Also
    --------
    sparsieve.datasets.list_datasets : Lists all data sets.
    sparsieve.datasets.get_data_home : Folder in which data files are searched for.

    Examples
    --------
    >>> from sparsieve.datasets import load_dataset
    >>> digits = load_dataset("digits")
    >>> digits.X.shape, digits.class_names[:3].tolist()
    ((1797, 64), ['0', '1', '2'])
    """
    if not isinstance(name, str):
        raise TypeError(f"name must be a string, got {name!r}; {HOW_TO_LIST}")
    check_flag("verify", verify)
    home = get_data_home(data_home)
    files = _data_files(home)
    key = name.lower()
    info = registry().get(key)
    if info is None:
        if key not in files:
            raise ValueError(_unknown(name, [*registry(), *files], home))
        path = files[key]
        return load_entry("sparsieve.pages", "datasets")(path, path.stem, f"file {path.name}")
    if info.status == "embedded":
        return _load_from_sklearn(info)
    info = _locate(info, files)
    if info.path is None:
        raise FileNotFoundError(_missing(info, home))
    if verify:
        _verify_checksum(info, info.path)
    dataset = load_entry("sparsieve.pages", "datasets")(info.path, info.name, info.summary)
    if verify:
        _verify_shape(info, info.path, dataset)
    return dataset


def _data_files(home: Path) -> dict[str, Path]:
    """Readable files by lower-case name without ending, the preferred format of each."""
    if not home.is_dir():
        return {}
    formats = list(SUFFIXES)
    found = [path for path in home.iterdir() if path.suffix.lower() in formats and path.is_file()]
    found.sort(key=lambda path: (-formats.index(path.suffix.lower()), path.name))
    preferred = {path.stem.lower(): path for path in found}  # the last one stays
    return dict(sorted(preferred.items()))


def _locate(info: DatasetInfo, files: dict[str, Path]) -> DatasetInfo:
    if info.status == "embedded":
        return info
    path = files.get(info.name)
    if path is None and info.public_stem in files:
        public = files[info.public_stem]
        path = public if public.suffix.lower() == ".mat" else None
    return info if path is None else replace(info, status="present", path=path)


def _load_from_sklearn(info: DatasetInfo) -> Dataset:
    import sklearn.datasets

    source = getattr(sklearn.datasets, info.origin_file)()
    return Dataset(
        name=info.name,
        X=source.data,
        y=source.target.astype("int64" if info.n_classes else "float64"),
        feature_names=source.feature_names,
        class_names=source.target_names if info.n_classes else None,
        description=info.summary,
    )


def _verify_checksum(info: DatasetInfo, path: Path) -> None:
    if not info.sha256 or path.suffix.lower() != ".npz":
        return
    with path.open("rb") as handle:
        found = hashlib.file_digest(handle, "sha256").hexdigest()
    if found != info.sha256:
        raise ValueError(
            f"'{path}' is not the registered file of '{info.name}': its sha256 is {found}, "
            f"expected {info.sha256}; download it again, or pass verify=False to load it anyway"
        )


def _verify_shape(info: DatasetInfo, path: Path, dataset: Dataset) -> None:
    n_classes = 0 if dataset.class_names is None else len(dataset.class_names)
    if (*dataset.X.shape, n_classes) != (info.n_samples, info.n_features, info.n_classes):
        raise ValueError(
            f"'{path}' has {dataset.X.shape[0]} x {dataset.X.shape[1]} values and {n_classes} "
            f"classes, but '{info.name}' is registered as {info.shape}; rename the file, or pass "
            "verify=False to load it anyway"
        )


def _unknown(name: str, known: Iterable[str], home: Path) -> str:
    hint = did_you_mean(name.lower(), sorted(set(known)), 0.5, "did you mean '{}'? ")
    return f"unknown data set '{name}', and no file of that name in '{home}'; {hint}{HOW_TO_LIST}"


def _missing(info: DatasetInfo, home: Path) -> str:
    names = ", ".join(info.name + suffix for suffix in SUFFIXES)
    reason = f" ({info.unavailable})" if info.unavailable else ""
    stand_in = (
        f" The most similar registered data set is '{info.stand_in}'." if info.stand_in else ""
    )
    return (
        f"data set '{info.name}' ({info.shape}) is not in '{home}'{reason}; download it from "
        f"{info.source} and put it there as one of {names}, or set another folder with data_home "
        f"or SPARSIEVE_DATA.{stand_in}"
    )


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
