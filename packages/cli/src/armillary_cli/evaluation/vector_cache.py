"""Vectors kept from one evaluation to the next, whatever becomes of the index: embedding a set costs minutes."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
from array import array
from collections.abc import Sequence
from pathlib import Path

from typing_extensions import override

from armillary_core.ports.embedder import Embedder, EmbedderUnavailable, ModelFacts


class CachedEmbedder(Embedder):
    """Another embedder, asked only for passages that no evaluation has embedded yet."""

    def __init__(self, inner: Embedder, file: Path) -> None:
        self._inner = inner
        file.parent.mkdir(parents=True, exist_ok=True)
        self._database = sqlite3.connect(file, isolation_level=None, check_same_thread=False, timeout=60)
        self._database.execute("PRAGMA journal_mode=WAL")
        self._database.execute("CREATE TABLE IF NOT EXISTS vector (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID")
        self.asked = 0
        self.made = 0

    @override
    def facts(self) -> ModelFacts | EmbedderUnavailable:
        return self._inner.facts()

    @override
    async def query(self, text: str) -> list[float] | EmbedderUnavailable:
        return await self._inner.query(text)

    @override
    async def passages(self, texts: Sequence[str]) -> list[list[float]] | EmbedderUnavailable:
        facts = self._inner.facts()
        if isinstance(facts, EmbedderUnavailable):
            return facts
        keys = [
            hashlib.sha256(f"{facts.fingerprint}\0{text}".encode("utf-8", "surrogatepass")).digest() for text in texts
        ]
        known = await asyncio.to_thread(self._read, keys)
        absent = [index for index, key in enumerate(keys) if key not in known]
        self.asked += len(texts)
        self.made += len(absent)
        if absent:
            made = await self._inner.passages([texts[index] for index in absent])
            if isinstance(made, EmbedderUnavailable):
                return made
            fresh = dict(zip((keys[index] for index in absent), made, strict=True))
            await asyncio.to_thread(self._write, fresh)
            known |= fresh
        return [known[key] for key in keys]

    @override
    async def close(self) -> None:
        self._database.close()

    def _read(self, keys: Sequence[bytes]) -> dict[bytes, list[float]]:
        found: dict[bytes, list[float]] = {}
        for key in keys:
            row = self._database.execute("SELECT value FROM vector WHERE key = ?", (key,)).fetchone()
            if row is not None:
                values = array("f")
                values.frombytes(row[0])
                found[key] = values.tolist()
        return found

    def _write(self, vectors: dict[bytes, list[float]]) -> None:
        self._database.execute("BEGIN IMMEDIATE")
        self._database.executemany(
            "INSERT OR REPLACE INTO vector VALUES (?, ?)",
            [(key, array("f", values).tobytes()) for key, values in vectors.items()],
        )
        self._database.execute("COMMIT")
