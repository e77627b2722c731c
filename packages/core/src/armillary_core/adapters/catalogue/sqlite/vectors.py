"""The chunk-vector cache."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Mapping, Sequence

from typing_extensions import override

from armillary_core.adapters.catalogue.sqlite.changes import next_revisions, tell
from armillary_core.adapters.catalogue.sqlite.codec import known_hashes, unpack_exact
from armillary_core.adapters.catalogue.sqlite.connection import Database
from armillary_core.adapters.catalogue.sqlite.memo import RevisionMemo
from armillary_core.adapters.catalogue.sqlite.rows import NAMED_PROJECTS, batches, blobs_in, json_list
from armillary_core.domain.chunk import CARD_ORDINAL
from armillary_core.domain.project import ProjectName
from armillary_core.ports.catalogue.outbox import Engine
from armillary_core.ports.catalogue.vectors import Missing, VectorCache

_MODEL = "(SELECT id FROM model WHERE fingerprint = ?)"
# Documents in the order of their last change, from the first that may hold a text without a vector.
_MISSING = (
    'SELECT d.revision, c.text_hash, c.key, c.breadcrumb, c.start, c."end" '
    "FROM document d CROSS JOIN chunk c ON c.key BETWEEN d.pk << 20 AND d.pk << 20 | 1048575 "
    "WHERE d.revision > ? AND d.present = 1 AND c.text_hash IS NOT NULL "
    "AND (? IS NULL OR d.language IS NULL OR d.language IN (SELECT value FROM json_each(?))) "
    f"AND NOT EXISTS (SELECT 1 FROM chunk_vector v WHERE v.model = {_MODEL} AND v.text_hash = c.text_hash) "
    "ORDER BY d.revision, c.key"
)
_UNUSED = (
    "v.model NOT IN (SELECT id FROM model WHERE fingerprint IN (SELECT value FROM json_each(?))) "
    "OR NOT EXISTS (SELECT 1 FROM chunk c WHERE c.text_hash = v.text_hash)"
)
_Scope = tuple[str, tuple[str, ...] | None]  # model, languages


class SqliteVectors(VectorCache):
    """Keeps in memory, for each model, the revision up to which no text lacks its vector: every later change of a
    chunk has a higher one, so asking again costs nothing when nothing happened."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._complete: dict[_Scope, tuple[int, int]] = {}  # → (epoch, revision)
        self._present: RevisionMemo[int] = RevisionMemo()

    @override
    def get(self, model: str, hashes: Iterable[str]) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        with self._database.read() as connection:
            for batch in batches(known_hashes(hashes), 200):
                marks, values = blobs_in(batch, 200)
                rows = connection.execute(
                    f"SELECT text_hash, vector FROM chunk_vector WHERE model = {_MODEL} AND text_hash IN ({marks})",
                    (model, *values),
                )
                found.update((text_hash.hex(), vector) for text_hash, vector in rows)
        return found

    @override
    def put(self, model: str, vectors: Mapping[str, bytes]) -> None:
        items = [(bytes.fromhex(text_hash), vector) for text_hash, vector in vectors.items()]
        for batch in batches(items, 200):
            with self._database.write() as connection:
                connection.execute("INSERT OR IGNORE INTO model (fingerprint) VALUES (?)", (model,))
                connection.executemany(
                    f"INSERT INTO chunk_vector (model, text_hash, vector) VALUES ({_MODEL}, ?, ?) "
                    "ON CONFLICT (model, text_hash) DO UPDATE SET vector = excluded.vector",
                    [(model, *item) for item in batch],
                )
                marks, values = blobs_in([text_hash for text_hash, _ in batch], 200)
                rows = connection.execute(
                    f"SELECT DISTINCT key >> 20 FROM chunk WHERE text_hash IN ({marks})",
                    values,
                ).fetchall()
                # One revision at least: what was counted before is not true any more.
                revisions = next_revisions(connection, max(len(rows), 1))
                tell(
                    connection,
                    {pk: revision for (pk,), revision in zip(rows, revisions, strict=False)},
                    (Engine.CHUNKS,),
                )

    @override
    def missing(self, model: str, *, limit: int = 500, languages: Sequence[str] | None = None) -> list[Missing]:
        scope: _Scope = (model, tuple(sorted(languages)) if languages is not None else None)
        found: dict[bytes, Missing] = {}
        with self._database.read() as connection:
            epoch, revision = _marks(connection)
            since = self._since(scope, epoch)
            if since >= revision:
                return []
            complete = revision
            for changed, text_hash, key, breadcrumb, start, end in connection.execute(
                _MISSING, _parameters(scope, since)
            ):
                complete = min(complete, changed - 1)
                if text_hash not in found:
                    found[text_hash] = Missing(
                        text_hash.hex(), key >> 20, key & CARD_ORDINAL, unpack_exact(breadcrumb), start, end
                    )
                    if len(found) >= limit:
                        break
        self._remember(scope, epoch, complete)
        return list(found.values())

    @override
    def count_missing(self, model: str, *, languages: Sequence[str] | None = None) -> int:
        scope: _Scope = (model, tuple(sorted(languages)) if languages is not None else None)
        with self._database.read() as connection:
            epoch, revision = _marks(connection)
            since = self._since(scope, epoch)
            if since >= revision:
                return 0
            found: int = connection.execute(
                f"SELECT count(DISTINCT text_hash) FROM ({_MISSING})",
                _parameters(scope, since),
            ).fetchone()[0]
        if not found:
            self._remember(scope, epoch, revision)
        return found

    @override
    def expected(self, projects: Sequence[ProjectName]) -> int:
        with self._database.read() as connection:
            return _expected(connection, projects)

    @override
    def present(self, model: str, projects: Sequence[ProjectName]) -> int:
        key = (model, tuple(sorted(projects)))
        with self._database.read() as connection:
            epoch, revision = _marks(connection)
            if self._since((model, None), epoch) >= revision:
                return _expected(connection, projects)
            return self._present.get(connection, key, lambda: _count_present(connection, model, projects))

    @override
    def forget_unused(self, *, keep_models: Sequence[str]) -> int:
        keep = json_list(keep_models)
        with self._database.read() as connection:
            ids = [row[0] for row in connection.execute(f"SELECT v.id FROM chunk_vector v WHERE {_UNUSED}", (keep,))]
        forgotten = 0
        for batch in batches(ids, 500):
            with self._database.write() as connection:
                forgotten += connection.execute(
                    "DELETE FROM chunk_vector AS v WHERE v.id IN (SELECT value FROM json_each(?)) "
                    f"AND ({_UNUSED})",  # asked again: a text may have come back meanwhile
                    (json_list(batch), keep),
                ).rowcount
                connection.execute("UPDATE counter SET value = value + 1 WHERE name IN ('vector_epoch', 'revision')")
        return forgotten

    def _since(self, scope: _Scope, epoch: int) -> int:
        with self._lock:
            remembered = self._complete.get(scope)
        return remembered[1] if remembered is not None and remembered[0] == epoch else -1

    def _remember(self, scope: _Scope, epoch: int, revision: int) -> None:
        with self._lock:
            self._complete[scope] = (epoch, revision)


def _marks(connection: sqlite3.Connection) -> tuple[int, int]:
    """(vector epoch, revision) of this snapshot."""
    marks = dict(connection.execute("SELECT name, value FROM counter").fetchall())
    return marks["vector_epoch"], marks["revision"]


def _parameters(scope: _Scope, since: int) -> tuple[int | str | None, ...]:
    model, languages = scope
    wanted = json_list(languages) if languages is not None else None
    return (since, wanted, wanted or "[]", model)


def _count_present(connection: sqlite3.Connection, model: str, projects: Sequence[ProjectName]) -> int:
    found: int = connection.execute(
        "SELECT count(*) FROM document d CROSS JOIN chunk c ON c.key BETWEEN d.pk << 20 AND d.pk << 20 | 1048575 "
        f"WHERE d.project IN {NAMED_PROJECTS} AND d.present = 1 AND c.text_hash IS NOT NULL "
        f"AND EXISTS (SELECT 1 FROM chunk_vector v WHERE v.model = {_MODEL} AND v.text_hash = c.text_hash)",
        (json_list(projects), model),
    ).fetchone()[0]
    return found


def _expected(connection: sqlite3.Connection, projects: Sequence[ProjectName]) -> int:
    found: int = connection.execute(
        "SELECT coalesce(sum(texts), 0) FROM project WHERE name IN (SELECT value FROM json_each(?))",
        (json_list(projects),),
    ).fetchone()[0]
    return found
