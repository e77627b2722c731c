"""The card index: cards and chapter names, what a person types."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from armillary_core.domain.query import Filter, LegUnavailable, NameHits
from armillary_core.ports.catalogue.outbox import CardIndexState


class CardIndex(Protocol):
    """Derived; may be deleted at any time. Methods raise BackendUnavailableError or BackendRejectedError."""

    fingerprint: str  # schema of what is stored: another one means another generation

    async def upsert(self, states: Sequence[CardIndexState]) -> None:
        """Make cards and their chapter names findable before returning; a known document is replaced."""

    async def delete(self, pks: Iterable[int]) -> None:
        """Forget documents; an unknown one is a no-op."""

    async def search(
        self, text: str, *, filter: Filter | None, limit: int, deadline_seconds: float = 1.0
    ) -> NameHits | LegUnavailable:
        """Cards and chapters by title, file name, path, heading, keyword, exact before prefix before words before
        fuzzy before partial matches; the score depends on the match alone, never on other documents. The same
        question gives the same order. Blank or punctuation-only text finds nothing."""

    async def count(self) -> int:
        """Documents present."""

    async def clear(self) -> None: ...

    async def close(self) -> None: ...
