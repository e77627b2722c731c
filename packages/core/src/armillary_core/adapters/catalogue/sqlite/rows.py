"""Rows as domain values: documents and cards, always read the same way."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

from armillary_core.adapters.catalogue.sqlite.codec import unpack_base, unpack_exact, unpack_hash, unpack_list, unsigned
from armillary_core.domain.card import Card, Enrichment
from armillary_core.domain.document import Document, DocumentId, ExtractionState, FileStamp, document_id
from armillary_core.domain.project import ProjectName

Connection = sqlite3.Connection
Row = tuple[Any, ...]
T = TypeVar("T")

_STATES = {state.value: state for state in ExtractionState}

DOCUMENT_COLUMNS = (
    "d.pk, p.name, d.path, d.size, d.mtime_ns, d.inode, d.content_hash, d.media_type, d.charset, d.language, d.title, "
    "d.locale, d.version, d.lines, d.state, d.reason, d.content_revision, d.card_revision, d.present"
)
DOCUMENTS = f"SELECT {DOCUMENT_COLUMNS} FROM document d JOIN project p ON p.id = d.project"
CARDS = (
    f"SELECT {DOCUMENT_COLUMNS}, d.diverged_from, b.layer, c.document, c.type, c.summary, c.keywords, "
    "c.headings, c.date, c.enriched_at, c.enriched_by, c.content_hash FROM document d JOIN project p "
    "ON p.id = d.project LEFT JOIN base_layer b ON b.document = d.pk LEFT JOIN card c ON c.document = d.pk"
)
# The projects named by a parameter that is a JSON list.
NAMED_PROJECTS = "(SELECT id FROM project WHERE name IN (SELECT value FROM json_each(?)))"


def json_list(values: Iterable[int] | Iterable[str]) -> str:
    """A parameter for `IN (SELECT value FROM json_each(?))`."""
    return json.dumps(list(values))


def batches(values: Iterable[T], size: int) -> Iterator[list[T]]:
    iterator = iter(values)
    while batch := list(islice(iterator, size)):
        yield batch


def blobs_in(values: Sequence[bytes], size: int) -> tuple[str, list[bytes]]:
    """Placeholders for an IN of bytes, padded to `size` so that one statement serves every batch."""
    padded = [*values, *[values[0]] * (size - len(values))]
    return ",".join("?" * size), padded


def document_of(row: Row) -> Document:
    return Document(
        row[0],
        row[1],
        row[2],
        FileStamp(row[3], row[4], unsigned(row[5])),
        unpack_hash(row[6]),
        row[7],
        row[8],
        row[9],
        unpack_exact(row[10]) if row[10] is not None else None,
        row[11],
        row[12],
        row[13],
        _STATES[row[14]],
        row[15],
        row[16],
        row[17],
        bool(row[18]),
    )


def documents_by_pk(connection: Connection, pks: Iterable[int]) -> dict[int, Document]:
    rows = connection.execute(f"{DOCUMENTS} WHERE d.pk IN (SELECT value FROM json_each(?))", (json_list(pks),))
    return {row[0]: document_of(row) for row in rows}


def cards_by_pk(connection: Connection, pks: Iterable[int]) -> dict[int, Card]:
    rows = connection.execute(f"{CARDS} WHERE d.pk IN (SELECT value FROM json_each(?))", (json_list(pks),))
    return {card.document.pk: card for card in cards_of(connection, rows.fetchall())}


def cards_of(connection: Connection, rows: Sequence[Row]) -> list[Card]:
    """Cards from rows of CARDS, in their order."""
    ids = _ids(connection, {pk for row in rows if row[19] is not None for pk in json.loads(row[19])})
    return [
        Card(
            document_of(row),
            unpack_base(row[20]),
            _enrichment_of(row[22:]) if row[21] is not None else None,
            tuple(ids[pk] for pk in json.loads(row[19]) if pk in ids) if row[19] is not None else (),
        )
        for row in rows
    ]


def _enrichment_of(row: Row) -> Enrichment:
    kind, summary, keywords, headings, date, at, by, content_hash = row
    return Enrichment(
        kind, summary, unpack_list(keywords), unpack_list(headings), date, at, by, unpack_hash(content_hash)
    )


def _ids(connection: Connection, pks: set[int]) -> dict[int, DocumentId]:
    if not pks:
        return {}
    rows = connection.execute(
        "SELECT d.pk, p.name, d.path FROM document d JOIN project p ON p.id = d.project "
        "WHERE d.pk IN (SELECT value FROM json_each(?))",
        (json_list(pks),),
    )
    return {pk: document_id(ProjectName(name), path) for pk, name, path in rows}
