"""The embedded store of a study: one SQLite row per cell, claimed before it is computed.

A row is open, running, done or failed. Running means claimed by an owner, see
:mod:`sparsieve_experiments.studies.owners`.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from sparsieve._clock import Deadline

from .owners import Owner
from .store_reader import FORMAT, StoreError, StoreReader, check_file, the_file

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
_OPEN_SECONDS = 10  # for a file that somebody else has locked


class Store(StoreReader):
    """Cells and their results in one SQLite file, to work on.

    Parameters
    ----------
    path : str or path
        The file; it is made when it does not exist. It must lie on a local disk, because
        SQLite's write-ahead log does not work over a network.

    See Also
    --------
    sparsieve_experiments.studies.StoreReader : Reads a store.
    sparsieve_experiments.studies.run_study : Computes a study.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sparsieve_experiments.studies.store import Store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Store(pathlib.Path(folder) / "study.sqlite") as store:
    ...         store.plan("demo", {"a": {"selector": "FisherSelector"}})
    ...         store.claim("a"), store.claim("a"), store.finish("a", {"accuracy": 1.0})
    ...         store.counts("demo")
    (True, False, True)
    {'open': 0, 'running': 0, 'done': 1, 'failed': 0}
    """

    _may_be_blank = True  # another process may be making it at this moment

    def __init__(self, path: str | os.PathLike[str]):
        self._owner = Owner(the_file(path))
        super().__init__(path)

    def _open(self) -> None:
        """Connect for reading and writing; nothing is changed in a file that is no store."""
        if not self.path.parent.is_dir():
            raise StoreError(f"the folder {self.path.parent} does not exist")
        if self.path.exists() and check_file(self.path):
            super()._open()  # which refuses what is no store
            if self.path.stat().st_nlink > 1:
                self._connection.close()
                raise StoreError(
                    f"{self.path} has other names (hard links), under which others would not see "
                    "its log; make a copy of it and name that"
                )
            self._connection.close()
            self._seen = None
        uri = f"file:{quote(str(self.path.absolute()))}?mode=rwc"
        self._connect(uri, _OPEN_SECONDS, self._prepare)

    def _prepare(self) -> None:
        self._use_write_ahead_log()
        self._make_tables()
        self._check_schema()
        self._connection.execute(f"PRAGMA busy_timeout = {1000 * _WAIT_SECONDS}")

    def _use_write_ahead_log(self) -> None:
        deadline = Deadline.after(_OPEN_SECONDS)
        while True:
            try:
                self._connection.execute("PRAGMA journal_mode = WAL")
                break
            except sqlite3.OperationalError as error:
                # Of two processes that make a store together one is told so without waiting.
                if "locked" not in str(error) or deadline.is_over:
                    raise
                time.sleep(0.01)
        # A killed process loses nothing; a power cut may lose the last cells, never the file.
        self._connection.execute("PRAGMA synchronous = NORMAL")

    def _make_tables(self) -> None:
        if self._version() == FORMAT:
            return
        with self._writing() as write:
            version = self._version()
            tables = write("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if version or tables:  # made by another process meanwhile, or refused below
                return
            for statement in _SCHEMA.split(";"):
                if statement.strip():
                    write(statement)
            write(f"PRAGMA user_version = {FORMAT}")

    def _version(self) -> int:
        return self._query("PRAGMA user_version")[0][0]

    @contextlib.contextmanager
    def _writing(self) -> Iterator[Callable[..., sqlite3.Cursor]]:
        with self._lock:
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                try:
                    yield self._connection.execute
                    self._connection.execute("COMMIT")
                except BaseException:
                    # SQLite has done so itself where the disk is full.
                    with contextlib.suppress(sqlite3.Error):
                        self._connection.execute("ROLLBACK")
                    raise
            except sqlite3.Error as error:
                raise self._refused(error) from None

    def _refused(self, error: Exception) -> StoreError:
        said = " ".join(str(error).split())
        if "full" in said or "I/O" in said:
            return StoreError(
                f"{self.path} cannot be written ({said}); what is finished is kept: free some "
                "space and run it again"
            )
        if "readonly" in said:
            return StoreError(f"{self.path} cannot be written: it is read-only")
        return super()._refused(error)

    # -- working -------------------------------------------------------------------------

    def plan(self, study: str, cells: Mapping[str, Mapping[str, Any]]) -> None:
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
        try:
            self._owner.hold()
        except OSError as error:
            raise StoreError(
                f"no lock file can be made beside {self.path}: {error.strerror}"
            ) from None
        with self._writing() as write:
            row = write("SELECT state, owner FROM cells WHERE key = ?", (key,)).fetchone()
            free = row["state"] == "open" or (failed and row["state"] == "failed")
            if row["state"] == "running":
                free = self._state(row, {}) == "open"
                if free:
                    self._owner.forget(row["owner"])
            if free:
                write(
                    "UPDATE cells SET state = 'running', owner = ?, error = NULL, "
                    "traceback = NULL WHERE key = ?",
                    (self._owner.name, key),
                )
            return free

    def finish(self, key: str, result: Mapping[str, Any]) -> bool:
        """Record the result of a claimed cell; False if it is not claimed by this process."""
        return self._end(key, "done", json.dumps(result, sort_keys=True), None, None)

    def fail(self, key: str, error: str, traceback: str = "") -> bool:
        """Record why a claimed cell failed."""
        return self._end(key, "failed", None, error, traceback)

    def _end(
        self,
        key: str,
        state: str,
        result: str | None,
        error: str | None,
        traceback: str | None,
    ) -> bool:
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
            # Where they cannot be released the claims end with the owner's lock.
            with contextlib.suppress(StoreError):
                self.release()
            self._connection.close()
            self._owner.retire()

    def _is_alive(self, owner: str) -> bool:
        return self._owner.is_alive(owner)
