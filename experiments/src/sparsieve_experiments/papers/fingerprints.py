"""What identifies the data behind a computation, so that changed files are noticed."""

from __future__ import annotations

from functools import lru_cache

from sparsieve.datasets import list_datasets

from ..studies.run import UNUSABLE
from ..studies.sources import DatasetSpec


def fingerprint_of(dataset: str) -> str:
    """Changes with every value of a data set, see ``StudyData.fingerprint``.

    Of data that cannot be read it is "unreadable": whoever loads them says why.

    Examples
    --------
    >>> from sparsieve_experiments.papers.fingerprints import fingerprint_of
    >>> fingerprint_of("wine") == fingerprint_of("wine") != fingerprint_of("breast_cancer")
    True
    """
    files = {info.name: info.path for info in list_datasets()}
    path = files.get(dataset)
    try:
        now = None if path is None else path.stat()
    except OSError:
        return "unreadable"
    return _read(dataset, str(path), *((0, 0) if now is None else (now.st_mtime_ns, now.st_size)))


@lru_cache(maxsize=256)
def _read(dataset: str, path: str, changed_ns: int, size: int) -> str:
    """Read anew only when the file has another time or size."""
    try:
        return DatasetSpec(dataset).load().fingerprint
    except UNUSABLE:
        return "unreadable"
