"""A small world for tests of the gateway: a real catalogue, a search by plain words, and clients over ASGI."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult

from armillary_core.domain.passage import Completeness, Passage, SearchAnswer
from armillary_core.domain.query import LegReport, Mode, QueryClass, SearchQuery
from armillary_core.domain.token import LOCAL_OWNER, Caller, Right
from armillary_core.ports.catalogue import Catalogue
from armillary_core.ports.embedder import EmbedderUnavailable
from armillary_core.usecases.browse import Browse
from armillary_core.usecases.enrich import Enrich
from armillary_core.usecases.health import Health
from armillary_core.usecases.read import Read
from armillary_core.usecases.reindex import Reindex
from armillary_core.usecases.resolve import Resolve
from armillary_core.usecases.tokens import Tokens
from armillary_gateway.cursors import Cursors
from armillary_gateway.gateway import Gateway, GatewayPolicy
from armillary_gateway.server import HttpApp, build_http_app
from shelves import Shelf, open_shelf

URL = "http://localhost:8420/mcp"


class PlainSearch:
    """Documents that contain every word, as whole passages; what the real search promises, without its ranking."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._resolve = Resolve(catalogue)

    async def __call__(self, query: SearchQuery, caller: Caller) -> SearchAnswer:
        names = self._resolve.names(caller, query.project)
        words = query.text.lower().split()
        found: list[Passage] = []
        for name in names:
            for document in self._catalogue.documents.in_project(name):
                text = self._catalogue.documents.text(document.pk) or ""
                if words and all(word in text.lower() for word in words):
                    found.append(self._passage(document.pk, text, words[0]))
        return answer_of(found, offset=query.offset, limit=query.limit)

    def _passage(self, pk: int, text: str, word: str) -> Passage:
        document = self._catalogue.documents.by_pk([pk])[pk]
        start = text.lower().index(word)
        chapter = next(c for c in self._catalogue.documents.chapters(pk) if c.start <= start < max(c.end, c.start + 1))
        around = text[max(0, start - 80) : start + 200]
        return Passage(
            document=document.id,
            chapter=f"{document.id}#{chapter.anchor}",  # type: ignore[arg-type]
            title=document.title or "",
            heading_path=chapter.path,
            lines=(chapter.start_line, chapter.end_line),
            page=None,
            start=chapter.start,
            end=chapter.end,
            text=text[chapter.start : chapter.end],
            snippet=around,
            score=0.5,
        )

    async def similar(self, doc: str, caller: Caller, *, project: str | None = None, limit: int = 5) -> SearchAnswer:
        own = self._resolve.document(doc, caller)
        names = self._resolve.names(caller, project)
        documents = [d for name in names for d in self._catalogue.documents.in_project(name) if d.pk != own.pk]
        texts = {d.pk: text for d in documents if (text := self._catalogue.documents.text(d.pk))}
        passages = [self._passage(pk, text, "") for pk, text in list(texts.items())[:limit]]
        return answer_of(passages, offset=0, limit=limit)


def answer_of(passages: list[Passage], *, offset: int, limit: int, **changes: object) -> SearchAnswer:
    found = SearchAnswer(
        passages=tuple(passages[offset : offset + limit]),
        mode=Mode.KEYWORD,
        query_class=QueryClass.QUESTION,
        legs=(LegReport("words", "ok", hits=len(passages)), LegReport("names", "ok")),
        completeness=Completeness(len(passages), len(passages), len(passages), len(passages)),
        total=len(passages),
        relevant=bool(passages),
        generation="g1",
    )
    return replace(found, **changes)  # type: ignore[arg-type]


class NoModel:
    def facts(self) -> EmbedderUnavailable:
        return EmbedderUnavailable("no model in tests")


class World:
    """A shelf and the gateway to it."""

    def __init__(self, shelf: Shelf, gateway: Gateway) -> None:
        self.shelf, self.gateway = shelf, gateway
        self.catalogue, self.clock = shelf.catalogue, shelf.clock
        self.project, self.add, self.find = shelf.project, shelf.add, shelf.find

    def token(self, name: str, *rights: Right, projects: Iterable[str] | None = None, days: float | None = None) -> str:
        wanted = None if projects is None else list(projects)
        made = self.gateway.tokens.create(name, LOCAL_OWNER, rights=rights or (Right.READ,), projects=wanted, days=days)
        return made.secret

    @property
    def app(self) -> HttpApp:
        return build_http_app(self.gateway)

    def with_policy(self, **changes: object) -> World:
        policy = replace(self.gateway.policy, **changes)  # type: ignore[arg-type]
        return World(self.shelf, replace(self.gateway, policy=policy))


def make_world(folder: Path, *, doc_types: dict[str, str] | None = None) -> World:
    """An empty world in a folder; close its catalogue."""
    shelf = open_shelf(folder)
    catalogue, clock = shelf.catalogue, shelf.clock
    search = PlainSearch(catalogue)
    gateway = Gateway(
        search=search,
        find_similar=search.similar,
        read=Read(catalogue),
        browse=Browse(catalogue, doc_types=doc_types),
        enrich=Enrich(catalogue, clock, doc_types=doc_types),
        tokens=Tokens(catalogue, clock),
        reindex=Reindex(catalogue, clock),
        health=Health(catalogue, clock, NoModel(), versions={"armillary": "0.0.0"}),  # type: ignore[arg-type]
        clock=clock,
        cursors=Cursors(catalogue.secret("cursors")),
        policy=GatewayPolicy(reindex_wait_seconds=0.0),
    )
    return World(shelf, gateway)


@asynccontextmanager
async def http_client(app: HttpApp, *, token: str | None = None, base: str = URL) -> AsyncIterator[httpx2.AsyncClient]:
    """Raw HTTP against a running application, without a socket."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with (
        app.running(),
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app), headers=headers, base_url=base) as http,
    ):
        yield http


@asynccontextmanager
async def mcp_client(app: HttpApp, *, token: str | None = None, mode: str = "auto") -> AsyncIterator[Client]:
    """The SDK's client over the whole HTTP stack."""
    async with (
        http_client(app, token=token) as http,
        Client(streamable_http_client(URL, http_client=http), mode=mode) as client,
    ):
        yield client


def text_of(result: CallToolResult) -> str:
    return "\n".join(part.text for part in result.content if part.type == "text")
