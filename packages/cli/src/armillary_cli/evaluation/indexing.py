"""A judged set as projects of the product, indexed by the product's own ingestion."""

from __future__ import annotations

import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from armillary_cli.evaluation.judged_sets import Unpacked
from armillary_cli.evaluation.vector_cache import CachedEmbedder
from armillary_core.bootstrap.container import Core, open_core
from armillary_core.domain.job import ReindexMode
from armillary_core.domain.project import ProjectName, ProjectState
from armillary_core.domain.token import LOCAL_OWNER
from armillary_core.ports.embedder import ModelFacts
from armillary_core.settings.model import FastembedEmbedding, NoEmbedding, Settings
from armillary_core.usecases.embed import EmbedMissing, EmbedPolicy


def project_of(set_name: str, part: str) -> ProjectName:
    return ProjectName(f"{set_name}-{part}" if part else set_name)


@asynccontextmanager
async def indexed(set_name: str, unpacked: Unpacked, work: Path, model: str | None) -> AsyncIterator[Core]:
    """The product over this set, everything in its engines; the index of an earlier call is brought up to date.

    Raises BackendUnavailableError when a model is asked for and cannot be had.
    """
    data = unpacked.folder / f"data-{model or 'no-model'}"
    data.mkdir(parents=True, exist_ok=True)
    if not (data / "models").exists():
        (work / "models").mkdir(exist_ok=True)
        (data / "models").symlink_to(work / "models")
    embedding = FastembedEmbedding(model=model) if model else NoEmbedding()
    async with open_core(Settings(data=data, embedding=embedding)) as core:
        core.catalogue.ingest.extraction_changed(core.extraction.fingerprint)
        for part in unpacked.parts:
            await _scan(core, project_of(set_name, part), unpacked.root(part))
        await core.dispatcher.drain()
        if model:
            await _embed(core, work / "vectors.sqlite3")
        await core.completeness.repair()
        await core.dispatcher.drain()
        yield core


async def _scan(core: Core, name: ProjectName, root: Path) -> None:
    if core.catalogue.projects.get(name) is None:
        core.projects.add(str(root), LOCAL_OWNER, name=name)
    started, cpu = time.perf_counter(), time.process_time()

    async def go_on(done: int, total: int) -> bool:
        return True

    result = await core.scan(name, ReindexMode.CLEAN, progress=go_on)
    if result.state != ProjectState.OK or result.failed:
        tell(f"  {name}: {result.state} {result.reason or ''}")
        for document in core.catalogue.documents.failed(name, limit=5):
            tell(f"    failed: {document.id}: {document.reason}")
    counts = core.catalogue.projects.counts([name])[name]
    tell(
        f"  {name}: {counts.documents} documents, {counts.chunks} chunks, {result.new + result.changed} read in "
        f"{time.perf_counter() - started:.1f} s ({time.process_time() - cpu:.1f} CPU s here)"
    )


async def _embed(core: Core, vectors: Path) -> None:
    facts = core.embedder.facts()
    if not isinstance(facts, ModelFacts):
        from armillary_core.domain.errors import BackendUnavailableError

        raise BackendUnavailableError(facts.reason)
    embedder = CachedEmbedder(core.embedder, vectors)
    fill = EmbedMissing(core.catalogue, embedder, EmbedPolicy(texts=512))
    started = time.perf_counter()
    total = await fill.remaining() or 0
    done = 0
    while step := await fill.run_once():
        done += step
        if sys.stderr.isatty():
            print(f"\r  {done}/{total} vectors", end="", file=sys.stderr, flush=True)
    await embedder.close()
    if done:
        tell(f"  {done} vectors, {embedder.made} of them new, in {time.perf_counter() - started:.0f} s")


def tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
