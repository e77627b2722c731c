"""A chunk: the piece of text that is indexed and embedded; never shown as it is."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import NewType

ChunkKey = NewType("ChunkKey", int)  # document pk << 20 | ordinal; the same in every engine

CARD_ORDINAL = (1 << 20) - 1  # the one *card chunk* of a document: title, headings, summary, keywords


def chunk_key(document_pk: int, ordinal: int) -> ChunkKey:
    return ChunkKey(document_pk << 20 | ordinal)


def split_key(key: int) -> tuple[int, int]:
    """(document pk, ordinal)."""
    return key >> 20, key & CARD_ORDINAL


@dataclass(frozen=True, slots=True)
class ChunkSpan:
    """The part of a chapter that lies in a chunk; characters of the document's text."""

    chapter: int  # ordinal of the chapter
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TermCounts:
    """Token ids (32-bit hashes) and how often each occurs; parallel arrays."""

    ids: array[int] = field(default_factory=lambda: array("I"))
    counts: array[int] = field(default_factory=lambda: array("H"))

    @property
    def length(self) -> int:
        """Number of tokens, repetitions counted: the `len` of BM25."""
        return sum(self.counts)


@dataclass(frozen=True, slots=True)
class Chunk:
    ordinal: int
    start: int  # characters of the document's text
    end: int
    spans: tuple[ChunkSpan, ...]
    breadcrumb: str  # "title > heading > heading", in front of the text when it is indexed
    terms: TermCounts
    text_hash: str  # SHA-256 hex of breadcrumb + text: the key of the vector cache
