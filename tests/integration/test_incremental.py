"""What a scan reads again and what it does not, over real folders and real workers."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from armillary_core.domain.document import ExtractionState
from armillary_core.domain.errors import DocumentNotFoundError, ProjectNotFoundError
from armillary_core.domain.ingest import Listing, Skipped, SkipRule
from armillary_core.domain.job import ReindexMode
from armillary_core.domain.project import ProjectName, ProjectSettings, ProjectState
from armillary_core.domain.token import LOCAL_OWNER
from armillary_core.ports.catalogue.outbox import Engine
from armillary_core.usecases.ingest import ScanProject
from armillary_core.usecases.read import ReadRequest
from fakes import FakeClock, FakeEmbedder
from product import Product
from trees import write

pytestmark = pytest.mark.anyio

DAY = 24 * 3600.0
TIDES = "# Tides\n\nThe spring tide comes with the full moon.\n"


@pytest.fixture
async def notes(product: Product, clock: FakeClock, tmp_path: Path) -> AsyncIterator[Path]:
    """A project of three documents, scanned once; forgotten afterwards."""
    root = write(
        tmp_path / "notes", {"tides.md": TIDES, "keys.md": "# Keys\n\nRotate them.\n", "sub/wind.txt": "Wind\n"}
    )
    clock.advance(60)
    product.add("notes", root, settings=ProjectSettings())
    await product.scan("notes")
    yield root
    product.core.catalogue.projects.remove(ProjectName("notes"))
    await product.dispatcher_idle()


def revision(product: Product, path: bytes) -> int:
    return product.documents("notes")[path].content_revision


async def test_a_second_scan_skips_everything(product: Product, notes: Path) -> None:
    result = await product.scan("notes")
    assert (result.unchanged, result.new, result.changed, result.touched) == (3, 0, 0, 0)


async def test_a_file_that_was_only_touched_is_not_extracted_and_its_stamp_is_kept(
    product: Product, notes: Path
) -> None:
    before = revision(product, b"tides.md")
    os.utime(notes / "tides.md", (1, 1))
    result = await product.scan("notes")
    assert (result.touched, result.changed, result.unchanged) == (1, 0, 2)
    assert revision(product, b"tides.md") == before
    assert product.documents("notes")[b"tides.md"].stamp.mtime_ns == 10**9
    assert (await product.scan("notes")).unchanged == 3


async def test_a_file_replaced_by_equal_bytes_is_not_extracted(product: Product, notes: Path) -> None:
    write(notes, {"new": TIDES})
    (notes / "new").rename(notes / "tides.md")
    result = await product.scan("notes")
    assert (result.touched, result.changed) == (1, 0)


async def test_an_edit_that_keeps_size_and_time_is_found_by_the_daily_check(
    product: Product, notes: Path, clock: FakeClock
) -> None:
    stamp = (notes / "tides.md").stat()
    with (notes / "tides.md").open("r+") as file:
        file.write(TIDES.replace("moon", "noon"))
    os.utime(notes / "tides.md", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    clock.advance(DAY / 2)
    assert (await product.scan("notes")).unchanged == 3
    clock.advance(DAY / 2 + 1)
    result = await product.scan("notes")
    assert (result.changed, result.touched, result.unchanged) == (1, 2, 0)
    assert await product.found("noon", project="notes") == ["notes::tides.md"]
    assert (await product.scan("notes")).unchanged == 3, "checked for another day"


async def test_another_way_of_extracting_reads_everything_again_and_keeps_enrichment(
    product: Product, notes: Path
) -> None:
    ingest = product.core.catalogue.ingest
    ingest.extraction_changed(product.core.extraction.fingerprint)
    product.enrich("notes::tides.md", summary="Of the sea")
    assert not ingest.extraction_changed(product.core.extraction.fingerprint)
    assert ingest.extraction_changed("an older Armillary")
    assert (await product.scan("notes")).changed == 3
    assert product.card("notes::tides.md").card.summary == "Of the sea"
    assert not product.card("notes::tides.md").card.is_stale
    assert (await product.scan("notes")).unchanged == 3


async def test_equal_text_is_embedded_once_whatever_happens_to_its_file(
    product: Product, notes: Path, embedder: FakeEmbedder
) -> None:
    await product.embed()
    calls = list(embedder.calls)
    os.utime(notes / "tides.md", (5, 5))
    await product.scan("notes")
    assert await product.embed() == 0
    product.core.catalogue.ingest.mark_pending(ProjectName("notes"))
    await product.scan("notes")
    assert await product.embed() == 0
    assert embedder.calls == calls


async def test_a_deleted_file_leaves_search_lists_and_reading_at_once(product: Product, notes: Path) -> None:
    assert await product.found("spring tide", project="notes") == ["notes::tides.md"]
    (notes / "tides.md").unlink()
    await product.scan("notes")
    answer = await product.search("spring tide", project="notes")
    assert all("tides" not in passage.document for passage in answer.passages)
    assert "notes::tides.md" not in product.listed("notes")
    with pytest.raises(DocumentNotFoundError):
        product.core.read(ReadRequest("notes::tides.md"), LOCAL_OWNER)


async def test_other_patterns_drop_and_take_in_documents(product: Product, notes: Path) -> None:
    product.add("notes", notes, settings=ProjectSettings(include=("*.md",)))
    result = await product.scan("notes")
    assert (result.state, result.removed) == (ProjectState.OK, 1)
    assert await product.found("wind", project="notes") == []
    product.add("notes", notes, settings=ProjectSettings(ignore_files=("keys*",)))
    result = await product.scan("notes")
    assert (result.new, result.removed) == (1, 1)
    assert await product.found("wind", project="notes") == ["notes::sub/wind.txt"]


async def test_what_is_left_out_is_listed_anew_after_the_project_was_made_again(product: Product, notes: Path) -> None:
    write(notes, {".hidden": "x"})
    await product.scan("notes")
    name = ProjectName("notes")
    assert [row.path for row in product.core.catalogue.documents.skipped(name)] == [b".hidden"]
    product.core.catalogue.projects.remove(name)
    product.add("notes", notes)
    await product.scan("notes")
    assert [row.path for row in product.core.catalogue.documents.skipped(name)] == [b".hidden"]


async def test_a_project_removed_while_it_is_scanned_leaves_nothing(
    product: Product, notes: Path, tmp_path: Path
) -> None:
    root = write(tmp_path / "doomed", {f"n{number}.md": f"# Page {number}\n\nabout doom\n" for number in range(150)})
    product.add("doomed", root)

    async def remove(done: int, _total: int) -> bool:
        if done:
            product.core.catalogue.projects.remove(ProjectName("doomed"))
        return True

    with pytest.raises(ProjectNotFoundError):
        await product.scan("doomed", progress=remove)
    await product.dispatcher_idle()
    assert product.documents("doomed") == {}
    assert await product.found("doom") == []
    assert await product.core.completeness.repair() == []


async def test_a_cancelled_scan_keeps_what_it_read_and_concludes_nothing(
    product: Product, notes: Path, tmp_path: Path
) -> None:
    root = write(tmp_path / "long", {f"n{number}.md": f"# Page {number}\n\nabout sloth\n" for number in range(150)})
    product.add("long", root)

    async def stop(done: int, _total: int) -> bool:
        return done == 0

    result = await product.scan("long", progress=stop)
    assert result.cancelled
    assert 0 < result.new < 150
    assert product.project("long").state is ProjectState.NEW, "not scanning for ever"
    assert (await product.scan("long")).new == 150 - result.new
    product.core.catalogue.projects.remove(ProjectName("long"))


async def test_a_file_that_may_not_be_read_for_a_while_keeps_its_answers(product: Product, notes: Path) -> None:
    class Denied:
        """The source as an ordinary user has it whom one file was denied."""

        def list(self, project: object) -> object:
            seen = product.core.source.list(project)  # type: ignore[arg-type]
            assert isinstance(seen, Listing)
            files = tuple(file for file in seen.files if file.path != b"tides.md")
            denied = Skipped(b"tides.md", SkipRule.UNREADABLE, "Permission denied")
            return replace(seen, files=files, skipped=(*seen.skipped, denied))

    async def go_on(_done: int, _total: int) -> bool:
        return True

    core = product.core
    scan = ScanProject(core.catalogue, Denied(), core.extraction, core.clock)  # type: ignore[arg-type]
    result = await scan(ProjectName("notes"), ReindexMode.UPDATE, progress=go_on)
    assert (result.state, result.removed) == (ProjectState.OK, 0)
    assert await product.found("spring tide", project="notes") == ["notes::tides.md"]
    assert core.catalogue.documents.skipped_counts(ProjectName("notes")) == {"unreadable": 1}
    assert (await product.scan("notes")).unchanged == 3


async def test_a_document_that_breaks_and_is_mended_keeps_its_card(product: Product, notes: Path) -> None:
    write(notes, {"paper.pdf": b"%PDF-1.4 nothing of the kind"})
    result = await product.scan("notes")
    assert result.failed == 1
    document = product.documents("notes")[b"paper.pdf"]
    assert document.state is ExtractionState.FAILED
    assert product.listed("notes", state="failed") == ["notes::paper.pdf"]
    product.enrich("notes::paper.pdf", summary="A treatise on herons")
    assert (await product.scan("notes")).failed == 0, "what is broken is not read again until it changes"
    await product.dispatcher_idle()
    assert await product.found("treatise on herons", project="notes") == ["notes::paper.pdf"]
    (notes / "paper.pdf").write_bytes((Path(__file__).parent.parent / "corpus" / "report.pdf").read_bytes())
    await product.scan("notes")
    card = product.card("notes::paper.pdf").card
    assert (card.document.state, card.is_stale, card.summary) == (ExtractionState.OK, True, "A treatise on herons")


async def test_both_engines_hold_what_the_catalogue_expects(product: Product, notes: Path) -> None:
    await product.embed()
    assert await product.core.completeness.repair() == []
    for engine in Engine:
        generation = product.core.catalogue.generations.current(engine)
        assert generation is not None
        assert generation.present == generation.expected > 0
