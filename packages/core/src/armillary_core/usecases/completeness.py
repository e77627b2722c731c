"""Completeness is counted, not assumed: what the catalogue expects against what each engine holds."""

from __future__ import annotations

import asyncio

from armillary_core.ports.card_index import CardIndex
from armillary_core.ports.catalogue import Catalogue
from armillary_core.ports.catalogue.outbox import Engine
from armillary_core.ports.chunk_index import ChunkIndex
from armillary_core.ports.clock import Clock


class Completeness:
    """Counts both engines and sends everything again to one that is short although its outbox is empty."""

    def __init__(self, catalogue: Catalogue, cards: CardIndex, chunks: ChunkIndex, clock: Clock) -> None:
        self._catalogue = catalogue
        self._cards = cards
        self._chunks = chunks
        self._clock = clock

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
            if await asyncio.to_thread(self._settle, engine, expected, present):
                short.append(engine)
        return short

    def _settle(self, engine: Engine, expected: int, present: int) -> bool:
        generation = self._catalogue.generations.current(engine)
        if generation is not None:
            self._catalogue.generations.set_counts(
                generation.id, expected=expected, present=present, at=self._clock.now()
            )
        if present == expected or self._catalogue.outbox.count(engine):
            return False
        self._catalogue.outbox.add_all(engine)
        return True
