"""Tell the engines about documents that changed: current state by revision, so repetition and order do not matter."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from armillary_core.domain.chunk import CARD_ORDINAL, chunk_key
from armillary_core.domain.errors import BackendRejectedError
from armillary_core.domain.facets import facets_of
from armillary_core.ports.card_index import CardIndex
from armillary_core.ports.catalogue import Catalogue
from armillary_core.ports.catalogue.outbox import ChunkState, Engine, OutboxRow
from armillary_core.ports.chunk_index import ChunkIndex, Point
from armillary_core.ports.embedder import Embedder, ModelFacts
from armillary_core.text.bm25 import term_weights
from armillary_core.text.cards import text_hash, text_of_card


@dataclass(frozen=True, slots=True)
class DispatchPolicy:
    chunk_documents: int = 100  # documents a batch
    card_documents: int = 500


class Dispatcher:
    """Empties the outbox of one process. One call at a time per engine."""

    def __init__(
        self,
        catalogue: Catalogue,
        cards: CardIndex,
        chunks: ChunkIndex,
        embedder: Embedder,
        policy: DispatchPolicy | None = None,
    ) -> None:
        self._catalogue = catalogue
        self._cards = cards
        self._chunks = chunks
        self._embedder = embedder
        self._policy = policy or DispatchPolicy()

    async def run_once(self, engine: Engine) -> int:
        """Send one batch; how many documents the engine heard of. Raises BackendUnavailableError (nothing is lost:
        the rows stay)."""
        limit = self._policy.chunk_documents if engine is Engine.CHUNKS else self._policy.card_documents
        rows = await asyncio.to_thread(self._catalogue.outbox.pending, engine, limit=limit)
        if rows:
            await self._send(engine, rows)
        return len(rows)

    async def drain(self) -> int:
        """Send until nothing is waiting; for tests, evaluation and a clean stop."""
        sent = 0
        for engine in Engine:
            while step := await self.run_once(engine):
                sent += step
        return sent

    async def _send(self, engine: Engine, rows: Sequence[OutboxRow]) -> None:
        try:
            if engine is Engine.CHUNKS:
                await self._send_chunks(rows)
            else:
                await self._send_cards(rows)
        except BackendRejectedError as refused:
            if len(rows) == 1:  # the poisoned one: counted, shown, and given up after some attempts
                await asyncio.to_thread(self._catalogue.outbox.failed, engine, rows, refused.message)
                return
            middle = len(rows) // 2
            await self._send(engine, rows[:middle])
            await self._send(engine, rows[middle:])
            return
        await asyncio.to_thread(self._catalogue.outbox.done, engine, rows)

    async def _send_cards(self, rows: Sequence[OutboxRow]) -> None:
        states = await asyncio.to_thread(self._catalogue.outbox.card_states, rows)
        alive = {state.pk for state in states}
        if gone := [row.pk for row in rows if row.pk not in alive]:
            await self._cards.delete(gone)
        if states:
            await self._cards.upsert(states)

    async def _send_chunks(self, rows: Sequence[OutboxRow]) -> None:
        facts = self._embedder.facts()
        model = facts if isinstance(facts, ModelFacts) else None
        points, alive = await asyncio.to_thread(self._points, rows, model)
        if gone := [row.pk for row in rows if row.pk not in alive]:
            await self._chunks.delete_documents(gone)
        if points:
            await self._chunks.upsert(points)

    def _points(self, rows: Sequence[OutboxRow], model: ModelFacts | None) -> tuple[list[Point], set[int]]:
        states = self._catalogue.outbox.chunk_states(rows)
        vectors: dict[str, list[float]] = {}
        if model is not None:
            wanted = {chunk.text_hash for state in states for chunk in state.chunks}
            wanted |= {text_hash("", text_of_card(state.card)) for state in states}
            found = self._catalogue.vectors.get(model.fingerprint, wanted)
            layout = struct.Struct(f"<{model.dimensions}f")
            vectors = {key: list(layout.unpack(raw)) for key, raw in found.items()}
        points = [point for state in states for point in points_of(state, vectors)]
        return points, {state.pk for state in states}


def points_of(state: ChunkState, vectors: dict[str, list[float]]) -> list[Point]:
    """Every point of one document: its chunks and its card chunk."""
    payload = facets_of(state.card)
    points = [
        Point(
            key=chunk_key(state.pk, chunk.ordinal),
            document=state.pk,
            revision=state.revision,
            words=term_weights(chunk.terms, state.average_length),
            meaning=vectors.get(chunk.text_hash),
            payload=payload,
        )
        for chunk in state.chunks
    ]
    points.append(
        Point(
            key=chunk_key(state.pk, CARD_ORDINAL),
            document=state.pk,
            revision=state.revision,
            words=term_weights(state.card_terms, state.average_length),
            meaning=vectors.get(text_hash("", text_of_card(state.card))) if vectors else None,
            payload=payload,
        )
    )
    return points
