"""Cards and enrichment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from armillary_core.domain.card import Card, CardChange, CardEvent
from armillary_core.domain.project import ProjectName


@dataclass(frozen=True, slots=True)
class CardListing:
    """Filters and order of a list of cards; dates are inclusive, undated cards drop out when a bound is set."""

    projects: tuple[ProjectName, ...]
    type: str | None = None
    state: str | None = None  # stale (= empty or stale) | empty | desync | diverged | failed
    path: str | None = None  # folder or document path, encoded
    locale: str | None = None
    version: str | None = None
    since: str | None = None
    until: str | None = None
    sort: str = "path"  # path | date | title; undated last
    limit: int = 50
    offset: int = 0
    seen: tuple[ProjectName, ...] | None = None  # diverged means from a document of these projects; None = of any
    after: tuple[ProjectName, bytes] | None = None  # only what follows this (project, path); for sort=path


class CardStore(Protocol):
    def get(self, pk: int) -> Card | None: ...

    def by_pk(self, pks: Iterable[int]) -> dict[int, Card]: ...

    def list(self, listing: CardListing) -> tuple[Sequence[Card], int]:
        """One page and how many match in all (`after` aside); project then path break ties."""

    def update(self, pk: int, change: CardChange, *, by: str, at: float, if_hash: str | None = None) -> Card:
        """Write the passed fields, who and when, a line of history and outbox rows in one transaction that is on
        disk (synchronous=FULL) before this returns. Raises ConflictError when `if_hash` is given and is not the
        document's content hash, DocumentNotFoundError when the document is gone."""

    def clear_divergence(self, pk: int) -> tuple[int, ...]:
        """Clear the flag and return the pks it named; () when there was none."""

    def history(self, pk: int, *, limit: int = 50) -> Sequence[CardEvent]:
        """Newest first."""
