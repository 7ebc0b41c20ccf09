"""One piece of work that may fail: what came of it, where it ran and how far the whole is."""

from __future__ import annotations

import functools
import importlib.metadata
import os
import platform
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from threadpoolctl import threadpool_limits

from .._version import __version__


@dataclass(frozen=True)
class Outcome:
    """The result of a piece of work, or why there is none."""

    key: str
    result: dict[str, Any] | None = None
    error: str = ""
    traceback: str = ""


def guarded(key: str, function: Callable[..., dict[str, Any]], *arguments: Any) -> Outcome:
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
