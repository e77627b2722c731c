"""The card chunk of a document: what enrichment changes in the index."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from armillary_core.adapters.catalogue.sqlite.changes import ProjectChange, next_revisions, tell
from armillary_core.adapters.catalogue.sqlite.codec import clean_or_none, pack_counts, pack_hash
from armillary_core.adapters.catalogue.sqlite.rows import cards_by_pk
from armillary_core.domain.card import Card
from armillary_core.domain.chunk import CARD_ORDINAL, TermCounts, chunk_key
from armillary_core.domain.document import ExtractionState
from armillary_core.text.cards import text_hash, text_of_card
from armillary_core.text.tokens import count_tokens

ChunkRow = tuple[int, int, int, int, bytes | None, str | bytes, bytes, bytes, bytes]
INSERT_CHUNK = (
    'INSERT INTO chunk (key, start, "end", length, text_hash, breadcrumb, spans, ids, counts) '
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


def card_row(pk: int, terms: TermCounts, card_hash: str | None) -> ChunkRow:
    key = chunk_key(pk, CARD_ORDINAL)
    return (key, 0, 0, terms.length, pack_hash(card_hash), "", b"", terms.ids.tobytes(), pack_counts(terms))


def count_card(card: Card, *, chunks: int) -> tuple[TermCounts, dict[int, str], str | None]:
    """Terms, their words, and the hash of the card's text when it deserves a vector: an enriched card does, and any
    other whose document's one chunk does not say the same."""
    text = text_of_card(card)
    counted = count_tokens(text, card.document.language)
    has_text = card.document.state is ExtractionState.OK and chunks != 1
    deserves = bool(text) and (card.enrichment is not None or has_text)
    return counted.terms, counted.words, text_hash("", text) if deserves else None


def enrichment_state(card: Card) -> int:
    """0 none, 1 of this content, 2 of older content."""
    return 0 if card.enrichment is None else 2 if card.is_stale else 1


def refresh_cards(connection: sqlite3.Connection, project: int, pks: Sequence[int]) -> None:
    """After a change of enrichment: shown columns, card chunk, term counts, revisions and outbox rows of documents of
    one project."""
    change = ProjectChange(project)
    cards = cards_by_pk(connection, pks)
    revisions = dict(zip(cards, next_revisions(connection, len(cards)), strict=True))
    for pk, card in cards.items():
        if card.document.present:
            (chunks,) = connection.execute("SELECT chunks FROM document WHERE pk = ?", (pk,)).fetchone()
            change.take_chunks(connection, (pk,), card_only=True)
            terms, words, card_hash = count_card(card, chunks=chunks)
            connection.execute(INSERT_CHUNK, card_row(pk, terms, card_hash))
            change.terms.update(terms.ids)
            change.words.update(words)
            change.chunks += 1
            change.tokens += terms.length
            change.texts += card_hash is not None
        connection.execute(
            "UPDATE document SET type = ?, date = ?, enrichment = ?, card_revision = ?, revision = ? WHERE pk = ?",
            (
                clean_or_none(card.type),
                clean_or_none(card.date),
                enrichment_state(card),
                revisions[pk],
                revisions[pk],
                pk,
            ),
        )
    change.apply(connection)
    tell(connection, revisions)
