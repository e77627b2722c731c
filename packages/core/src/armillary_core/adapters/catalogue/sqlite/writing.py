"""Writing a batch of prepared documents inside one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from armillary_core.adapters.catalogue.sqlite.cardchunks import (
    INSERT_CHUNK,
    ChunkRow,
    card_row,
    count_card,
    enrichment_state,
)
from armillary_core.adapters.catalogue.sqlite.changes import (
    ProjectChange,
    next_pks,
    next_revisions,
    settle_early_average,
    tell,
)
from armillary_core.adapters.catalogue.sqlite.codec import clean_or_none, name_key, pack_exact, signed
from armillary_core.adapters.catalogue.sqlite.prepared import Prepared
from armillary_core.adapters.catalogue.sqlite.rows import Row, blobs_in, cards_by_pk
from armillary_core.domain.document import ExtractionState

_INSERT = """
INSERT INTO document (
    path, size, mtime_ns, inode, verified_at, present, pending, state, revision, content_revision, card_revision,
    chapters, chunks, lines, content_hash, extraction, media_type, charset, language, locale, version, type, date,
    title, title_order, reason, enrichment, pk, project, first_seen
) VALUES (?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?)
"""
_UPDATE = """
UPDATE document SET
    path = ?, size = ?, mtime_ns = ?, inode = ?, verified_at = ?, present = 1, pending = ?, state = ?, revision = ?,
    content_revision = ?, card_revision = ?, chapters = ?, chunks = ?, lines = ?, content_hash = ?, extraction = ?,
    media_type = ?, charset = ?, language = ?, locale = ?, version = ?, type = ?, date = ?, title = ?,
    title_order = ?, reason = ?, hash_before = CASE WHEN present AND content_hash <> ? THEN
    coalesce(hash_before, content_hash) ELSE hash_before END WHERE pk = ?
"""


@dataclass(frozen=True, slots=True)
class _Stored:
    """What the catalogue holds at a path already."""

    pk: int
    digest: bytes | None
    present: bool
    state: str
    language: str | None
    enriched: bool
    content_hash: bytes | None


def write_batch(connection: sqlite3.Connection, project: int, batch: Sequence[Prepared], now: float) -> list[int]:
    """Store documents of one project; pks in order."""
    stored = _stored(connection, project, batch)
    fresh = [one for one in batch if one.path not in stored]
    pks = {one.path: old.pk for one in batch if (old := stored.get(one.path))}
    pks.update(zip((one.path for one in fresh), next_pks(connection, len(fresh)), strict=True))
    replaced: list[Prepared] = []
    for one in batch:
        old = stored.get(one.path)
        if old is None or not _keep(connection, old, one, now):
            replaced.append(one)
    if replaced:
        _replace(connection, project, replaced, stored, pks, now)
        settle_early_average(connection, project)
    return [pks[one.path] for one in batch]


def _stored(connection: sqlite3.Connection, project: int, batch: Sequence[Prepared]) -> dict[bytes, _Stored]:
    marks, values = blobs_in([one.path for one in batch], 100)
    rows = connection.execute(
        "SELECT path, pk, extraction, present, state, language, enrichment > 0, content_hash FROM document "
        f"WHERE project = ? AND path IN ({marks})",
        (project, *values),
    )
    return {row[0]: _Stored(row[1], row[2], bool(row[3]), row[4], row[5], bool(row[6]), row[7]) for row in rows}


def _keep(connection: sqlite3.Connection, old: _Stored, one: Prepared, now: float) -> bool:
    """Whether what is there stays: it cannot be read just now, or extraction says what it said before."""
    if one.retryable and old.present and old.state != ExtractionState.FAILED:
        connection.execute("UPDATE document SET pending = 1, reason = ? WHERE pk = ?", (one.reason, old.pk))
        return True
    if not old.present or old.digest != one.digest:
        return False
    stamp = one.stamp
    connection.execute(
        "UPDATE document SET size = ?, mtime_ns = ?, inode = ?, verified_at = ?, pending = ?, reason = ? WHERE pk = ?",
        (stamp.size, stamp.mtime_ns, signed(stamp.inode), now, one.retryable, one.reason, old.pk),
    )
    return True


def _replace(
    connection: sqlite3.Connection,
    project: int,
    batch: Sequence[Prepared],
    stored: dict[bytes, _Stored],
    pks: dict[bytes, int],
    now: float,
) -> None:
    change = ProjectChange(project)
    revisions = {
        pks[one.path]: revision for one, revision in zip(batch, next_revisions(connection, len(batch)), strict=True)
    }
    inserts: list[Row] = []
    updates: list[Row] = []
    chunks: list[ChunkRow] = []
    enriched: list[int] = []
    for one in batch:
        pk, old = pks[one.path], stored.get(one.path)
        if old is not None and one.retryable:
            one.content_hash = one.content_hash or old.content_hash  # unread is not changed
        row = _document_row(one, revisions[pk], now)
        if old is None:
            inserts.append((*row, pk, project, now))
        else:
            updates.append((*row, one.content_hash, pk))
            _take(connection, change, old)
            if old.enriched:
                enriched.append(pk)
        change.add_document(one.language)
        change.words.update(one.words)
        first = pk << 20
        chunks.extend((first | row[0], *row[1:]) for row in one.chunks)
    connection.executemany(_INSERT, inserts)
    connection.executemany(_UPDATE, updates)
    _write_parts(connection, [(pks[one.path], one) for one in batch])
    if enriched:
        chunks = _with_enrichment(connection, change, enriched, chunks)
    for row in chunks:
        change.terms.update(memoryview(row[7]).cast("I"))
        change.tokens += row[3]
        change.texts += row[4] is not None
    change.chunks += len(chunks)
    connection.executemany(INSERT_CHUNK, chunks)
    change.apply(connection)
    tell(connection, revisions)


def _take(connection: sqlite3.Connection, change: ProjectChange, old: _Stored) -> None:
    """Take away what a replaced document had."""
    if old.present:
        change.take_document(old.language)
        change.take_chunks(connection, (old.pk,))
    for table in ("base_layer", "text", "outline", "chapter_name"):
        connection.execute(f"DELETE FROM {table} WHERE document = ?", (old.pk,))


def _document_row(one: Prepared, revision: int, now: float) -> Row:
    stamp = one.stamp
    return (
        one.path,
        stamp.size,
        stamp.mtime_ns,
        signed(stamp.inode),
        now,
        one.retryable,
        one.state.value,
        revision,
        revision,
        revision,
        one.chapters,
        len(one.chunks) - 1,
        one.lines,
        one.content_hash,
        one.digest,
        one.media_type,
        one.charset,
        one.language,
        one.locale,
        one.version,
        clean_or_none(one.base.type),
        clean_or_none(one.base.date),
        pack_exact(one.title) if one.title else None,
        name_key(one.title) if one.title else None,
        one.reason,
    )


def _write_parts(connection: sqlite3.Connection, batch: Sequence[tuple[int, Prepared]]) -> None:
    connection.executemany(
        "INSERT INTO base_layer VALUES (?, ?)", [(pk, one.layer) for pk, one in batch if one.layer is not None]
    )
    connection.executemany("INSERT INTO text VALUES (?, ?)", [(pk, one.text) for pk, one in batch if one.text])
    connection.executemany(
        "INSERT INTO outline VALUES (?, ?)", [(pk, one.outline) for pk, one in batch if one.outline is not None]
    )
    connection.executemany(
        "INSERT INTO chapter_name VALUES (?, ?, ?)",
        [(pk, ordinal, name) for pk, one in batch for ordinal, name in one.names or ()],
    )


def _with_enrichment(
    connection: sqlite3.Connection, change: ProjectChange, pks: Sequence[int], chunks: list[ChunkRow]
) -> list[ChunkRow]:
    """Card chunks of enriched documents say what their cards show, and shown columns follow."""
    rows = {row[0]: row for row in chunks}
    for pk, card in cards_by_pk(connection, pks).items():
        (count,) = connection.execute("SELECT chunks FROM document WHERE pk = ?", (pk,)).fetchone()
        terms, words, card_hash = count_card(card, chunks=count)
        row = card_row(pk, terms, card_hash)
        rows[row[0]] = row
        change.words.update(words)
        connection.execute(
            "UPDATE document SET type = ?, date = ?, enrichment = ? WHERE pk = ?",
            (clean_or_none(card.type), clean_or_none(card.date), enrichment_state(card), pk),
        )
    return list(rows.values())
