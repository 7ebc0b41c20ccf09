"""Read a store that anybody may have written, without changing a byte of it.

A store is a file from elsewhere as soon as it is shared. Whoever reads one must not run what its
schema says (views, generated columns), wait for ever, follow names that it holds to other files,
or write: no lock file is touched, no journal is made, no mode is switched.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import stat
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote

from sparsieve._clock import Deadline

from .owners import is_alive, owners_of

# Of the tables and of the results in them: raise it when either change, in a release or not. A
# store of another format is left alone, so that nobody gets the results of other solvers.
FORMAT = 2
STATES = ("open", "running", "done", "failed")
# What a store consists of; a table that has anything else is not one of ours.
COLUMNS = {
    "cells": (
        "key", "spec", "state", "owner", "result", "error", "traceback", "finished_at",
    ),
    "plan": ("study", "position", "key"),
}  # fmt: skip
_MAGIC = b"SQLite format 3\0"
_WAIT_SECONDS = 5.0  # for another program that has locked the file
_QUERY_SECONDS = 60.0  # for one query; the largest studies take a second
_MAX_BYTES = 1 << 29  # bytes that one query may give
_HALF = re.compile(r"\\u[dD][89a-fA-F]")


class StoreError(ValueError):
    """A file is not a store of this version, or cannot be used as one.

    See Also
    --------
    sparsieve_experiments.studies.Store : Where results are kept.
    sparsieve_experiments.studies.StoreReader : Reads a store.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sparsieve_experiments.studies import StoreError, StoreReader
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "study.sqlite"
    ...     _ = path.write_text("no store")
    ...     try:
    ...         StoreReader(path)
    ...     except StoreError:
    ...         print("no store")
    no store
    """


class StoreReader:
    """The cells of a store and their results; reading never writes.

    Parameters
    ----------
    path : str or path
        An existing store. It may lie in a folder that cannot be written, and other processes may
        be at work on it.

    See Also
    --------
    sparsieve_experiments.studies.Store : Where results are kept.
    sparsieve_experiments.studies.result_rows : Every score as a row.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sparsieve_experiments.studies import Store, StoreReader
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "study.sqlite"
    ...     with Store(path) as store:
    ...         store.plan("demo", {"a": {"selector": "FisherSelector"}})
    ...     with StoreReader(path) as store:
    ...         store.studies(), store.states("demo")
    (['demo'], {'a': 'open'})
    """

    _may_be_blank: ClassVar[bool] = False

    def __init__(self, path: str | os.PathLike[str]):
        self.path = the_file(path)
        # joblib asks for the next cell in a thread of its own.
        self._lock = threading.RLock()
        self._deadline = Deadline()
        self._connection: sqlite3.Connection
        self._seen: object = None  # what an immutable file looked like; None if SQLite watches it
        self._open()

    # -- opening -------------------------------------------------------------------------

    def _open(self) -> None:
        """Connect for reading only, and see that it is a store."""
        uri = _read_only(self.path)
        self._seen = self._signature() if "immutable" in uri else None
        self._connect(uri, _WAIT_SECONDS, self._check_schema)

    def _connect(self, uri: str, wait: float, prepare: Callable[[], None]) -> None:
        """Connect and prepare the connection, which is closed again where that fails."""
        try:
            self._connection = self._connected(uri, wait)
            try:
                prepare()
            except BaseException:
                self._connection.close()
                raise
        except sqlite3.Error as error:
            raise self._refused(error) from None

    def _connected(self, uri: str, wait: float) -> sqlite3.Connection:
        connection = sqlite3.connect(
            uri, uri=True, timeout=wait, isolation_level=None, check_same_thread=False
        )
        connection.row_factory = sqlite3.Row
        connection.text_factory = partial(str, encoding="utf-8", errors="replace")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1 << 26)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.set_progress_handler(lambda: self._deadline.is_over, 100_000)
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        return connection

    def _check_schema(self) -> None:
        # One query, because another process may be making the store just now.
        found = self._query(
            "SELECT user_version, type, name FROM pragma_user_version LEFT JOIN sqlite_master"
        )
        version = found[0]["user_version"]
        parts = [row for row in found if row["type"] is not None]
        if self._may_be_blank and not version and not parts:
            return
        if version != FORMAT:
            if set(COLUMNS) <= {part["name"] for part in parts}:
                raise StoreError(
                    f"{self.path} is a store of another version of sparsieve: its format is "
                    f"{version}, not {FORMAT}; it is left as it is: name another file for new "
                    "results"
                )
            raise StoreError(f"{self.path} is not a study store: its format is {version}")
        for part in parts:
            ours = part["type"] == "table" and part["name"] in COLUMNS
            if not ours and not str(part["name"]).startswith("sqlite_autoindex_"):
                raise self.damaged(f"it has a {part['type']} {str(part['name'])[:40]!r}")
        for table, columns in COLUMNS.items():
            found = self._query(f"PRAGMA table_xinfo({table})")
            # Hidden columns are computed ones: their formula would run when they are read.
            plain = tuple(row["name"] for row in found if not row["hidden"])
            if plain != columns or len(found) != len(columns):
                raise self.damaged(f"its table {table} has other columns than a store")

    def _signature(self) -> object:
        """Changes when somebody writes to the file."""
        try:
            main = self.path.stat()
        except (OSError, ValueError):
            return None
        return main.st_ino, main.st_mtime_ns, main.st_size, _size(_log(self.path))

    # -- queries -------------------------------------------------------------------------

    def _query(self, query: str, *values: Any) -> list[sqlite3.Row]:
        with self._lock:
            self._deadline = Deadline.after(_QUERY_SECONDS)
            try:
                rows, length = [], 0
                for row in self._connection.execute(query, values):
                    length += sum(len(v) for v in row if isinstance(v, (str, bytes)))
                    if length > _MAX_BYTES:
                        raise self.damaged(f"it holds more than {_MAX_BYTES >> 20} MiB of results")
                    rows.append(row)
                return rows
            except UnicodeDecodeError:  # of a damaged schema
                raise sqlite3.DatabaseError("malformed text") from None
            finally:
                self._deadline = Deadline()

    def _rows(self, query: str, *values: Any) -> list[sqlite3.Row]:
        """What a query gives; read anew if somebody wrote to an immutable file meanwhile."""
        error: sqlite3.Error | None = None
        for _ in range(5):  # others may write at the same time
            if self._seen is not None and self._seen != self._signature():
                self._connection.close()
                self._open()
            try:
                rows = self._query(query, *values)
            except sqlite3.Error as found:
                error = found
                if self._seen is None:
                    break
            else:
                if self._seen is None or self._seen == self._signature():
                    return rows
        raise self._refused(error or sqlite3.OperationalError("busy"))

    def _refused(self, error: Exception) -> StoreError:
        """What went wrong, and what to do."""
        said = " ".join(str(error).split())
        if "locked" in said or "busy" in said:
            return StoreError(f"{self.path} is locked by another program; try again when it ends")
        if "interrupted" in said:
            return StoreError(
                f"{self.path} is not a study store: a query takes over {_QUERY_SECONDS:g} s"
            )
        if "unable to open" in said or "readonly" in said or "read-only" in said:
            if _size(_log(self.path)):
                return StoreError(
                    f"the last results of {self.path} are in {_log(self.path).name}, which cannot "
                    "be read where nothing may be written; copy both files to another folder"
                )
            return StoreError(f"{self.path} cannot be opened: {said}")
        return StoreError(f"{self.path} is not a study store: {said}")

    def damaged(self, why: str) -> StoreError:
        """What to raise where the contents make no sense."""
        return StoreError(f"{self.path} is not a study store, or a damaged one: {why}")

    # -- reading -------------------------------------------------------------------------

    def studies(self) -> list[str]:
        """Names of the studies with a plan in this store."""
        rows = self._rows("SELECT DISTINCT study FROM plan ORDER BY 1")
        return [self._name(row["study"]) for row in rows]

    def cells(self, study: str, states: Sequence[str] = ()) -> list[dict[str, Any]]:
        """The cells of a study in order, with decoded ``spec`` and ``result``.

        A running cell whose owner is dead is shown as open.
        """
        rows = self._rows(
            "SELECT cells.* FROM plan JOIN cells USING (key) WHERE study = ? ORDER BY position",
            study,
        )
        alive: dict[str, bool] = {}
        cells = []
        for row in rows:
            cell = {**row, "state": self._state(row, alive)}
            if states and cell["state"] not in states:
                continue
            cell["key"] = self._name(cell["key"])
            cell["spec"] = self._decoded(cell["key"], cell["spec"])
            cell["result"] = self._decoded(cell["key"], cell["result"]) if cell["result"] else None
            cell["error"] = None if cell["error"] is None else str(cell["error"])
            cells.append(cell)
        return cells

    def states(self, study: str) -> dict[str, str]:
        """State of every cell of a study by key, in order."""
        rows = self._rows(
            "SELECT key, state, owner FROM plan JOIN cells USING (key) WHERE study = ? "
            "ORDER BY position",
            study,
        )
        alive: dict[str, bool] = {}
        return {self._name(row["key"]): self._state(row, alive) for row in rows}

    def counts(self, study: str) -> dict[str, int]:
        """How many cells of a study are open, running, done and failed."""
        rows = self._rows(
            "SELECT state, owner, count(*) AS n FROM plan JOIN cells USING (key) "
            "WHERE study = ? GROUP BY state, CASE state WHEN 'running' THEN owner END",
            study,
        )
        alive: dict[str, bool] = {}
        counts = dict.fromkeys(STATES, 0)
        for row in rows:
            counts[self._state(row, alive)] += row["n"]
        return counts

    def _state(self, row: sqlite3.Row, alive: dict[str, bool]) -> str:
        state, owner = row["state"], row["owner"]
        if state not in STATES:
            raise self.damaged(f"a cell is {str(state)[:40]!r}")
        if state != "running":
            return state
        if not is_owner(owner):
            raise self.damaged("a cell is claimed by an owner that is not 32 hexadecimal digits")
        if owner not in alive:
            alive[owner] = self._is_alive(owner)
        return "running" if alive[owner] else "open"

    def _is_alive(self, owner: str) -> bool:
        return is_alive(owners_of(self.path), owner)

    def _name(self, value: object) -> str:
        if not isinstance(value, str):
            raise self.damaged("a name in it is no text")
        return value

    def _decoded(self, key: str, text: object) -> dict[str, Any]:
        try:
            value = json.loads(text)  # type: ignore[arg-type]
            if isinstance(text, str) and _HALF.search(text):
                # Half of a character can neither be printed nor written.
                json.dumps(value, ensure_ascii=False).encode()
        except (ValueError, TypeError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise self.damaged(f"cell {key[:12]!r} cannot be decoded")
        return value

    # -- closing -------------------------------------------------------------------------

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def the_file(path: str | os.PathLike[str]) -> Path:
    """The store itself, whatever links lead to it: its log and the locks lie beside that."""
    given, found = Path(path), Path(os.path.realpath(path))
    return given if found == given.absolute() else found


def is_owner(name: object) -> bool:
    """Whether a name is one that processes give themselves; nothing else becomes a path."""
    return isinstance(name, str) and re.fullmatch("[0-9a-f]{32}", name) is not None


def check_file(path: Path) -> bytes:
    """The first bytes of an SQLite file; b"" of an empty one.

    Raises
    ------
    StoreError
        If it is no file, cannot be read, or is another kind of file.
    """
    try:
        # Only then open it: a pipe would wait for ever.
        if not stat.S_ISREG(path.stat().st_mode):
            raise StoreError(f"{path} is not a study store: it is no file")
        with path.open("rb") as file:
            head = file.read(100)
    except FileNotFoundError:
        raise StoreError(f"there is no store {path}") from None
    except (OSError, ValueError) as error:
        raise StoreError(f"{path} cannot be read: {error}") from None
    if head and not head.startswith(_MAGIC):
        raise StoreError(f"{path} is not a study store: it is no SQLite file")
    return head


def _read_only(path: Path) -> str:
    """How to open a store so that nothing is written.

    A file with a write-ahead log is read together with the log, which needs the log's index. One
    without, which nobody writes to at the moment, is called immutable, since SQLite would make an
    empty log and an index otherwise, or fail where it cannot.
    """
    head = check_file(path)
    if not head:
        raise StoreError(f"{path} is not a study store: it is empty")
    logged = len(head) > 19 and head[19] == 2
    quiet = logged and not _size(_log(path))
    return f"file:{quote(str(path.absolute()))}?mode=ro" + ("&immutable=1" if quiet else "")


def _log(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
