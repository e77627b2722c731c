"""Cost of one search at the use case: wall and CPU milliseconds, by mode, over some 20,000 chapters.

    python tests/bench/search.py PAGES WORK

Vectors are random: what is measured is the engines' work and the real embedding of each question, not relevance.
MODELS=FOLDER names the folder that holds the default model; without it only keyword search is measured.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import sys
import time
from pathlib import Path

import numpy as np

from armillary_core.bootstrap.container import Core, open_core
from armillary_core.domain.job import ReindexMode
from armillary_core.domain.project import ProjectName
from armillary_core.domain.query import Mode, SearchQuery
from armillary_core.domain.token import LOCAL_OWNER
from armillary_core.ports.catalogue.outbox import Engine
from armillary_core.ports.embedder import ModelFacts
from armillary_core.settings.model import FastembedEmbedding, NoEmbedding, Settings

COPIES = 4  # 5,000 pages with one chapter each, four times under other words: 20,000 chapters
ROUNDS = 3


async def go_on(_done: int, _total: int) -> bool:
    return True


def multiply(pages: Path, work: Path) -> Path:
    """Copies of the pages whose text differs, so that they are no copies to the product."""
    folder = work / "tldr-x4"
    if not folder.exists():
        for page in pages.rglob("*.md"):
            text = page.read_text(encoding="utf-8")
            for number in range(COPIES):
                target = folder / f"part{number}" / page.relative_to(pages)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(f"{text}\n\nEdition {number} of this page.\n" if number else text, encoding="utf-8")
    return folder


async def settle_vectors(core: Core) -> None:
    """A random unit vector for every chunk, through the cache as the embedder would."""
    facts = core.embedder.facts()
    assert isinstance(facts, ModelFacts)
    random = np.random.default_rng(1)
    while missing := core.catalogue.vectors.missing(facts.fingerprint, limit=2000):
        made = random.standard_normal((len(missing), facts.dimensions)).astype("<f4")
        made /= np.linalg.norm(made, axis=1, keepdims=True)
        core.catalogue.vectors.put(
            facts.fingerprint, {row.text_hash: v.tobytes() for row, v in zip(missing, made, strict=True)}
        )
    await core.dispatcher.drain()


async def measure(core: Core, mode: Mode, questions: list[str]) -> None:
    wall, cpu = [], []
    for question in [questions[0], *questions * ROUNDS]:
        started, used = time.perf_counter(), time.process_time()
        await core.search(SearchQuery(question, mode=mode, limit=10), LOCAL_OWNER)
        wall.append((time.perf_counter() - started) * 1000)
        cpu.append((time.process_time() - used) * 1000)
    wall, cpu = sorted(wall[1:]), cpu[1:]
    print(
        f"{mode:8} p50 {statistics.median(wall):5.1f} ms  p95 {wall[int(len(wall) * 0.95)]:5.1f} ms"
        f"  CPU {statistics.mean(cpu):5.1f} ms a call  ({len(wall)} calls)",
        flush=True,
    )


async def main() -> None:
    pages, work = Path(sys.argv[1]), Path(sys.argv[2])
    models = os.environ.get("MODELS")
    data = work / ("search-model" if models else "search")
    if models and not (data / "models").exists():
        data.mkdir(parents=True, exist_ok=True)
        (data / "models").symlink_to(models, target_is_directory=True)
    settings = Settings(data=data, embedding=FastembedEmbedding(fetch=False) if models else NoEmbedding())
    questions = [item["q"] for item in json.loads((Path(__file__).parent / "tldr_questions.json").read_text())]
    questions += [page.stem.replace("-", " ") for page in sorted(pages.rglob("*.md"))[62::125]]
    async with open_core(settings) as core:
        core.catalogue.projects.put(ProjectName("tldr"), root=str(multiply(pages, work)))
        await core.scan(ProjectName("tldr"), ReindexMode.UPDATE, progress=go_on)
        while sum([await core.dispatcher.run_once(engine) for engine in Engine]):
            pass
        if models:
            await settle_vectors(core)
        counts = core.catalogue.projects.counts([ProjectName("tldr")])[ProjectName("tldr")]
        print(f"{counts.documents} documents, {counts.chapters} chapters, {counts.chunks} chunks")
        for mode in (Mode.KEYWORD, *((Mode.SEMANTIC, Mode.HYBRID) if models else ())):
            await measure(core, mode, questions)


asyncio.run(main())
