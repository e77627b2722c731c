"""Taking documents away: for good, or leaving a desync card behind."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence

from armillary_core.adapters.catalogue.sqlite.changes import ProjectChange, next_revisions, tell_again
from armillary_core.adapters.catalogue.sqlite.rows import json_list

_DOCUMENTS, _CHUNKS = 200, 1500  # a transaction


def short_batches(rows: Iterable[tuple[int, int]]) -> Iterator[list[int]]:
    """pks from (pk, number of chunks), as many as one short transaction takes away."""
    batch: list[int] = []
    weight = 0
    for pk, chunks in rows:
        if batch and (len(batch) >= _DOCUMENTS or weight + chunks > _CHUNKS):
            yield batch
            batch, weight = [], 0
        batch.append(pk)
        weight += chunks
    if batch:
        yield batch


def take_documents(connection: sqlite3.Connection, project: int, pks: Sequence[int], *, keep_enriched: bool) -> int:
    """Remove these documents of a project; enriched ones become desync when they are to be kept. Returns how many
    rows it found."""
    rows = connection.execute(
        "SELECT pk, present, enrichment, language FROM document "
        "WHERE project = ? AND pk IN (SELECT value FROM json_each(?))",
        (project, json_list(pks)),
    ).fetchall()
    change = ProjectChange(project)
    kept: list[int] = []
    removed: list[int] = []
    for pk, present, enrichment, language in rows:
        if present:
            change.take_document(language)
            change.take_chunks(connection, (pk,))
        if keep_enriched and enrichment:
            kept.append(pk)
        else:
            removed.append(pk)
    _make_desync(connection, kept)
    connection.execute("DELETE FROM document WHERE pk IN (SELECT value FROM json_each(?))", (json_list(removed),))
    change.apply(connection)
    tell_again(connection, [row[0] for row in rows])
    return len(rows)


def _make_desync(connection: sqlite3.Connection, pks: Sequence[int]) -> None:
    if not pks:
        return
    for table in ("text", "outline", "chapter_name"):
        connection.executemany(f"DELETE FROM {table} WHERE document = ?", [(pk,) for pk in pks])
    connection.executemany(
        "UPDATE document SET present = 0, pending = 0, extraction = NULL, chapters = 0, chunks = 0, revision = ?, "
        "card_revision = ? WHERE pk = ?",
        [(revision, revision, pk) for pk, revision in zip(pks, next_revisions(connection, len(pks)), strict=True)],
    )
