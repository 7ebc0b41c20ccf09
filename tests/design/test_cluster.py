"""A cluster of processes: the same answers when workers die, one sentence when all is lost."""

import contextlib
import os
import time

import numpy as np
import pytest
from clusters import Processes

from sparsieve import (
    FStatisticSelector,
    L20Selector,
    RidgeForwardSelector,
    SelectorCV,
    StabilitySelection,
)
from sparsieve.design import cluster
from sparsieve.design.cluster import ClusterError

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.xdist_group("dask")


@pytest.fixture(scope="module")
def running():
    """What stands of a cluster from one test to the next."""
    state: dict = {}
    yield state
    _stop(state)


def _stop(state):
    if state:
        with contextlib.suppress(Exception):
            state["client"].close(timeout=2)
        state["processes"].close()
        state.clear()


@pytest.fixture
def processes(running, monkeypatch):
    """At least two workers; those that a test killed are replaced."""
    if running and running["processes"].scheduler.poll() is not None:
        _stop(running)
    if not running:
        running["processes"] = Processes(2)
        running["client"] = distributed.Client(scheduler_file=str(running["processes"].file))
    alive = [worker for worker in running["processes"].workers if worker.poll() is None]
    running["processes"].workers[:] = alive
    running["processes"].add(2 - len(alive))
    running["client"].wait_for_workers(2, timeout=60)
    return running["processes"]


@pytest.fixture
def client(running, processes):
    return running["client"]


def problem(n=3000, d=60):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)) * rng.uniform(0.1, 10, d) + rng.uniform(-50, 50, d)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    return X, (Z[:, :4] @ [3.0, -2.0, 2.0, 1.0] + rng.standard_normal(n) > 0).astype(int)


def during_pass(monkeypatch, number, action):
    """Do something while the cluster works on the pass of this number."""
    original, passes = cluster._wait, []

    def wait(client, futures):
        passes.append(1)
        if len(passes) == number:
            action()
        return original(client, futures)

    monkeypatch.setattr(cluster, "_wait", wait)


def to_others(dask_worker):
    """Bytes that left a worker for the client or the scheduler, by a look into its log."""
    peers = dask_worker.contact_address
    return [(entry["who"], entry["total"]) for entry in dask_worker.transfer_outgoing_log if peers]


def test_only_small_results_reach_the_client(client):
    X, y = problem()
    chunked = da.from_array(X, chunks=(500, -1))
    expected = L20Selector(4).fit(X, y)
    found = L20Selector(4).fit(chunked, y)
    np.testing.assert_array_equal(found.support_, expected.support_)
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-6)
    hosts = set(client.nthreads())
    moved = [entry for log in client.run(to_others).values() for entry in log]
    assert moved
    received = sum(size for who, size in moved if who not in hosts)
    assert received < 0.1 * X.nbytes
    assert isinstance(found.transform(chunked), da.Array)


def test_a_worker_that_dies_changes_nothing(client, processes, monkeypatch):
    X, y = problem()
    chunked = da.from_array(X, chunks=(300, 20))
    expected = RidgeForwardSelector(4).fit(X, y)
    during_pass(monkeypatch, 2, lambda: processes.kill(processes.workers[0]))
    found = RidgeForwardSelector(4).fit(chunked, y)
    assert processes.workers[0].poll() is not None
    np.testing.assert_array_equal(found.support_, expected.support_)
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-6)


def deadly(block):
    os._exit(1)


@pytest.mark.slow  # three workers die
def test_a_chunk_that_kills_workers(client, processes):
    X, y = problem(n=200)
    processes.add(2)
    client.wait_for_workers(4, timeout=60)
    bad = da.from_array(X, chunks=(200, -1)).map_blocks(deadly, dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(ClusterError, match="died again and again over one chunk of X"):
        FStatisticSelector(3).fit(bad, y)


def slow_chunk(block_info=None):
    """Rows that nobody holds: 250,000 x 100, made in the memory of a worker."""
    start, stop = block_info[None]["array-location"][0]
    rows = np.arange(start, stop, dtype=np.float64)[:, None]
    return np.sin(rows * np.arange(1, 101) ** 2 * 0.37)


@pytest.mark.slow  # 2 GB of data through two workers of 400 MB
def test_more_data_than_the_workers_have_memory(client):
    n, d = 2_500_000, 100
    X = da.map_blocks(slow_chunk, chunks=((50_000,) * (n // 50_000), (d,)), dtype=np.float64)
    assert X.nbytes > 2 * 2 * 400e6
    y = (X[:, 3] + 0.5 * X[:, 7] > 0).astype(int)
    found = RidgeForwardSelector(2).fit(X, y)
    np.testing.assert_array_equal(found.get_support(indices=True), [3, 7])
    assert found.n_passes_ == 2
    peak = client.run(_peak_memory)
    assert max(peak.values()) < 600e6


def _peak_memory():
    import resource

    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


# -- what is fitted many times, through joblib ----------------------------------------------


def test_cross_validation_goes_on_when_a_worker_dies(client, processes, tmp_path):
    from joblib import parallel_config

    X, y = problem(n=150, d=10)
    selector = SelectorCV(Waiting(2, folder=str(tmp_path)), cv=4, n_jobs=2)
    expected = SelectorCV(FStatisticSelector(2), cv=4).fit(X, y)
    victim = processes.workers[0]
    with parallel_config("dask", n_jobs=2):
        killer = Killer(tmp_path, lambda: processes.kill(victim))
        found = selector.fit(X, y)
        killer.join(10)
    assert victim.poll() is not None
    np.testing.assert_array_equal(found.support_, expected.support_)
    np.testing.assert_allclose(found.mean_scores_, expected.mean_scores_)
