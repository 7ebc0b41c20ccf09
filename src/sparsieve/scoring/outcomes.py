"""Calls that may fail: what came of them, and the time and memory they took.

One piece of work that may fail: what came of it, where it ran and how far the whole is.

Seconds and peak memory of a call, without slowing it down.
"""

from __future__ import annotations

import ctypes
import functools
import gc
import importlib.metadata
import os
import platform
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from .._checks import warning_sentences
from .._version import __version__
from ..registry import selector_name
from ..selectors.adapter import SelectorAdapter
from ..selectors.around import last_step
from ..selectors.base import BaseSelector
from ..selectors.methods import as_selector
from ..selectors.preparation import find_groups
from ..validation.target import with_task


class Measured(NamedTuple):
    """Result of a call and what it took, see :func:`measure`.

    Attributes
    ----------
    value : object
        What the call returned.
    seconds : float
        Of the clock on the wall.
    peak_mib : float
        Growth of the memory, NaN where it cannot be had.
    memory_source : {"VmHWM", "ru_maxrss", "none"}
        Where that number is from.

    See Also
    --------
    sparsieve.scoring.measure : Measures seconds and memory of a call.

    Examples
    --------
    >>> from sparsieve.scoring import measure
    >>> measured = measure(lambda: sum(range(5)))
    >>> measured.value, measured.seconds >= 0
    (10, True)
    """

    value: Any
    seconds: float
    peak_mib: float
    memory_source: str


def measure(call: Callable[[], Any]) -> Measured:
    """Run a call and measure wall-clock seconds and the growth of the process's memory.

    The memory is that of the whole process (so it includes BLAS and compiled code, which
    tracemalloc does not see, and costs no time): on Linux the peak of the resident memory during
    the call minus its value before, with freed memory given back to the system first. (The C
    library gives back all but the free end of the heap of a thread other than the first, or of
    one in which an allocation has failed: there up to 64 MiB of what a call needs can go unseen.)
    Elsewhere it is the growth of the largest value so far, which is 0 when an earlier call in the
    same process needed more.

    Parameters
    ----------
    call : callable
        Called without arguments.

    Returns
    -------
    measured : Measured
        ``value``, ``seconds``, ``peak_mib`` and ``memory_source``: "VmHWM" for the peak of the
        call, "ru_maxrss" for the growth of the maximum, "none" where neither is to be had
        (``peak_mib`` is then NaN).

    See Also
    --------
    sparsieve.scoring.outcomes.Measured : What is returned.

    Examples
    --------
    >>> from sparsieve.scoring import measure
    >>> measure(lambda: sum(range(5))).value
    10
    """
    with _hold_garbage():
        before, source = _start_peak()
        start = time.perf_counter()
        value = call()
        seconds = time.perf_counter() - start
        peak = _peak(source) - before if source != "none" else float("nan")
    return Measured(value, seconds, max(peak, 0.0) if peak == peak else peak, source)


@contextmanager
def _hold_garbage() -> Iterator[None]:
    """Garbage collected during a call would hide as much of what it needs: keep it until then.

    To collect it beforehand would take longer than many a fit, since every object of the process
    is looked at. Here only those are that are new.
    """
    if gc.get_freeze_count():  # somebody else's, who would not have it undone
        gc.collect()
        yield
        return
    gc.collect(1)
    gc.freeze()
    try:
        yield
    finally:
        gc.collect()  # what the call has left; the others are out of reach
        gc.unfreeze()


def _start_peak() -> tuple[float, str]:
    """Memory in use now (MiB) and where the peak is to be read after the call."""
    with suppress(Exception):
        ctypes.CDLL(None).malloc_trim(0)  # glibc: what was freed must not hide what is needed
    try:
        Path("/proc/self/clear_refs").write_text("5")  # Linux: reset the peak to the present
        return _status("VmRSS"), "VmHWM"
    except OSError:
        pass
    try:
        return _peak("ru_maxrss"), "ru_maxrss"
    except ImportError:
        return float("nan"), "none"


def _peak(source: str) -> float:
    if source == "VmHWM":
        return _status("VmHWM")
    import resource

    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return largest / (2**20 if sys.platform == "darwin" else 2**10)


def _status(field: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) / 2**10
    raise OSError(f"/proc/self/status has no {field}")


@dataclass(frozen=True)
class Outcome:
    """The result of a piece of work, or why there is none."""

    key: str
    result: dict[str, Any] | None = None
    error: str = ""
    traceback: str = ""


def call_guardedly(key: str, function: Callable[..., dict[str, Any]], *arguments: Any) -> Outcome:
    """What a function returns, or why it failed."""
    try:
        # One thread: the same sums, hence the same answer, however many pieces run at a time.
        with threadpool_limits(limits=1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Outcome(key, function(*arguments))
    except Exception as error:
        message = " ".join(f"{type(error).__name__}: {error}".split())
        return Outcome(key, error=message, traceback=traceback.format_exc())


@dataclass(frozen=True)
class Progress:
    """Where a running study or comparison stands.

    Attributes
    ----------
    total, done, failed : int
        Cells of the study, or fits of the comparison.
    computed : int
        Those that this process has done itself.
    last : str
        The one that was finished last.

    See Also
    --------
    sparsieve.compare : Compares methods on one data set.

    Examples
    --------
    >>> from sparsieve.scoring.outcomes import Progress
    >>> at = Progress(total=10, done=4, failed=0, computed=4)
    >>> at.done / at.total
    0.4
    """

    total: int
    done: int
    failed: int
    computed: int
    last: str = ""


@functools.cache
def software() -> dict[str, str]:
    """Versions that a result may depend on."""
    packages = ("numpy", "scipy", "scikit-learn", "numba")
    return {
        "sparsieve": __version__,
        "python": platform.python_version(),
        **{name: importlib.metadata.version(name) for name in packages},
    }


@functools.cache
def machine() -> dict[str, str | int | None]:
    """Where a result was computed."""
    return {
        "node": platform.node(),
        "system": platform.platform(),
        "processor": platform.machine(),
        "cpus": os.cpu_count(),
    }


@dataclass(frozen=True)
class Selection:
    """A selector fitted on some samples, and its features at several numbers.

    Attributes
    ----------
    fitted : BaseSelector
        The selector, fitted as far as the largest number.
    columns : dict of int (or None) to ndarray of int
        The features of ``at(k)``, best first where the selector ranks them; None stands for the
        number that the model itself keeps. Numbers beyond what the selector ranks are left out.
    seconds, peak_mib, memory_source
        What the fit took; the memory only where it was measured.
    warnings : list of str
        What the fit warned of, where that was recorded.
    """

    fitted: Any
    columns: dict[int | None, np.ndarray]
    seconds: float
    peak_mib: float = float("nan")
    memory_source: str = "none"
    warnings: list[str] = field(default_factory=list)


def fit_selection(
    selector: Any,
    X: Any,
    y: Any,
    ks: Iterable[int | None],
    *,
    fit_params: Mapping[str, Any] | None = None,
    need_all: bool = False,
    measured: bool = False,
    record_warnings: bool = False,
) -> Selection:
    """Fit a copy of a selector once and ask it for every number of features.

    Parameters
    ----------
    selector : estimator, function or str
        Whatever :func:`~sparsieve.selectors.methods.as_selector` takes.
    X, y : arrays
        The training samples.
    ks : list of int, or [None]
        In rising order; [None] is the number that the model itself keeps.
    fit_params : dict, default=None
        Further arguments of ``fit``.
    need_all : bool, default=False
        Refuse a selector that does not rank as many features, instead of leaving numbers out.
    measured : bool, default=False
        Measure the memory too, see :func:`measure`.
    record_warnings : bool, default=False
        Return what the fit warns of, and warn nobody.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import FisherSelector
    >>> from sparsieve.scoring.outcomes import fit_selection
    >>> found = fit_selection(FisherSelector(), *load_wine(return_X_y=True), [1, 3])
    >>> {k: len(features) for k, features in found.columns.items()}
    {1: 1, 3: 3}
    """
    counts = list(ks)
    selector = as_selector(selector)
    if counts != [None]:
        selector = reaching(selector, max(k or 0 for k in counts))
    run = measure if measured else _time_call
    with warnings.catch_warnings(record=record_warnings) as caught:
        if record_warnings:
            warnings.simplefilter("always")
        fit = run(lambda: _fit_selector(selector, X, y, counts, fit_params or {}))
    columns = features_by_count(fit.value, counts, need_all=need_all)
    return Selection(
        fit.value,
        columns,
        fit.seconds,
        fit.peak_mib,
        fit.memory_source,
        warning_sentences(caught or []),
    )


def _fit_selector(
    selector: Any, X: Any, y: Any, counts: list, fit_params: Mapping[str, Any]
) -> Any:
    fitted = clone(selector).fit(X, y, **fit_params)
    if isinstance(fitted, SelectorAdapter):
        fitted._fit_counts(counts)
    return fitted


def _time_call(call: Any) -> Measured:
    start = perf_counter()
    value = call()
    return Measured(value, perf_counter() - start, float("nan"), "none")


def reaching(selector: Any, n_features: int, task: str = "auto") -> BaseSelector:
    """A copy whose path will go as far as ``n_features``, and that reads y as the task says."""
    # A part of the samples may look like classes where the whole looks like numbers.
    return with_task(as_selector(selector).reaching(n_features), task)


def features_by_count(
    fitted: BaseSelector, ks: Iterable[int | None], *, need_all: bool = False
) -> dict[int | None, np.ndarray]:
    """The columns that a fitted selector keeps at every number that it ranks, best first."""
    counts, most = list(ks), fitted.n_ranked_
    if need_all:
        read_ranking(fitted, max((k or 0) for k in counts))
    within = [k for k in counts if k is None or k <= most]
    if not within:
        raise ValueError(
            f"every k of ks is larger than the {most} features that {selector_name(fitted)} "
            "ranks with "
            "its parameters; ask for fewer features"
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit has said it
        return {k: best_first(fitted if k is None else fitted.at(k)) for k in within}


def best_first(model: Any) -> np.ndarray:
    """The columns that a fitted selector keeps, the best first."""
    kept = np.flatnonzero(model.get_support())
    return kept[np.argsort(np.asarray(model.ranking_)[kept], kind="stable")]


def count_fixed_features(selector: Any) -> int:
    """How many features a selector keeps at any number, by its ``always_keep``."""
    inner = selector.selector if isinstance(selector, SelectorAdapter) else selector
    columns: set[Any] = set()
    for one in (selector, last_step(inner)):
        always = getattr(one, "always_keep", None)
        if always is not None:
            named = np.asarray(always)
            columns.update((np.flatnonzero(named) if named.dtype == bool else named).tolist())
    return len(columns)


def read_ranking(fitted: BaseSelector, n_needed: int = 0) -> np.ndarray:
    """Rank of every feature, or feature group where there are some, 1 for the best.

    Refused where it means nothing before ``n_needed``.
    """
    if fitted.n_ranked_ < n_needed:
        raise ValueError(
            f"{selector_name(fitted)} ranks {fitted.n_ranked_} features with its parameters, but "
            f"{n_needed} are asked for; ask for fewer, or leave out what limits it"
        )
    return fitted.ranking_ if find_groups(fitted) is None else fitted.group_ranking_
