"""The embedded chunk index: Qdrant Edge in this process, its graph switched off."""

from __future__ import annotations

import asyncio
import contextlib
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import ClassVar, TypeAlias, TypeVar, cast

import qdrant_edge as qe
from typing_extensions import override

from armillary_core.adapters.chunks.edge_filters import Condition, compile_filter
from armillary_core.adapters.chunks.edge_folder import (
    MEANING,
    SCHEMA,
    WORDS,
    create_shard,
    is_empty,
    load_shard,
    plain_errors,
    remove_contents,
    write_stamp,
)
from armillary_core.domain.errors import BackendUnavailableError, IndexOutdatedError
from armillary_core.domain.query import Field, Filter, Hit, Hits, LegUnavailable, SparseVector
from armillary_core.ports.chunk_index import ChunkIndex, Point

T = TypeVar("T")
PointId: TypeAlias = int | str | uuid.UUID  # the engine's; ours are integers
Vector: TypeAlias = list[float] | list[list[float]] | qe.SparseVector

_REVISION = "revision"
_SLICE = 16  # points a call: the binding holds the interpreter lock, so a call must be short
_TIE_ROOM = 16  # hits fetched past the limit, so that ties at the cut are seen
_PAGE = 10_000
_FLUSH_EVERY = 20_000  # points; a flush stops the world for a tenth of a second, the log grows by 30 MB without one


class EdgeChunkIndex(ChunkIndex):
    """Chunks in one folder, owned by one process. All calls run one after another in one thread of its own."""

    fingerprint: ClassVar[str] = SCHEMA  # of what is stored; part of the folder's name

    def __init__(self, folder: Path, shard: qe.EdgeShard, dimensions: int | None) -> None:
        self._folder = folder
        self._shard: qe.EdgeShard | None = shard
        self._dimensions = dimensions
        self._unflushed = 0  # changes that only the log holds
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="chunk-index")

    @classmethod
    def open(cls, folder: Path, *, dimensions: int | None) -> EdgeChunkIndex:
        """The index in this folder, made when the folder is empty; `dimensions` is the model's, None without one.

        Raises:
            IndexOutdatedError: it was written by another schema or model, or is broken. Delete the folder.
            BackendUnavailableError: another process has it open, or the disk refuses.
        """
        shard, held = (create_shard(folder), None) if is_empty(folder) else load_shard(folder)
        index = cls(folder, shard, held)
        if dimensions is not None and held != dimensions:
            if held is not None:
                index._close()
                raise IndexOutdatedError(
                    f"The chunk index in {folder} holds vectors of {held} numbers, the model makes {dimensions}."
                )
            index._add_meaning(dimensions)
        return index

    @property
    def dimensions(self) -> int | None:
        """Length of the vectors it holds; None while it has no room for any."""
        return self._dimensions

    async def ensure_meaning(self, dimensions: int) -> None:
        """Make room for vectors of this length; a no-op when it is there. Raises IndexOutdatedError for another."""
        await self._run(partial(self._add_meaning, dimensions))

    @override
    async def upsert(self, points: Sequence[Point]) -> None:
        if not points:
            return
        first = next((point.meaning for point in points if point.meaning is not None), None)
        if first is not None and self._dimensions is None:
            await self.ensure_meaning(len(first))
        for start in range(0, len(points), _SLICE):
            await self._run(partial(self._write, points[start : start + _SLICE]))
        await self._run(partial(self._delete_older, points))

    @override
    async def delete_documents(self, pks: Iterable[int]) -> None:
        wanted = list(pks)
        if wanted:
            condition = qe.FieldCondition(key=Field.DOCUMENT.value, match=qe.MatchAny(wanted))
            operation = qe.UpdateOperation.delete_points_by_filter(qe.Filter(must=[condition]))
            await self._run(lambda: self._apply(operation, len(wanted)))

    @override
    async def by_words(
        self, query: SparseVector, *, filter: Filter | None, limit: int, deadline_seconds: float = 2.0
    ) -> Hits | LegUnavailable:
        if not query.ids:
            return Hits(())
        vector = qe.SparseVector(list(query.ids), list(query.weights))
        return await self._search(vector, WORDS, filter, limit, deadline_seconds)

    @override
    async def by_meaning(
        self, query: Sequence[float], *, filter: Filter | None, limit: int, deadline_seconds: float = 2.0
    ) -> Hits | LegUnavailable:
        if self._dimensions is None:
            return LegUnavailable("no passage has a vector yet")
        if len(query) != self._dimensions:
            return LegUnavailable(
                f"the index holds vectors of {self._dimensions} numbers, the model makes {len(query)}"
            )
        return await self._search(list(query), MEANING, filter, limit, deadline_seconds)

    @override
    async def vectors(self, keys: Sequence[int]) -> dict[int, list[float]]:
        if not keys or self._dimensions is None:
            return {}

        def read() -> dict[int, list[float]]:
            records = self._open_shard.retrieve(list(keys), with_payload=False, with_vector=[MEANING])
            found = {}
            for record in records:
                meaning = record.vector.get(MEANING) if isinstance(record.vector, dict) else None
                if isinstance(meaning, list):
                    found[cast(int, record.id)] = cast(list[float], meaning)
            return found

        return await self._run(read)

    @override
    async def count(self, *, filter: Filter | None = None, with_meaning: bool = False) -> int:
        if with_meaning and self._dimensions is None:
            return 0
        parts: list[Condition] = [] if filter is None else [compile_filter(filter)]
        if with_meaning:
            parts.append(qe.HasVectorCondition(MEANING))
        request = qe.CountRequest(exact=True, filter=qe.Filter(must=parts) if parts else None)
        return await self._run(lambda: int(self._open_shard.count(request)))

    @override
    async def tidy(self) -> None:
        # Without a graph the engine's optimizer only drops deleted points, and only when a fifth of a segment is gone.
        def vacuum() -> None:
            if self._open_shard.optimize() or self._unflushed:
                self._flush()

        await self._run(vacuum)

    @override
    async def clear(self) -> None:
        def start_anew() -> None:
            dimensions = self._dimensions
            self._close()
            remove_contents(self._folder)
            self._shard, self._dimensions = create_shard(self._folder), None
            if dimensions is not None:
                self._add_meaning(dimensions)

        await self._run(start_anew)

    @override
    async def close(self) -> None:
        with contextlib.suppress(RuntimeError):  # closed before
            await asyncio.get_running_loop().run_in_executor(self._thread, self._close)
        self._thread.shutdown(wait=False)

    # ------------------------------------------------------------------ in the index's own thread

    @property
    def _open_shard(self) -> qe.EdgeShard:
        if self._shard is None:
            raise BackendUnavailableError("The chunk index is closed.")
        return self._shard

    def _apply(self, operation: qe.UpdateOperation, changes: int) -> None:
        """What this returns from survives a killed process: it is in the log."""
        self._open_shard.update(operation)
        self._unflushed += changes
        if self._unflushed >= _FLUSH_EVERY:
            self._flush()

    def _flush(self) -> None:
        self._open_shard.flush()
        self._unflushed = 0

    def _write(self, points: Sequence[Point]) -> None:
        self._apply(qe.UpdateOperation.upsert_points([_edge_point(point) for point in points]), len(points))

    def _delete_older(self, points: Sequence[Point]) -> None:
        """Points of these documents that an older revision left behind."""
        newest: dict[int, int] = {}
        for point in points:
            newest[point.document] = max(point.revision, newest.get(point.document, point.revision))
        documents = qe.FieldCondition(key=Field.DOCUMENT.value, match=qe.MatchAny(list(newest)))
        just_written = qe.HasIdCondition({point.key for point in points})
        others = qe.Filter(must=[documents], must_not=[just_written])
        offset: PointId | None = None
        old: list[PointId] = []
        while True:
            request = qe.ScrollRequest(
                offset=offset, limit=_PAGE, filter=others, with_payload=[Field.DOCUMENT.value, _REVISION]
            )
            records, offset = self._open_shard.scroll(request)
            for record in records:
                payload = record.payload or {}
                if payload[_REVISION] < newest[payload[Field.DOCUMENT.value]]:
                    old.append(record.id)
            if offset is None:
                break
        if old:
            self._apply(qe.UpdateOperation.delete_points(old), len(old))

    def _best(self, vector: Vector, using: str, wanted: Filter | None, limit: int) -> Hits:
        """Best first, ties by key. The engine cuts ties as it likes, so hits are fetched until that tie has ended."""
        began = time.perf_counter()
        condition = None if wanted is None else compile_filter(wanted)
        fetch = limit + _TIE_ROOM
        while True:
            request = qe.QueryRequest(
                query=qe.Query.Nearest(vector, using=using), limit=fetch, filter=condition, with_payload=False
            )
            found = self._open_shard.query(request)
            if len(found) < fetch or found[-1].score < found[limit - 1].score:
                break
            fetch *= 4
        hits = sorted((Hit(cast(int, point.id), point.score) for point in found if point.score > 0), key=_order)
        return Hits(tuple(hits[:limit]), (time.perf_counter() - began) * 1000)

    def _add_meaning(self, dimensions: int) -> None:
        if self._dimensions == dimensions:
            return
        if self._dimensions is not None:
            raise IndexOutdatedError(
                f"The chunk index holds vectors of {self._dimensions} numbers, the model makes {dimensions}."
            )
        operation = qe.UpdateOperation.create_dense_vector(MEANING, dimensions, qe.Distance.Cosine)
        with plain_errors(self._folder):
            self._open_shard.update(operation)
        write_stamp(self._folder, dimensions)
        self._dimensions = dimensions

    def _close(self) -> None:
        shard, self._shard = self._shard, None
        if shard is not None:
            with plain_errors(self._folder):
                shard.flush()
                shard.close()

    # ------------------------------------------------------------------ from the loop

    async def _search(
        self, vector: Vector, using: str, wanted: Filter | None, limit: int, deadline_seconds: float
    ) -> Hits | LegUnavailable:
        if limit <= 0:
            return Hits(())
        try:
            async with asyncio.timeout(
                deadline_seconds
            ):  # a call that waits is taken back, one that runs is left alone
                return await self._run(partial(self._best, vector, using, wanted, limit))
        except TimeoutError:
            return LegUnavailable(f"the chunk index gave no answer within {deadline_seconds:g} s")
        except BackendUnavailableError as trouble:
            return LegUnavailable(trouble.message)

    async def _run(self, call: Callable[[], T]) -> T:
        def guarded() -> T:
            with plain_errors(self._folder):
                return call()

        try:
            future = asyncio.get_running_loop().run_in_executor(self._thread, guarded)
        except RuntimeError:  # the thread is gone
            raise BackendUnavailableError("The chunk index is closed.") from None
        return await future


def _order(hit: Hit) -> tuple[float, int]:
    return -hit.score, hit.key


def _edge_point(point: Point) -> qe.Point:
    vectors: dict[str, Vector] = {WORDS: qe.SparseVector(list(point.words.ids), list(point.words.weights))}
    if point.meaning is not None:
        vectors[MEANING] = list(point.meaning)
    payload = {**point.payload, Field.DOCUMENT.value: point.document, _REVISION: point.revision}
    return qe.Point(point.key, vectors, payload)
