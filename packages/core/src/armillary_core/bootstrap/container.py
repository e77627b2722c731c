"""Opens everything, hands it out, and closes everything in order even when one of them fails."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial

from armillary_core.adapters.clock import SystemClock
from armillary_core.bootstrap.cards import open_cards
from armillary_core.bootstrap.catalogue import open_catalogue
from armillary_core.bootstrap.chunks import open_chunks
from armillary_core.bootstrap.disk import has_room
from armillary_core.bootstrap.embedding import model_choice, models_folder, open_embedder
from armillary_core.bootstrap.source import open_extraction, open_source, open_watcher
from armillary_core.bootstrap.usecases import health_of, projects_of
from armillary_core.ports.card_index import CardIndex
from armillary_core.ports.catalogue import Catalogue
from armillary_core.ports.chunk_index import ChunkIndex
from armillary_core.ports.clock import Clock
from armillary_core.ports.embedder import Embedder
from armillary_core.ports.extraction import Extraction
from armillary_core.ports.source import Source
from armillary_core.ports.watcher import Watcher
from armillary_core.settings.model import Settings
from armillary_core.usecases.browse import Browse
from armillary_core.usecases.completeness import Completeness
from armillary_core.usecases.dispatch import Dispatcher
from armillary_core.usecases.embed import EmbedMissing
from armillary_core.usecases.enrich import Enrich
from armillary_core.usecases.health import Health
from armillary_core.usecases.ingest import ScanPolicy, ScanProject
from armillary_core.usecases.projects import Projects
from armillary_core.usecases.read import Read
from armillary_core.usecases.reindex import Reindex
from armillary_core.usecases.search import Search
from armillary_core.usecases.search_policy import SearchPolicy
from armillary_core.usecases.similar import FindSimilar
from armillary_core.usecases.tokens import Tokens


@dataclass(frozen=True, slots=True)
class Core:
    """Ports and use cases of one process, all open."""

    settings: Settings
    clock: Clock
    catalogue: Catalogue
    cards: CardIndex
    chunks: ChunkIndex
    embedder: Embedder
    source: Source
    watcher: Watcher
    extraction: Extraction
    search: Search
    find_similar: FindSimilar
    read: Read
    browse: Browse
    cards_use: Enrich
    tokens: Tokens
    projects: Projects
    reindex: Reindex
    health: Health
    scan: ScanProject
    dispatcher: Dispatcher
    embed_missing: EmbedMissing
    completeness: Completeness
    has_room: Callable[[], bool]  # on the disk of the data folder, for indexing to go on


@asynccontextmanager
async def open_core(settings: Settings) -> AsyncIterator[Core]:
    """Everything, ready to answer. Raises SettingsError or BackendError in one line."""
    clock = SystemClock()
    engines = settings.data / "engines"
    async with AsyncExitStack() as opened:
        catalogue = opened.enter_context(open_catalogue(settings))
        embedder = open_embedder(settings.embedding, folder=models_folder(settings))
        opened.push_async_callback(embedder.close)
        cards = await open_cards(settings.cards, folder=engines, catalogue=catalogue, clock=clock)
        opened.push_async_callback(cards.close)
        model = await asyncio.to_thread(model_choice, settings.embedding, embedder)
        chunks = await open_chunks(settings.chunks, folder=engines, model=model, catalogue=catalogue, clock=clock)
        opened.push_async_callback(chunks.close)
        source, watcher, extraction = open_source(), open_watcher(), open_extraction(settings.limits)
        opened.push_async_callback(extraction.close)
        yield Core(
            settings=settings,
            clock=clock,
            catalogue=catalogue,
            cards=cards,
            chunks=chunks,
            embedder=embedder,
            source=source,
            watcher=watcher,
            extraction=extraction,
            search=Search(catalogue, cards, chunks, embedder, clock, _search_policy(settings)),
            find_similar=FindSimilar(catalogue, chunks, embedder, clock),
            read=Read(catalogue),
            browse=Browse(catalogue, doc_types=settings.doc_types),
            cards_use=Enrich(catalogue, clock, doc_types=settings.doc_types),
            tokens=Tokens(catalogue, clock),
            projects=projects_of(settings, catalogue),
            reindex=Reindex(catalogue, clock),
            health=health_of(settings, catalogue, embedder=embedder, watch_modes=watcher.modes),
            scan=ScanProject(
                catalogue, source, extraction, clock, ScanPolicy(backup_folder=str(settings.data / "backups"))
            ),
            dispatcher=Dispatcher(catalogue, cards, chunks, embedder),
            embed_missing=EmbedMissing(catalogue, embedder),
            completeness=Completeness(catalogue, cards, chunks, clock),
            has_room=partial(has_room, settings.data),
        )


def _search_policy(settings: Settings) -> SearchPolicy:
    limits = settings.limits
    return SearchPolicy(
        words_seconds=limits.words_seconds,
        meaning_seconds=limits.meaning_seconds,
        names_seconds=limits.names_seconds,
    )
