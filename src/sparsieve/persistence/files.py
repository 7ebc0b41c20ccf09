"""``sparsieve.save`` and ``sparsieve.load``: files of skops, with our classes trusted.

A file can only bring objects of classes that are known to do no harm: those of skops' own list
(NumPy, SciPy, scikit-learn) and those that derive from :class:`~sparsieve._saved.Savable`.
"""

from __future__ import annotations

import io
import os
import stat
import sys
import warnings
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn.base import BaseEstimator
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.pipeline import Pipeline

from .._checks import check_integer, warn_user
from .._files import replacing, shown
from .._saved import CLASSES, TO_FILE, Savable
from .._sklearn import TREE_NODE
from .._version import __version__

FORMAT = "sparsieve estimator"
MAX_FILE_BYTES = 4 << 30
_FOLDS = (
    *("GroupKFold", "KFold", "RepeatedKFold", "RepeatedStratifiedKFold", "ShuffleSplit"),
    *("StratifiedGroupKFold", "StratifiedKFold", "StratifiedShuffleSplit", "TimeSeriesSplit"),
)
# What estimators keep beside classes of ours: the precision of their numbers, sparse neighbours of
# samples, that a model scores itself, and folds.
_FURTHER = (
    "numpy.dtype",
    "scipy.sparse._csc.csc_array",
    "scipy.sparse._csr.csr_array",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",  # see _check_trees
    "sklearn.metrics._scorer._PassthroughScorer",
    *(f"sklearn.model_selection._split.{name}" for name in _FOLDS),
)


class SavedFileError(ValueError):
    """Raised if a file is not a saved estimator, is damaged, or comes from another version.

    See Also
    --------
    sparsieve.load : Loads a saved estimator.
    sparsieve.save : Saves an estimator to a file that cannot run code.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import sparsieve
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "selector.zip"
    ...     written = path.write_text("no estimator")
    ...     try:
    ...         sparsieve.load(path)
    ...     except sparsieve.SavedFileError:
    ...         print("no saved estimator")
    no saved estimator
    """


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
    The file is that of :func:`skops.io.dump`, a zip archive of JSON and plain arrays. It cannot
    contain functions, such as your own kernel or scorer, scikit-learn's forests and nearest
    neighbours (histogram gradient boosting without splits by categories can be saved), nor
    estimators of other packages, unless they derive from :class:`BaseSelector`.

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
    if not _is_whole(estimator):
        raise TypeError(
            f"save needs an estimator of sparsieve, got {type(estimator).__name__}; it also takes "
            "a result of select()"
        )
    data = _dump(estimator)
    if strange := [*_not_loadable(data)]:
        raise TypeError(
            f"cannot save this {type(estimator).__name__}: it contains {strange[0]}, and files "
            "take classes of sparsieve, NumPy, SciPy and scikit-learn, and selectors derived from "
            "sparsieve.BaseSelector in a module"
        )
    with replacing(Path(path)) as scratch:
        scratch.write_bytes(data)


def can_save(estimator: Any) -> bool:
    """Whether a file can hold this estimator."""
    try:
        return not [*_not_loadable(_dump(estimator))]
    except TypeError:
        return False


def _is_whole(found: Any) -> bool:
    """Whether a file may be about this, rather than have it among its parts."""
    steps = [step for _, step in found.steps] if isinstance(found, Pipeline) else [found]
    return any(isinstance(step, Savable) for step in steps) and (
        isinstance(found, BaseEstimator) or getattr(type(found), "_stands_alone", False)
    )


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
    data = _read_bytes(path, max_bytes)
    try:
        found = _load_dump(data, max_bytes)
        _check_parts(found["estimator"])
    except SavedFileError as error:
        raise SavedFileError(f"cannot load {shown(path)}: {error}") from None
    except MemoryError:
        raise SavedFileError(f"cannot load {shown(path)}: there is not enough memory") from None
    except Exception as error:  # a damaged file can make anything of the reader
        said = " ".join(str(error).split())[:100] or type(error).__name__
        raise SavedFileError(f"cannot load {shown(path)}: it is damaged ({said})") from None
    _warn_of_scikit_learn(found["estimator"], str(found["scikit-learn"])[:40])
    return found["estimator"]


def _read_bytes(path: str | os.PathLike[str], max_bytes: int) -> bytes:
    # Without waiting for a writer, should it be a pipe.
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with open(handle, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise SavedFileError(f"cannot load {shown(path)}: it is not a file")
        if status.st_size > max_bytes:
            raise SavedFileError(
                f"cannot load {shown(path)}: {_too_large(status.st_size, max_bytes)}"
            )
        return file.read(status.st_size)


def _too_large(size: int, max_bytes: int) -> str:
    return (
        f"it has {size:,} bytes, more than the {max_bytes:,} allowed; raise max_bytes if you "
        "trust it"
    )


def _load_dump(data: bytes, max_bytes: int) -> dict[str, Any]:
    """What was dumped, of classes that are trusted, and with the marks of ``save``."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
    except zipfile.BadZipFile:
        raise SavedFileError("it was not written by sparsieve.save, or it is damaged") from None
    size = sum(member.file_size for member in members)
    if size > max_bytes:
        raise SavedFileError(_too_large(size, max_bytes))
    if strange := [*_not_loadable(data)]:
        raise SavedFileError(
            f"it contains {strange[0]}, which no trusted package that is imported here has; if it "
            "is yours, import its module first"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InconsistentVersionWarning)  # said in one line below
        found = _skops().loads(data, trusted=_list_trusted_types())
    if (
        not isinstance(found, dict)
        or found.get("format") != FORMAT
        or not _is_whole(found.get("estimator"))
    ):
        raise SavedFileError("it was not written by sparsieve.save")
    return found


def _check_parts(estimator: Any) -> None:
    """Refuse what does not fit together, and a place where a fit would look for pickles.

    Supports, rankings, scores and names must be about the same columns.
    """
    for part in _parts(estimator, set()):
        state = vars(part)
        if state.get("memory") is not None:
            raise SavedFileError(_memory_message(part))
        n = state.get("n_features_in_")
        if "_predictors" in state:
            _check_trees(part)
        per_column: tuple[str, ...] = ("feature_names_in_",)
        if isinstance(part, SelectorMixin):
            per_column += ("support_", "ranking_", "scores_")
        sizes = {name: np.shape(state[name]) for name in per_column if name in state}
        if n is None or not sizes:
            continue
        wrong = [name for name, shape in sizes.items() if type(n) is not int or shape != (n,)]
        if wrong:
            raise SavedFileError(
                f"it is damaged: {wrong[0]} of {type(part).__name__} has the shape "
                f"{sizes[wrong[0]]}, but there are {n} columns"
            )


def _check_trees(model: Any) -> None:
    """Refuse tables of trees that lead beyond themselves, or to columns that are not there.

    Compiled code follows them without looking. Children lie behind their parents, so that every
    way ends in a leaf; splits by categories, which read further tables, are refused.
    """
    n_columns, rounds = vars(model).get("n_features_in_"), vars(model)["_predictors"]
    sound = type(n_columns) is int and isinstance(rounds, list)
    trees = [tree for one in rounds if isinstance(one, list) for tree in one] if sound else []
    sound = sound and all(isinstance(one, list) for one in rounds)
    for tree in trees:
        nodes = getattr(tree, "nodes", None)
        if (
            not isinstance(nodes, np.ndarray)
            or nodes.dtype != TREE_NODE
            or nodes.ndim != 1
            or not len(nodes)
        ):
            sound = False
            break
        inner = np.flatnonzero(nodes["is_leaf"] == 0)
        split = nodes[inner]
        for side in ("left", "right"):
            children = split[side].astype(np.int64)
            sound &= bool(((children > inner) & (children < len(nodes))).all())
        places = split["feature_idx"]
        sound &= bool(((places >= 0) & (places < n_columns)).all())
        sound &= not split["is_categorical"].any()
    if not sound:
        raise SavedFileError(f"it is damaged: a tree of {type(model).__name__} leads nowhere")


def _memory_message(part: Any) -> str:
    return (
        f"the {type(part).__name__} in it has memory={part.memory!r}, where a fit reads pickles; "
        "set memory=None"
    )


def _parts(value: Any, seen: set[int]) -> Iterator[Any]:
    """An estimator and the objects inside that have a state of their own."""
    todo = [value]
    while todo:
        one = todo.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, dict):
            todo += one.values()
        elif isinstance(one, list | tuple):
            todo += one
        elif isinstance(one, np.ndarray) and one.dtype == object:
            todo += one.ravel().tolist()
        elif isinstance(one, Savable | BaseEstimator):
            yield one
            todo += vars(one).values()


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


def skops_trusted_types() -> list[str]:
    """List the types of this package that fitted estimators consist of.

    ``skops.io.load`` makes objects only of types that its caller trusts. MLflow asks for the same
    list.

    Returns
    -------
    types : list of str
        Full names of classes, for ``trusted`` of ``skops.io.load``, or for
        ``skops_trusted_types`` of ``mlflow.sklearn.save_model``.

    See Also
    --------
    save : Saves to a file that needs no trust.

    Examples
    --------
    >>> import sparsieve
    >>> "sparsieve.filters.fisher.FisherSelector" in sparsieve.skops_trusted_types()
    True
    """
    _load_all()
    return sorted(
        {*(name for name in map(_name, CLASSES) if name.startswith("sparsieve.")), *_FURTHER}
    )


def _name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__name__}"


def _list_trusted_types() -> list[str]:
    """Our classes, and those of others that derive from ours and are imported already."""
    found = [
        cls for cls in CLASSES if getattr(sys.modules.get(cls.__module__), cls.__name__, 0) is cls
    ]
    return [*skops_trusted_types(), *map(_name, found)]


def _skops() -> Any:
    import skops.io

    return skops.io


def _dump(estimator: Any) -> bytes:
    for part in _parts(estimator, set()):
        if vars(part).get("memory") is not None:
            raise TypeError(f"cannot save this {type(estimator).__name__}: {_memory_message(part)}")
    marked = {
        "format": FORMAT,
        "sparsieve": __version__,
        "scikit-learn": sklearn.__version__,
        "estimator": estimator,
    }
    token = TO_FILE.set(True)
    try:
        return _skops().dumps(marked, compression=zipfile.ZIP_DEFLATED)
    except RecursionError:
        raise TypeError(
            f"cannot save this {type(estimator).__name__}: it contains itself"
        ) from None
    except Exception as error:
        said = " ".join(str(error).split())[:200]
        raise TypeError(f"cannot save this {type(estimator).__name__}: {said}") from error
    finally:
        TO_FILE.reset(token)


def _not_loadable(data: bytes) -> Iterator[str]:
    """Names of types in a file that would not be loaded."""
    known = set(_list_trusted_types())
    return (name for name in _skops().get_untrusted_types(data=data) if name not in known)


@cache
def _load_all() -> None:
    """Import every module of ours, so that all classes have declared themselves."""
    import sparsieve
    from sparsieve import solvers

    for home in (sparsieve, solvers):
        for name in home.__all__:
            getattr(home, name)
