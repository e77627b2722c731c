"""The indexer's loops over a real product: what is added, saved, moved, lost or broken while it runs."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from armillary_core.bootstrap.container import Core
from armillary_core.domain.job import JobKind, JobState, ReindexMode
from armillary_core.domain.project import ProjectName, ProjectSettings, ProjectState
from armillary_core.domain.query import Mode
from armillary_core.domain.token import LOCAL_OWNER
from armillary_core.ports.watcher import Watcher
from armillary_indexer import service
from armillary_indexer.service import run_indexer
from fakes import FakeEmbedder
from product import Product, open_product
from trees import write

pytestmark = [pytest.mark.anyio, pytest.mark.enable_socket]

NOTES = ProjectName("notes")


@asynccontextmanager
async def indexing(core: Core) -> AsyncIterator[None]:
    stop = asyncio.Event()
    task = asyncio.create_task(run_indexer(core, stop=stop))
    try:
        yield
    finally:
        stop.set()
        await asyncio.wait_for(task, 15)


async def wait_for(condition: Callable[[], bool | Awaitable[bool]], *, seconds: float = 20.0) -> float:
    """Until the condition holds; how long that took."""
    started = time.monotonic()
    while True:
        held = condition()
        if held if isinstance(held, bool) else await held:
            return time.monotonic() - started
        assert time.monotonic() - started < seconds, f"not true after {seconds} seconds"
        await asyncio.sleep(0.02)


@pytest.fixture
async def product(tmp_path: Path) -> AsyncIterator[Product]:
    async with open_product(tmp_path / "data") as opened:
        yield opened


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return write(tmp_path / "notes", {"tides.md": "# Tides\n\nThe spring tide.\n", "keys.md": "# Keys\n\nRotate.\n"})


def finds(product: Product, text: str, *documents: str) -> Callable[[], Awaitable[bool]]:
    async def look() -> bool:
        return await product.found(text) == list(documents)

    return look


async def test_projects_come_change_and_go_while_it_runs(product: Product, notes: Path, tmp_path: Path) -> None:
    async with indexing(product.core):
        product.add("notes", notes)
        assert await wait_for(finds(product, "spring tide", "notes::tides.md")) < 10, "a second on a quiet machine"
        product.enrich("notes::tides.md", summary="About sizygy")
        assert await wait_for(finds(product, "sizygy", "notes::tides.md")) < 10
        product.add("notes", notes, settings=ProjectSettings(ignore_files=("keys*",)))
        await wait_for(lambda: list(product.documents("notes")) == [b"tides.md"])
        moved = notes.rename(tmp_path / "elsewhere")
        write(moved, {"wind.md": "# Wind\n\nThe trade wind.\n"})
        product.add("notes", moved)
        await wait_for(finds(product, "trade wind", "notes::wind.md"))
        assert product.card("notes::tides.md").card.summary == "About sizygy"
        product.core.catalogue.projects.remove(NOTES)
        await wait_for(finds(product, "trade wind"))
        await wait_for(finds(product, "sizygy"))


async def test_saves_renames_and_deletions_are_found_soon(product: Product, notes: Path) -> None:
    product.add("notes", notes)
    async with indexing(product.core):
        await wait_for(finds(product, "spring tide", "notes::tides.md"))
        await wait_for(lambda: NOTES in product.core.watcher.modes())
        write(notes, {"new.md": "# New\n\nA zeppelin.\n"})
        assert await wait_for(finds(product, "zeppelin", "notes::new.md")) < 10, "two seconds on a quiet machine"
        write(notes, {"new.md.tmp~": "# New\n\nA balloon.\n"})
        (notes / "new.md.tmp~").rename(notes / "new.md")
        await wait_for(finds(product, "balloon", "notes::new.md"))
        (notes / "new.md").rename(notes / "older.md")
        await wait_for(finds(product, "balloon", "notes::older.md"))
        (notes / "older.md").unlink()
        await wait_for(finds(product, "balloon"))


async def test_a_mount_that_goes_and_comes_back_needs_nobody(product: Product, notes: Path, tmp_path: Path) -> None:
    product.add("notes", notes)
    async with indexing(product.core):
        await wait_for(finds(product, "spring tide", "notes::tides.md"))
        await wait_for(lambda: NOTES in product.core.watcher.modes())
        notes.rename(tmp_path / "away")
        await wait_for(lambda: product.project("notes").state is ProjectState.UNREACHABLE)
        assert await product.found("spring tide") == ["notes::tides.md"]
        (tmp_path / "away").rename(notes)
        await wait_for(lambda: product.project("notes").state is ProjectState.OK)
        assert len(product.documents("notes")) == 2


async def test_a_scan_that_was_stopped_goes_on_at_the_next_start(product: Product, tmp_path: Path) -> None:
    root = write(tmp_path / "many", {f"n{number:04}.md": f"# Page {number}\n\nabout toads\n" for number in range(1500)})
    product.add("many", root)
    name = ProjectName("many")
    async with indexing(product.core):
        await wait_for(lambda: product.core.catalogue.projects.counts([name])[name].documents > 0)
    read = product.core.catalogue.projects.counts([name])[name].documents
    assert 0 < read < 1500
    async with indexing(product.core):
        took = await wait_for(lambda: product.project("many").state is ProjectState.OK)
        assert took < service.LEASE_SECONDS - 2, "nobody waits for the lease of a job that was handed back"
    assert product.core.catalogue.projects.counts([name])[name].documents == 1500


async def test_a_job_that_keeps_killing_its_process_is_given_up_and_the_next_one_runs(
    product: Product, notes: Path
) -> None:
    product.add("notes", notes)
    jobs = product.core.catalogue.jobs
    job = jobs.add(JobKind.SCAN, NOTES, ReindexMode.UPDATE, at=1.0)
    for attempt in range(service.MAX_ATTEMPTS):
        assert jobs.claim(worker=f"dead {attempt}", at=float(attempt), lease_seconds=0.5) is not None
    async with indexing(product.core):
        await wait_for(finds(product, "spring tide", "notes::tides.md"))
    given_up = jobs.get(job.id)
    assert given_up is not None
    assert given_up.state is JobState.FAILED
    assert "its process died 5 times" in (given_up.error or "")


async def test_what_another_version_extracted_is_read_again_at_the_start(product: Product, notes: Path) -> None:
    product.add("notes", notes)
    await product.scan("notes")
    product.core.catalogue.ingest.extraction_changed("another version")
    async with indexing(product.core):
        await wait_for(
            lambda: any((job.result or {}).get("changed") == 2 for job in product.core.catalogue.jobs.recent())
        )


async def test_an_engine_emptied_while_it_runs_is_filled_again(
    product: Product, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "COUNT_SECONDS", 0.1)
    product.add("notes", notes)
    async with indexing(product.core):
        await wait_for(finds(product, "spring tide", "notes::tides.md"))
        await product.core.chunks.clear()
        await product.core.cards.clear()
        await wait_for(finds(product, "spring tide", "notes::tides.md"))
        report = await product.search("tides.md")
        assert report.passages[0].document == "notes::tides.md"


async def test_a_model_that_comes_back_makes_vectors_for_every_document_that_lacks_them(
    tmp_path: Path, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "MODEL_SECONDS", 0.1)
    embedder = FakeEmbedder()
    embedder.down = "the model is not installed"
    async with open_product(tmp_path / "data", embedder=embedder) as product:
        product.add("notes", notes)
        async with indexing(product.core):
            await wait_for(finds(product, "spring tide", "notes::tides.md"))
            answer = await product.search("spring tide", mode=Mode.AUTO)
            meaning = next(leg for leg in answer.legs if leg.name == "meaning")
            assert (meaning.state, "not installed" in meaning.reason) == ("unavailable", True)
            embedder.down = None

            async def has_vectors() -> bool:
                return await product.core.chunks.count(with_meaning=True) == 2

            await wait_for(has_vectors)
            answer = await product.search("spring tide", mode=Mode.SEMANTIC)
            assert answer.passages[0].document == "notes::tides.md"
            write(notes, {"wind.md": "# Wind\n\nThe trade wind.\n"})
            embedder.down = "the model was removed"
            await wait_for(finds(product, "trade wind", "notes::wind.md"))
            assert await product.core.chunks.count(with_meaning=True) == 2, "what had a vector keeps it"


class DeafWatcher(Watcher):
    """Fails as soon as it is asked."""

    async def changes(  # type: ignore[override]
        self, roots: Callable[[], Mapping[ProjectName, str]], *, stop: asyncio.Event
    ) -> AsyncGenerator[set[ProjectName], None]:
        raise OSError("no watches left")
        yield set()

    def modes(self) -> dict[ProjectName, str]:
        return {}


async def test_a_loop_that_fails_stops_no_other(product: Product, notes: Path) -> None:
    product.add("notes", notes)
    async with indexing(replace(product.core, watcher=DeafWatcher())):
        await wait_for(finds(product, "spring tide", "notes::tides.md"))


async def test_a_full_disk_pauses_indexing_and_nothing_else(
    product: Product, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "ROOM_SECONDS", 0.1)
    product.add("notes", notes)
    room = [True]
    async with indexing(replace(product.core, has_room=lambda: room[0])):
        await wait_for(finds(product, "spring tide", "notes::tides.md"))
        await wait_for(lambda: not product.core.catalogue.jobs.active())
        room[0] = False
        await asyncio.sleep(0.2)  # a job that had been claimed by then may run
        write(notes, {"wind.md": "# Wind\n\nThe trade wind.\n"})
        product.core.catalogue.jobs.add(JobKind.SCAN, NOTES, at=1.0)
        product.enrich("notes::tides.md", summary="About sizygy")
        await wait_for(finds(product, "sizygy", "notes::tides.md"))
        (job,) = product.core.catalogue.jobs.active()
        assert (job.state, job.attempts) == (JobState.WAITING, 0)
        room[0] = True
        await wait_for(finds(product, "trade wind", "notes::wind.md"))


async def test_a_full_disk_is_a_problem_that_status_names(product: Product, monkeypatch: pytest.MonkeyPatch) -> None:
    assert product.core.has_room()
    assert product.core.health.report(LOCAL_OWNER).problems == ()
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: shutil._ntuple_diskusage(10**9, 10**9, 5 * 1024**2))
    assert not product.core.has_room()
    (problem,) = product.core.health.report(LOCAL_OWNER).problems
    assert problem.startswith("The disk of the data folder is full (5 MB free): indexing waits")
