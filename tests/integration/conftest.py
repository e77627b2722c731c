"""One product a module, with a clock and an embedder that the test owns."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from fakes import FakeClock, FakeEmbedder
from product import Product, open_product


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(scope="module")
def embedder() -> FakeEmbedder:
    return FakeEmbedder()


@pytest.fixture(scope="module")
async def product(
    clock: FakeClock, embedder: FakeEmbedder, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Product]:
    async with open_product(tmp_path_factory.mktemp("data"), clock=clock, embedder=embedder) as opened:
        yield opened
