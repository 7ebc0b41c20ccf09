import os
import signal
import sqlite3

import pytest

from sparsieve_experiments.studies import Store, StoreError, StoreReader

CELLS = {name: {"dataset": "d", "number": number} for number, name in enumerate("abcdef")}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study.sqlite"


def test_a_claim_is_exclusive_and_a_result_final(path):
    with Store(path) as first, Store(path) as second:
        first.plan("s", CELLS)
        assert first.claim("a")
        assert not second.claim("a")
        assert not second.finish("a", {"value": 2})
        assert first.finish("a", {"value": 1})
        assert not second.claim("a")
        assert not first.finish("a", {"value": 3})
        (cell,) = second.cells("s", states=["done"])
        assert cell["result"] == {"value": 1}
        assert second.counts("s") == {"open": 5, "running": 0, "done": 1, "failed": 0}


def test_a_failure_is_kept_and_retried_on_request_only(path):
    with Store(path) as store:
        store.plan("s", CELLS)
        store.claim("b")
        store.fail("b", "ValueError: no", "where it happened")
        assert not store.claim("b")
        (cell,) = store.cells("s", states=["failed"])
        assert (cell["error"], cell["result"]) == ("ValueError: no", None)
        assert store.claim("b", failed=True)
        store.finish("b", {})
        (cell,) = store.cells("s", states=["done"])
        assert cell["error"] is None


def test_closing_gives_claims_back(path):
    with Store(path) as store:
        store.plan("s", CELLS)
        store.claim("a")
    with Store(path) as store:
        assert store.counts("s")["open"] == len(CELLS)
        assert store.claim("a")
    assert sorted(p.name for p in path.parent.iterdir()) == ["study.sqlite"]


def test_planning_again_keeps_results_and_drops_what_is_no_longer_asked(path):
    with Store(path) as store:
        store.plan("s", CELLS)
        store.claim("a")
        store.finish("a", {"value": 1})
        store.plan("s", {"c": {"dataset": "new label"}, "a": CELLS["a"]})
        assert store.states("s") == {"c": "open", "a": "done"}
        assert store.cells("s")[0]["spec"] == {"dataset": "new label"}
        assert store.studies() == ["s"]


def _claim_and_wait(path, ready):
    store = Store(path)
    store.claim("a")
    ready.set()
    signal.pause()


@pytest.mark.slow
@pytest.mark.posix
def test_a_killed_owner_loses_its_claims_at_once(path, processes):
    with Store(path) as store:
        store.plan("s", CELLS)
    ready = processes.Event()
    worker = processes.Process(target=_claim_and_wait, args=(path, ready))
    worker.start()
    try:
        assert ready.wait(60)
        with Store(path) as store:
            assert not store.claim("a")
            assert store.states("s")["a"] == "running"
            os.kill(worker.pid, signal.SIGKILL)
            worker.join(30)
            assert store.states("s")["a"] == "open"
            assert store.claim("a")
            assert store.finish("a", {})
    finally:
        worker.kill()
        worker.join()


def test_other_files_are_refused(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("not a database, but long enough to be read as one" * 20)
    with pytest.raises(StoreError, match="is not a study store"):
        Store(text)
    other = tmp_path / "other.sqlite"
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE mine (x)")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match="its format is 0"):
        Store(other)
    with pytest.raises(StoreError, match="does not exist"):
        Store(tmp_path / "nowhere" / "study.sqlite")


def test_a_store_of_another_version_is_left_as_it_is(tmp_path):
    path = tmp_path / "old.sqlite"
    with Store(path) as store:
        store.plan("demo", {"a": {"x": 1}})
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 1")
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()
    before = path.read_bytes()
    for opened in (Store, StoreReader):
        with pytest.raises(StoreError, match=r"another version .* its format is 1") as caught:
            opened(path)
        assert "name another file" in str(caught.value)
    assert path.read_bytes() == before


@pytest.mark.posix
def test_one_store_under_two_names(tmp_path):
    """Locks and the log lie beside the file, not beside the link that leads to it."""
    link = tmp_path / "elsewhere" / "link.sqlite"
    link.parent.mkdir()
    link.symlink_to(tmp_path / "study.sqlite")  # which another process may not have made yet
    with Store(tmp_path / "study.sqlite") as one, Store(link) as other:
        one.plan("demo", {"a": {}, "b": {}})
        assert one.claim("a")
        assert not other.claim("a")
        assert other.claim("b")
        assert other.counts("demo")["running"] == 2
        with StoreReader(link) as reader:  # while all is in the log
            assert reader.states("demo") == {"a": "running", "b": "running"}
    assert os.listdir(link.parent) == ["link.sqlite"]


def test_hard_links_of_a_store_are_not_worked_on(path, tmp_path):
    with Store(path) as store:
        store.plan("demo", {"a": {}})
    os.link(path, tmp_path / "other.sqlite")
    with pytest.raises(StoreError, match="has other names"):
        Store(path)
    with StoreReader(tmp_path / "other.sqlite") as reader:
        assert reader.states("demo") == {"a": "open"}
