"""A study may be killed at any moment and resumed; two processes may share its work."""

import random
import signal
import subprocess
import sys
import time

import pytest

from sparsieve_experiments.studies import Store, Study, run_study

STUDY = """
name = "killed"
ks = [1, 3]
classifiers = ["1nn", "svm"]
protocol = { kind = "splits", n_repeats = REPEATS }
datasets = ["wine"]
selectors = ["fisher", "ridge-forward"]
"""
MEASURED = ("seconds", "cell_seconds", "peak_mib", "memory_source", "machine")


@pytest.fixture
def study_file(tmp_path):
    def write(n_repeats):
        path = tmp_path / "study.toml"
        path.write_text(STUDY.replace("REPEATS", str(n_repeats)))
        return path

    return write


def command(study_file, *options):
    """The study as a shell runs it."""
    arguments = [sys.executable, "-m", "sparsieve.app.cli", "study", "run", str(study_file), "-q"]
    return subprocess.Popen([*arguments, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


class Forked:
    """The same work in a process of the fork server, with the interface of Popen."""

    def __init__(self, processes, study_file):
        arguments = (Study.from_toml(study_file), study_file.with_suffix(".sqlite"))
        self._process = processes.Process(target=run_study, args=arguments)
        self._process.start()

    def poll(self):
        return self._process.exitcode

    returncode = property(poll)

    def kill(self):
        self._process.kill()

    def communicate(self, timeout):
        self._process.join(timeout)
        return b"", b"see above"


def finished(path, name="killed"):
    """Results by cell, with who finished it and when: of a finished cell these never change."""
    with Store(path) as store:
        cells = store.cells(name, states=["done"])
    assert len({cell["key"] for cell in cells}) == len(cells)
    return {
        cell["key"]: (
            {k: v for k, v in cell["result"].items() if k not in MEASURED},
            cell["owner"],
            cell["finished_at"],
        )
        for cell in cells
    }


def wait_for_work(process, path, n_done):
    """Until the process is at work and so many cells are done."""
    while process.poll() is None:
        if path.exists():
            with Store(path) as store:
                counts = store.counts("killed")
            if counts["done"] >= n_done and counts["running"]:
                return
        time.sleep(0.003)


def kill_and_resume(study_file, n_kills, start):
    store = study_file.with_suffix(".sqlite")
    chance = random.Random(0)
    before, hits = {}, 0
    for _ in range(n_kills):
        process = start(study_file)
        wait_for_work(process, store, len(before) + chance.randrange(6))
        time.sleep(chance.uniform(0, 0.05))
        process.kill()  # SIGKILL
        process.communicate(timeout=600)
        hits += process.returncode == -signal.SIGKILL
        after = finished(store)
        assert before.items() <= after.items()  # nothing lost, nothing done again
        before = after
    final = start(study_file)
    _, errors = final.communicate(timeout=1200)
    assert final.returncode == 0, errors.decode()
    after = finished(store)
    assert before.items() <= after.items()
    return after, hits, len(before)


def assert_as_uninterrupted(study_file, after):
    study = Study.from_toml(study_file)
    reference = study_file.with_name("reference.sqlite")
    summary = run_study(study, reference)
    assert summary.done == summary.total == len(after)
    expected = {key: result for key, (result, _, _) in finished(reference).items()}
    assert {key: result for key, (result, _, _) in after.items()} == expected


@pytest.mark.slow
@pytest.mark.posix
def test_killed_five_times(study_file, processes):
    path = study_file(n_repeats=35)
    after, hits, done_before_the_last = kill_and_resume(
        path, 5, lambda file: Forked(processes, file)
    )
    assert hits >= 3  # the kills did hit a process at work
    assert 0 < done_before_the_last < len(after)
    assert_as_uninterrupted(path, after)


@pytest.mark.slow
@pytest.mark.posix
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_killed_twenty_times(study_file, jobs):
    path = study_file(n_repeats=100)
    after, hits, done_before_the_last = kill_and_resume(
        path, 20, lambda file: command(file, "--jobs", jobs)
    )
    assert hits >= 10
    assert 0 < done_before_the_last < len(after)
    assert_as_uninterrupted(path, after)


def _run_and_tell(study, path, barrier, answers):
    def meet(progress):
        if progress.computed == 1:  # however late the other one comes
            barrier.wait(600)

    answers.put(run_study(study, path, on_progress=meet).computed)


@pytest.mark.slow
def test_two_writers_share_the_cells(study_file, processes):
    file = study_file(n_repeats=30)
    path = file.with_suffix(".sqlite")
    barrier, answers = processes.Barrier(2), processes.Queue()
    arguments = (Study.from_toml(file), path, barrier, answers)
    writers = [processes.Process(target=_run_and_tell, args=arguments) for _ in range(2)]
    for writer in writers:
        writer.start()
    computed = [answers.get(timeout=1200) for _ in writers]
    for writer in writers:
        writer.join(600)
    after = finished(path)
    assert min(computed) > 0
    assert sum(computed) == len(after) == 60  # no cell was computed by both
    assert_as_uninterrupted(file, after)
