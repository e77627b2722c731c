"""Which chunk index runs."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from armillary_core.bootstrap.embedding import ModelChoice
from armillary_core.bootstrap.engines import open_engine
from armillary_core.ports.catalogue import Catalogue
from armillary_core.ports.catalogue.outbox import Engine
from armillary_core.ports.chunk_index import ChunkIndex
from armillary_core.ports.clock import Clock
from armillary_core.settings.model import ChunksEngine, EdgeChunks
from armillary_core.text.tokens import TOKENIZER_VERSION


async def open_chunks(
    settings: ChunksEngine, *, folder: Path, model: ModelChoice | None, catalogue: Catalogue, clock: Clock
) -> ChunkIndex:
    """One generation per schema, tokenizer version and model."""
    match settings:
        case EdgeChunks():
            from armillary_core.adapters.chunks.edge import EdgeChunkIndex

            parts = (EdgeChunkIndex.fingerprint, f"t{TOKENIZER_VERSION}", model.fingerprint if model else "words")
            return await open_engine(
                Engine.CHUNKS,
                "-".join(parts),
                partial(EdgeChunkIndex.open, dimensions=model.dimensions if model else None),
                folder=folder,
                catalogue=catalogue,
                clock=clock,
            )
