"""How far a long fit is: lines to read, and scikit-learn's callbacks where it has them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

from ..scoring.folds import one_by_one

Method = TypeVar("Method", bound=Callable[..., Any])


class CallbackSupportMixin:
    """Nobody to tell."""


def with_callbacks(method: Method) -> Method:
    """Nobody to tell."""
    return method


if not TYPE_CHECKING:  # scikit-learn has no annotations of them
    with suppress(ImportError):  # before 1.9
        from sklearn.callback import CallbackSupportMixin, with_callbacks


__all__ = ["CallbackSupportMixin", "followed", "with_callbacks"]


def followed(
    owner: Any,
    tasks: Iterable[Any],
    total: int,
    *,
    name: str,
    n_jobs: int | None,
    verbose: int = 0,
) -> list[Any]:
    """Results of delayed calls, in order; says on the way how far ``owner``'s fit is.

    Parameters
    ----------
    owner : estimator
        Its fit runs ``with_callbacks``.
    tasks : iterable
        Delayed calls.
    total : int
        How many there are.
    name : str
        What one of them is, such as "fold".
    n_jobs : int or None
        Number of parallel jobs.
    verbose : int, default=0
        1 prints a line for each, with the time that is left.

    Returns
    -------
    results : list
    """
    root = None
    if hasattr(owner, "_init_callback_context"):
        root = owner._init_callback_context(max_subtasks=total)
        root.call_on_fit_task_begin(estimator=owner)
    results: list[Any] = []
    start = perf_counter()
    coming = iter(one_by_one(tasks, n_jobs))
    for number in range(1, total + 1):
        # A task of the same number begins when somebody waits for its result.
        task = None
        if root is not None:
            task = root.subcontext(task_name=name).call_on_fit_task_begin(estimator=owner)
        results.append(next(coming))
        if task is not None:
            task.call_on_fit_task_end(estimator=owner)
        if verbose:
            seconds = perf_counter() - start
            left = seconds / number * (total - number)
            print(f"{name} {number} of {total}: {seconds:.1f} s, about {left:.1f} s left")
    if root is not None:
        root.call_on_fit_task_end(estimator=owner)
    return results
