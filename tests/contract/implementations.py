"""Which implementations of a port its contract is run over. A new engine is one line here; servers carry a marker."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TypeAlias

import pytest

from armillary_core.adapters.cards.tantivy import TantivyCardIndex
from armillary_core.adapters.chunks.edge import EdgeChunkIndex
from armillary_core.ports.card_index import CardIndex
from armillary_core.ports.chunk_index import ChunkIndex
from fakes import FakeCardIndex, FakeChunkIndex

OpenCardIndex: TypeAlias = Callable[[Path], AbstractAsyncContextManager[CardIndex]]
OpenChunkIndex: TypeAlias = Callable[[Path], AbstractAsyncContextManager[ChunkIndex]]


@asynccontextmanager
async def fake_cards(_folder: Path) -> AsyncIterator[CardIndex]:
    index = FakeCardIndex()
    yield index
    await index.close()


@asynccontextmanager
async def tantivy_cards(folder: Path) -> AsyncIterator[CardIndex]:
    index = TantivyCardIndex.open(folder)
    yield index
    await index.close()


@asynccontextmanager
async def fake_chunks(_folder: Path) -> AsyncIterator[ChunkIndex]:
    index = FakeChunkIndex()
    yield index
    await index.close()


@asynccontextmanager
async def edge_chunks(folder: Path) -> AsyncIterator[ChunkIndex]:
    index = EdgeChunkIndex.open(folder, dimensions=None)
    yield index
    await index.close()


CARD_INDEX_IMPLEMENTATIONS = [
    pytest.param(fake_cards, id="fake"),
    pytest.param(tantivy_cards, id="tantivy"),
]

CHUNK_INDEX_IMPLEMENTATIONS = [
    pytest.param(fake_chunks, id="fake"),
    pytest.param(edge_chunks, id="edge"),
]
