"""Work on the cells of a store: claim those that are open, compute them, record them."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

from joblib import Parallel, parallel_config
from joblib.externals.loky.process_executor import BrokenProcessPool

from sparsieve._imports import require
from sparsieve.scoring.outcomes import Outcome, Progress

from .compute import end_with
from .kinds import StudyError
from .store import Store

# Does joblib's ``delayed`` calls and yields what they return, as soon as it is there. The second
# argument are arrays that occur in many calls and that a cluster should get only once.
Backend = Callable[[Iterable, Sequence], Iterator[Outcome]]


class Worker:
    """One process's share of the planned cells of one name in a store."""

    def __init__(
        self,
        name: str,
        store: Store,
        *,
        retry_failed: bool = False,
        on_progress: Callable[[Progress], None] | None = None,
    ):
        self.computed = 0
        self._name = name
        self._store = store
        self._retry_failed = retry_failed
        self._on_progress = on_progress
        self._tried: set[str] = set()
        self._tell("")

    def open_keys(self, keys: Iterable[str]) -> list[str]:
        """Those that may be open; only a claim tells for certain."""
        keys, states = list(keys), self._store.states(self._name)
        if not states.keys() >= set(keys):
            raise StudyError(
                f"another run has planned other cells for {self._name!r} in {self._store.path}: "
                "another version of sparsieve, or a study that was changed meanwhile; what is "
                "finished is kept: give one of them another name or another store"
            )
        wanted = {"open", "failed"} if self._retry_failed else {"open"}
        return [key for key in keys if states[key] in wanted]

    def work(self, calls: Mapping[str, Any], backend: Backend, large: Sequence = ()) -> None:
        """Compute cells: a joblib ``delayed`` call that returns an Outcome for every key."""
        remaining = True
        while remaining:
            under_way: set[str] = set()
            try:
                for outcome in backend(self._claimed(calls, under_way), large):
                    under_way.discard(outcome.key)
                    self._record(outcome)
                remaining = False
            except OSError as error:
                if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                    raise
                # Processes share large arrays in files.
                raise StudyError(
                    "there is no space left for temporary files; what is finished is kept: free "
                    "some, or set JOBLIB_TEMP_FOLDER to a folder on another disk, and run it again"
                ) from None
            except BrokenProcessPool:
                # Which cell was fatal cannot be told; all that were under way can be retried.
                for key in under_way:
                    message = "a worker process died, perhaps for lack of memory"
                    self._record(Outcome(key, error=message))
        self.open_keys(calls)  # or what is counted next would be another run's

    def _claimed(self, calls: Mapping[str, Any], under_way: set[str]) -> Iterator:
        """Tasks for joblib, each claimed only when joblib is about to start it."""
        for key, call in calls.items():
            if key in self._tried:
                continue
            if not self._store.claim(key, failed=self._retry_failed):
                continue
            self._tried.add(key)
            under_way.add(key)
            yield call

    def _record(self, outcome: Outcome) -> None:
        if outcome.result is not None:
            self._store.finish(outcome.key, outcome.result)
        else:
            self._store.fail(outcome.key, outcome.error, outcome.traceback)
        self.computed += 1
        self._tell(outcome.error)

    def _tell(self, last: str) -> None:
        if self._on_progress is not None:
            counts = self._store.counts(self._name)
            total = sum(counts.values())
            self._on_progress(
                Progress(total, counts["done"], counts["failed"], self.computed, last)
            )


def _outcomes_here(n_jobs: int, calls: Iterable, large: Sequence) -> Iterator[Outcome]:
    """In this process, or in several on this machine."""
    context: Any = nullcontext()
    if n_jobs != 1:
        context = parallel_config(
            "loky", n_jobs=n_jobs, initializer=end_with, initargs=(os.getpid(),)
        )
    with context:
        yield from Parallel(batch_size=1, return_as="generator_unordered")(calls)


@contextmanager
def chosen_backend(n_jobs: int, cluster: str | None = None) -> Iterator[Backend]:
    """Processes of this machine or the workers of a cluster, while the context lasts."""
    if cluster is None:
        yield partial(_outcomes_here, n_jobs)
        return
    require("distributed", extra="dask", purpose="run a study on a cluster (--cluster)")
    from .cluster import cluster_outcomes, connected

    with connected(cluster) as client:
        yield partial(cluster_outcomes, client)
