"""A card: what the scan knows of a document and what an agent or person added."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass, field
from enum import StrEnum

from armillary_core.domain.document import Document, DocumentId
from armillary_core.domain.errors import InvalidRequestError


class CardState(StrEnum):
    EMPTY = "empty"
    ENRICHED = "enriched"
    STALE = "stale"
    DESYNC = "desync"
    DIVERGED = "diverged"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class BaseLayer:
    """What a card holds for free, recomputed with every extraction: headings, first paragraph, front matter."""

    headings: tuple[str, ...] = ()
    summary: str | None = None
    keywords: tuple[str, ...] = ()
    date: str | None = None  # YYYY-MM-DD
    type: str | None = None


@dataclass(frozen=True, slots=True)
class Enrichment:
    """What cannot be recomputed from the file."""

    type: str | None = None
    summary: str | None = None
    keywords: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    date: str | None = None  # YYYY-MM-DD
    enriched_at: float = 0.0  # seconds since the epoch
    enriched_by: str = ""
    content_hash: str | None = None  # of the document when it was enriched


@dataclass(frozen=True, slots=True)
class CardChange:
    """Fields to write; None leaves a field as it is, an empty value clears it."""

    type: str | None = None
    summary: str | None = None
    keywords: tuple[str, ...] | None = None
    headings: tuple[str, ...] | None = None
    date: str | None = None

    @property
    def is_empty(self) -> bool:
        return all(value is None for value in (self.type, self.summary, self.keywords, self.headings, self.date))


@dataclass(frozen=True, slots=True)
class Card:
    document: Document
    base: BaseLayer = field(default_factory=BaseLayer)
    enrichment: Enrichment | None = None
    diverged_from: tuple[DocumentId, ...] = ()

    @property
    def id(self) -> DocumentId:
        return self.document.id

    @property
    def is_stale(self) -> bool:
        return self.enrichment is not None and self.enrichment.content_hash != self.document.content_hash

    @property
    def states(self) -> tuple[CardState, ...]:
        """Every state that applies, the most pressing first."""
        found: list[CardState] = []
        if not self.document.present:
            found.append(CardState.DESYNC)
        if self.document.state == "failed":
            found.append(CardState.FAILED)
        if self.diverged_from:
            found.append(CardState.DIVERGED)
        if self.enrichment is None:
            found.append(CardState.EMPTY)
        else:
            found.append(CardState.STALE if self.is_stale else CardState.ENRICHED)
        return tuple(found)

    # Shown values: enrichment first, the base layer where it is silent.
    @property
    def type(self) -> str | None:
        return (self.enrichment.type if self.enrichment else None) or self.base.type

    @property
    def summary(self) -> str | None:
        return (self.enrichment.summary if self.enrichment else None) or self.base.summary

    @property
    def keywords(self) -> tuple[str, ...]:
        return (self.enrichment.keywords if self.enrichment else ()) or self.base.keywords

    @property
    def headings(self) -> tuple[str, ...]:
        return (self.enrichment.headings if self.enrichment else ()) or self.base.headings

    @property
    def date(self) -> str | None:
        return (self.enrichment.date if self.enrichment else None) or self.base.date


@dataclass(frozen=True, slots=True)
class CardEvent:
    """One line of a card's history."""

    at: float
    by: str
    change: dict[str, object]  # the fields that were written


_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def checked_date(text: str) -> str:
    """A calendar date YYYY-MM-DD, or "" to clear. Raises InvalidRequestError."""
    if text == "":
        return text
    try:
        if not _DATE.fullmatch(text):
            raise ValueError
        datetime.date.fromisoformat(text)
    except ValueError:
        raise InvalidRequestError(
            f"date {text[:40]!r} is not a calendar date. Write YYYY-MM-DD, or an empty string to clear it."
        ) from None
    return text
