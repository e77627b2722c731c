"""The embedded card index: tantivy in this process."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from tantivy import Document, Index, IndexWriter, Occur, Query, Schema, Searcher
from typing_extensions import override

from armillary_core.adapters.cards.tantivy_documents import (
    CARD_ITSELF,
    CHAPTER,
    FINGERPRINT,
    KIND,
    build_schema,
    entries_of,
    register_analyzers,
)
from armillary_core.adapters.cards.tantivy_filters import compile_filter
from armillary_core.adapters.cards.tantivy_queries import NameQueries, class_of
from armillary_core.domain.errors import BackendRejectedError, BackendUnavailableError, IndexOutdatedError
from armillary_core.domain.query import Field, Filter, LegUnavailable, MatchClass, NameHit, NameHits
from armillary_core.ports.card_index import CardIndex
from armillary_core.ports.catalogue.outbox import CardIndexState
from armillary_core.text.names import has_name

T = TypeVar("T")

_STAMP: Final = "fingerprint"
_HEAP: Final = 15_000_000  # bytes; the least that is comfortable, since the whole process has 200 MB
_TIE_ROOM: Final = 32  # hits fetched past the limit, so that ties at the cut are seen
_LONGEST_QUERY: Final = 1_000  # characters


class TantivyCardIndex(CardIndex):
    """Cards and chapter names in one folder, written by one process. Searches see the last finished write."""

    fingerprint = FINGERPRINT

    def __init__(self, folder: Path, index: Index, schema: Schema, writer: IndexWriter) -> None:
        self._folder = folder
        self._index = index
        self._schema = schema
        self._writer: IndexWriter | None = writer
        self._meta = folder / "meta.json"
        self._seen = 0  # mtime of that file when the searcher last looked
        self._is_open = True
        self._writing = ThreadPoolExecutor(max_workers=1, thread_name_prefix="card-index")

    @classmethod
    def open(cls, folder: Path) -> TantivyCardIndex:
        """The index in this folder, made when the folder is empty.

        Raises:
            IndexOutdatedError: it was written with another schema, or is broken. Delete the folder.
            BackendUnavailableError: another process has it open, or the disk refuses.
        """
        with _plain_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
            stamp = folder / _STAMP
            if not stamp.exists() and any(folder.iterdir()):
                raise IndexOutdatedError(f"The card index in {folder} was never finished; delete the folder.")
            if stamp.exists() and stamp.read_text(encoding="utf-8", errors="replace") != cls.fingerprint:
                raise IndexOutdatedError(f"The card index in {folder} was written by another version; delete it.")
            index, schema = _open_index(folder)
            writer = index.writer(heap_size=_HEAP, num_threads=1)
            if not stamp.exists():
                stamp.write_text(cls.fingerprint, encoding="utf-8")
        return cls(folder, index, schema, writer)

    @override
    async def upsert(self, states: Sequence[CardIndexState]) -> None:
        newest = {state.pk: state for state in states}

        def write(writer: IndexWriter) -> None:
            for state in newest.values():
                writer.delete_documents_by_term(Field.DOCUMENT.value, state.pk)
                for entry in self._entries(state):
                    writer.add_document(entry)

        if newest:
            await self._write(write)

    @override
    async def delete(self, pks: Iterable[int]) -> None:
        gone = list(pks)

        def write(writer: IndexWriter) -> None:
            for pk in gone:
                writer.delete_documents_by_term(Field.DOCUMENT.value, pk)

        if gone:
            await self._write(write)

    @override
    async def search(
        self, text: str, *, filter: Filter | None, limit: int, deadline_seconds: float = 1.0
    ) -> NameHits | LegUnavailable:
        asked = text[:_LONGEST_QUERY].encode("utf-8", "replace").decode("utf-8")
        if limit <= 0 or not has_name(asked):
            return NameHits(())
        deadline = time.monotonic() + deadline_seconds
        try:
            async with asyncio.timeout(deadline_seconds):
                return await asyncio.to_thread(self._find, asked, filter, limit, deadline)
        except TimeoutError:
            return LegUnavailable(f"the card index gave no answer within {deadline_seconds:g} s")
        except (BackendUnavailableError, BackendRejectedError) as trouble:
            return LegUnavailable(trouble.message)

    @override
    async def count(self) -> int:
        def count_cards() -> int:
            cards = Query.term_query(self._schema, KIND, "card", "basic")
            with _plain_errors(self._folder):
                result = self._searcher().search(cards, 1, count=True)
                return int(result.count or 0)  # type: ignore[attr-defined]  # the library's stub forgets it

        return await asyncio.to_thread(count_cards)

    @override
    async def clear(self) -> None:
        await self._write(lambda writer: writer.delete_all_documents())

    @override
    async def close(self) -> None:
        if self._is_open:
            self._is_open = False
            await asyncio.get_running_loop().run_in_executor(self._writing, self._let_go)
            self._writing.shutdown(wait=False)

    # ------------------------------------------------------------------ searching, in any thread

    def _searcher(self) -> Searcher:
        if not self._is_open:
            raise BackendUnavailableError("The card index is closed.")
        with contextlib.suppress(FileNotFoundError):
            written = self._meta.stat().st_mtime_ns
            if written != self._seen:  # a commit, or a merge in the background: fewer segments are faster
                self._index.reload()
                self._seen = written
        return self._index.searcher()

    def _find(self, text: str, wanted: Filter | None, limit: int, deadline: float) -> NameHits:
        """Better classes first; a looser one is asked only while there is room and time."""
        began = time.perf_counter()
        with _plain_errors(self._folder):
            searcher = self._searcher()
            queries = NameQueries(text, self._schema, searcher)
            condition = None if wanted is None else compile_filter(wanted, self._schema)
            found: dict[tuple[int, int], NameHit] = {}
            if queries.is_path:
                self._add(found, MatchClass.EXACT, searcher, queries.exact(), condition, limit)
                if found:  # nobody who gives a path wants its words
                    return NameHits(tuple(found.values()), (time.perf_counter() - began) * 1000)
            for score, place in self._best(searcher, queries.best(), condition, limit):
                match, within = class_of(score)
                found[place] = _hit(place, match, within)
            if not found and time.monotonic() < deadline:  # mistakes are looked for when nothing is as it was typed
                self._add(found, MatchClass.FUZZY, searcher, queries.fuzzy(), condition, limit)
            if len(found) < limit and time.monotonic() < deadline:
                self._add(found, MatchClass.PARTIAL, searcher, queries.partial(), condition, limit)
        return NameHits(tuple(found.values())[:limit], (time.perf_counter() - began) * 1000)

    def _add(
        self,
        found: dict[tuple[int, int], NameHit],
        match: MatchClass,
        searcher: Searcher,
        query: Query | None,
        condition: Query | None,
        limit: int,
    ) -> None:
        if query is not None:
            for score, place in self._best(searcher, query, condition, limit + len(found)):
                found.setdefault(place, _hit(place, match, min(score, 1.0)))

    def _best(
        self, searcher: Searcher, query: Query, condition: Query | None, limit: int
    ) -> list[tuple[float, tuple[int, int]]]:
        """Best first, ties by document and chapter. The engine cuts ties as it likes, so hits are fetched until that
        tie has ended."""
        if condition is not None:
            query = Query.boolean_query(
                [(Occur.Must, query), (Occur.Must, Query.const_score_query(condition, 0.0))],
            )
        fetch = limit + _TIE_ROOM
        while True:
            hits = searcher.search(query, fetch, count=False).hits
            if len(hits) < fetch or hits[-1][0] < hits[limit - 1][0]:
                break
            fetch *= 8
        addresses = [address for _, address in hits]
        documents = searcher.fast_field_values(Field.DOCUMENT.value, addresses)
        chapters = searcher.fast_field_values(CHAPTER, addresses)
        places = zip((int(pk or 0) for pk in documents), (int(ordinal or 0) for ordinal in chapters), strict=True)
        scored = [(float(hit[0]), place) for hit, place in zip(hits, places, strict=True)]
        scored.sort(key=lambda item: (-item[0], item[1]))
        return scored[:limit]

    # ------------------------------------------------------------------ writing, in the index's own thread

    async def _write(self, change: Callable[[IndexWriter], None]) -> None:
        if not self._is_open:
            raise BackendUnavailableError("The card index is closed.")
        await asyncio.get_running_loop().run_in_executor(self._writing, partial(self._commit, change))

    def _commit(self, change: Callable[[IndexWriter], None]) -> None:
        """All of a change or nothing of it."""
        with _plain_errors(self._folder):
            if self._writer is None:
                raise BackendUnavailableError("The card index is closed.")
            try:
                change(self._writer)
                self._writer.commit()
            except BaseException:
                self._writer.rollback()
                raise

    def _entries(self, state: CardIndexState) -> list[Document]:
        try:
            return list(entries_of(state, self._schema))
        except (ValueError, TypeError, OverflowError) as wrong:
            raise BackendRejectedError(f"The card index refused {state.card.id}: {_first_line(wrong)}") from wrong

    def _let_go(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            with _plain_errors(self._folder):
                writer.wait_merging_threads()


def _hit(place: tuple[int, int], match: MatchClass, score: float) -> NameHit:
    pk, ordinal = place
    return NameHit(document=pk, chapter=None if ordinal == CARD_ITSELF else ordinal, match=match, score=score)


def _open_index(folder: Path) -> tuple[Index, Schema]:
    schema = build_schema()
    try:
        index = Index(schema, path=str(folder))
        register_analyzers(index)
        index.config_reader("manual")
        index.reload()
    except ValueError as broken:
        if _is_full(broken):
            raise
        raise IndexOutdatedError(f"The card index in {folder} cannot be read; delete the folder.") from broken
    return index, schema


def _is_full(error: BaseException) -> bool:
    return "No space left" in str(error)


@contextlib.contextmanager
def _plain_errors(folder: Path) -> Iterator[None]:
    """The binding raises ValueError for nearly everything, and a panic that is no Exception at all."""
    try:
        yield
    except (BackendUnavailableError, BackendRejectedError, IndexOutdatedError):
        raise
    except (TypeError, OverflowError, UnicodeError) as wrong:  # a value the binding cannot take
        raise BackendRejectedError(f"The card index refused a value: {_first_line(wrong)}") from wrong
    except Exception as trouble:
        words = _first_line(trouble)
        if "LockBusy" in words or "Lockfile" in words:
            raise BackendUnavailableError(
                f"The card index in {folder} is in use by another process. Stop it, or give this one its own folder."
            ) from trouble
        raise BackendUnavailableError(f"The card index failed: {words}") from trouble
    except BaseException as panic:
        if type(panic).__name__ != "PanicException":
            raise
        raise BackendUnavailableError(f"The card index failed: {_first_line(panic)}") from panic


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0][:300]
