"""Fill in the vectors that are missing, whenever there is a model."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from armillary_core.domain.chunk import CARD_ORDINAL
from armillary_core.ports.catalogue import Catalogue
from armillary_core.ports.catalogue.vectors import Missing
from armillary_core.ports.embedder import Embedder, EmbedderUnavailable, ModelFacts
from armillary_core.text.cards import text_hash, text_of_card

# Written in Latin letters: what an English-only model can make something of. Documents in other scripts are left to
# the words leg, where such a model would only put them in a random order.
# fmt: off
LATIN_LANGUAGES = (
    "af", "az", "bs", "ca", "cs", "cy", "da", "de", "en", "eo", "es", "et", "eu", "fi", "fr",
    "ga", "gl", "hr", "hu", "id", "is", "it", "la", "lb", "lt", "lv", "ms", "mt", "nb", "nl",
    "nn", "no", "pl", "pt", "ro", "sk", "sl", "sq", "sv", "sw", "tl", "tr", "uz", "vi",
)
# fmt: on


def vector_languages(model: ModelFacts) -> tuple[str, ...] | None:
    """Languages whose documents get vectors of this model; None = every language."""
    return LATIN_LANGUAGES if model.languages == ("en",) else model.languages or None


@dataclass(frozen=True, slots=True)
class EmbedPolicy:
    texts: int = 128  # a call: some seconds of work, lost when the process dies in the middle


class EmbedMissing:
    """Embeds what lacks a vector of the current model; equal text is embedded once, ever."""

    def __init__(self, catalogue: Catalogue, embedder: Embedder, policy: EmbedPolicy | None = None) -> None:
        self._catalogue = catalogue
        self._embedder = embedder
        self._policy = policy or EmbedPolicy()

    async def run_once(self) -> int:
        """Embed one portion; how many texts got their vector. 0 when nothing is missing or no model is there."""
        facts = self._embedder.facts()
        if isinstance(facts, EmbedderUnavailable):
            return 0
        texts = await asyncio.to_thread(self._missing_texts, facts)
        if not texts:
            return 0
        vectors = await self._embedder.passages(list(texts.values()))
        if isinstance(vectors, EmbedderUnavailable):
            return 0
        packed = {key: _packed(vector) for key, vector in zip(texts, vectors, strict=True)}
        await asyncio.to_thread(self._catalogue.vectors.put, facts.fingerprint, packed)
        return len(packed)

    async def remaining(self) -> int | None:
        """How many texts lack a vector; None without a model."""
        facts = self._embedder.facts()
        if isinstance(facts, EmbedderUnavailable):
            return None
        languages = vector_languages(facts)
        return await asyncio.to_thread(self._catalogue.vectors.count_missing, facts.fingerprint, languages=languages)

    def _missing_texts(self, model: ModelFacts) -> dict[str, str]:
        """Text to embed by its hash. What changed since it was listed is left out: it is listed anew."""
        rows = self._catalogue.vectors.missing(
            model.fingerprint, limit=self._policy.texts, languages=vector_languages(model)
        )
        found = self._chunk_texts([row for row in rows if row.ordinal != CARD_ORDINAL])
        found.update(self._card_texts([row for row in rows if row.ordinal == CARD_ORDINAL]))
        return found

    def _chunk_texts(self, rows: Sequence[Missing]) -> dict[str, str]:
        texts = self._catalogue.documents.texts({row.pk for row in rows}) if rows else {}
        found: dict[str, str] = {}
        for row in rows:
            text = texts.get(row.pk, "")[row.start : row.end]
            if text_hash(row.breadcrumb, text) == row.text_hash:
                found[row.text_hash] = f"{row.breadcrumb}\n{text}" if row.breadcrumb else text
        return found

    def _card_texts(self, rows: Sequence[Missing]) -> dict[str, str]:
        cards = self._catalogue.cards.by_pk({row.pk for row in rows}) if rows else {}
        found: dict[str, str] = {}
        for row in rows:
            text = text_of_card(cards[row.pk]) if row.pk in cards else ""
            if text_hash("", text) == row.text_hash:
                found[row.text_hash] = text
        return found


def _packed(vector: Sequence[float]) -> bytes:
    """float32, little-endian."""
    values = array("f", vector)
    if array("H", [1]).tobytes() != b"\1\0":
        values.byteswap()
    return values.tobytes()
