"""Documents, chapters and text as readers need them."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from typing_extensions import override

from armillary_core.adapters.catalogue.sqlite.codec import (
    known_hashes,
    name_key,
    unpack_chapters,
    unpack_exact,
    unpack_hash,
    unpack_spans,
    unpack_terms,
    unpack_text,
)
from armillary_core.adapters.catalogue.sqlite.connection import Database
from armillary_core.adapters.catalogue.sqlite.paths import nearest_paths
from armillary_core.adapters.catalogue.sqlite.rows import (
    DOCUMENTS,
    NAMED_PROJECTS,
    batches,
    blobs_in,
    document_of,
    documents_by_pk,
    json_list,
)
from armillary_core.domain.chapter import Chapter
from armillary_core.domain.chunk import CARD_ORDINAL, Chunk, chunk_key
from armillary_core.domain.document import Document
from armillary_core.domain.ingest import Skipped, SkipRule
from armillary_core.domain.project import ProjectName
from armillary_core.ports.catalogue.documents import ChapterRef, DocumentStore, Label

CHUNKS = 'SELECT key, start, "end", spans, breadcrumb, ids, counts, text_hash FROM chunk'


def chunk_of(row: tuple[Any, ...]) -> Chunk:
    key, start, end, spans, breadcrumb, ids, counts, text_hash = row
    return Chunk(
        ordinal=key & CARD_ORDINAL,
        start=start,
        end=end,
        spans=unpack_spans(spans),
        breadcrumb=unpack_exact(breadcrumb),
        terms=unpack_terms(ids, counts),
        text_hash=unpack_hash(text_hash) or "",
    )


def chunk_rows(connection: sqlite3.Connection, pks: Iterable[int]) -> sqlite3.Cursor:
    """Rows of CHUNKS for documents, their card chunks included, by key."""
    return connection.execute(
        'SELECT c.key, c.start, c."end", c.spans, c.breadcrumb, c.ids, c.counts, c.text_hash FROM json_each(?) wanted '
        "CROSS JOIN chunk c ON c.key BETWEEN wanted.value << 20 AND wanted.value << 20 | 1048575",
        (json_list(sorted(set(pks))),),
    )


class SqliteDocuments(DocumentStore):
    def __init__(self, database: Database) -> None:
        self._database = database

    @override
    def find(self, project: ProjectName, path: bytes) -> Document | None:
        with self._database.read() as connection:
            row = connection.execute(
                f"{DOCUMENTS} WHERE d.project = (SELECT id FROM project WHERE name = ?) AND d.path = ?", (project, path)
            ).fetchone()
        return document_of(row) if row else None

    @override
    def by_pk(self, pks: Iterable[int]) -> dict[int, Document]:
        with self._database.read() as connection:
            return documents_by_pk(connection, pks)

    @override
    def labels(self, pks: Iterable[int]) -> dict[int, Label]:
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT pk, content_hash, title, path, language FROM document "
                "WHERE pk IN (SELECT value FROM json_each(?))",
                (json_list(pks),),
            )
            return {row[0]: Label(unpack_hash(row[1]), *row[2:]) for row in rows}

    @override
    def in_project(self, project: ProjectName) -> list[Document]:
        with self._database.read() as connection:
            rows = connection.execute(
                f"{DOCUMENTS} WHERE d.project = (SELECT id FROM project WHERE name = ?) ORDER BY d.path", (project,)
            )
            return [document_of(row) for row in rows]

    @override
    def text(self, pk: int) -> str | None:
        return self.texts((pk,)).get(pk)

    @override
    def texts(self, pks: Iterable[int]) -> dict[int, str]:
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT document, body FROM text WHERE document IN (SELECT value FROM json_each(?))", (json_list(pks),)
            ).fetchall()
        return {pk: unpack_text(body) for pk, body in rows}

    @override
    def chapters(self, pk: int) -> list[Chapter]:
        with self._database.read() as connection:
            row = connection.execute("SELECT chapters FROM outline WHERE document = ?", (pk,)).fetchone()
        return unpack_chapters(row[0]) if row else []

    @override
    def outlines(self, pks: Iterable[int]) -> dict[int, list[Chapter]]:
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT document, chapters FROM outline WHERE document IN (SELECT value FROM json_each(?))",
                (json_list(pks),),
            ).fetchall()
        return {pk: unpack_chapters(raw) for pk, raw in rows}

    @override
    def chapters_named(
        self, projects: Sequence[ProjectName], name: str, *, limit: int, offset: int = 0
    ) -> tuple[list[ChapterRef], int]:
        wanted = name_key(name.strip())
        found = (
            "FROM chapter_name n JOIN document d ON d.pk = n.document JOIN project p ON p.id = d.project "
            f"WHERE instr(n.name, ?) > 0 AND d.project IN {NAMED_PROJECTS}"
        )
        with self._database.read() as connection:
            (total,) = connection.execute(
                f"SELECT count(*) {found}",
                (wanted, json_list(projects)),
            ).fetchone()
            places = connection.execute(
                f"SELECT n.document, n.ordinal {found} "
                "ORDER BY n.name <> ?, p.name, d.path, n.ordinal LIMIT ? OFFSET ?",
                (wanted, json_list(projects), wanted, limit, offset),
            ).fetchall()
            pks = {pk for pk, _ in places}
            documents = documents_by_pk(connection, pks)
            rows = connection.execute(
                "SELECT document, chapters FROM outline WHERE document IN (SELECT value FROM json_each(?))",
                (json_list(pks),),
            ).fetchall()
        chapters = {(pk, chapter.ordinal): chapter for pk, raw in rows for chapter in unpack_chapters(raw)}
        return [ChapterRef(documents[pk], chapters[pk, ordinal]) for pk, ordinal in places], total

    @override
    def chunks(self, pks: Iterable[int]) -> dict[int, list[Chunk]]:
        with self._database.read() as connection:
            rows = chunk_rows(connection, pks).fetchall()
        found: defaultdict[int, list[Chunk]] = defaultdict(list)
        for row in rows:
            if row[0] & CARD_ORDINAL != CARD_ORDINAL:
                found[row[0] >> 20].append(chunk_of(row))
        return dict(found)

    @override
    def chunk(self, pk: int, ordinal: int) -> Chunk | None:
        if ordinal == CARD_ORDINAL:
            return None
        with self._database.read() as connection:
            row = connection.execute(f"{CHUNKS} WHERE key = ?", (chunk_key(pk, ordinal),)).fetchone()
        return chunk_of(row) if row else None

    @override
    def chunks_at(self, keys: Iterable[int]) -> dict[int, Chunk]:
        wanted = [key for key in keys if key & CARD_ORDINAL != CARD_ORDINAL]
        with self._database.read() as connection:
            rows = connection.execute(
                f"{CHUNKS} WHERE key IN (SELECT value FROM json_each(?))", (json_list(wanted),)
            ).fetchall()
        return {row[0]: chunk_of(row) for row in rows}

    @override
    def copies(self, document: Document, projects: Sequence[ProjectName]) -> list[Document]:
        if document.content_hash is None:
            return []
        found = self._with_hashes((document.content_hash,), projects)
        return [other for other in found.get(document.content_hash, ()) if other.pk != document.pk]

    @override
    def copies_of(self, hashes: Iterable[str], projects: Sequence[ProjectName]) -> dict[str, list[Document]]:
        found = self._with_hashes(hashes, projects)
        return {content_hash: documents for content_hash, documents in found.items() if len(documents) > 1}

    def _with_hashes(self, hashes: Iterable[str], projects: Sequence[ProjectName]) -> dict[str, list[Document]]:
        found: defaultdict[str, list[Document]] = defaultdict(list)
        with self._database.read() as connection:
            for batch in batches(known_hashes(hashes), 50):
                marks, values = blobs_in(batch, 50)
                # The plus keeps SQLite to the index on hashes.
                rows = connection.execute(
                    f"{DOCUMENTS} WHERE d.content_hash IN ({marks}) AND d.present = 1 "
                    f"AND +d.project IN {NAMED_PROJECTS} ORDER BY p.name, d.path",
                    (*values, json_list(projects)),
                )
                for row in rows:
                    found[row[6].hex()].append(document_of(row))
        return dict(found)

    @override
    def near_paths(self, projects: Sequence[ProjectName], path: str, *, limit: int = 5) -> list[Document]:
        with self._database.read() as connection:
            rows = connection.execute(
                f"SELECT pk, path FROM document WHERE present = 1 AND project IN {NAMED_PROJECTS}",
                (json_list(projects),),
            )
            pks = nearest_paths(path, rows, limit=limit)
            documents = documents_by_pk(connection, pks)
        return [documents[pk] for pk in pks]

    @override
    def skipped(self, project: ProjectName, *, limit: int = 1000) -> list[Skipped]:
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT path, rule, detail FROM skipped WHERE project = (SELECT id FROM project WHERE name = ?) "
                "ORDER BY path LIMIT ?",
                (project, limit),
            )
            return [Skipped(path, SkipRule(rule), detail) for path, rule, detail in rows]

    @override
    def skipped_counts(self, project: ProjectName) -> dict[str, int]:
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT rule, count(*) FROM skipped WHERE project = (SELECT id FROM project WHERE name = ?) "
                "GROUP BY rule ORDER BY count(*) DESC, rule",
                (project,),
            )
            return dict(rows.fetchall())

    @override
    def failed(self, project: ProjectName, *, limit: int = 1000) -> list[Document]:
        with self._database.read() as connection:
            rows = connection.execute(
                f"{DOCUMENTS} WHERE d.project = (SELECT id FROM project WHERE name = ?) AND d.present = 1 "
                "AND d.state = 'failed' ORDER BY d.path LIMIT ?",
                (project, limit),
            )
            return [document_of(row) for row in rows]
