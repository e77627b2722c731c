"""A small world for tests of search: a real catalogue, fake engines, and documents analysed as the product does."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from armillary_core.adapters.catalogue.sqlite import SqliteCatalogue
from armillary_core.domain.card import BaseLayer
from armillary_core.domain.ingest import Indexed
from armillary_core.domain.passage import Passage, SearchAnswer
from armillary_core.domain.project import ProjectName, ProjectState
from armillary_core.domain.query import Mode, SearchQuery
from armillary_core.domain.token import LOCAL_OWNER, Caller
from armillary_core.text.cards import card_text, text_hash
from armillary_core.text.chunking import chunk_document
from armillary_core.text.language import detect_language
from armillary_core.text.tokens import count_tokens
from armillary_core.usecases.dispatch import Dispatcher
from armillary_core.usecases.embed import EmbedMissing
from armillary_core.usecases.search import Search
from armillary_core.usecases.search_policy import SearchPolicy
from armillary_core.usecases.similar import FindSimilar
from factories import make_chapters, make_indexed, make_stamp
from fakes import FakeCardIndex, FakeChunkIndex, FakeClock, FakeEmbedder

GUEST = Caller(name="guest")  # every shared project


def analysed(text: str, path: str, *, language: str | None = None, **fields: object) -> Indexed:
    """A Markdown-like document as extraction would hand it over."""
    base = fields.pop("base", None)
    layer = base if isinstance(base, BaseLayer) else None
    plain = make_indexed(text, path=path.encode(), base=layer, **fields)  # type: ignore[arg-type] # named by the test
    spoken = language or detect_language(text)
    chunked = chunk_document(text, make_chapters(text), title=plain.text.title, language=spoken)
    shown = card_text(
        title=plain.text.title,
        path=path.encode(),
        headings=plain.text.base.headings,
        summary=plain.text.base.summary,
        keywords=plain.text.base.keywords,
    )
    card = count_tokens(shown, spoken)
    return replace(
        plain,
        language=spoken,
        chunks=chunked.chunks,
        card_terms=card.terms,
        card_hash=text_hash("", shown) if len(chunked.chunks) != 1 else None,
        words={**chunked.words, **card.words},
    )


@dataclass
class SearchWorld:
    catalogue: SqliteCatalogue
    cards: FakeCardIndex
    chunks: FakeChunkIndex
    embedder: FakeEmbedder
    clock: FakeClock
    policy: SearchPolicy = field(default_factory=SearchPolicy)
    made: int = 0

    def __post_init__(self) -> None:
        self.dispatcher = Dispatcher(self.catalogue, self.cards, self.chunks, self.embedder)
        self.search = Search(self.catalogue, self.cards, self.chunks, self.embedder, self.clock, self.policy)
        self.similar = FindSimilar(self.catalogue, self.chunks, self.embedder, self.clock, self.policy)

    def project(self, name: str, *, private: bool = False, state: ProjectState = ProjectState.OK) -> ProjectName:
        made = self.catalogue.projects.put(ProjectName(name), root=f"/projects/{name}", private=private)
        self.catalogue.projects.set_state(made.name, state)
        return made.name

    def store(self, project: str, documents: Mapping[str, str | Indexed]) -> list[int]:
        """Into the catalogue only; the engines have not heard of it."""
        if self.catalogue.projects.get(ProjectName(project)) is None:
            self.project(project)
        outcomes = []
        for path, document in documents.items():
            self.made += 1
            outcome = analysed(document, path) if isinstance(document, str) else document
            outcomes.append((path.encode(), make_stamp(inode=self.made), outcome))
        return self.catalogue.ingest.store(ProjectName(project), outcomes)

    async def add(self, project: str, documents: Mapping[str, str | Indexed], *, embed: bool = True) -> list[int]:
        """Stored, embedded and told to the engines."""
        pks = self.store(project, documents)
        await self.settle(embed=embed)
        return pks

    async def settle(self, *, embed: bool = True) -> None:
        if embed:
            while await EmbedMissing(self.catalogue, self.embedder).run_once():
                pass
        await self.dispatcher.drain()

    async def ask(
        self, text: str, caller: Caller = LOCAL_OWNER, *, mode: Mode = Mode.KEYWORD, **fields: object
    ) -> SearchAnswer:
        return await self.search(SearchQuery(text, mode=mode, **fields), caller)  # type: ignore[arg-type] # likewise

    async def found(self, text: str, caller: Caller = LOCAL_OWNER, **fields: object) -> list[str]:
        """Ids in order, each document once."""
        answer = await self.ask(text, caller, **fields)  # type: ignore[arg-type] # likewise
        return documents_of(answer.passages)


def documents_of(passages: Iterable[Passage]) -> list[str]:
    return list(dict.fromkeys(str(passage.document) for passage in passages))


@asynccontextmanager
async def open_search_world(
    folder: Path, *, languages: tuple[str, ...] = (), policy: SearchPolicy | None = None
) -> AsyncIterator[SearchWorld]:
    clock = FakeClock()
    embedder = FakeEmbedder(languages=languages)
    catalogue = SqliteCatalogue.open(folder / "catalogue.sqlite3", now=clock.now)
    try:
        yield SearchWorld(catalogue, FakeCardIndex(), FakeChunkIndex(64), embedder, clock, policy or SearchPolicy())
    finally:
        catalogue.close()
