"""The text of a card chunk: what is searched and embedded of a card."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from armillary_core.domain.card import Card

_SEPARATORS = re.compile(r"[/._\-\s]+")


def card_text(
    *, title: str | None, path: bytes, headings: Sequence[str], summary: str | None, keywords: Sequence[str]
) -> str:
    """Title, words of the path, headings, summary and keywords, a line each; empty ones are left out."""
    words = " ".join(part for part in _SEPARATORS.split(path.decode("utf-8", "replace")) if part)
    lines = [
        title or "",
        words,
        " · ".join(headings[:40])[:2000],
        (summary or "")[:2000],
        ", ".join(keywords)[:2000],
    ]
    return "\n".join(line for line in lines if line.strip())


def text_of_card(card: Card) -> str:
    """card_text over what the card shows: enrichment first, the base layer where it is silent."""
    return card_text(
        title=card.document.title,
        path=card.document.path,
        headings=card.headings,
        summary=card.summary,
        keywords=card.keywords,
    )


def text_hash(breadcrumb: str, text: str) -> str:
    """The key of the vector cache: SHA-256 hex of what is embedded."""
    return hashlib.sha256(f"{breadcrumb}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()
