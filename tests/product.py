"""The whole product in one test: real catalogue, workers and engines in a temporary folder."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from armillary_core.bootstrap.container import Core, open_core
from armillary_core.domain.document import Document
from armillary_core.domain.job import ReindexMode
from armillary_core.domain.passage import SearchAnswer
from armillary_core.domain.project import ProjectName, ProjectSettings
from armillary_core.domain.query import Mode, SearchQuery
from armillary_core.domain.token import LOCAL_OWNER, Caller
from armillary_core.settings.model import NoEmbedding, Settings
from armillary_core.usecases.ingest import ScanResult


async def _go_on(_done: int, _total: int) -> bool:
    return True


@dataclass(slots=True)
class Product:
    core: Core

    def add(self, name: str, root: Path, *, private: bool = False, settings: ProjectSettings | None = None) -> None:
        self.core.catalogue.projects.put(
            ProjectName(name), root=os.fspath(root), private=private, settings=settings or ProjectSettings()
        )

    async def scan(self, name: str, mode: ReindexMode = ReindexMode.UPDATE) -> ScanResult:
        """One scan, and everything it changed is told to the engines."""
        result = await self.core.scan(ProjectName(name), mode, progress=_go_on)
        await self.core.dispatcher.drain()
        return result

    async def dispatcher_idle(self) -> None:
        """Whatever the outbox still holds is told to the engines."""
        await self.core.dispatcher.drain()

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
async def open_product(data: Path) -> AsyncIterator[Product]:
    async with open_core(Settings(data=data, embedding=NoEmbedding())) as core:
        yield Product(core)
