"""``sparsieve.save`` and ``sparsieve.load``."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import sklearn
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from .._checks import check_integer, warn_user
from .._version import __version__
from ..io.errors import shown
from ..io.write import replacing
from .classes import name_of
from .container import packed, unpacked
from .decode import Decoder
from .encode import Encoder
from .errors import SavedFileError

FORMAT = "sparsieve estimator"
VERSION = 2
MAX_FILE_BYTES = 4 << 30


def save(estimator: Any, path: str | os.PathLike[str]) -> None:
    """Save an estimator or a selection to a file that cannot run code.

    Parameters
    ----------
    estimator : estimator or SelectedFeatures
        A selector or classifier of this package, fitted or not, including those that wrap others,
        or a scikit-learn pipeline of these and of simple linear models; or what
        :func:`~sparsieve.select` returned, of which the file has the model, the names and the
        table, but not the training data.
    path : str or path-like
        File to write; an existing file is replaced once the new one is complete.

    See Also
    --------
    load : Loads a saved estimator.

    Notes
    -----
    The file is a zip archive of JSON and plain arrays with a version and a checksum. It cannot
    contain functions, such as your own kernel or scorer, estimators of other packages, or
    scikit-learn's forests, nearest neighbours and kernel machines.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import sparsieve
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> selector = sparsieve.RidgeForwardSelector(3).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "wine.sparsieve"
    ...     sparsieve.save(selector, path)
    ...     again = sparsieve.load(path)
    >>> bool((again.transform(X) == selector.transform(X)).all())
    True
    """
    if hasattr(estimator, "_to_save"):  # a result of select()
        estimator = estimator._to_save()
    if not _is_whole(estimator) or name_of(type(estimator)) is None:
        raise TypeError(
            f"save needs an estimator of sparsieve, got {type(estimator).__name__}; it also takes "
            "a result of select()"
        )
    encoder = Encoder()
    document = {
        "format": FORMAT,
        "version": VERSION,
        "sparsieve": __version__,
        "scikit-learn": sklearn.__version__,
        "estimator": encoder.encode(estimator, f"this {type(estimator).__name__}"),
    }
    content = packed(document, encoder.arrays.pools())
    with replacing(Path(path)) as scratch:
        scratch.write_bytes(content)


def can_save(estimator: Any) -> bool:
    """Whether a file can hold this estimator."""
    try:
        Encoder().encode(estimator, "")
    except TypeError:
        return False
    return True


def _is_whole(found: Any) -> bool:
    """Whether a file may be about this, rather than have it among its parts."""
    return isinstance(found, BaseEstimator) or getattr(type(found), "_stands_alone", False)


def load(path: str | os.PathLike[str], *, max_bytes: int = MAX_FILE_BYTES) -> Any:
    """Load an estimator written by :func:`save`; safe for files from others, as no code is run.

    Parameters
    ----------
    path : str or path-like
        The file.
    max_bytes : int, default=4294967296
        Refuse larger files; loading needs memory of up to three times the file size.

    Returns
    -------
    estimator : estimator or SavedSelection
        The estimator as it was saved; of a selection what has ``predict``, ``features``, ``table``
        and ``transform``.

    Raises
    ------
    SavedFileError
        A ValueError that says what is wrong with the file.
    OSError
        If the file cannot be read.

    See Also
    --------
    save : Saves an estimator.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import sparsieve
    >>> from sklearn.datasets import load_wine
    >>> selector = sparsieve.FisherSelector(3).fit(*load_wine(return_X_y=True))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "wine.sparsieve"
    ...     sparsieve.save(selector, file)
    ...     again = sparsieve.load(file)
    >>> bool((again.ranking_ == selector.ranking_).all())
    True
    """
    check_integer("max_bytes", max_bytes)
    try:
        return _estimator(*unpacked(_read(path, max_bytes)))
    except SavedFileError as error:
        raise SavedFileError(f"cannot load {shown(path)}: {error}") from None
    except MemoryError:
        raise SavedFileError(f"cannot load {shown(path)}: there is not enough memory") from None
    except (ImportError, OSError, Warning):
        raise  # not of the file
    except Exception as error:  # a damaged file can make anything of the reader
        said = " ".join(str(error).split())[:100] or type(error).__name__
        raise SavedFileError(f"cannot load {shown(path)}: it is damaged ({said})") from None


def _read(path: str | os.PathLike[str], max_bytes: int) -> bytes:
    # Without waiting for a writer, should it be a pipe.
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with open(handle, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise SavedFileError("it is not a file")
        if status.st_size > max_bytes:
            raise SavedFileError(
                f"it has {status.st_size:,} bytes, more than the {max_bytes:,} allowed; raise "
                "max_bytes if you trust it"
            )
        return file.read(status.st_size)


def _estimator(document: dict[str, Any], pools: dict[str, Any]) -> Any:
    version = document.get("version")
    written_by = str(document.get("sparsieve"))[:40]
    if document.get("format") != FORMAT or type(version) is not int or version < 1:
        raise SavedFileError("it is not marked as a saved estimator")
    if version != VERSION:
        remedy = "install a newer version" if version > VERSION else "fit and save it again"
        raise SavedFileError(
            f"it is of format {version} and was written by sparsieve {written_by}; this is "
            f"sparsieve {__version__}, which reads format {VERSION}: {remedy}"
        )
    estimator = Decoder(pools, written_by).decode(document["estimator"])
    if not _is_whole(estimator):
        raise SavedFileError("it does not contain an estimator")
    _warn_of_scikit_learn(estimator, str(document.get("scikit-learn"))[:40])
    return estimator


def _warn_of_scikit_learn(estimator: Any, version: str) -> None:
    inside = getattr(estimator, "estimator_", estimator)
    if isinstance(pipeline := getattr(estimator, "model", None), Pipeline):
        inside = pipeline.steps[-1][1]
    is_theirs = type(inside).__module__.startswith("sklearn.")
    if is_theirs and version.split(".")[:2] != sklearn.__version__.split(".")[:2]:
        warn_user(
            f"the {type(inside).__name__} in this file was saved with scikit-learn {version}, but "
            f"this is {sklearn.__version__}; check that its predictions are unchanged"
        )
