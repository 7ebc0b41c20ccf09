"""Run a study: plan its cells, claim those that are open, compute them, record them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky.process_executor import BrokenProcessPool

from .._optional import require
from .compute import Outcome, compute, end_with
from .sources import StudyData, StudyError
from .store import Store
from .study import Cell, Study


@dataclass(frozen=True)
class Progress:
    """Where a running study stands; ``computed`` counts what this process has done itself."""

    total: int
    done: int
    failed: int
    computed: int
    last: str = ""


@dataclass(frozen=True)
class RunSummary:
    """How a run ended.

    Attributes
    ----------
    total, done, failed : int
        Cells of the study.
    computed : int
        Cells that this run has computed.
    elsewhere : int
        Cells that another process is at work on.
    skipped : dict of str to str
        Data sets that could not be loaded or split, and why.
    """

    total: int
    done: int
    failed: int
    computed: int
    elsewhere: int
    skipped: dict[str, str] = field(default_factory=dict)


def run_study(
    study: Study,
    store_path,
    *,
    n_jobs: int = 1,
    cluster: str | None = None,
    retry_failed: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
) -> RunSummary:
    """Compute every cell of a study that is not in the store yet.

    It may be killed at any moment and run again: finished cells are kept, unfinished ones are
    computed. Several processes may run the same study on one store; no cell is computed twice.
    The results do not depend on the order, the number of jobs or interruptions.

    Parameters
    ----------
    study : Study
    store_path : str or path
        SQLite file of the results, on a local disk; it is made when it does not exist.
    n_jobs : int, default=1
        Processes on this machine; -1 for one per CPU.
    cluster : str, default=None
        Address of a Dask scheduler to compute on instead (workers with one thread each, so that
        seconds and memory are those of one fit). Needs the extra ``dask``.
    retry_failed : bool, default=False
        Compute cells again that failed before.
    on_progress : callable, default=None
        Called with a :class:`Progress` at the start and after every cell.

    Returns
    -------
    summary : RunSummary

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sparsieve.evaluation import Folds, Study, run_study
    >>> study = Study("small", ["wine"], ["fisher"], Folds(3), ks=[2], classifiers=["1nn"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = pathlib.Path(folder) / "small.sqlite"
    ...     first, again = run_study(study, store), run_study(study, store)
    >>> first.computed, again.computed, again.done
    (3, 0, 3)
    """
    with _backend(n_jobs, cluster) as backend, Store(store_path) as store:
        planned, skipped = _planned(study)
        store.plan(
            study.name, {cell.key: cell.spec for cells in planned.values() for cell in cells}
        )
        run = _Run(study, store, retry_failed, on_progress)
        for spec in study.datasets:
            cells = planned.get(spec.name, [])
            todo = run.open_cells(cells)
            if todo:
                run.work(spec.load(), todo, backend)
        counts = store.counts(study.name)
    return RunSummary(
        total=sum(counts.values()),
        done=counts["done"],
        failed=counts["failed"],
        computed=run.computed,
        elsewhere=counts["running"],
        skipped=skipped,
    )


def _planned(study: Study) -> tuple[dict[str, list[Cell]], dict[str, str]]:
    """Cells by data set, and why some data sets have none."""
    planned: dict[str, list[Cell]] = {}
    skipped: dict[str, str] = {}
    for spec in study.datasets:
        try:
            planned[spec.name] = study.cells(spec.load())
        except (ValueError, OSError, ImportError) as error:
            skipped[spec.name] = " ".join(str(error).split())
    if not planned:
        raise StudyError(f"no data set can be used: {'; '.join(skipped.values())}")
    return planned, skipped


class _Run:
    """One process's share of the work."""

    def __init__(self, study: Study, store: Store, retry_failed: bool, on_progress):
        self.computed = 0
        self._study = study
        self._store = store
        self._retry_failed = retry_failed
        self._on_progress = on_progress
        self._tried: set[str] = set()
        self._tell("")

    def open_cells(self, cells: list[Cell]) -> list[Cell]:
        """Those that may be open; only a claim tells for certain."""
        states = self._store.states(self._study.name)
        wanted = {"open", "failed"} if self._retry_failed else {"open"}
        return [cell for cell in cells if states[cell.key] in wanted]

    def work(self, data: StudyData, cells: list[Cell], backend: _Backend) -> None:
        """Compute the cells of one data set."""
        remaining = True
        while remaining:
            under_way: set[str] = set()
            try:
                with backend.context(data):
                    parallel = Parallel(batch_size=1, return_as="generator_unordered")
                    for outcome in parallel(self._claimed(cells, data, under_way)):
                        under_way.discard(outcome.key)
                        self._record(outcome)
                remaining = False
            except BrokenProcessPool:
                # Which cell was fatal cannot be told; all that were under way can be retried.
                for key in under_way:
                    message = "a worker process died, perhaps for lack of memory"
                    self._record(Outcome(key, error=message))

    def _claimed(self, cells: list[Cell], data: StudyData, under_way: set[str]) -> Iterator:
        """Tasks for joblib, each claimed only when joblib is about to start it."""
        for cell in cells:
            if cell.key in self._tried:
                continue
            if not self._store.claim(cell.key, failed=self._retry_failed):
                continue
            self._tried.add(cell.key)
            under_way.add(cell.key)
            # Every array is an argument of its own, so that joblib can map large ones into
            # memory or send them to a cluster once.
            yield delayed(compute)(
                cell.key,
                cell.spec,
                data.X,
                data.y,
                data.groups,
                data.relevant,
                cell.split.train,
                cell.split.test,
            )

    def _record(self, outcome: Outcome) -> None:
        if outcome.result is not None:
            self._store.finish(outcome.key, outcome.result)
        else:
            self._store.fail(outcome.key, outcome.error, outcome.traceback)
        self.computed += 1
        self._tell(outcome.error)

    def _tell(self, last: str) -> None:
        if self._on_progress is not None:
            counts = self._store.counts(self._study.name)
            total = sum(counts.values())
            self._on_progress(
                Progress(total, counts["done"], counts["failed"], self.computed, last)
            )


@dataclass(frozen=True)
class _Backend:
    """Where cells are computed: in this process."""

    def context(self, data: StudyData):
        """What joblib works in."""
        return nullcontext()


@dataclass(frozen=True)
class _Processes(_Backend):
    """In processes on this machine."""

    n_jobs: int

    def context(self, data: StudyData):
        return parallel_config(
            "loky", n_jobs=self.n_jobs, initializer=end_with, initargs=(os.getpid(),)
        )


@dataclass(frozen=True)
class _Cluster(_Backend):
    """On a Dask cluster."""

    client: Any

    def context(self, data: StudyData):
        return parallel_config("dask", n_jobs=-1, client=self.client, scatter=[data.X])


@contextmanager
def _backend(n_jobs: int, cluster: str | None) -> Iterator[_Backend]:
    if cluster is None:
        yield _Backend() if n_jobs == 1 else _Processes(n_jobs)
        return
    distributed = require(
        "distributed", extra="dask", purpose="run a study on a cluster (--cluster)"
    )
    try:
        client = distributed.Client(cluster, timeout=20)
    except (OSError, ValueError) as error:
        raise StudyError(f"no Dask scheduler answers at {cluster}: {error}") from None
    with client:
        yield _Cluster(client)
