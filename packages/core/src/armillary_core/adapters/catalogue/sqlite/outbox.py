"""Which documents an engine has not been told about yet, and their current state."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Sequence

from typing_extensions import override

from armillary_core.adapters.catalogue.sqlite.changes import next_revisions, settle_average, tell_again
from armillary_core.adapters.catalogue.sqlite.codec import clean, unpack_chapters, unpack_terms
from armillary_core.adapters.catalogue.sqlite.connection import Database
from armillary_core.adapters.catalogue.sqlite.documents import chunk_of, chunk_rows
from armillary_core.adapters.catalogue.sqlite.rows import CARDS, batches, cards_of, json_list
from armillary_core.domain.card import Card
from armillary_core.domain.chunk import CARD_ORDINAL, Chunk, TermCounts
from armillary_core.ports.catalogue.outbox import CardIndexState, ChunkState, Engine, Outbox, OutboxRow

GIVEN_UP = 5  # attempts


class SqliteOutbox(Outbox):
    def __init__(self, database: Database) -> None:
        self._database = database

    @override
    def pending(self, engine: Engine, *, limit: int = 200) -> list[OutboxRow]:
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT document, revision, attempts FROM outbox WHERE engine = ? AND attempts < ? "
                "ORDER BY attempts, revision LIMIT ?",
                (engine.value, GIVEN_UP, limit),
            )
            return [OutboxRow(*row) for row in rows]

    @override
    def chunk_states(self, rows: Sequence[OutboxRow]) -> list[ChunkState]:
        revisions = {row.pk: row.revision for row in rows}
        with self._database.read() as connection:
            cards = _present_cards(connection, revisions)
            averages = _averages(connection)
            stored = chunk_rows(connection, [card.document.pk for card in cards]).fetchall()
        unsettled = {card.document.project for card in cards if averages[card.document.project] is None}
        if unsettled:
            averages |= self._settle(unsettled)
        chunks: defaultdict[int, list[Chunk]] = defaultdict(list)
        card_terms: dict[int, TermCounts] = {}
        for row in stored:
            pk, ordinal = row[0] >> 20, row[0] & CARD_ORDINAL
            if ordinal == CARD_ORDINAL:
                card_terms[pk] = unpack_terms(row[5], row[6])
            else:
                chunks[pk].append(chunk_of(row))
        states = []
        for card in cards:
            pk = card.document.pk
            average = averages.get(card.document.project) or 1.0
            states.append(
                ChunkState(
                    pk, revisions[pk], card, tuple(chunks.get(pk, ())), card_terms.get(pk) or TermCounts(), average
                )
            )
        return states

    def _settle(self, projects: Iterable[str]) -> dict[str, float | None]:
        """The first time an engine hears of a project: from here on its average is the one handed out."""
        with self._database.write() as connection:
            for name in projects:
                row = connection.execute("SELECT id FROM project WHERE name = ?", (name,)).fetchone()
                if row is not None:
                    settle_average(connection, row[0])
            return _averages(connection)

    @override
    def card_states(self, rows: Sequence[OutboxRow]) -> list[CardIndexState]:
        revisions = {row.pk: row.revision for row in rows}
        with self._database.read() as connection:
            cards = _present_cards(connection, revisions)
            outlines = dict(
                connection.execute(
                    "SELECT document, chapters FROM outline WHERE document IN (SELECT value FROM json_each(?))",
                    (json_list(revisions),),
                ).fetchall()
            )
        return [
            CardIndexState(
                pk := card.document.pk,
                revisions[pk],
                card,
                tuple(chapter for chapter in unpack_chapters(outlines.get(pk)) if chapter.is_named),
            )
            for card in cards
        ]

    @override
    def done(self, engine: Engine, rows: Iterable[OutboxRow]) -> None:
        with self._database.write() as connection:
            connection.executemany(
                "DELETE FROM outbox WHERE engine = ? AND document = ? AND revision <= ?",
                [(engine.value, row.pk, row.revision) for row in rows],
            )

    @override
    def failed(self, engine: Engine, rows: Iterable[OutboxRow], error: str) -> None:
        with self._database.write() as connection:
            connection.executemany(
                "UPDATE outbox SET attempts = attempts + 1, error = ? "
                "WHERE engine = ? AND document = ? AND revision <= ?",
                [(clean(error), engine.value, row.pk, row.revision) for row in rows],
            )

    @override
    def poisoned(self, engine: Engine) -> list[tuple[int, str]]:
        with self._database.read() as connection:
            return connection.execute(
                "SELECT document, coalesce(error, '') FROM outbox WHERE engine = ? AND attempts >= ? ORDER BY revision",
                (engine.value, GIVEN_UP),
            ).fetchall()

    @override
    def add(self, engine: Engine, pks: Iterable[int]) -> None:
        for batch in batches(dict.fromkeys(pks), 2000):
            with self._database.write() as connection:
                tell_again(connection, batch, (engine,))

    @override
    def add_all(self, engine: Engine) -> int:
        with self._database.read() as connection:
            (last,) = connection.execute("SELECT coalesce(max(pk), 0) FROM document").fetchone()
        told = 0
        for first in range(1, last + 1, 5000):
            with self._database.write() as connection:
                span = (first, first + 4999)
                (count,) = connection.execute(
                    "SELECT count(*) FROM document WHERE pk BETWEEN ? AND ? AND present = 1", span
                ).fetchone()
                connection.execute(
                    "INSERT INTO outbox (engine, document, revision) SELECT ?, pk, ? + row_number() OVER (ORDER BY pk) "
                    "FROM document WHERE pk BETWEEN ? AND ? AND present = 1 ON CONFLICT (engine, document) "
                    "DO UPDATE SET revision = excluded.revision, attempts = 0, error = NULL",
                    (engine.value, next_revisions(connection, count).start - 1, *span),
                )
                told += count
        return told

    @override
    def count(self, engine: Engine) -> int:
        with self._database.read() as connection:
            found: int = connection.execute("SELECT count(*) FROM outbox WHERE engine = ?", (engine.value,)).fetchone()[
                0
            ]
        return found

    @override
    def count_by_project(self, engine: Engine) -> dict[str, int]:
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT p.name, count(*) FROM outbox o JOIN document d ON d.pk = o.document "
                "JOIN project p ON p.id = d.project WHERE o.engine = ? GROUP BY p.name ORDER BY p.name",
                (engine.value,),
            )
            return dict(rows.fetchall())


def _present_cards(connection: sqlite3.Connection, pks: Iterable[int]) -> list[Card]:
    rows = connection.execute(
        f"{CARDS} WHERE d.pk IN (SELECT value FROM json_each(?)) AND d.present = 1 ORDER BY d.pk", (json_list(pks),)
    )
    return cards_of(connection, rows.fetchall())


def _averages(connection: sqlite3.Connection) -> dict[str, float | None]:
    return dict(connection.execute("SELECT name, indexed_average FROM project").fetchall())
