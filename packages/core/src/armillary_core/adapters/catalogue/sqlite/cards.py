"""Cards and enrichment."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from typing_extensions import override

from armillary_core.adapters.catalogue.sqlite.cardchunks import refresh_cards
from armillary_core.adapters.catalogue.sqlite.codec import clean, clean_or_none, pack_hash, pack_json, pack_list
from armillary_core.adapters.catalogue.sqlite.connection import Database
from armillary_core.adapters.catalogue.sqlite.ingest import write_divergence
from armillary_core.adapters.catalogue.sqlite.listing import compile_listing
from armillary_core.adapters.catalogue.sqlite.rows import cards_by_pk
from armillary_core.domain.card import Card, CardChange, CardEvent, Enrichment
from armillary_core.domain.errors import ConflictError, DocumentNotFoundError
from armillary_core.ports.catalogue.cards import CardListing, CardStore

_FIELDS = ("type", "summary", "keywords", "headings", "date")


class SqliteCards(CardStore):
    def __init__(self, database: Database) -> None:
        self._database = database

    @override
    def get(self, pk: int) -> Card | None:
        return self.by_pk((pk,)).get(pk)

    @override
    def by_pk(self, pks: Iterable[int]) -> dict[int, Card]:
        with self._database.read() as connection:
            return cards_by_pk(connection, pks)

    @override
    def list(self, listing: CardListing) -> tuple[Sequence[Card], int]:
        where, parameters, order = compile_listing(listing)
        with self._database.read() as connection:
            (total,) = connection.execute(f"SELECT count(*) FROM document d WHERE {where}", parameters).fetchone()
            if listing.after is not None:
                where, parameters = f"{where} AND (p.name, d.path) > (?, ?)", [*parameters, *listing.after]
            pks = [
                pk
                for (pk,) in connection.execute(
                    "SELECT d.pk FROM document d JOIN project p ON p.id = d.project "
                    f"WHERE {where} ORDER BY {order} LIMIT ? OFFSET ?",
                    (*parameters, listing.limit, listing.offset),
                )
            ]
            cards = cards_by_pk(connection, pks)
        return [cards[pk] for pk in pks], total

    @override
    def update(self, pk: int, change: CardChange, *, by: str, at: float, if_hash: str | None = None) -> Card:
        with self._database.write(durable=True) as connection:
            card = cards_by_pk(connection, (pk,)).get(pk)
            if card is None:
                raise DocumentNotFoundError("This document is not in the catalogue any more.")
            now = card.document.content_hash
            if if_hash is not None and if_hash != now:
                raise ConflictError(
                    f"{card.id} changed since it was read: its hash is {now or 'unknown'}, not {if_hash[:64]}. "
                    "Read it again, then update its card."
                )
            written: dict[str, Any] = {name: value for name in _FIELDS if (value := getattr(change, name)) is not None}
            kept: dict[str, Any] = {
                name: value if value or isinstance(value, tuple) else None for name, value in written.items()
            }
            enrichment = replace(
                card.enrichment or Enrichment(), **kept, enriched_at=at, enriched_by=by, content_hash=now
            )
            _write_enrichment(connection, pk, enrichment)
            connection.execute(
                "INSERT INTO card_event (document, at, by, change) VALUES (?, ?, ?, ?)",
                (pk, at, clean(by), pack_json(written)),
            )
            (project,) = connection.execute("SELECT project FROM document WHERE pk = ?", (pk,)).fetchone()
            refresh_cards(connection, project, (pk,))
            return cards_by_pk(connection, (pk,))[pk]

    @override
    def clear_divergence(self, pk: int) -> tuple[int, ...]:
        with self._database.write(durable=True) as connection:
            row = connection.execute("SELECT diverged_from FROM document WHERE pk = ?", (pk,)).fetchone()
            if row is None or row[0] is None:
                return ()
            write_divergence(connection, {pk: ()})
            return tuple(json.loads(row[0]))

    @override
    def history(self, pk: int, *, limit: int = 50) -> Sequence[CardEvent]:
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT at, by, change FROM card_event WHERE document = ? ORDER BY id DESC LIMIT ?", (pk, limit)
            )
            return [CardEvent(at, by, json.loads(change)) for at, by, change in rows]


def _write_enrichment(connection: sqlite3.Connection, pk: int, enrichment: Enrichment) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO card (document, type, summary, keywords, headings, date, enriched_at, enriched_by, "
        "content_hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            pk,
            clean_or_none(enrichment.type),
            clean_or_none(enrichment.summary),
            pack_list([clean(word) for word in enrichment.keywords]),
            pack_list([clean(word) for word in enrichment.headings]),
            clean_or_none(enrichment.date),
            enrichment.enriched_at,
            clean(enrichment.enriched_by),
            pack_hash(enrichment.content_hash),
        ),
    )
