"""A cluster of processes: the same answers when workers die, one sentence when all is lost."""

import contextlib
import json
import operator
import signal
import threading
import time
from functools import partial

import numpy as np
import pytest
from joblib import parallel_config

from clusters import Processes, SlowFStatistic
from on_workers import (
    deadly,
    failing,
    made_chunk,
    peak_memory,
    sent,
    set_pause,
    waiting,
    who_works,
)
from sparsieve import (
    FStatisticSelector,
    RidgeForwardSelector,
    SelectorCV,
    StabilitySelection,
)
from sparsieve.app.cli.app import run
from sparsieve.scale.cluster import cluster
from sparsieve.scale.cluster.arrays import DaskDesign
from sparsieve.scale.cluster.cluster import ClusterError
from sparsieve.scoring import Folds
from sparsieve_experiments.studies import Store, Study, StudyError, run_study

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

# What two computations of one cell need not have in common.
MEASURED = ("seconds", "cell_seconds", "peak_mib", "memory_source", "machine")


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
    """At least two workers; starting one takes longer than most tests, so there are more."""
    if running and running["processes"].scheduler.poll() is not None:
        _stop(running)
    if not running:
        running["processes"] = Processes(4)
        running["client"] = distributed.Client(scheduler_file=str(running["processes"].file))
    monkeypatch.setattr(dask.config, "config", dict(dask.config.config))
    alive = [worker for worker in running["processes"].workers if worker.poll() is None]
    running["processes"].workers[:] = alive
    running["processes"].add(2 - len(alive))
    running["client"].wait_for_workers(2, timeout=600)
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


@pytest.mark.slow
def test_only_small_results_reach_the_client(client):
    X, y = problem()
    chunked = da.from_array(X, chunks=(500, -1))
    expected = RidgeForwardSelector(4).fit(X, y)
    found = RidgeForwardSelector(4).fit(chunked, y)
    np.testing.assert_array_equal(found.support_, expected.support_)
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-6)
    hosts = set(client.nthreads())
    moved = [entry for log in client.run(sent).values() for entry in log]
    assert moved
    received = sum(size for who, size in moved if who not in hosts)
    assert received < 0.1 * X.nbytes
    assert isinstance(found.transform(chunked), da.Array)


@pytest.mark.slow
def test_a_worker_that_dies_changes_nothing(client, processes, monkeypatch):
    X, y = problem()
    chunked = da.from_array(X, chunks=(300, 20))
    expected = RidgeForwardSelector(4).fit(X, y)
    during_pass(monkeypatch, 2, lambda: processes.kill(processes.workers[0]))
    found = RidgeForwardSelector(4).fit(chunked, y)
    assert processes.workers[0].poll() is not None
    np.testing.assert_array_equal(found.support_, expected.support_)
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-6)


@pytest.mark.slow
def test_a_chunk_that_fails_is_no_lost_connection(client):
    X, y = problem(n=200)
    bad = da.from_array(X, chunks=(50, -1)).map_blocks(failing, dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(ValueError, match="X could not be computed by Dask: no such file"):
        FStatisticSelector(3).fit(bad, y)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("per_worker", [2, 6])
@pytest.mark.long("starts processes")
def test_all_workers_take_part_in_every_pass(client, processes, monkeypatch, per_worker):
    monkeypatch.setattr("sparsieve.scale.cluster.arrays.persist_chunks", lambda X: X)
    n_workers = len(processes.workers)
    client.wait_for_workers(n_workers, timeout=600)
    chunks = ((10,) * per_worker * n_workers, (100,))
    design = DaskDesign(da.map_blocks(made_chunk, chunks=chunks, dtype=np.float64))
    for _ in range(8):  # from which Dask learns that these tasks take no time
        design._reduce(partial(who_works, 0.0), merge=operator.add)
    shares = design._reduce(partial(who_works, 0.1), merge=operator.add)
    assert len(shares) == n_workers
    assert max(shares.values()) <= 2 * per_worker


@pytest.mark.slow  # three workers die
def test_a_chunk_that_kills_workers(client, processes):
    X, y = problem(n=200)
    processes.add(2)
    client.wait_for_workers(4, timeout=600)
    bad = da.from_array(X, chunks=(200, -1)).map_blocks(deadly, dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(ClusterError, match="died again and again over one chunk of X"):
        FStatisticSelector(3).fit(bad, y)


@pytest.mark.slow
def test_more_data_than_the_workers_have_memory():
    limit, rows, d = 400e6, 50_000, 100
    n_chunks = int(2.1 * limit / (8 * rows * d))
    X = da.map_blocks(made_chunk, chunks=((rows,) * n_chunks, (d,)), dtype=np.float64)
    y = (X[:, 3] + 0.5 * X[:, 7] > 0.75).astype(int)
    fresh = Processes(2, memory="400MB")  # nothing is loaded there yet
    with contextlib.closing(fresh), distributed.Client(scheduler_file=str(fresh.file)) as client:
        client.wait_for_workers(2, timeout=600)
        assert X.nbytes > sum(worker["memory_limit"] for worker in cluster.query_workers(client))
        found = RidgeForwardSelector(2).fit(X, y)
        peak = max(client.run(peak_memory).values())
    np.testing.assert_array_equal(found.get_support(indices=True), [3, 7])
    assert found.n_passes_ == 2
    assert peak < limit


@pytest.mark.slow
def test_paused_workers_are_not_waited_for_in_vain(client, monkeypatch, tmp_path):
    dask.config.set({"sparsieve.patience": 1})
    X, y = problem()
    chunked = da.from_array(X, chunks=(300, -1))
    normal = dask.config.get("distributed.worker.memory.pause")
    during_pass(monkeypatch, 1, lambda: client.run(set_pause, 0.01))
    try:
        with pytest.raises(ClusterError, match="paused for lack of memory, and nothing has moved"):
            RidgeForwardSelector(4).fit(chunked.map_blocks(waiting), y)
        with pytest.raises(StudyError, match="what is finished is kept: give the workers more"):
            run_study(study(), tmp_path / "there.sqlite", cluster=client.scheduler.address)
    finally:
        client.run(set_pause, normal)
    expected = RidgeForwardSelector(4).fit(X, y)
    found = RidgeForwardSelector(4).fit(chunked, y)  # nothing is left in the way
    np.testing.assert_array_equal(found.support_, expected.support_)


# -- what is fitted many times --------------------------------------------------------------


class Killer(threading.Thread):
    """Kills a worker once a task has begun, which it tells by a file in a folder."""

    def __init__(self, processes, folder):
        super().__init__(daemon=True)
        self.processes, self.folder = processes, folder
        self.start()

    def run(self):
        while not any(self.folder.iterdir()):
            time.sleep(0.02)
        self.processes.kill(self.processes.workers[0])


@pytest.mark.slow
@pytest.mark.parametrize(
    "around",
    [
        lambda selector: SelectorCV(selector, ks=[1, 2, 4], cv=4, n_jobs=2),
        pytest.param(
            lambda selector: StabilitySelection(selector, n_subsamples=8, n_jobs=2),
            marks=pytest.mark.slow,
        ),
    ],
    ids=["SelectorCV", "StabilitySelection"],
)
def test_repeated_fits_go_on_when_a_worker_dies(client, processes, tmp_path, around):
    X, y = problem(n=150, d=10)
    expected = around(FStatisticSelector(2)).set_params(n_jobs=1)
    if hasattr(expected, "random_state"):
        expected.set_params(random_state=0)
    found = around(SlowFStatistic(2, folder=str(tmp_path))).set_params(
        **({"random_state": 0} if hasattr(expected, "random_state") else {})
    )
    killer = Killer(processes, tmp_path)
    with parallel_config("dask", n_jobs=2, client=client):
        found.fit(X, y)
    killer.join(10)
    assert processes.workers[0].poll() is not None
    expected.fit(X, y)
    np.testing.assert_array_equal(found.support_, expected.support_)
    np.testing.assert_array_equal(found.scores_, expected.scores_)


def study():
    how = {"protocol": Folds(4), "ks": [1, 3], "classifiers": ["1nn"]}
    return Study("killed", ["wine"], ["fisher", "ridge-forward"], **how)


STUDY = """
name = "killed"
ks = [1, 3]
classifiers = ["1nn"]
protocol = { kind = "folds", n_folds = 4 }
datasets = ["wine"]
selectors = [{ name = "fisher" }, { name = "ridge-forward" }]
"""


def results(path):
    with Store(path) as store:
        cells = list(store.cells("killed", states=["done"]))
    return {
        cell["key"]: {k: v for k, v in cell["result"].items() if k not in MEASURED}
        for cell in cells
    }


@pytest.mark.slow
def test_a_study_loses_and_doubles_nothing_when_a_worker_dies(client, processes, tmp_path, capsys):
    run_study(study(), tmp_path / "here.sqlite")
    told = []

    def kill_after_the_first(progress):
        told.append(progress.computed)
        if progress.computed == 1:
            processes.kill(processes.workers[0])

    there = tmp_path / "there.sqlite"
    address = client.scheduler.address
    summary = run_study(study(), there, cluster=address, on_progress=kill_after_the_first)
    assert (summary.done, summary.failed, summary.computed) == (8, 0, 8)
    assert told == list(range(9))  # every cell once
    assert results(there) == results(tmp_path / "here.sqlite")
    (tmp_path / "study.toml").write_text(STUDY)
    given = ["study", "run", tmp_path / "study.toml", "--store", there, "--cluster", address]
    assert run([*map(str, given), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["computed"] == 0  # all are there


# -- the end ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_no_worker_left(client, processes, monkeypatch, tmp_path):
    dask.config.set({"sparsieve.patience": 1})
    X, y = problem()

    def kill_all():
        for worker in processes.workers:
            processes.kill(worker)

    during_pass(monkeypatch, 2, kill_all)
    with pytest.raises(ClusterError, match="no worker for 1 seconds and nothing was fitted; start"):
        RidgeForwardSelector(4).fit(da.from_array(X, chunks=(300, -1)), y)
    with pytest.raises(StudyError, match="no worker for 1 seconds; what is finished is kept"):
        run_study(study(), tmp_path / "there.sqlite", cluster=client.scheduler.address)


@pytest.mark.slow
@pytest.mark.posix
@pytest.mark.parametrize("how", ["SIGKILL", "SIGSTOP"])
def test_a_scheduler_that_vanishes_or_hangs(monkeypatch, how):
    monkeypatch.setattr(cluster, "ANSWER", 1.0)
    X, y = problem()
    chunked = da.from_array(X, chunks=(300, -1))
    alone = Processes(0)
    with contextlib.closing(alone):
        client = distributed.Client(scheduler_file=str(alone.file), timeout=3)
        during_pass(monkeypatch, 1, lambda: alone.scheduler.send_signal(signal.Signals[how]))
        for _ in range(2):  # and it stays so
            with pytest.raises(ClusterError, match="connection to the Dask cluster was lost"):
                FStatisticSelector(4).fit(chunked, y)
        alone.kill(alone.scheduler)
        client.close(timeout=3)
