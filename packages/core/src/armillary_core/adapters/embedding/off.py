"""No embedder: search by meaning is switched off and says so."""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override

from armillary_core.ports.embedder import Embedder, EmbedderUnavailable


class NoEmbedder(Embedder):
    def __init__(self, reason: str) -> None:
        self._unavailable = EmbedderUnavailable(reason)

    @override
    def facts(self) -> EmbedderUnavailable:
        return self._unavailable

    @override
    async def query(self, text: str) -> EmbedderUnavailable:
        return self._unavailable

    @override
    async def passages(self, texts: Sequence[str]) -> EmbedderUnavailable:
        return self._unavailable

    @override
    async def close(self) -> None:
        return
