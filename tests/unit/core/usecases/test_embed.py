"""Vectors for whatever lacks them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from armillary_core.adapters.catalogue.sqlite import SqliteCatalogue
from armillary_core.domain.card import CardChange
from armillary_core.domain.project import ProjectName
from armillary_core.ports.catalogue.outbox import Engine
from armillary_core.usecases.embed import EmbedMissing, EmbedPolicy
from factories import make_indexed, make_stamp
from fakes import FakeEmbedder

pytestmark = pytest.mark.anyio

NOTES = ProjectName("notes")


@pytest.fixture
def catalogue(tmp_path: Path) -> Iterator[SqliteCatalogue]:
    opened = SqliteCatalogue.open(tmp_path / "catalogue.sqlite3")
    opened.projects.put(NOTES, root="/projects/notes")
    yield opened
    opened.close()


def store(catalogue: SqliteCatalogue, **texts: str | tuple[str, str | None]) -> list[int]:
    """Documents by name: a text, or a text and its language."""
    outcomes = []
    for number, (name, content) in enumerate(texts.items(), start=1):
        text, language = content if isinstance(content, tuple) else (content, "en")
        stamp = make_stamp(inode=number)
        outcome = make_indexed(text, path=f"{name}.md".encode(), language=language)
        outcomes.append((f"{name}.md".encode(), stamp, replace(outcome, stamp=stamp)))
    return catalogue.ingest.store(NOTES, outcomes)


async def embed_all(embed: EmbedMissing) -> int:
    done = 0
    while step := await embed.run_once():
        done += step
    return done


async def test_every_text_gets_its_vector_and_then_there_is_nothing_to_do(catalogue: SqliteCatalogue) -> None:
    store(catalogue, a="# Tides\nabout water\n# Wind\nabout air\n", b="# Sun\nabout light\n")
    embedder = FakeEmbedder()
    embed = EmbedMissing(catalogue, embedder)
    expected = catalogue.vectors.expected([NOTES])
    assert await embed.remaining() == expected
    assert await embed_all(embed) == expected
    assert await embed.remaining() == 0
    assert catalogue.vectors.present("fake-64", [NOTES]) == expected


async def test_what_is_embedded_is_breadcrumb_and_text(catalogue: SqliteCatalogue) -> None:
    (pk,) = store(catalogue, a="# Tides\nabout water\n")
    embedder = FakeEmbedder(dimensions=8)
    await embed_all(EmbedMissing(catalogue, embedder))
    (chunk,) = catalogue.documents.chunks([pk])[pk]
    raw = catalogue.vectors.get("fake-8", [chunk.text_hash])[chunk.text_hash]
    wanted = embedder.vector(f"{chunk.breadcrumb}\n# Tides\nabout water\n")
    assert list(memoryview(raw).cast("f")) == pytest.approx(wanted)


async def test_a_portion_is_as_large_as_the_policy_says(catalogue: SqliteCatalogue) -> None:
    store(catalogue, **{f"n{number}": f"# Title {number}\nword{number}\n" for number in range(10)})
    embedder = FakeEmbedder()
    await embed_all(EmbedMissing(catalogue, embedder, EmbedPolicy(texts=4)))
    assert embedder.calls == [4, 4, 2]


async def test_equal_text_is_embedded_once(catalogue: SqliteCatalogue) -> None:
    store(catalogue, a="# Tides\nabout water\n", b="# Tides\nabout water\n", c="# Tides\nabout water\n")
    embedder = FakeEmbedder()
    await embed_all(EmbedMissing(catalogue, embedder))
    assert sum(embedder.calls) == 1


async def test_documents_that_hold_a_new_vector_are_told_to_the_chunk_index(catalogue: SqliteCatalogue) -> None:
    pks = store(catalogue, a="# Tides\nabout water\n", b="# Tides\nabout water\n")
    catalogue.outbox.done(Engine.CHUNKS, catalogue.outbox.pending(Engine.CHUNKS, limit=100))
    await embed_all(EmbedMissing(catalogue, FakeEmbedder()))
    assert {row.pk for row in catalogue.outbox.pending(Engine.CHUNKS, limit=100)} == set(pks)


async def test_an_enriched_card_gets_a_new_vector(catalogue: SqliteCatalogue) -> None:
    (pk,) = store(catalogue, a="# Tides\nabout water\n")
    embedder = FakeEmbedder()
    embed = EmbedMissing(catalogue, embedder)
    await embed_all(embed)
    catalogue.cards.update(pk, CardChange(summary="When the sea comes and goes"), by="agent", at=1.0)
    assert await embed_all(embed) == 1


async def test_without_a_model_nothing_happens_and_later_everything_does(catalogue: SqliteCatalogue) -> None:
    store(catalogue, a="# Tides\nabout water\n")
    embedder = FakeEmbedder()
    embedder.down = "not installed"
    embed = EmbedMissing(catalogue, embedder)
    assert await embed.run_once() == 0
    assert await embed.remaining() is None
    embedder.down = None
    assert await embed_all(embed) == 1


async def test_an_english_model_leaves_other_scripts_out(catalogue: SqliteCatalogue) -> None:
    store(
        catalogue,
        english=("# Tides\nabout water\n", "en"),
        german=("# Gezeiten\nvom Wasser\n", "de"),
        unknown=("# 12345\n67890\n", None),
        russian=("# Приливы\nо воде\n", "ru"),
        chinese=("# 潮汐\n关于水\n", "zh"),
    )
    embed = EmbedMissing(catalogue, FakeEmbedder(languages=("en",)))
    assert await embed_all(embed) == 3
    assert await embed.remaining() == 0
    everything = EmbedMissing(catalogue, FakeEmbedder(dimensions=32))
    assert await embed_all(everything) == 5
