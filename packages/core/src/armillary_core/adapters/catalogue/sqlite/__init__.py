"""The catalogue in one SQLite file."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable
from pathlib import Path

from typing_extensions import override

from armillary_core.adapters.catalogue.sqlite.cards import SqliteCards
from armillary_core.adapters.catalogue.sqlite.connection import Database
from armillary_core.adapters.catalogue.sqlite.documents import SqliteDocuments
from armillary_core.adapters.catalogue.sqlite.generations import SqliteGenerations
from armillary_core.adapters.catalogue.sqlite.ingest import SqliteIngest
from armillary_core.adapters.catalogue.sqlite.jobs import SqliteJobs
from armillary_core.adapters.catalogue.sqlite.outbox import SqliteOutbox
from armillary_core.adapters.catalogue.sqlite.projects import SqliteProjects
from armillary_core.adapters.catalogue.sqlite.schema import prepare
from armillary_core.adapters.catalogue.sqlite.terms import SqliteTerms
from armillary_core.adapters.catalogue.sqlite.tokens import SqliteTokens
from armillary_core.adapters.catalogue.sqlite.vectors import SqliteVectors
from armillary_core.domain.errors import BackendUnavailableError, ConflictError
from armillary_core.ports.catalogue import Catalogue

__all__ = ["SqliteCatalogue"]


class SqliteCatalogue(Catalogue):
    """Every store over one file. Close it; it may be used from any thread until then."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._projects = SqliteProjects(database)
        self._documents = SqliteDocuments(database)
        self._ingest = SqliteIngest(database)
        self._cards = SqliteCards(database)
        self._jobs = SqliteJobs(database)
        self._outbox = SqliteOutbox(database)
        self._terms = SqliteTerms(database)
        self._vectors = SqliteVectors(database)
        self._generations = SqliteGenerations(database)
        self._tokens = SqliteTokens(database)

    @classmethod
    def open(cls, path: Path, *, now: Callable[[], float] = time.time) -> SqliteCatalogue:
        """Open the catalogue at `path`, made and migrated when needed; `now` is the time of first sights.

        Raises SettingsError when it cannot be written, is damaged or belongs to a newer Armillary.
        """
        prepare(path)
        return cls(Database(path, now))

    @property
    @override
    def projects(self) -> SqliteProjects:
        return self._projects

    @property
    @override
    def documents(self) -> SqliteDocuments:
        return self._documents

    @property
    @override
    def ingest(self) -> SqliteIngest:
        return self._ingest

    @property
    @override
    def cards(self) -> SqliteCards:
        return self._cards

    @property
    @override
    def jobs(self) -> SqliteJobs:
        return self._jobs

    @property
    @override
    def outbox(self) -> SqliteOutbox:
        return self._outbox

    @property
    @override
    def terms(self) -> SqliteTerms:
        return self._terms

    @property
    @override
    def vectors(self) -> SqliteVectors:
        return self._vectors

    @property
    @override
    def generations(self) -> SqliteGenerations:
        return self._generations

    @property
    @override
    def tokens(self) -> SqliteTokens:
        return self._tokens

    @override
    def changes(self) -> int:
        return self._database.data_version()

    @override
    def secret(self, name: str) -> bytes:
        with self._database.read() as connection:
            row = connection.execute("SELECT value FROM secret WHERE name = ?", (name,)).fetchone()
        if row is None:
            with self._database.write(durable=True) as connection:
                connection.execute("INSERT OR IGNORE INTO secret VALUES (?, ?)", (name, secrets.token_bytes(32)))
                row = connection.execute("SELECT value FROM secret WHERE name = ?", (name,)).fetchone()
        value: bytes = row[0]
        return value

    @override
    def backup(self, target: str) -> None:
        path = Path(target)
        part = path.with_name(path.name + ".part")
        try:
            if path.exists():
                raise ConflictError(f"{path} exists already: a backup never overwrites a file.")
            part.unlink(missing_ok=True)
            os.close(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            try:
                self._database.copy_into(part)
                handle = os.open(part, os.O_RDONLY)
                try:
                    os.fsync(handle)
                finally:
                    os.close(handle)
                part.rename(path)
            finally:
                part.unlink(missing_ok=True)
        except OSError as exc:
            raise BackendUnavailableError(f"The backup {path} cannot be written ({exc.strerror}).") from exc

    @override
    def close(self) -> None:
        self._database.close()
