"""Extraction outcomes as rows, made before a transaction begins so that it stays short."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from armillary_core.adapters.catalogue.sqlite.cardchunks import ChunkRow, card_row
from armillary_core.adapters.catalogue.sqlite.codec import (
    clean_or_none,
    name_key,
    pack_base,
    pack_chapters,
    pack_counts,
    pack_exact,
    pack_hash,
    pack_json,
    pack_spans,
    pack_text,
)
from armillary_core.domain.card import BaseLayer
from armillary_core.domain.document import ExtractionState, FileStamp
from armillary_core.domain.ingest import ExtractionOutcome, Failed, Indexed, NameOnly

BATCH_DOCUMENTS = 100
BATCH_WEIGHT = 400_000  # bytes of packed rows; with the number of documents it keeps a transaction under 50 ms


@dataclass(slots=True)
class Prepared:
    """Everything that is written of one document; chunk keys count from 0 until the pk is known."""

    path: bytes
    stamp: FileStamp
    state: ExtractionState
    content_hash: bytes | None
    media_type: str
    retryable: bool
    reason: str | None
    chunks: list[ChunkRow]  # the card chunk last
    words: dict[int, str]
    charset: str | None = None
    language: str | None = None
    title: str | None = None
    locale: str | None = None
    version: str | None = None
    lines: int = 0
    base: BaseLayer = field(default_factory=BaseLayer)
    layer: str | None = None
    text: bytes | None = None
    outline: bytes | None = None
    names: list[tuple[int, str]] | None = None
    chapters: int = 0
    digest: bytes = b""

    @property
    def weight(self) -> int:
        return len(self.text or b"") + sum(200 + len(row[7]) for row in self.chunks)


def prepare(path: bytes, stamp: FileStamp, outcome: ExtractionOutcome) -> Prepared:
    prepared = _prepare_indexed(path, outcome) if isinstance(outcome, Indexed) else _prepare_bare(path, stamp, outcome)
    prepared.digest = _digest(prepared)
    return prepared


def _prepare_indexed(path: bytes, outcome: Indexed) -> Prepared:
    text = outcome.text
    rows: list[ChunkRow] = [
        (
            chunk.ordinal,
            chunk.start,
            chunk.end,
            chunk.terms.length,
            pack_hash(chunk.text_hash),
            pack_exact(chunk.breadcrumb),
            pack_spans(chunk.spans),
            chunk.terms.ids.tobytes(),
            pack_counts(chunk.terms),
        )
        for chunk in outcome.chunks
    ]
    rows.append(card_row(0, outcome.card_terms, outcome.card_hash))
    return Prepared(
        path=path,
        stamp=outcome.stamp,
        state=ExtractionState.OK,
        content_hash=pack_hash(outcome.content_hash),
        media_type=outcome.media_type,
        retryable=False,
        reason=clean_or_none(text.note),
        chunks=rows,
        words=outcome.words,
        charset=text.charset,
        language=outcome.language,
        title=text.title or None,
        locale=clean_or_none(text.locale),
        version=clean_or_none(text.version),
        lines=outcome.lines,
        base=text.base,
        layer=pack_base(text.base),
        text=pack_text(text.text),
        outline=pack_chapters(text.chapters) if text.chapters else None,
        names=[(chapter.ordinal, name_key(chapter.name)) for chapter in text.chapters if chapter.name],
        chapters=len(text.chapters),
    )


def _prepare_bare(path: bytes, stamp: FileStamp, outcome: NameOnly | Failed) -> Prepared:
    failed = isinstance(outcome, Failed)
    return Prepared(
        path=path,
        stamp=outcome.stamp or stamp,
        state=ExtractionState.FAILED if failed else ExtractionState.NAME_ONLY,
        content_hash=pack_hash(outcome.content_hash),
        media_type=outcome.media_type,
        retryable=isinstance(outcome, Failed) and outcome.retryable,
        reason=clean_or_none(outcome.reason),
        chunks=[card_row(0, outcome.card_terms, None)],
        words=outcome.words,
    )


def _digest(prepared: Prepared) -> bytes:
    """Equal for two extractions that say the same; content is told by its own hash."""
    digest = hashlib.blake2b(digest_size=16)
    digest.update(
        pack_json(
            [
                prepared.state,
                prepared.media_type,
                prepared.reason,
                prepared.charset,
                prepared.language,
                prepared.title,
                prepared.locale,
                prepared.version,
                prepared.lines,
                prepared.layer,
            ]
        ).encode("utf-8", "surrogatepass")
    )
    digest.update(prepared.content_hash or b"")
    digest.update(prepared.text or b"")
    digest.update(prepared.outline or b"")
    for key, start, end, _, text_hash, breadcrumb, spans, ids, counts in prepared.chunks:
        digest.update(b"%d %d %d" % (key, start, end))
        digest.update(
            b"".join(
                (
                    text_hash or b"",
                    breadcrumb if isinstance(breadcrumb, bytes) else breadcrumb.encode("utf-8"),
                    spans,
                    ids,
                    counts,
                )
            )
        )
    return digest.digest()


def in_batches(prepared: Iterable[Prepared]) -> Iterator[list[Prepared]]:
    """Batches for one short transaction each; no path twice in one."""
    batch: list[Prepared] = []
    paths: set[bytes] = set()
    weight = 0
    for one in prepared:
        if batch and (len(batch) >= BATCH_DOCUMENTS or weight + one.weight > BATCH_WEIGHT or one.path in paths):
            yield batch
            batch, paths, weight = [], set(), 0
        batch.append(one)
        paths.add(one.path)
        weight += one.weight
    if batch:
        yield batch
