"""How far a long fit is: lines to read, and scikit-learn's callbacks where it has them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

from .. import _clock
from .._cost import SECONDS, announce_seconds
from ..scoring.folds import one_by_one
from ..scoring.outcomes import Progress

Listener = Callable[[str, Progress], None]
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)
Method = TypeVar("Method", bound=Callable[..., Any])
_FASTER = "verbose=1 says how far it is, and n_jobs=-1 or fewer samples make it faster"


class CallbackSupportMixin:
    """Nobody to tell."""


def with_callbacks(method: Method) -> Method:
    """Nobody to tell."""
    return method


if not TYPE_CHECKING:  # scikit-learn has no annotations of them
    with suppress(ImportError):  # before 1.9
        from sklearn.callback import CallbackSupportMixin, with_callbacks


__all__ = ["CallbackSupportMixin", "Interrupted", "follow_tasks", "listening", "with_callbacks"]


class Interrupted(KeyboardInterrupt):
    """Ctrl-C with a sentence, and the results until then.

    Attributes
    ----------
    results : list
        Of the tasks that were done.
    """

    def __init__(self, sentence: str, results: list[Any]) -> None:
        super().__init__(sentence)
        self.results = results


@contextmanager
def listening(listener: Listener | None) -> Iterator[None]:
    """Tell a function of every fold, or other part, that a fit inside this context has done.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import SelectorCV
    >>> from sparsieve.meta.progress import listening
    >>> with listening(lambda name, now: print(f"{name} {now.done} of {now.total}")):
    ...     search = SelectorCV(cv=2, n_repeats=1).fit(*load_wine(return_X_y=True))
    fold 1 of 2
    fold 2 of 2
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def follow_tasks(
    owner: Any,
    tasks: Iterable[Any],
    total: int,
    *,
    name: str,
    n_jobs: int | None,
    verbose: int = 0,
) -> list[Any]:
    """Results of delayed calls, in order; says on the way how far ``owner``'s fit is.

    Where nobody asked for that, a fit that turns out to take long is announced.

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

    Raises
    ------
    Interrupted
        With the results so far, where the user stops a task.
    """
    root = None
    if hasattr(owner, "_init_callback_context"):
        root = owner._init_callback_context(max_subtasks=total)
        root.call_on_fit_task_begin(estimator=owner)
    results: list[Any] = []
    start, tell = _clock.clock(), _listener.get()
    is_known, first = bool(verbose or tell), 0.0
    coming = iter(one_by_one(tasks, n_jobs))
    for number in range(1, total + 1):
        # A task of the same number begins when somebody waits for its result.
        task = None
        if root is not None:
            task = root.subcontext(task_name=name).call_on_fit_task_begin(estimator=owner)
        try:
            with listening(None):  # what goes on inside of a task is no part of its own
                results.append(next(coming))
        except KeyboardInterrupt:
            raise Interrupted(
                f"interrupted in {name} {number} of {total}, so {type(owner).__name__} is not "
                f"fitted; {_FASTER}",
                results,
            ) from None
        if task is not None:
            task.call_on_fit_task_end(estimator=owner)
        seconds = _clock.clock() - start
        first = seconds if number == 1 else first
        if verbose:
            left = seconds / number * (total - number)
            print(f"{name} {number} of {total}: {seconds:.1f} s, about {left:.1f} s left")
        if tell is not None:
            tell(name, Progress(total, number, 0, number, f"{name} {number}"))
        if not is_known:
            expected = _estimate_seconds(seconds, first, number, total)
            is_known = announce_seconds(type(owner).__name__, expected, _FASTER)
    if root is not None:
        root.call_on_fit_task_end(estimator=owner)
    return results


def _estimate_seconds(seconds: float, first: float, number: int, total: int) -> float:
    """Seconds that all tasks will take; 0 where too few are left to speak of.

    Compiling makes the first one slow, so it counts alone only if it took long by any measure.
    """
    if number == 1:
        return seconds * total if seconds > SECONDS else 0.0
    left = (seconds - first) / (number - 1) * (total - number)
    return seconds + left if left > SECONDS else 0.0
