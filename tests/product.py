"""The whole product in one test: real catalogue, workers and engines in a temporary folder."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from armillary_core.adapters.catalogue.sqlite import SqliteCatalogue
from armillary_core.bootstrap import container
from armillary_core.bootstrap.container import Core, open_core
from armillary_core.bootstrap.embedding import ModelChoice
from armillary_core.domain.card import Card, CardChange
from armillary_core.domain.document import Document
from armillary_core.domain.job import ReindexMode
from armillary_core.domain.passage import SearchAnswer
from armillary_core.domain.project import Project, ProjectName, ProjectSettings
from armillary_core.domain.query import Mode, SearchQuery
from armillary_core.domain.token import LOCAL_OWNER, Caller
from armillary_core.ports.embedder import ModelFacts
from armillary_core.settings.model import NoEmbedding, Settings
from armillary_core.usecases.browse import CardView, DocsQuery
from armillary_core.usecases.enrich import CardWrite
from armillary_core.usecases.ingest import Progress, ScanResult
from fakes import FakeClock, FakeEmbedder


async def _go_on(_done: int, _total: int) -> bool:
    return True


@dataclass(slots=True)
class Product:
    core: Core

    def add(self, name: str, root: Path, *, private: bool = False, settings: ProjectSettings | None = None) -> None:
        self.core.catalogue.projects.put(
            ProjectName(name), root=os.fspath(root), private=private, settings=settings or ProjectSettings()
        )

    async def scan(
        self, name: str, mode: ReindexMode = ReindexMode.UPDATE, *, progress: Progress = _go_on
    ) -> ScanResult:
        """One scan, and everything it changed is told to the engines."""
        result = await self.core.scan(ProjectName(name), mode, progress=progress)
        await self.core.dispatcher.drain()
        return result

    async def dispatcher_idle(self) -> None:
        """Whatever the outbox still holds is told to the engines."""
        await self.core.dispatcher.drain()

    async def embed(self) -> int:
        """Vectors for whatever lacks them, told to the engines; how many."""
        made = 0
        while step := await self.core.embed_missing.run_once():
            made += step
        await self.core.dispatcher.drain()
        return made

    def enrich(self, doc: str, caller: Caller = LOCAL_OWNER, **fields: object) -> Card:
        return self.core.cards_use.update(CardWrite(doc, CardChange(**fields)), caller)  # type: ignore[arg-type]

    def card(self, doc: str, caller: Caller = LOCAL_OWNER) -> CardView:
        return self.core.browse.card(doc, caller)

    def listed(self, project: str | None = None, caller: Caller = LOCAL_OWNER, **filters: object) -> list[str]:
        """Ids of `list_docs`."""
        query = DocsQuery(project=project, limit=200, **filters)  # type: ignore[arg-type] # named by the test
        return [str(card.id) for card in self.core.browse.docs(query, caller).cards]

    def project(self, name: str) -> Project:
        found = self.core.catalogue.projects.get(ProjectName(name))
        assert found is not None
        return found

    async def search(
        self,
        text: str,
        *,
        project: str | None = None,
        mode: Mode = Mode.KEYWORD,
        limit: int = 10,
        caller: Caller = LOCAL_OWNER,
    ) -> SearchAnswer:
        query = SearchQuery(text, mode=mode, project=ProjectName(project) if project else None, limit=limit)
        return await self.core.search(query, caller)

    async def found(self, text: str, *, project: str | None = None) -> list[str]:
        """Document ids that really hold the text searched for, best first."""
        answer = await self.search(text, project=project)
        return [passage.document for passage in answer.passages] if answer.relevant else []

    def documents(self, name: str) -> Mapping[bytes, Document]:
        return {document.path: document for document in self.core.catalogue.documents.in_project(ProjectName(name))}


@asynccontextmanager
async def open_product(
    data: Path, *, clock: FakeClock | None = None, embedder: FakeEmbedder | None = None, **settings: object
) -> AsyncIterator[Product]:
    """Without a model unless an embedder is given; with a clock, the catalogue's time is the test's too."""
    wanted = Settings(data=data, **{"embedding": NoEmbedding(), **settings})  # type: ignore[arg-type]
    with ExitStack() as given:
        if clock is not None:
            _give_clock(given, clock)
        if embedder is not None:
            _give_embedder(given, embedder)
        async with open_core(wanted) as core:
            given.close()
            yield Product(core)


def _give_clock(given: ExitStack, clock: FakeClock) -> None:
    open_catalogue = SqliteCatalogue.open

    def open_with_clock(path: Path) -> SqliteCatalogue:
        return open_catalogue(path, now=clock.now)

    given.enter_context(mock.patch.object(container, "SystemClock", lambda: clock))
    given.enter_context(mock.patch.object(SqliteCatalogue, "open", open_with_clock))


def _give_embedder(given: ExitStack, embedder: FakeEmbedder) -> None:
    down, embedder.down = embedder.down, None
    facts = embedder.facts()
    embedder.down = down
    assert isinstance(facts, ModelFacts)
    choice = ModelChoice(facts.fingerprint, facts.dimensions)
    given.enter_context(mock.patch.object(container, "open_embedder", lambda *_args, **_more: embedder))
    given.enter_context(mock.patch.object(container, "model_choice", lambda *_args: choice))
