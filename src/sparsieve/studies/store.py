"""The embedded store of a study: one SQLite row per cell, claimed before it is computed.

A row is open, running, done or failed. Running means claimed by an owner; an owner is a process
that holds a lock on a file beside the store. The system drops the lock when the process ends,
however it ends, so a killed process's claims are free at once and no clock is involved.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

SCHEMA_VERSION = 1
_SCHEMA = """
CREATE TABLE IF NOT EXISTS cells (
    key         TEXT PRIMARY KEY,
    spec        TEXT NOT NULL,      -- what is to be computed, JSON
    state       TEXT NOT NULL DEFAULT 'open'
                CHECK (state IN ('open', 'running', 'done', 'failed')),
    owner       TEXT,               -- who has claimed or finished it
    result      TEXT,               -- JSON, of done cells only
    error       TEXT,               -- one line, of failed cells only
    traceback   TEXT,
    finished_at REAL                -- seconds since 1970
);
CREATE TABLE IF NOT EXISTS plan (
    study       TEXT NOT NULL,
    position    INTEGER NOT NULL,
    key         TEXT NOT NULL REFERENCES cells (key),
    PRIMARY KEY (study, position)
);
"""
_WAIT_SECONDS = 60  # for another process's write; writes take milliseconds


class StoreError(ValueError):
    """A file is not a store of this version."""


class Store:
    """Cells and their results in one SQLite file.

    Parameters
    ----------
    path : str or path
        The file; it is made when it does not exist. It must lie on a local disk, because
        SQLite's write-ahead log does not work over a network.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sparsieve.studies.store import Store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Store(pathlib.Path(folder) / "study.sqlite") as store:
    ...         store.plan("demo", {"a": {"selector": "FisherSelector"}})
    ...         store.claim("a"), store.claim("a"), store.finish("a", {"accuracy": 1.0})
    ...         store.counts("demo")
    (True, False, True)
    {'open': 0, 'running': 0, 'done': 1, 'failed': 0}
    """

    def __init__(self, path):
        self.path = Path(path)
        if not self.path.parent.is_dir():
            raise StoreError(f"the folder {self.path.parent} does not exist")
        self._owner = _Owner(self.path)
        # joblib asks for the next cell in a thread of its own.
        self._lock = threading.RLock()
        self._connection = sqlite3.connect(
            self.path, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False
        )
        self._connection.row_factory = sqlite3.Row
        try:
            self._use_write_ahead_log()
            self._prepare()
        except (sqlite3.DatabaseError, StoreError) as error:
            self._connection.close()
            raise StoreError(f"{self.path} is not a study store: {error}") from None

    def _use_write_ahead_log(self) -> None:
        deadline = time.monotonic() + _WAIT_SECONDS
        while True:
            try:
                self._connection.execute("PRAGMA journal_mode = WAL")
                break
            except sqlite3.OperationalError as error:
                # Of two processes that make a store together one is told so without waiting.
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
        # A killed process loses nothing; a power cut may lose the last cells, never the file.
        self._connection.execute("PRAGMA synchronous = NORMAL")

    def _prepare(self) -> None:
        if self._version() == SCHEMA_VERSION:
            return
        with self._writing() as write:
            version = self._version()
            tables = write("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if version == SCHEMA_VERSION:
                return
            if version or tables:
                raise StoreError(f"its format is {version}, not {SCHEMA_VERSION}")
            for statement in _SCHEMA.split(";"):
                if statement.strip():
                    write(statement)
            write(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def _version(self) -> int:
        return self._rows("PRAGMA user_version")[0][0]

    @contextlib.contextmanager
    def _writing(self) -> Iterator:
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection.execute
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def _rows(self, query: str, *values) -> list[sqlite3.Row]:
        with self._lock:
            return self._connection.execute(query, values).fetchall()

    # -- working -------------------------------------------------------------------------

    def plan(self, study: str, cells: Mapping[str, dict]) -> None:
        """Say which cells a study consists of; cells that are known keep what they have."""
        with self._writing() as write:
            write("DELETE FROM plan WHERE study = ?", (study,))
            for position, (key, spec) in enumerate(cells.items()):
                write(
                    # What is shown (a label) may change, what is computed is in the key.
                    "INSERT INTO cells (key, spec) VALUES (?, ?) "
                    "ON CONFLICT (key) DO UPDATE SET spec = excluded.spec",
                    (key, json.dumps(spec, sort_keys=True)),
                )
                write("INSERT INTO plan VALUES (?, ?, ?)", (study, position, key))

    def claim(self, key: str, *, failed: bool = False) -> bool:
        """Take a cell to compute it; False when it is done or somebody else's.

        A failed cell is taken only if ``failed``, a running one only if its owner is dead.
        """
        self._owner.hold()
        with self._writing() as write:
            row = write("SELECT state, owner FROM cells WHERE key = ?", (key,)).fetchone()
            free = row["state"] == "open" or (failed and row["state"] == "failed")
            if row["state"] == "running":
                free = not self._owner.is_alive(row["owner"])
            if free:
                write(
                    "UPDATE cells SET state = 'running', owner = ?, error = NULL, "
                    "traceback = NULL WHERE key = ?",
                    (self._owner.name, key),
                )
            return free

    def finish(self, key: str, result: Mapping) -> bool:
        """Record the result of a claimed cell; False if it is not claimed by this process."""
        return self._end(key, "done", json.dumps(result, sort_keys=True), None, None)

    def fail(self, key: str, error: str, traceback: str = "") -> bool:
        """Record why a claimed cell failed."""
        return self._end(key, "failed", None, error, traceback)

    def _end(self, key: str, state: str, result, error, traceback) -> bool:
        with self._writing() as write:
            done = write(
                "UPDATE cells SET state = ?, result = ?, error = ?, traceback = ?, "
                "finished_at = ? WHERE key = ? AND state = 'running' AND owner = ?",
                (state, result, error, traceback, time.time(), key, self._owner.name),
            )
            return done.rowcount == 1

    def release(self) -> None:
        """Give back the cells that this process has claimed and not finished."""
        with self._writing() as write:
            write(
                "UPDATE cells SET state = 'open', owner = NULL WHERE state = 'running' "
                "AND owner = ?",
                (self._owner.name,),
            )

    def close(self) -> None:
        """Release the claims and close the file."""
        with self._lock:
            self.release()
            self._connection.close()
            self._owner.retire()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *error) -> None:
        self.close()

    # -- reading -------------------------------------------------------------------------

    def studies(self) -> list[str]:
        """Names of the studies with a plan in this store."""
        return [row["study"] for row in self._rows("SELECT DISTINCT study FROM plan ORDER BY 1")]

    def cells(self, study: str, states: Sequence[str] = ()) -> list[dict]:
        """The cells of a study in order, with decoded ``spec`` and ``result``.

        A running cell whose owner is dead is shown as open.
        """
        rows = self._rows(
            "SELECT cells.* FROM plan JOIN cells USING (key) WHERE study = ? ORDER BY position",
            study,
        )
        cells = []
        for row in rows:
            cell = {**row, "state": self._state(row)}
            if states and cell["state"] not in states:
                continue
            cell["spec"] = json.loads(cell["spec"])
            cell["result"] = json.loads(cell["result"]) if cell["result"] else None
            cells.append(cell)
        return cells

    def states(self, study: str) -> dict[str, str]:
        """State of every cell of a study by key, in order."""
        rows = self._rows(
            "SELECT key, state, owner FROM plan JOIN cells USING (key) WHERE study = ? "
            "ORDER BY position",
            study,
        )
        return {row["key"]: self._state(row) for row in rows}

    def _state(self, row) -> str:
        abandoned = row["state"] == "running" and not self._owner.is_alive(row["owner"])
        return "open" if abandoned else row["state"]

    def counts(self, study: str) -> dict[str, int]:
        """How many cells of a study are open, running, done and failed."""
        rows = self._rows(
            "SELECT state, owner, count(*) AS n FROM plan JOIN cells USING (key) "
            "WHERE study = ? GROUP BY state, CASE state WHEN 'running' THEN owner END",
            study,
        )
        counts = dict.fromkeys(("open", "running", "done", "failed"), 0)
        for row in rows:
            counts[self._state(row)] += row["n"]
        return counts


class _Owner:
    """A process's lock file, held locked as long as the process lives."""

    def __init__(self, store: Path):
        self._folder = store.with_name(f"{store.name}-owners")
        self.name = uuid.uuid4().hex
        self._file: IO | None = None

    def hold(self) -> None:
        """Lock the file; to be called before the first claim."""
        while self._file is None:
            self._folder.mkdir(exist_ok=True)
            # Another owner that retires may remove the folder in between.
            with contextlib.suppress(FileNotFoundError):
                self._file = (self._folder / self.name).open("w")
                _lock(self._file)

    def is_alive(self, name: str) -> bool:
        """Whether the process behind a claim still runs."""
        if name == self.name:
            return True
        path = self._folder / name
        try:
            with path.open("r+") as file:
                _lock(file, shared=True)
        except FileNotFoundError:
            return False
        except OSError:  # locked by its owner
            return True
        path.unlink(missing_ok=True)
        return False

    def retire(self) -> None:
        """Unlock and remove the file."""
        if self._file is not None:
            self._file.close()
            self._file = None
            (self._folder / self.name).unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # others may still be at work
                self._folder.rmdir()


def _lock(file: IO, *, shared: bool = False) -> None:
    """Lock a file until it is closed or the process ends; OSError if somebody else has.

    Shared locks get along with each other, so two processes may look at a third one at a time.
    """
    if os.name == "nt":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        import fcntl

        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
