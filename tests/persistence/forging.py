"""Saved files with right checksums and wrong values, for every estimator there is.

``python tests/persistence/forging.py Name ...`` forges every array and every number of a saved
estimator in turn and leaves out every attribute of every object in it, loads each file and uses
what was loaded. One line per file that got through: an exception that is no sentence. The number
of the file at hand is written first, so that a crash of compiled code can be told from outside.
"""

from __future__ import annotations

import argparse
import copy
import inspect
import signal
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_classification

import sparsieve
from sparsieve.persistence.container import packed, unpacked

X, Y = make_classification(24, 6, n_informative=3, n_redundant=0, class_sep=2.0, random_state=1)
X = np.abs(X)
TRAINING = {"fit", "fit_transform", "partial_fit", "path", "report"}  # nothing that was fitted
SECONDS = 20  # of CPU, whatever else the machine is doing


def fitted(name: str) -> Any:
    """A small fitted estimator of this class."""
    estimator = sparsieve.all_estimators()[name]()
    few = {
        "n_subsamples": 4,
        "max_rounds": 4,
        "n_repeats": 1,
        "cv": 2,
        "n_features_to_select": 2,
        "ks": [1, 2],
    }
    known = estimator.get_params(deep=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.set_params(**{k: v for k, v in few.items() if k in known}).fit(X, Y)


def saved(estimator: Any, folder: Path) -> bytes:
    """The bytes of its file."""
    sparsieve.save(estimator, folder / "whole")
    return (folder / "whole").read_bytes()


def nodes(node: Any, where: tuple = ()) -> Iterator[tuple]:
    """Where the document holds arrays and plain values."""
    if isinstance(node, dict) and any(isinstance(node.get(kind), list) for kind in ARRAYS):
        yield where
    elif isinstance(node, dict) and str(node.get("object")).startswith("sklearn."):
        return  # plain Python without indices of ours; a wrong value there is an error of Python
    elif isinstance(node, dict):
        for key, value in node.items():
            yield from nodes(value, (*where, key))
    elif isinstance(node, list):
        for i, value in enumerate(node[:3]):  # further entries of a list are like the first
            yield from nodes(value, (*where, i))
    elif where[-1] != "object":
        yield where


def other_arrays(array: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """The same array, wrong in one way."""
    shape = array.shape
    yield "one longer", np.resize(array, (shape[0] + 1, *shape[1:]) if shape else (2,))
    yield "far longer", np.resize(array, (500, *shape[1:]))
    yield "empty", np.empty((0, *shape[1:]), dtype=array.dtype)
    yield "flat", np.resize(array, array.size + (array.ndim == 1)).reshape(1, -1)
    yield "a number", np.resize(array, (1,)).reshape(())
    if array.ndim > 1:
        yield "turned", np.ascontiguousarray(array.T)
        yield "one column", np.resize(array, (*shape[:-1], 1))
        yield "without a dimension", np.resize(array, shape[:1])
    for dtype in ("float64", "float16", "int64", "uint8", "bool"):
        if array.dtype != dtype:
            yield dtype, np.abs(array).astype(dtype)
    if array.dtype.kind == "f":
        for value in (np.nan, np.inf, -1e300, 1e-320):
            yield f"all {value}", np.full(shape, value, dtype=array.dtype)
    elif array.dtype.kind in "iu":
        for value in (-1, 7, 2**40, np.iinfo(array.dtype).min, np.iinfo(array.dtype).max):
            yield f"all {value}", np.full(shape, value).astype(array.dtype)
    elif array.dtype.kind == "b":
        yield "all true", np.ones(shape, dtype=bool)
        yield "all false", np.zeros(shape, dtype=bool)


ARRAYS = ("array", "words", "text")
VALUES = (None, -1, 0, 2**40, 2**70, 1.5, {"float": "nan"}, "x", [], True, {"array": None})


def objects(node: Any, where: tuple = ()) -> Iterator[tuple]:
    """Where the document holds objects of ours."""
    if isinstance(node, dict) and str(node.get("object")).startswith("sklearn."):
        return
    if isinstance(node, dict) and "object" in node:
        yield where
    inside = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in inside:
        if isinstance(value, dict | list):
            yield from objects(value, (*where, key))


def _at(node: Any, where: tuple) -> Any:
    for key in where:
        node = node[key]
    return node


def without_attributes(whole: bytes) -> Iterator[tuple[str, bytes]]:
    """(what was left out, the file), every attribute of every object in turn."""
    document, pools = unpacked(whole)
    for where in list(objects(document["estimator"])):
        for name in _at(document["estimator"], where)["fields"]:
            forged = copy.deepcopy(document)
            del _at(forged["estimator"], where)["fields"][name]
            yield f"{'.'.join(map(str, (*where, name)))}: left out", packed(forged, pools)


def forgeries(whole: bytes) -> Iterator[tuple[str, bytes]]:
    """(what was changed, the file), every array and every value in turn."""
    yield from without_attributes(whole)
    document, pools = unpacked(whole)
    for where in list(nodes(document["estimator"])):
        for said, content, value in _changes(document["estimator"], where, pools):
            forged = copy.deepcopy(document)
            place = _at(forged["estimator"], where[:-1])
            place[where[-1]] = content
            more = pools
            if value is not None:
                kind = value.dtype.name
                pool = pools.get(kind, np.empty(0, dtype=value.dtype))
                offset = len(pool)
                more = {**pools, kind: np.concatenate([pool, value.ravel()])}
                place[where[-1]] = {"array": [kind, offset, list(value.shape)]}
            yield f"{'.'.join(map(str, where))}: {said}", packed(forged, more)


def _changes(root: Any, where: tuple, pools: dict[str, np.ndarray]):
    node = _at(root, where)
    if isinstance(node, dict) and isinstance(node.get("array"), list):
        kind, offset, shape = node["array"][:3]
        array = pools[kind][offset : offset + int(np.prod(shape))].reshape(shape)
        for said, value in other_arrays(array):
            yield said, None, value
    some = {"array": ["float64", 0, [1]]}
    for value in VALUES:
        value = some if isinstance(value, dict) and "array" in value else value
        if value != node:
            yield f"is {value}", value, None


def use(path: Path) -> None:
    """Load, and call what compiled code or index arithmetic may be behind."""
    estimator = sparsieve.load(path)
    _use(estimator)
    for k in (1, 2, 3):
        if hasattr(type(estimator), "at"):
            try:
                other = estimator.at(k)
            except (ValueError, TypeError):
                continue
            _use(other)


def _use(estimator: Any) -> None:
    """Call every public method that uses what was fitted, and look at every property."""
    for name in dir(type(estimator)):
        if name.startswith(("_", "set_")) or name in TRAINING:
            continue
        try:
            found = getattr(estimator, name, None)
            if callable(found):
                found(*_arguments(found))
        except (ValueError, TypeError):
            pass


def _arguments(method: Any) -> tuple:
    needed = [p for p in inspect.signature(method).parameters.values() if p.default is p.empty]
    several = any(p.kind is p.VAR_POSITIONAL or p.kind is p.VAR_KEYWORD for p in needed)
    return () if several else (X, Y)[: len(needed)]


def _too_long(*_: Any) -> None:
    raise TimeoutError("took too long")


def main(names: list[str], every: int, first: int, *, only_left_out: bool = False) -> None:
    made = without_attributes if only_left_out else forgeries
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGPROF, _too_long)
    with tempfile.TemporaryDirectory() as folder:
        path, tried = Path(folder) / "forged", 0
        for name in names:
            whole = saved(fitted(name), Path(folder))
            for count, (said, content) in enumerate(made(whole)):
                if count < first or count % every:
                    continue
                print("at", count, name, said, flush=True)
                path.write_bytes(content)
                signal.setitimer(signal.ITIMER_PROF, SECONDS)
                wrong = _what_escapes(path)
                signal.setitimer(signal.ITIMER_PROF, 0.0)
                tried += 1
                if wrong:
                    print("wrong", count, name, said, "|", wrong)
    print("done", tried, flush=True)


def _what_escapes(path: Path) -> str:
    try:
        use(path)
    except (ValueError, TypeError):
        return ""
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        spot = f"{Path(last.filename).name}:{last.lineno}"
        return f"{type(error).__name__}: {error} ({spot})"[:200]
    return ""


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="+")
    parser.add_argument("--every", type=int, default=1, help="only every so many files")
    parser.add_argument("--first", type=int, default=0, help="go on from this one")
    parser.add_argument("--left-out", action="store_true", help="only files that lack something")
    given = parser.parse_args()
    main(given.names, given.every, given.first, only_left_out=given.left_out)
