"""Run a pass over chunks where Dask keeps them, and say so in one sentence when it cannot."""

from __future__ import annotations

import copy
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

# How many results of chunks are merged by one task of the tree.
FAN_IN = 8
# Chunks are kept on the workers when X takes no more than this share of their free memory.
KEPT_SHARE = 0.5
# Bytes that a worker takes once it has loaded what a pass needs (numba most of all).
LIBRARIES = 220 << 20
# Seconds that a cluster without workers or without memory is waited for; users change it with
# dask.config.set({"sparsieve.patience": ...}).
PATIENCE = 30.0
LOOK = 0.5  # seconds between two looks at the workers
ANSWER = 30.0  # seconds within which a scheduler that is alive says something


class ClusterError(RuntimeError):
    """A Dask cluster could not do its part; the message says what to do."""


class NoWorkersError(ClusterError):
    """There is a cluster, but nobody in it works: what is wrong, and what helps."""

    what: str
    remedy: str

    def __init__(self, what: str, remedy: str, of_chunks: str = ""):
        super().__init__(f"{what} and nothing was fitted; {remedy}{of_chunks} and call fit again")
        self.what, self.remedy = what, remedy


def current_client() -> Any:
    """The user's client of a cluster, or None where Dask computes in this process."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.default_client()
    except ValueError:
        return None


def gather(name: str, values: Any) -> Any:
    """Values that Dask holds, in memory: y, sample_weight, selected columns; never all of X."""
    if not type(values).__module__.startswith("dask") or not hasattr(values, "__dask_graph__"):
        return values
    return compute_results([values], name)[0]


def tree(merge: Callable[[Any, Any], Any], parts: Sequence[Any], fan_in: int = FAN_IN) -> Any:
    """One delayed result of many: neighbours are merged where they are, then those results."""
    from dask import delayed

    together = delayed(_merge_all, pure=False)
    while len(parts) > 1:
        groups = [parts[start : start + fan_in] for start in range(0, len(parts), fan_in)]
        parts = [together(merge, *few) if len(few) > 1 else few[0] for few in groups]
    return parts[0]


def _merge_all(merge: Callable[[Any, Any], Any], first: Any, *others: Any) -> Any:
    # Merging may work in place, but what a task was given can be asked for again when the worker
    # that holds its result dies.
    total = copy.deepcopy(first)
    for other in others:
        total = merge(total, other)
    return total


def compute_results(results: Sequence[Any], name: str = "X") -> list[Any]:
    """The values of delayed results, in one round trip to the cluster.

    A worker that dies has its work done by others. Without any worker that works the wait ends
    after ``PATIENCE`` seconds, without an answer of the scheduler after ``ANSWER``. What the tasks
    raise is said of the argument they belong to.
    """
    client = current_client()
    if client is None:
        import dask

        try:
            return list(dask.compute(*results))
        except Exception as error:  # whatever the user's own tasks raise
            raise _failure(error, name) from error
    from distributed import CancelledError
    from distributed.comm import CommClosedError

    lost = (CancelledError, CommClosedError, OSError, TimeoutError)
    futures: list[Any] = []
    try:
        if client.status != "running":
            raise OSError("no scheduler")
        with warnings.catch_warnings():
            # The operands of a product travel with its graph, so that no death can lose them.
            warnings.filterwarnings("ignore", message="Sending large graph")
            futures = client.compute(list(results))
        _wait(client, futures)
        failed = next((future for future in futures if future.status == "error"), None)
        if failed is None:
            return list(client.gather(futures))
        failure = failed.exception()
    except lost as error:
        raise ClusterError(
            "the connection to the Dask cluster was lost and nothing was fitted "
            f"({type(error).__name__}); start the cluster again, connect a new Client and call "
            "fit again"
        ) from None
    finally:
        _release(futures)
    raise _failure(failure, name) from failure


def _failure(error: BaseException, name: str) -> Exception:
    """What a user reads of an error that a task ended with."""
    if type(error).__name__ == "KilledWorker":
        return ClusterError(
            f"workers of the Dask cluster died again and again over one chunk of {name} "
            f"({getattr(error, 'task', '')}), probably for lack of memory; use smaller chunks "
            "(X.rechunk) or workers with more"
        )
    if isinstance(error, ModuleNotFoundError):
        own = str(error.name).partition(".")[0] == __name__.partition(".")[0]
        return ClusterError(
            f"the workers of the Dask cluster cannot import {error.name}; install "
            + ("the same version of sparsieve there as here" if own else "it there as well")
        )
    return ValueError(f"{name} could not be computed by Dask: {str(error) or type(error).__name__}")


def _wait(client: Any, futures: list[Any]) -> None:
    """Return when all is done; raise when nobody is left who could do it."""
    from distributed import wait

    watch = Watch(client)
    while True:
        try:
            wait(futures, timeout=LOOK)
            return
        except TimeoutError:
            watch.check()


class Watch:
    """Looks after the workers of a cluster while something waits for them."""

    def __init__(self, client: Any):
        import dask

        self.client = client
        self.patience: float = float(dask.config.get("sparsieve.patience", PATIENCE))
        self._last_seen = self._last_moved = time.monotonic()
        self._counts: Any = None

    def check(self) -> bool:
        """Whether there are workers now; NoWorkersError when none worked for too long."""
        if self.client.status != "running":
            raise OSError("no scheduler")
        workers = query_workers(self.client)
        now = time.monotonic()
        if workers:
            self._last_seen = now
            self._refuse_full_memory(workers, now)
            return True
        if now - self._last_seen > self.patience:
            raise NoWorkersError(
                f"the Dask cluster has had no worker for {self.patience:g} seconds",
                "start workers, with more memory if they died,",
            )
        return False

    def _refuse_full_memory(self, workers: list[dict[str, Any]], now: float) -> None:
        """Refuse to wait for workers that wait for memory which nobody will free.

        Dask pauses a worker that is short of memory: it finishes what it has begun and begins
        nothing, not even what would free memory.
        """
        paused = sum(worker.get("status") == "paused" for worker in workers)
        counts = [worker.get("metrics", {}).get("task_counts", {}) for worker in workers]
        at_work = any(count.get("executing") or count.get("flight") for count in counts)
        if not paused or at_work or counts != self._counts:
            self._last_moved, self._counts = now, counts
        elif now - self._last_moved > self.patience:
            raise NoWorkersError(
                f"{paused} of the {len(workers)} workers of the Dask cluster are paused for lack "
                f"of memory, and nothing has moved for {self.patience:g} seconds",
                "give the workers more memory",
                " or X smaller chunks (X.rechunk)",
            )


def query_workers(client: Any) -> list[dict[str, Any]]:
    """What the scheduler knows of each worker; TimeoutError where it does not answer."""
    known = client.sync(client.scheduler.identity, callback_timeout=ANSWER)
    return list(known["workers"].values())


def _release(futures: list[Any]) -> None:
    """Forget the results, and what is still to be done for them, without waiting for anybody."""
    for future in futures:
        future.release()


def persist_chunks(X: Any) -> Any:
    """X with its chunks kept in the memory of the workers, where they fit."""
    free = sum(_free(worker) for worker in _workers_now())
    return current_client().persist(X) if X.nbytes <= KEPT_SHARE * free else X


def n_threads() -> int:
    """How many tasks the cluster does at once; 0 without one."""
    return sum(worker["nthreads"] for worker in _workers_now())


def _workers_now() -> list[dict[str, Any]]:
    """The workers of the user's cluster; none where there is no cluster, or no answer."""
    client = current_client()
    if client is None or client.status != "running":
        return []
    try:
        return query_workers(client)
    except (OSError, TimeoutError):
        return []  # the pass that follows says so


def _free(worker: dict[str, Any]) -> int:
    """Bytes that a worker has left, once the libraries are loaded; none where no limit is set."""
    used = max(worker.get("metrics", {}).get("memory", 0), LIBRARIES)
    return max((worker["memory_limit"] or 0) - used, 0)
