"""Resumable work that is not a study: one function, many settings, every result kept."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from joblib import delayed

from sparsieve._version import __version__
from sparsieve.scoring.outcomes import Progress, call_guardedly

from .kinds import StudyError
from .store import Store
from .store_reader import FORMAT
from .worker import Worker, chosen_backend

SECONDS = "cell_seconds"  # beside what the function gives, as in the cells of a study


def run_jobs(
    name: str,
    function: Callable[..., dict[str, Any]],
    settings: Sequence[Mapping[str, Any]],
    store_path: str | os.PathLike[str],
    *,
    fingerprint: Callable[[Mapping[str, Any]], str] | None = None,
    code: Callable[[Mapping[str, Any]], str] | None = None,
    ahead: Callable[[list[dict[str, Any]]], Sequence[Any]] | None = None,
    n_jobs: int = 1,
    retry_failed: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
) -> list[dict[str, Any]]:
    """Call a function with every setting, unless the store has its result already.

    Parameters
    ----------
    name : str
        Under which the store keeps the plan, as it does for a study.
    function : callable
        Of a module (so that other processes can import it). Takes one setting and returns plain
        data; loads its data itself. Its name is part of what identifies a result.
    settings : sequence of dict
        Plain data: numbers, text, lists and dicts.
    store_path : str or path
        SQLite file, see :class:`Store`.
    fingerprint : callable, default=None
        Of a module. Takes a setting and returns what identifies the data that the function will
        load. It is part of what identifies a result, and a result is refused when the data
        changed while it was computed.
    code : callable, default=None
        Takes a setting and returns what identifies the code that computes it, which is part of
        what identifies a result.
    ahead : callable, default=None
        What many settings can share: called once, in this process, with the settings that are
        still to be done, it gives what the function gets beside each of them, or an exception
        where there is nothing. A result must be the same without it, for it is no part of what
        identifies a result.
    n_jobs : int, default=1
        Processes on this machine; -1 for one per CPU.
    retry_failed : bool, default=False
        Call again where it failed before.
    on_progress : callable, default=None
        Called with a :class:`Progress` at the start and after every call.

    Returns
    -------
    outcomes : list of dict
        In the order of the settings: ``setting``, and either ``result`` and the ``seconds`` of
        CPU that it took or, where the function failed or another process is still at work,
        ``error``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sparsieve_experiments.studies.jobs import run_jobs
    >>> def length(setting):
    ...     return {"length": len(setting["text"])}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     outcomes = run_jobs("lengths", length, [{"text": "ab"}, {"text": ""}],
    ...                         pathlib.Path(folder) / "jobs.sqlite")
    >>> [outcome["result"] for outcome in outcomes]
    [{'length': 2}, {'length': 0}]
    """
    prints = ["" if fingerprint is None else fingerprint(setting) for setting in settings]
    codes = ["" if code is None else code(setting) for setting in settings]
    keys = [_key(function, *parts) for parts in zip(settings, prints, codes, strict=True)]
    planned = dict(zip(keys, prints, strict=True))
    specs = {key: dict(setting) for key, setting in zip(keys, settings, strict=True)}
    with chosen_backend(n_jobs) as backend, Store(store_path) as store:
        store.plan(name, specs)
        worker = Worker(name, store, retry_failed=retry_failed, on_progress=on_progress)
        todo = worker.open_keys(specs)
        given: dict[str, tuple] = dict.fromkeys(todo, ())
        if ahead is not None and todo:
            shared = ahead([specs[key] for key in todo])
            given = {key: (one,) for key, one in zip(todo, shared, strict=True)}
        calls = {
            key: delayed(call_guardedly)(
                key, _called, function, (specs[key], *given[key]), fingerprint, planned[key]
            )
            for key in todo
        }
        worker.work(calls, backend)
        found = {cell["key"]: cell for cell in store.cells(name)}
    return [
        _outcome(dict(setting), found[key]) for key, setting in zip(keys, settings, strict=True)
    ]


def _called(
    function: Callable[..., dict[str, Any]],
    given: tuple,
    fingerprint: Callable[[Mapping[str, Any]], str] | None,
    planned: str,
) -> dict[str, Any]:
    for shared in given[1:]:
        if isinstance(shared, Exception):
            raise shared
    start = time.process_time()
    result = function(*given)
    seconds = time.process_time() - start
    if fingerprint is not None and fingerprint(given[0]) != planned:
        raise StudyError("the data changed while this was computed; run it again")
    return {**result, SECONDS: seconds}


def _key(function: Callable, setting: Mapping, data: str, code: str) -> str:
    what = f"{function.__module__}.{function.__qualname__}"
    identity = [what, setting, data, __version__, FORMAT, *([code] if code else [])]
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()


def _outcome(setting: dict, cell: dict) -> dict:
    if cell["result"] is not None:
        result = dict(cell["result"])
        return {"setting": setting, "seconds": result.pop(SECONDS, None), "result": result}
    return {"setting": setting, "error": cell["error"] or "not computed: under way elsewhere"}
