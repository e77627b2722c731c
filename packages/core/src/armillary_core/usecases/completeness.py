"""Completeness is counted, not assumed: what the catalogue expects against what each engine holds."""

from __future__ import annotations

import asyncio

from armillary_core.ports.card_index import CardIndex
from armillary_core.ports.catalogue import Catalogue
from armillary_core.ports.catalogue.outbox import Engine
from armillary_core.ports.chunk_index import ChunkIndex
from armillary_core.ports.clock import Clock

RESEND_SECONDS = 600.0  # an engine that stays wrong is not sent everything every minute


class Completeness:
    """Counts both engines and sends everything again to one whose count is wrong although its outbox is empty."""

    def __init__(self, catalogue: Catalogue, cards: CardIndex, chunks: ChunkIndex, clock: Clock) -> None:
        self._catalogue = catalogue
        self._cards = cards
        self._chunks = chunks
        self._clock = clock
        self._sent_at: dict[Engine, float] = {}

    async def repair(self) -> list[Engine]:
        """Write the counts of both current generations; which engines were sent everything again."""
        names = [project.name for project in await asyncio.to_thread(self._catalogue.projects.all)]
        counts = await asyncio.to_thread(self._catalogue.projects.counts, names)
        documents = sum(count.documents - count.desync for count in counts.values())
        chunks = sum(count.chunks for count in counts.values()) + documents  # and a card chunk each
        short: list[Engine] = []
        for engine, expected, present in (
            (Engine.CARDS, documents, await self._cards.count()),
            (Engine.CHUNKS, chunks, await self._chunks.count()),
        ):
            if await asyncio.to_thread(self._is_settled, engine, expected, present) or self._sent_lately(engine):
                continue
            if present > expected:  # it holds what nobody knows any more
                await (self._cards.clear() if engine is Engine.CARDS else self._chunks.clear())
            await asyncio.to_thread(self._catalogue.outbox.add_all, engine)
            self._sent_at[engine] = self._clock.monotonic()
            short.append(engine)
        return short

    def _sent_lately(self, engine: Engine) -> bool:
        sent = self._sent_at.get(engine)
        return sent is not None and self._clock.monotonic() - sent < RESEND_SECONDS

    def _is_settled(self, engine: Engine, expected: int, present: int) -> bool:
        generation = self._catalogue.generations.current(engine)
        if generation is not None:
            self._catalogue.generations.set_counts(
                generation.id, expected=expected, present=present, at=self._clock.now()
            )
        return present == expected or self._catalogue.outbox.count(engine) > 0
