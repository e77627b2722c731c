"""Which documents an engine has not been told about yet. State is sent, never a change, so order does not matter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from armillary_core.domain.card import Card
from armillary_core.domain.chapter import Chapter
from armillary_core.domain.chunk import Chunk, TermCounts


class Engine(StrEnum):
    CARDS = "cards"  # the card index
    CHUNKS = "chunks"  # the chunk index: words, and meaning where vectors are known


@dataclass(frozen=True, slots=True)
class OutboxRow:
    pk: int  # document; it may be gone, then the engine must forget it
    revision: int  # grows with every row written for any document
    attempts: int


@dataclass(frozen=True, slots=True)
class ChunkState:
    """The current state of one document for the chunk index."""

    pk: int
    revision: int
    card: Card
    chunks: tuple[Chunk, ...]
    card_terms: TermCounts
    average_length: float  # of the project's chunks


@dataclass(frozen=True, slots=True)
class CardIndexState:
    """The current state of one document for the card index."""

    pk: int
    revision: int
    card: Card
    chapters: tuple[Chapter, ...]  # named ones only


class Outbox(Protocol):
    def pending(self, engine: Engine, *, limit: int = 200) -> list[OutboxRow]:
        """Oldest first, rows with fewest attempts first; poisoned rows (attempts >= 5) are left out."""

    def chunk_states(self, rows: Sequence[OutboxRow]) -> list[ChunkState]:
        """Current state of the documents that exist and are present; a document that is missing here is to be
        deleted from the engine."""

    def card_states(self, rows: Sequence[OutboxRow]) -> list[CardIndexState]:
        """As chunk_states; desync documents are deleted from the card index as well."""

    def done(self, engine: Engine, rows: Iterable[OutboxRow]) -> None:
        """Delete rows whose revision is not newer than the one sent."""

    def failed(self, engine: Engine, rows: Iterable[OutboxRow], error: str) -> None:
        """Count an attempt and keep the engine's words."""

    def poisoned(self, engine: Engine) -> list[tuple[int, str]]:
        """(document pk, error) of rows that were given up."""

    def add(self, engine: Engine, pks: Iterable[int]) -> None:
        """Tell the engine about these documents again."""

    def add_all(self, engine: Engine) -> int:
        """Tell the engine about every document (a new generation, an emptied engine); returns how many."""

    def count(self, engine: Engine) -> int: ...

    def count_by_project(self, engine: Engine) -> dict[str, int]: ...
