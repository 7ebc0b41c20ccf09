"""Cells of a study on a Dask cluster: nothing is lost when a worker dies, and nothing doubled."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from sparsieve.scale.cluster.cluster import LOOK, NoWorkersError, Watch
from sparsieve.scoring.outcomes import Outcome

from .kinds import StudyError


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """A client of the scheduler at this address."""
    from distributed import Client

    try:
        # Not as the default: arrays of the user's own cluster stay with it.
        client = Client(address, timeout=20, set_as_default=False)
    except (OSError, ValueError) as error:
        raise StudyError(f"no Dask scheduler answers at {address}: {error}") from None
    try:
        yield client
    finally:
        client.close(timeout=5)


def cluster_outcomes(client: Any, calls: Iterable, large: Sequence) -> Iterator[Outcome]:
    """Do ``delayed`` calls whose first argument is the key of a cell, some at a time.

    The arrays in ``large`` travel once, as results of tasks: where a worker that holds them dies,
    they are made again. A cell under way on such a worker is computed by another one; one that
    worker after worker dies of has failed.
    """
    from distributed import CancelledError, KilledWorker
    from distributed.comm import CommClosedError

    shared = {id(array): client.submit(np.asarray, array, pure=False) for array in large}
    waiting = iter(calls)
    under_way: dict[Any, str] = {}
    try:
        watch = Watch(client)
        while not watch.check():
            time.sleep(LOOK)
        while True:
            # For every thread of the cluster two cells: one at work and one to follow.
            n_free = 2 * max(1, sum(client.nthreads().values())) - len(under_way)
            for _ in range(n_free):
                call = next(waiting, None)
                if call is None:
                    break
                function, arguments, named = call
                given = [shared.get(id(value), value) for value in arguments]
                future = client.submit(function, *given, **named, pure=False)
                under_way[future] = arguments[0]
            if not under_way:
                return
            for future in _finished(watch, list(under_way)):
                key = under_way.pop(future)
                try:
                    yield future.result(timeout=60)
                except KilledWorker:
                    yield Outcome(key, error="a worker process died, perhaps for lack of memory")
                finally:
                    future.release()
    except NoWorkersError as error:
        raise StudyError(
            f"{error.what}; what is finished is kept: {error.remedy} and run the study again"
        ) from None
    except (CancelledError, CommClosedError, OSError, TimeoutError) as error:
        raise StudyError(
            f"the connection to the Dask cluster was lost ({type(error).__name__}); what is "
            "finished is kept: start the cluster again and run the study again"
        ) from None


def _finished(watch: Watch, futures: list[Any]) -> list[Any]:
    """Those that are done, as soon as one is."""
    from distributed import wait

    while True:
        watch.check()
        try:
            with watch.client.as_current():  # it is nobody's default
                return list(wait(futures, timeout=LOOK, return_when="FIRST_COMPLETED").done)
        except TimeoutError:
            continue
