"""Creating, checking and migrating the catalogue's file, once, under a lock."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib import resources
from pathlib import Path

from armillary_core.adapters.catalogue import migrations
from armillary_core.adapters.catalogue.sqlite.connection import APPLICATION_ID, connect
from armillary_core.domain.errors import SettingsError


def prepare(path: Path) -> None:
    """Make folder and file where they are missing and bring the schema up to date.

    Raises SettingsError when the place is unwritable, the file is damaged or not ours, or its schema is newer.
    """
    _make_place(path)
    try:
        with _locked(path), closing(connect(path)) as connection:
            _check_whole(connection, path)
            _migrate(connection, path)
            if connection.execute("PRAGMA journal_mode=WAL").fetchone()[0] != "wal":
                raise SettingsError(
                    f"{path} cannot use SQLite's write-ahead log: its file system does not support shared memory. "
                    "Choose a data folder on a local disk."
                )
    except sqlite3.OperationalError as exc:
        raise SettingsError(f"The catalogue {path} cannot be opened ({exc}). Check its owner and permissions.") from exc
    except sqlite3.DatabaseError as exc:
        raise _damaged(path, str(exc)) from exc


def _make_place(path: Path) -> None:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as exc:
        raise SettingsError(
            f"The catalogue {path} cannot be written ({exc.strerror}). Choose another data folder or change its "
            "permissions."
        ) from exc


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One process at a time looks at the schema; the kernel lets go when a process dies."""
    lock = path.with_name(path.name + ".lock")
    try:
        handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as exc:
        raise SettingsError(f"{lock} cannot be written ({exc.strerror}). Check the data folder's permissions.") from exc
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _damaged(path: Path, words: str) -> SettingsError:
    return SettingsError(
        f"The catalogue {path} is damaged or not a catalogue ({words}). It was left as it is: put a backup in its "
        "place, or move it away to begin anew."
    )


def _check_whole(connection: sqlite3.Connection, path: Path) -> None:
    """Cheap looks that find a foreign, cut or overwritten file; a whole check would take seconds on a big one."""
    tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    owner = connection.execute("PRAGMA application_id").fetchone()[0]
    if tables and owner != APPLICATION_ID:
        raise _damaged(path, "another program's database")
    log = path.with_name(path.name + "-wal")
    if not (log.exists() and log.stat().st_size):
        header = path.read_bytes()[:100] if path.stat().st_size < 4096 else _head(path)
        pages = int.from_bytes(header[28:32], "big")
        if pages * connection.execute("PRAGMA page_size").fetchone()[0] > path.stat().st_size:
            raise _damaged(path, "it is shorter than it says")
    for table in tables:
        connection.execute(f'SELECT 1 FROM "{table}" LIMIT 1').fetchone()


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(100)


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    steps = _steps()
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > len(steps):
        raise SettingsError(
            f"The catalogue {path} has schema {version}, this Armillary knows {len(steps)}: it was written by a newer "
            "one. Upgrade, or choose another data folder."
        )
    if version == len(steps):
        return
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("BEGIN EXCLUSIVE")
    try:
        for number in range(version + 1, len(steps) + 1):
            for statement in _statements(steps[number - 1]):
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version={len(steps)}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _steps() -> list[str]:
    """Texts of the migrations by number; they are numbered without gaps from 0001."""
    files = sorted(
        (entry for entry in resources.files(migrations).iterdir() if entry.name.endswith(".sql")),
        key=lambda entry: entry.name,
    )
    return [entry.read_text(encoding="utf-8") for entry in files]


def _statements(script: str) -> Iterator[str]:
    """The statements of a script, one by one: `executescript` would commit what is open."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
