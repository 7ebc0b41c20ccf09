"""Stores from elsewhere: read without writing, waiting, running anything or leaving the file."""

import contextlib
import hashlib
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from sparsieve.scoring import Folds
from sparsieve_experiments.studies import (
    Store,
    StoreError,
    StoreReader,
    Study,
    result_rows,
    run_study,
)
from sparsieve_experiments.studies import store_reader as reading

HEX = "0123456789abcdef" * 2


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    path = tmp_path_factory.mktemp("finished") / "study.sqlite"
    study = Study("small", ["wine"], ["fisher"], Folds(2), ks=[1, 2], classifiers=["1nn"])
    run_study(study, path)
    return path


@pytest.fixture
def path(finished, tmp_path):
    return shutil.copy(finished, tmp_path / "study.sqlite")


def change(path, *statements):
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = DELETE")
    for statement in statements:
        connection.execute(*(statement if isinstance(statement, tuple) else (statement,)))
    connection.commit()
    connection.close()


def read_everything(path):
    with StoreReader(path) as store:
        for study in store.studies():
            store.counts(study)
            store.states(study)
            store.cells(study)
        return result_rows(store)


def contents(folder):
    return {
        str(file.relative_to(folder)): (
            hashlib.sha256(file.read_bytes()).hexdigest(), file.stat().st_mtime_ns
        )
        for file in folder.rglob("*")
        if file.is_file()
    }  # fmt: skip


@pytest.mark.parametrize("name", ["../victim.txt", "victim.txt", "/etc/hostname", "", HEX + "0"])
def test_an_owner_is_never_a_path(path, name):
    victim = path.parent / "victim.txt"
    victim.write_text("precious")
    folder = path.parent / "study.sqlite-owners"
    folder.mkdir()
    (folder / "victim.txt").write_text("precious")
    change(path, ("UPDATE cells SET state = 'running', owner = ?", (name,)))
    before = contents(path.parent)
    with StoreReader(path) as store:
        for read in (store.counts, store.states, store.cells):
            with pytest.raises(StoreError, match="not 32 hexadecimal digits"):
                read("small")
    with Store(path) as store, pytest.raises(StoreError, match="not 32 hexadecimal digits"):
        store.states("small")
    assert victim.read_text() == (folder / "victim.txt").read_text() == "precious"
    assert set(before) <= set(contents(path.parent))


@pytest.mark.parametrize("planted", ["link", "pipe", "folder"])
@pytest.mark.posix
def test_what_stands_for_an_owner_is_left_alone(path, planted):
    victim = path.parent / "victim.txt"
    victim.write_text("precious")
    folder = path.parent / "study.sqlite-owners"
    folder.mkdir()
    if planted == "link":
        (folder / HEX).symlink_to(victim)
    elif planted == "pipe":
        os.mkfifo(folder / HEX)
    else:
        (folder / HEX).mkdir()
    change(path, ("UPDATE cells SET state = 'running', owner = ?", (HEX,)))
    with StoreReader(path) as store:
        assert store.counts("small")["open"] == 2
    assert victim.read_text() == "precious"
    assert (folder / HEX).is_symlink() == (planted == "link")


def test_reading_writes_nothing(path):
    (path.parent / "study.sqlite-owners").mkdir()
    (path.parent / "study.sqlite-owners" / HEX).write_text("")
    for journal in ("WAL", "DELETE"):
        change(path, ("UPDATE cells SET state = 'running', owner = ? WHERE rowid = 1", (HEX,)))
        connection = sqlite3.connect(path)
        connection.execute(f"PRAGMA journal_mode = {journal}")
        connection.close()
        before = contents(path.parent)
        assert read_everything(path)
        assert contents(path.parent) == before


@pytest.mark.posix
def test_other_files_are_refused_and_stay_as_they_are(tmp_path):
    foreign = tmp_path / "foreign.sqlite"
    connection = sqlite3.connect(foreign)
    connection.execute("CREATE TABLE mine (x)")
    connection.commit()
    connection.close()
    empty = tmp_path / "empty.sqlite"
    empty.touch()
    (tmp_path / "text.sqlite").write_text("name,value\n" * 200)
    before = contents(tmp_path)
    for name in ("foreign.sqlite", "empty.sqlite", "text.sqlite", "none.sqlite"):
        with pytest.raises(StoreError, match=name):
            StoreReader(tmp_path / name)
    for name in ("foreign.sqlite", "text.sqlite"):
        with pytest.raises(StoreError, match="is not a study store"):
            Store(tmp_path / name)
    with pytest.raises(StoreError, match="it is no file"):
        StoreReader(tmp_path)
    os.mkfifo(tmp_path / "pipe.sqlite")
    with pytest.raises(StoreError, match="it is no file"):
        StoreReader(tmp_path / "pipe.sqlite")
    (tmp_path / "pipe.sqlite").unlink()
    assert contents(tmp_path) == before


def test_a_store_that_another_process_makes_meanwhile(tmp_path, monkeypatch):
    path = tmp_path / "new.sqlite"
    query, others = Store._query, []

    def made_after_the_first_query(self, *arguments):
        rows = query(self, *arguments)
        if not others:
            others.append("at work")
            others.append(Store(path))
        return rows

    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")  # the other process has come so far
        connection.execute("PRAGMA user_version = 0")  # so that there is a log
        monkeypatch.setattr(Store, "_query", made_after_the_first_query)
        with Store(path) as store, others[1]:
            assert store.studies() == []


def test_a_locked_store_is_not_waited_for_forever(path, monkeypatch):
    monkeypatch.setattr(reading, "_WAIT_SECONDS", 0.2)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreError, match="locked by another program"):
        StoreReader(path)
    with pytest.raises(StoreError, match="locked by another program"):
        Store(path)
    connection.close()


READ_AS_NOBODY = """
import os, sys
from sparsieve_experiments.studies import StoreReader, StoreError, result_rows
if os.getuid() == 0:
    os.setgroups([]), os.setgid(65534), os.setuid(65534)
try:
    with StoreReader(sys.argv[1]) as store:
        print(len(result_rows(store)))
except StoreError as error:
    print(error)
"""


def read_in_a_closed_folder(folder):
    """What a user says who may write neither the folder nor the files."""
    modes = {file: file.stat().st_mode for file in [*folder.iterdir(), folder]}
    for file in modes:
        file.chmod(0o555)
    try:
        store = str(folder / "study.sqlite")
        done = subprocess.run(
            [sys.executable, "-c", READ_AS_NOBODY, store], capture_output=True, text=True
        )
    finally:
        for file, mode in reversed(modes.items()):
            file.chmod(mode)
    return done.stdout.strip(), done.stderr


@pytest.mark.slow
@pytest.mark.posix
def test_a_store_in_a_read_only_folder(finished):
    # Not under pytest's folder, which nobody else may enter.
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        folder = Path(name) / "closed"
        folder.mkdir()
        shutil.copy(finished, folder / "study.sqlite")
        said, trouble = read_in_a_closed_folder(folder)
        assert said == "4", trouble
        # With a log that a killed process has left.
        connection = sqlite3.connect(folder / "study.sqlite")
        connection.execute("UPDATE cells SET error = NULL")
        connection.commit()
        log = (folder / "study.sqlite-wal").read_bytes()
        connection.close()
        (folder / "study.sqlite-wal").write_bytes(log)
        said, trouble = read_in_a_closed_folder(folder)
        assert said == "4" or "copy both files to another folder" in said, trouble


def test_a_store_is_read_while_others_write(path):
    """Also when the first look found nobody at work."""
    stop, written = threading.Event(), []

    def write():
        while not stop.is_set():
            with Store(path) as store:
                cells = {f"{len(written)}-{i}": {"a": "b" * 3000} for i in range(40)}
                store.plan("other", cells)
            written.append(cells)

    with StoreReader(path) as store:
        assert len(store.cells("small")) == 2
        writer = threading.Thread(target=write)
        writer.start()
        try:
            while len(written) < 30 and writer.is_alive():
                assert len(store.cells("small")) == 2
        finally:
            stop.set()
            writer.join()
        assert "other" in store.studies()


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT "
DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize(
    "statements",
    [
        # Views that never end, in the place of the tables or beside them.
        [
            "DROP TABLE plan",
            f"CREATE VIEW plan AS {ENDLESS} i AS study, i AS position, i AS key FROM n",
        ],
        ["DROP TABLE cells", f"CREATE VIEW cells AS {ENDLESS} i AS key, i AS spec FROM n"],
        [f"CREATE VIEW more AS {ENDLESS} i FROM n"],
        ["CREATE TRIGGER t AFTER INSERT ON plan BEGIN DELETE FROM cells; END"],
        ["CREATE VIRTUAL TABLE v USING fts5(x)"],
        ["DROP TABLE plan", "CREATE TABLE plan (study, position, key)", "ALTER TABLE plan ADD x"],
        [
            "DROP TABLE plan",
            "CREATE TABLE plan (study AS (hex(zeroblob(1000000))), position, key)",
        ],
        # Values that are none.
        ["UPDATE cells SET result = '{'"],
        ["UPDATE cells SET spec = 'null'"],
        ["UPDATE cells SET spec = '[1]'"],
        [("UPDATE cells SET result = ?", (DEEP,))],
        [("UPDATE cells SET result = ?", (b"\xff\xfe\x00",))],
        [("UPDATE cells SET result = ?", ('{"scores": "\\ud800"}',))],
        ["UPDATE cells SET result = '{\"scores\": 1e999}'"],
        ["UPDATE cells SET result = '{}'"],
        ["UPDATE cells SET result = replace(result, '\"accuracy\":', '\"accuracy\": [], \"b\":')"],
        ["UPDATE cells SET result = replace(result, '\"accuracy\":', '\"accuracy\": NaN, \"b\":')"],
        ["UPDATE cells SET result = replace(result, '\"k\": 1', '\"k\": {}')"],
        ["UPDATE cells SET result = replace(result, '\"warnings\": []', '\"warnings\": [[1]]')"],
        ["UPDATE cells SET result = replace(result, '\"seconds\":', '\"seconds\": 1e400, \"b\":')"],
        ["UPDATE cells SET spec = replace(spec, '\"label\"', '\"lable\"')"],
        ["UPDATE cells SET spec = replace(spec, '\"repeat\": 0', '\"repeat\": [0]')"],
        ["UPDATE cells SET spec = replace(spec, '\"n_samples\": 178', '\"n_samples\": null')"],
        ["UPDATE cells SET finished_at = 1e300"],
        ["UPDATE cells SET finished_at = 'now'"],
        ["UPDATE cells SET finished_at = NULL"],
        ["UPDATE plan SET study = x'00ff'"],
        ["UPDATE plan SET study = 3", "UPDATE cells SET spec = 'x'"],
        ["PRAGMA ignore_check_constraints = 1", "UPDATE cells SET state = 'DONE'"],
        ["PRAGMA ignore_check_constraints = 1", "UPDATE cells SET state = x'00'"],
        ["PRAGMA user_version = 7"],
        [("UPDATE cells SET result = ?", ('{"scores": ' + "9" * 5000 + "}",))],
    ],
)  # fmt: skip
def test_a_damaged_store_gets_one_sentence(path, statements, clock):
    change(path, *statements)
    with pytest.raises(StoreError, match=r"study\.sqlite") as caught:
        read_everything(path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400 + len(str(path))


@pytest.mark.slow
def test_texts_and_queries_have_limits(path, monkeypatch):
    change(path, "UPDATE cells SET result = hex(zeroblob(40000000))")
    with pytest.raises(StoreError, match=r"study\.sqlite"):
        read_everything(path)
    change(path, "UPDATE cells SET result = NULL, state = 'open'")
    assert read_everything(path) == []
    monkeypatch.setattr(reading, "_MAX_BYTES", 100)
    with pytest.raises(StoreError, match="MiB of results"):
        read_everything(path)


@pytest.mark.slow
def test_a_query_that_never_ends_is_ended(path, clock):
    with StoreReader(path) as store, pytest.raises(StoreError, match=r"takes over 60 s"):
        store._rows(f"{ENDLESS} max(i) FROM n")


@pytest.mark.parametrize("seed", range(30))
def test_flipped_bytes_never_escape(path, seed):
    rng = random.Random(seed)
    damaged = bytearray(path.read_bytes())
    for _ in range(rng.choice([1, 5, 50])):
        damaged[rng.randrange(len(damaged))] = rng.randrange(256)
    path.write_bytes(damaged[: rng.randrange(50, len(damaged))] if seed % 3 == 0 else damaged)
    # Some damage does not show; what does must not be anything else.
    with contextlib.suppress(StoreError):
        read_everything(path)


def test_a_full_disk_loses_nothing(path):
    store = Store(path)
    pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
    store._connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreError, match=r"cannot be written .* run it again"):
        store.plan("large", {str(i): {"text": "x" * 4000} for i in range(100)})
    store.close()
    assert len(read_everything(path)) == 4
    with Store(path) as store:
        store.plan("large", {str(i): {"text": "x" * 4000} for i in range(100)})
        assert store.counts("large")["open"] == 100
