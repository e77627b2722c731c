"""Opening and closing everything."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from armillary_core.adapters.chunks.edge import EdgeChunkIndex
from armillary_core.adapters.extraction.pool import WorkerPool
from armillary_core.bootstrap.container import open_core
from armillary_core.domain.errors import AppError, SettingsError
from armillary_core.domain.token import LOCAL_OWNER
from armillary_core.settings.model import FastembedEmbedding, NoEmbedding, ProjectWish, Settings
from product import open_product

Close = Callable[[EdgeChunkIndex], Awaitable[None]]

pytestmark = pytest.mark.anyio


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "backup.md").write_text("# Backup\n\nThe rotation of the tidal keys.\n", encoding="utf-8")
    return folder


async def test_lost_engines_come_back_by_themselves(tmp_path: Path, notes: Path) -> None:
    data = tmp_path / "data"
    async with open_product(data) as product:
        product.add("notes", notes)
        await product.scan("notes")
        assert await product.found("tidal rotation") == ["notes::backup.md"]
    shutil.rmtree(data / "engines")
    async with open_product(data) as product:
        await product.core.dispatcher.drain()
        assert await product.found("tidal rotation") == ["notes::backup.md"]


async def test_a_failure_at_closing_does_not_keep_the_rest_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[str] = []

    async def close_chunks(self: EdgeChunkIndex, close: Close = EdgeChunkIndex.close) -> None:
        closed.append("chunks")
        await close(self)

    async def close_extraction(self: WorkerPool) -> None:
        closed.append("extraction")
        raise RuntimeError("a worker would not end")

    monkeypatch.setattr(EdgeChunkIndex, "close", close_chunks)
    monkeypatch.setattr(WorkerPool, "close", close_extraction)
    with pytest.raises(RuntimeError, match="would not end"):
        async with open_core(Settings(data=tmp_path / "data", embedding=NoEmbedding())) as core:
            catalogue = core.catalogue
    assert closed == ["extraction", "chunks"]
    with pytest.raises(AppError):
        catalogue.projects.all()


async def test_an_unknown_model_is_refused_with_the_names_there_are(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path / "data", embedding=FastembedEmbedding(model="gpt"))
    with pytest.raises(SettingsError, match="Models: bge-small"):
        async with open_core(settings):
            pass


async def test_without_a_model_nothing_of_it_is_imported(tmp_path: Path) -> None:
    before = set(sys.modules)
    async with open_core(Settings(data=tmp_path / "data", embedding=FastembedEmbedding(fetch=False))) as core:
        report = core.health.report(LOCAL_OWNER)
    assert report.model.state == "unavailable"
    assert not {"fastembed", "onnxruntime", "huggingface_hub"} & (set(sys.modules) - before)


async def test_the_owners_words_about_a_project_hold(tmp_path: Path, notes: Path) -> None:
    wishes = {"notes": ProjectWish(ignore_files=("*.log",)), "other": ProjectWish(private=True)}
    settings = Settings(data=tmp_path / "data", embedding=NoEmbedding(), projects=wishes)
    other = tmp_path / "other"
    other.mkdir()
    async with open_core(settings) as core:
        assert core.projects.add(str(notes), LOCAL_OWNER, private=True).project.private
        assert core.projects.add(str(other), LOCAL_OWNER).project.private
        stored = {project.name: project for project in core.catalogue.projects.all()}
        assert stored["notes"].settings.ignore_files == ("*.log",)  # type: ignore[index]
        assert stored["other"].settings.ignore_files == ()  # type: ignore[index]
