"""Connections of one process to the catalogue file: a few readers, one writer, and errors in our words."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from armillary_core.domain.errors import AppError, BackendRejectedError, BackendUnavailableError, InvalidRequestError

BUSY_TIMEOUT_MS = 10_000
MAX_READERS = 8
APPLICATION_ID = 0x41524D49  # "ARMI"


def connect(path: Path) -> sqlite3.Connection:
    """One connection with our settings; transactions are ours to begin and end."""
    connection = sqlite3.connect(
        path, timeout=BUSY_TIMEOUT_MS / 1000, isolation_level=None, check_same_thread=False, cached_statements=256
    )
    try:
        connection.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA journal_size_limit=16777216")
        connection.execute("PRAGMA temp_store=MEMORY")
        connection.execute("PRAGMA cache_size=-4000")
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def translated() -> Iterator[None]:
    """SQLite's exceptions as errors of the backend tree."""
    try:
        yield
    except sqlite3.Error as exc:
        raise _translate(exc) from exc
    except UnicodeEncodeError as exc:
        raise InvalidRequestError(
            "The text holds half of a surrogate pair, which is no character. Leave it out."
        ) from exc


def _translate(exc: sqlite3.Error) -> AppError:
    code = getattr(exc, "sqlite_errorcode", 0) & 0xFF
    match code:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return BackendUnavailableError("The catalogue is busy: another process has been writing for too long.")
        case sqlite3.SQLITE_FULL:
            return BackendUnavailableError("The disk that holds the catalogue is full. Make room; work then goes on.")
        case sqlite3.SQLITE_IOERR | sqlite3.SQLITE_CANTOPEN:
            return BackendUnavailableError(f"The catalogue's file cannot be read or written ({exc}).")
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return BackendRejectedError("The catalogue's file is damaged. Stop Armillary and put back a backup of it.")
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
            return BackendRejectedError("The catalogue's file is read-only for this user.")
        case _:
            return BackendRejectedError(f"The catalogue refused a statement ({exc}).")


class Database:
    """The file as one process uses it. `read` and `write` may be called from any thread and must not be nested."""

    def __init__(self, path: Path, now: Callable[[], float]) -> None:
        self.path = path
        self.now = now
        self._idle: list[sqlite3.Connection] = []
        self._readers = 0
        self._free = threading.Condition()
        self._writing = threading.Lock()
        self._writer: sqlite3.Connection | None = None
        self._watcher: sqlite3.Connection | None = None
        self._durable = False
        self._closed = False

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A snapshot: every statement inside sees the same state."""
        with translated():
            connection = self._take()
            try:
                connection.execute("BEGIN")
                try:
                    yield connection
                finally:
                    connection.execute("ROLLBACK")
            finally:
                self._give(connection)

    @contextmanager
    def write(self, *, durable: bool = False) -> Iterator[sqlite3.Connection]:
        """One transaction, rolled back on any exception; `durable`: on disk before this ends."""
        with translated(), self._writing:
            connection = self._writing_connection()
            if durable != self._durable:
                connection.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
                self._durable = durable
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def data_version(self) -> int:
        """Differs after every commit of any other connection; asked on a connection of its own."""
        with translated():
            if self._watcher is None:
                self._watcher = connect(self.path)
            version: int = self._watcher.execute("PRAGMA data_version").fetchone()[0]
        return version

    def copy_into(self, target: Path) -> None:
        """A consistent copy of everything committed, into an empty file."""
        with translated(), closing(connect(self.path)) as connection:
            connection.execute("VACUUM INTO ?", (str(target),))

    def close(self) -> None:
        """Close every connection; waits for those in use."""
        with self._writing, self._free:
            self._closed = True
            while len(self._idle) < self._readers:
                self._free.wait()
            for connection in self._idle:
                connection.close()
            self._idle.clear()
            self._readers = 0
            for other in (self._writer, self._watcher):
                if other is not None:
                    other.close()
            self._writer = self._watcher = None
            self._free.notify_all()

    def _writing_connection(self) -> sqlite3.Connection:
        if self._closed:
            raise BackendUnavailableError("The catalogue is closed.")
        if self._writer is None:
            self._writer = connect(self.path)
            self._writer.execute("PRAGMA cache_size=-16000")
            self._durable = False
        return self._writer

    def _take(self) -> sqlite3.Connection:
        with self._free:
            while True:
                if self._closed:
                    raise BackendUnavailableError("The catalogue is closed.")
                if self._idle:
                    return self._idle.pop()  # the one used last has the warmest cache
                if self._readers < MAX_READERS:
                    connection = connect(self.path)
                    connection.execute("PRAGMA query_only=ON")
                    self._readers += 1
                    return connection
                self._free.wait()

    def _give(self, connection: sqlite3.Connection) -> None:
        with self._free:
            self._idle.append(connection)
            self._free.notify()
