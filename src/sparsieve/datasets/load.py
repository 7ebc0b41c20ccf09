"""Find a data set by name, in scikit-learn or in the data folder, and load it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from .._checks import check_choice, check_flag, did_you_mean
from .._wings import load_entry
from .registry import PAPERS, Dataset, DatasetInfo, registry

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
    sparsieve.datasets.registry.DatasetInfo : Information about a data set.

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
