"""How far a long fit is: lines to read, and scikit-learn's callbacks where it has them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

from .. import _clock
from .._cost import SECONDS, announce_seconds, expectation
from ..scoring.folds import one_by_one
from ..scoring.outcomes import Progress

Listener = Callable[[str, Progress], None]
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)
Method = TypeVar("Method", bound=Callable[..., Any])
PATIENCE = 5.0  # seconds without a word where somebody waits
_FASTER = "verbose=1 says how far it is, and n_jobs=-1 or fewer samples make it faster"


class CallbackSupportMixin:
    """Nobody to tell."""


def with_callbacks(method: Method) -> Method:
    """Nobody to tell."""
    return method


if not TYPE_CHECKING:  # scikit-learn has no annotations of them
    with suppress(ImportError):  # before 1.9
        from sklearn.callback import CallbackSupportMixin, with_callbacks


__all__ = [
    "CallbackSupportMixin",
    "Interrupted",
    "Pace",
    "follow_tasks",
    "listening",
    "with_callbacks",
]


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


class Pace:
    """How far a loop is: told to who listens, or said once where it will take long.

    Parameters
    ----------
    owner : str
        Who works.
    total : int
        How many steps there are.
    name : str
        What one of them is, such as "fold".
    advice : str, default=""
        What would be faster.
    verbose : int, default=0
        1 prints a line for each step, with the time that is left.

    Examples
    --------
    >>> from sparsieve.meta.progress import Pace, listening
    >>> with listening(lambda name, now: print(name, now.done, "of", now.total)):
    ...     answers = list(Pace("a survey", 2, "question").follow(["yes", "no"]))
    question 1 of 2
    question 2 of 2
    """

    def __init__(
        self, owner: str, total: int, name: str, advice: str = "", *, verbose: int = 0
    ) -> None:
        self.owner: str = owner
        self.total: int = total
        self.name: str = name
        self.advice: str = advice
        self.verbose: int = verbose
        self.number: int = 0
        self.n_failed: int = 0
        self.start: float = _clock.clock()
        self.first: float = 0.0
        self.is_known: bool = bool(verbose)

    def follow(self, results: Iterable[Any]) -> Iterator[Any]:
        """The same results as they come; each is a step."""
        coming, end = iter(results), object()
        while True:
            with listening(_ignore):  # what goes on inside of a step is no part of its own
                result = next(coming, end)
            if result is end:
                return
            self.step()
            yield result

    def step(self) -> None:
        """One more is done; of all, ``n_failed`` have failed."""
        self.number += 1
        seconds, left = _clock.clock() - self.start, self.total - self.number
        if self.number == 1:
            self.first = seconds
        if self.verbose:
            soon = seconds / self.number * left
            say = f"{self.name} {self.number} of {self.total}"
            print(f"{say}: {seconds:.1f} s, about {soon:.1f} s left")
        if (tell := _listener.get()) is not None:
            done = self.number - self.n_failed
            last = f"{self.name} {self.number}"
            tell(self.name, Progress(self.total, done, self.n_failed, self.number, last))
        elif not self.is_known and _clock.is_interactive():
            if expected := self._expected(seconds, PATIENCE):
                self.is_known = True
                sentence = expectation(self.owner, expected, self.advice)
                print(sentence, file=sys.stderr, flush=True)
        elif not self.is_known:
            expected = self._expected(seconds, SECONDS)
            self.is_known = announce_seconds(self.owner, expected, self.advice)

    def _expected(self, seconds: float, patience: float) -> float:
        """Seconds that all steps will take; 0 where too few are left to speak of.

        Compiling makes the first one slow, so it counts alone only if it took long by any measure.
        """
        if self.number == 1:
            return seconds * self.total if seconds > patience else 0.0
        left = (seconds - self.first) / (self.number - 1) * (self.total - self.number)
        return seconds + left if left > patience else 0.0


def _ignore(name: str, now: Progress) -> None:
    """Nobody is told, and nothing announced."""


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
    pace = Pace(type(owner).__name__, total, name, _FASTER, verbose=verbose)
    coming = iter(one_by_one(tasks, n_jobs))
    for number in range(1, total + 1):
        # A task of the same number begins when somebody waits for its result.
        task = None
        if root is not None:
            task = root.subcontext(task_name=name).call_on_fit_task_begin(estimator=owner)
        try:
            with listening(_ignore):
                results.append(next(coming))
        except KeyboardInterrupt:
            raise Interrupted(
                f"interrupted in {name} {number} of {total}, so {type(owner).__name__} is not "
                f"fitted; {_FASTER}",
                results,
            ) from None
        if task is not None:
            task.call_on_fit_task_end(estimator=owner)
        pace.step()
    if root is not None:
        root.call_on_fit_task_end(estimator=owner)
    return results
