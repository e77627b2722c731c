"""What a scan writes."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from typing_extensions import override

from armillary_core.adapters.catalogue.sqlite.cardchunks import refresh_cards
from armillary_core.adapters.catalogue.sqlite.changes import next_revisions, settle_average, tell
from armillary_core.adapters.catalogue.sqlite.codec import known_hashes, pack_json, signed, unpack_hash, unsigned
from armillary_core.adapters.catalogue.sqlite.connection import Database
from armillary_core.adapters.catalogue.sqlite.prepared import in_batches, prepare
from armillary_core.adapters.catalogue.sqlite.removal import short_batches, take_documents
from armillary_core.adapters.catalogue.sqlite.rows import DOCUMENTS, batches, blobs_in, document_of, json_list
from armillary_core.adapters.catalogue.sqlite.writing import write_batch
from armillary_core.domain.document import Document, FileStamp
from armillary_core.domain.errors import ConflictError, DocumentNotFoundError, ProjectNotFoundError
from armillary_core.domain.ingest import ExtractionOutcome, Skipped
from armillary_core.domain.project import ProjectName
from armillary_core.ports.catalogue.ingest import IngestStore, Known

_FINGERPRINT = "extraction"


def project_id(connection: sqlite3.Connection, name: ProjectName) -> int:
    row = connection.execute("SELECT id FROM project WHERE name = ?", (name,)).fetchone()
    if row is None:
        raise ProjectNotFoundError(f"No project {name!r}.")
    found: int = row[0]
    return found


class SqliteIngest(IngestStore):
    def __init__(self, database: Database) -> None:
        self._database = database

    @override
    def known(self, project: ProjectName) -> list[Known]:
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT pk, path, size, mtime_ns, inode, content_hash, present, enrichment, pending, verified_at, "
                "first_seen, hash_before FROM document WHERE project = (SELECT id FROM project WHERE name = ?) "
                "ORDER BY path",
                (project,),
            )
            return [_known_of(row) for row in rows]

    @override
    def store(self, project: ProjectName, outcomes: Sequence[tuple[bytes, FileStamp, ExtractionOutcome]]) -> list[int]:
        pks: list[int] = []
        for batch in in_batches(prepare(*outcome) for outcome in outcomes):
            with self._database.write() as connection:
                pks += write_batch(connection, project_id(connection, project), batch, self._database.now())
        return pks

    @override
    def touch(self, project: ProjectName, stamps: Iterable[tuple[int, FileStamp]], *, verified_at: float) -> None:
        for batch in batches(stamps, 2000):
            with self._database.write() as connection:
                connection.executemany(
                    "UPDATE document SET size = ?, mtime_ns = ?, inode = ?, verified_at = ? WHERE pk = ?",
                    [(stamp.size, stamp.mtime_ns, signed(stamp.inode), verified_at, pk) for pk, stamp in batch],
                )

    @override
    def vanish(self, project: ProjectName, pks: Iterable[int]) -> None:
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT pk, chunks FROM document WHERE pk IN (SELECT value FROM json_each(?))", (json_list(pks),)
            ).fetchall()
        for batch in short_batches(rows):
            with self._database.write() as connection:
                take_documents(connection, project_id(connection, project), batch, keep_enriched=True)

    @override
    def drop_desync(self, project: ProjectName) -> int:
        with self._database.write(durable=True) as connection:
            number = project_id(connection, project)
            rows = connection.execute("SELECT pk FROM document WHERE project = ? AND present = 0", (number,))
            return take_documents(connection, number, [pk for (pk,) in rows.fetchall()], keep_enriched=False)

    @override
    def move_enrichment(self, source: int, target: int) -> None:
        with self._database.write(durable=True) as connection:
            rows = {
                row[0]: row[1:]
                for row in connection.execute(
                    "SELECT pk, project, present, enrichment, diverged_from FROM document WHERE pk IN (?, ?)",
                    (source, target),
                )
            }
            if source not in rows or target not in rows:
                raise DocumentNotFoundError("One of the two documents of this move is gone.")
            if rows[target][2]:
                raise ConflictError("The new document was enriched meanwhile: its card stays as it is.")
            if rows[source][1]:
                raise ConflictError("The old document is there: its enrichment stays with it.")
            for table in ("card", "card_event"):
                connection.execute(f"UPDATE {table} SET document = ? WHERE document = ?", (target, source))
            if rows[source][3] is not None and rows[target][3] is None:
                connection.execute("UPDATE document SET diverged_from = ? WHERE pk = ?", (rows[source][3], target))
            _rename_in_flags(connection, source, target)
            take_documents(connection, rows[source][0], (source,), keep_enriched=False)
            refresh_cards(connection, rows[target][0], (target,))

    @override
    def set_divergence(self, changes: Mapping[int, tuple[int, ...]]) -> None:
        if not changes:
            return
        with self._database.write(durable=True) as connection:
            write_divergence(connection, changes)

    @override
    def diverged(self, project: ProjectName | None = None) -> dict[int, tuple[int, ...]]:
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT d.pk, d.diverged_from FROM document d JOIN project p ON p.id = d.project "
                "WHERE d.diverged_from IS NOT NULL AND (? IS NULL OR p.name = ?)",
                (project, project),
            )
            return {pk: tuple(json.loads(names)) for pk, names in rows}

    @override
    def forget_hashes_before(self, pks: Iterable[int]) -> None:
        for batch in batches(pks, 2000):
            with self._database.write() as connection:
                connection.execute(
                    "UPDATE document SET hash_before = NULL WHERE pk IN (SELECT value FROM json_each(?))",
                    (json_list(batch),),
                )

    @override
    def reset_enrichment(self, project: ProjectName) -> int:
        reset = 0
        while True:
            with self._database.write(durable=True) as connection:
                number = project_id(connection, project)
                rows = connection.execute(
                    "SELECT pk, present FROM document WHERE project = ? AND enrichment > 0 LIMIT 50", (number,)
                ).fetchall()
                _forget_enrichment(connection, number, rows, self._database.now())
            reset += len(rows)
            if not rows:
                return reset

    @override
    def replace_skipped(self, project: ProjectName, skipped: Iterable[Skipped]) -> None:
        rows = {one.path: (one.rule.value, one.detail) for one in skipped}
        with self._database.write() as connection:
            number = project_id(connection, project)
            there = {
                path: (rule, detail)
                for path, rule, detail in connection.execute(
                    "SELECT path, rule, detail FROM skipped WHERE project = ?", (number,)
                )
            }
            connection.executemany(
                "DELETE FROM skipped WHERE project = ? AND path = ?", [(number, path) for path in there.keys() - rows]
            )
            connection.executemany(
                "INSERT OR REPLACE INTO skipped VALUES (?, ?, ?, ?)",
                [(number, path, *row) for path, row in rows.items() if there.get(path) != row],
            )

    @override
    def mark_pending(self, project: ProjectName) -> int:
        with self._database.write() as connection:
            number = project_id(connection, project)
            return connection.execute(
                "UPDATE document SET pending = 1 WHERE project = ? AND present = 1", (number,)
            ).rowcount

    @override
    def extraction_changed(self, fingerprint: str) -> bool:
        with self._database.read() as connection:
            row = connection.execute("SELECT value FROM remembered WHERE name = ?", (_FINGERPRINT,)).fetchone()
        if row is not None and row[0] == fingerprint:
            return False
        with self._database.write() as connection:
            connection.execute("INSERT OR REPLACE INTO remembered VALUES (?, ?)", (_FINGERPRINT, fingerprint))
            if row is not None:
                connection.execute("UPDATE document SET pending = 1 WHERE present = 1")
        return row is not None

    @override
    def settle_average(self, project: ProjectName) -> bool:
        with self._database.write() as connection:
            return settle_average(connection, project_id(connection, project))

    @override
    def hashes(self, pks: Iterable[int]) -> dict[int, str | None]:
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT pk, content_hash FROM document WHERE pk IN (SELECT value FROM json_each(?))", (json_list(pks),)
            )
            return {pk: unpack_hash(content_hash) for pk, content_hash in rows}

    @override
    def same_hash(self, content_hashes: Iterable[str]) -> dict[str, list[Document]]:
        found: defaultdict[str, list[Document]] = defaultdict(list)
        with self._database.read() as connection:
            for batch in batches(known_hashes(content_hashes), 200):
                marks, values = blobs_in(batch, 200)
                rows: list[tuple[Any, ...]] = connection.execute(
                    f"{DOCUMENTS} WHERE d.present = 1 AND d.content_hash IN ({marks}) ORDER BY p.name, d.path", values
                ).fetchall()
                for row in rows:
                    found[row[6].hex()].append(document_of(row))
        return dict(found)


def _forget_enrichment(
    connection: sqlite3.Connection, project: int, rows: Sequence[tuple[int, bool]], now: float
) -> None:
    """Of documents as (pk, present): a desync one has no reason to stay."""
    pks = [(pk,) for pk, _ in rows]
    connection.executemany("DELETE FROM card WHERE document = ?", pks)
    connection.executemany(
        "INSERT INTO card_event (document, at, by, change) VALUES (?, ?, ?, ?)",
        [(*pk, now, "rebuild", pack_json({"reset": True})) for pk in pks],
    )
    take_documents(connection, project, [pk for pk, present in rows if not present], keep_enriched=False)
    refresh_cards(connection, project, [pk for pk, present in rows if present])


def _known_of(row: tuple[Any, ...]) -> Known:
    pk, path, size, mtime_ns, inode, content_hash, present, enrichment, pending, verified_at, first_seen, before = row
    return Known(
        pk,
        path,
        FileStamp(size, mtime_ns, unsigned(inode)),
        unpack_hash(content_hash),
        present == 1,
        enrichment > 0,
        pending == 1,
        verified_at,
        first_seen,
        unpack_hash(before),
    )


def write_divergence(connection: sqlite3.Connection, changes: Mapping[int, tuple[int, ...]]) -> None:
    """Flags by pk and outbox rows of the documents that exist."""
    rows = connection.execute(
        "SELECT pk FROM document WHERE pk IN (SELECT value FROM json_each(?))", (json_list(changes),)
    )
    pks = [pk for (pk,) in rows]
    revisions = dict(zip(pks, next_revisions(connection, len(pks)), strict=True))
    connection.executemany(
        "UPDATE document SET diverged_from = ?, card_revision = ? WHERE pk = ?",
        [(json_list(changes[pk]) if changes[pk] else None, revisions[pk], pk) for pk in pks],
    )
    tell(connection, revisions)


def _rename_in_flags(connection: sqlite3.Connection, source: int, target: int) -> None:
    """A moved document is still the former copy that others diverged from."""
    rows = connection.execute("SELECT pk, diverged_from FROM document WHERE diverged_from IS NOT NULL").fetchall()
    for pk, names in rows:
        others = json.loads(names)
        if source in others:
            renamed = tuple(dict.fromkeys(target if other == source else other for other in others))
            write_divergence(connection, {pk: tuple(other for other in renamed if other != pk)})
