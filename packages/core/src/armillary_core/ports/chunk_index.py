"""The chunk index: words (sparse BM25) and meaning (dense) of the content."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from armillary_core.domain.query import Filter, Hits, LegUnavailable, SparseVector


@dataclass(frozen=True, slots=True)
class Point:
    """One chunk as an engine holds it."""

    key: int  # ChunkKey
    document: int  # pk
    revision: int
    words: SparseVector  # term-frequency part of BM25
    meaning: Sequence[float] | None  # normalised; None while there is no vector
    payload: dict[str, str | int | list[str] | list[int]]  # by domain.query.Field


class ChunkIndex(Protocol):
    """Derived; may be deleted at any time. Methods raise BackendUnavailableError or BackendRejectedError."""

    async def upsert(self, points: Sequence[Point]) -> None:
        """Make points searchable before returning; a known key is replaced; then every point of the same documents
        with an older revision is gone."""

    async def delete_documents(self, pks: Iterable[int]) -> None:
        """Forget every point of these documents; an unknown one is a no-op."""

    async def by_words(
        self, query: SparseVector, *, filter: Filter | None, limit: int, deadline_seconds: float = 2.0
    ) -> Hits | LegUnavailable:
        """Best first by dot product; ties by key. Points that share no token are left out."""

    async def by_meaning(
        self, query: Sequence[float], *, filter: Filter | None, limit: int, deadline_seconds: float = 2.0
    ) -> Hits | LegUnavailable:
        """Best first by cosine; ties by key. Points without a vector and those at zero or below are left out.
        Unavailable while no point has a vector, and for a question of another length."""

    async def vectors(self, keys: Sequence[int]) -> dict[int, list[float]]:
        """Dense vectors of these points; unknown ones and those without are left out."""

    async def count(self, *, filter: Filter | None = None, with_meaning: bool = False) -> int: ...

    async def tidy(self) -> None:
        """Give back the room of deleted points; called when idle."""

    async def clear(self) -> None: ...

    async def close(self) -> None: ...
