"""What becomes of an engine's folder: missing, outdated, of another generation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from armillary_core.adapters.catalogue.sqlite import SqliteCatalogue
from armillary_core.bootstrap.engines import open_engine
from armillary_core.domain.errors import BackendUnavailableError, IndexOutdatedError
from armillary_core.domain.project import ProjectName
from armillary_core.ports.catalogue.outbox import Engine
from factories import make_indexed, make_stamp
from fakes import FakeClock

pytestmark = pytest.mark.anyio


class FileIndex:
    """An index whose contents are files in its folder."""

    def __init__(self, folder: Path) -> None:
        if (folder / "outdated").exists():
            raise IndexOutdatedError("an older schema")
        self.folder = folder

    async def count(self) -> int:
        return len(list(self.folder.iterdir()))

    def fill(self, documents: int) -> None:
        for number in range(documents):
            (self.folder / str(number)).write_text("x", encoding="utf-8")


@pytest.fixture
def catalogue(tmp_path: Path) -> Iterator[SqliteCatalogue]:
    opened = SqliteCatalogue.open(tmp_path / "catalogue.sqlite3")
    opened.projects.put(ProjectName("notes"), root=str(tmp_path))
    outcomes = [(name, make_stamp(), make_indexed(text=name.decode())) for name in (b"a.md", b"b.md")]
    opened.ingest.store(ProjectName("notes"), outcomes)
    empty_outbox(opened)
    yield opened
    opened.close()


def empty_outbox(catalogue: SqliteCatalogue) -> None:
    for engine in Engine:
        catalogue.outbox.done(engine, catalogue.outbox.pending(engine))
        assert catalogue.outbox.count(engine) == 0


async def open_index(catalogue: SqliteCatalogue, tmp_path: Path, fingerprint: str = "one") -> FileIndex:
    return await open_engine(
        Engine.CARDS, fingerprint, FileIndex, folder=tmp_path / "engines", catalogue=catalogue, clock=FakeClock()
    )


async def test_a_new_engine_is_told_of_every_document(catalogue: SqliteCatalogue, tmp_path: Path) -> None:
    await open_index(catalogue, tmp_path)
    assert catalogue.outbox.count(Engine.CARDS) == 2
    assert catalogue.outbox.count(Engine.CHUNKS) == 0
    current = catalogue.generations.current(Engine.CARDS)
    assert current is not None
    assert current.fingerprint == "one"


async def test_one_that_is_as_it_was_is_left_alone(catalogue: SqliteCatalogue, tmp_path: Path) -> None:
    (await open_index(catalogue, tmp_path)).fill(2)
    empty_outbox(catalogue)
    index = await open_index(catalogue, tmp_path)
    assert await index.count() == 2
    assert catalogue.outbox.count(Engine.CARDS) == 0
    assert len(catalogue.generations.all(Engine.CARDS)) == 1


async def test_one_that_came_back_empty_is_told_of_every_document(catalogue: SqliteCatalogue, tmp_path: Path) -> None:
    index = await open_index(catalogue, tmp_path)
    index.fill(2)
    empty_outbox(catalogue)
    for file in index.folder.iterdir():
        file.unlink()
    index.folder.rmdir()
    await open_index(catalogue, tmp_path)
    assert catalogue.outbox.count(Engine.CARDS) == 2


async def test_an_outdated_one_is_thrown_away_and_told_of_every_document(
    catalogue: SqliteCatalogue, tmp_path: Path
) -> None:
    index = await open_index(catalogue, tmp_path)
    index.fill(2)
    (index.folder / "outdated").write_text("x", encoding="utf-8")
    empty_outbox(catalogue)
    again = await open_index(catalogue, tmp_path)
    assert await again.count() == 0
    assert catalogue.outbox.count(Engine.CARDS) == 2


async def test_another_schema_or_model_is_another_generation_and_the_old_folder_goes(
    catalogue: SqliteCatalogue, tmp_path: Path
) -> None:
    (await open_index(catalogue, tmp_path, "one")).fill(2)
    other_engine = tmp_path / "engines" / "chunks-one"
    other_engine.mkdir()
    empty_outbox(catalogue)
    await open_index(catalogue, tmp_path, "two")
    assert sorted(path.name for path in (tmp_path / "engines").iterdir()) == ["cards-two", "chunks-one"]
    assert [generation.fingerprint for generation in catalogue.generations.all(Engine.CARDS)] == ["two"]
    assert catalogue.outbox.count(Engine.CARDS) == 2


async def test_an_engine_that_cannot_be_opened_keeps_its_folder(catalogue: SqliteCatalogue, tmp_path: Path) -> None:
    (await open_index(catalogue, tmp_path)).fill(2)

    def busy(folder: Path) -> FileIndex:
        raise BackendUnavailableError("another process has it open")

    with pytest.raises(BackendUnavailableError):
        await open_engine(
            Engine.CARDS, "one", busy, folder=tmp_path / "engines", catalogue=catalogue, clock=FakeClock()
        )
    assert await (await open_index(catalogue, tmp_path)).count() == 2
