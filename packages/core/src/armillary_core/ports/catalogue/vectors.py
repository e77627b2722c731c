"""The chunk-vector cache: equal text is embedded once, ever."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from armillary_core.domain.project import ProjectName


@dataclass(frozen=True, slots=True)
class Missing:
    """A text that has no vector of this model yet, and one document that holds it."""

    text_hash: str
    pk: int
    ordinal: int  # CARD_ORDINAL for the card chunk
    breadcrumb: str
    start: int
    end: int


class VectorCache(Protocol):
    def get(self, model: str, hashes: Iterable[str]) -> dict[str, bytes]:
        """float32 little-endian vectors, normalised, by text hash; unknown ones are left out."""

    def put(self, model: str, vectors: Mapping[str, bytes]) -> None:
        """Store vectors and tell the chunk index (outbox) about every document that holds one of the texts."""

    def missing(self, model: str, *, limit: int = 500, languages: Sequence[str] | None = None) -> list[Missing]:
        """Texts of present documents without a vector, each once; only documents in these languages (None = all;
        documents without a detected language always count)."""

    def count_missing(self, model: str, *, languages: Sequence[str] | None = None) -> int: ...

    def expected(self, projects: Sequence[ProjectName]) -> int:
        """Chunks of present documents, and their card chunks where these deserve a vector (`card_hash`)."""

    def present(self, model: str, projects: Sequence[ProjectName]) -> int:
        """How many of them have a vector of this model."""

    def forget_unused(self, *, keep_models: Sequence[str]) -> int:
        """Drop vectors of texts that no document holds any more or of other models; returns how many."""
