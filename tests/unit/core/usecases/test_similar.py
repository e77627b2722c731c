from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from armillary_core.domain.errors import (
    BackendUnavailableError,
    DocumentNotFoundError,
    InvalidRequestError,
    ProjectNotFoundError,
)
from armillary_core.domain.query import Mode
from armillary_core.domain.token import LOCAL_OWNER
from search_world import SearchWorld, documents_of, open_search_world

pytestmark = pytest.mark.anyio

TIDES = "# Tides\nThe spring tide comes with the full moon over the harbour.\n"
HARBOUR = "# Harbour\nAt spring tide the harbour floods when the moon is full.\n"
KEYS = "# Keys\nRotate backup keys every month on each server.\n"


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[SearchWorld]:
    async with open_search_world(tmp_path) as opened:
        yield opened


async def test_the_same_topic_is_nearer(world: SearchWorld) -> None:
    await world.add("notes", {"tides.md": TIDES, "harbour.md": HARBOUR, "keys.md": KEYS})
    answer = await world.similar("notes::tides.md", LOCAL_OWNER)
    assert documents_of(answer.passages)[0] == "notes::harbour.md"
    assert answer.mode is Mode.SEMANTIC
    assert [leg.name for leg in answer.legs if leg.state == "ok"] == ["meaning"]
    assert all(0.0 <= passage.score <= 1.0 for passage in answer.passages)


async def test_without_vectors_its_strongest_words_are_compared(world: SearchWorld) -> None:
    world.embedder.down = "no model is installed"
    await world.add("notes", {"tides.md": TIDES, "harbour.md": HARBOUR, "keys.md": KEYS})
    answer = await world.similar("notes::tides.md", LOCAL_OWNER)
    assert documents_of(answer.passages)[0] == "notes::harbour.md"
    assert answer.mode is Mode.KEYWORD
    assert answer.legs[0].reason == "no model is installed"


@pytest.mark.parametrize("is_embedded", [True, False], ids=["meaning", "words"])
async def test_the_document_and_its_copies_are_never_among_them(world: SearchWorld, is_embedded: bool) -> None:
    await world.add(
        "notes", {"tides.md": TIDES, "copy/tides.md": TIDES, "harbour.md": HARBOUR, "b.md": HARBOUR}, embed=is_embedded
    )
    await world.add("other", {"tides.md": TIDES}, embed=is_embedded)
    answer = await world.similar("notes::tides.md", LOCAL_OWNER, limit=10)
    assert documents_of(answer.passages) == ["notes::b.md"]
    assert answer.passages[0].also_in == ("notes::harbour.md",)


async def test_a_project_narrows(world: SearchWorld) -> None:
    await world.add("notes", {"tides.md": TIDES, "harbour.md": HARBOUR})
    await world.add("other", {"harbour.md": HARBOUR + "And more.\n", "keys.md": KEYS})
    answer = await world.similar("notes::tides.md", LOCAL_OWNER, project="other", limit=1)
    assert documents_of(answer.passages) == ["other::harbour.md"]
    with pytest.raises(ProjectNotFoundError):
        await world.similar("notes::tides.md", LOCAL_OWNER, project="none")


async def test_one_passage_of_each_document(world: SearchWorld) -> None:
    long = "".join(f"# Tide {n}\nThe spring tide of the full moon number {n}. " + "word " * 250 for n in range(4))
    await world.add("notes", {"tides.md": TIDES, "long.md": long, "keys.md": KEYS})
    answer = await world.similar("notes::tides.md", LOCAL_OWNER, limit=10)
    assert len(answer.passages) == len(documents_of(answer.passages)) == answer.total


async def test_a_chapter_id_means_its_document(world: SearchWorld) -> None:
    await world.add("notes", {"tides.md": TIDES, "harbour.md": HARBOUR})
    answer = await world.similar("notes::tides.md#tides", LOCAL_OWNER)
    assert documents_of(answer.passages) == ["notes::harbour.md"]


async def test_an_unknown_document_is_refused_with_what_is_near(world: SearchWorld) -> None:
    await world.add("notes", {"tides.md": TIDES})
    with pytest.raises(DocumentNotFoundError, match=r"notes::tides\.md"):
        await world.similar("notes::tide.md", LOCAL_OWNER)


async def test_a_lonely_document_says_so(world: SearchWorld) -> None:
    await world.add("notes", {"tides.md": TIDES})
    answer = await world.similar("notes::tides.md", LOCAL_OWNER)
    assert answer.passages == ()
    assert answer.notes == ("There is no other document.",)


async def test_a_dead_index_is_an_error(world: SearchWorld) -> None:
    await world.add("notes", {"tides.md": TIDES, "keys.md": KEYS})
    world.chunks.down = "the chunk index is gone"
    with pytest.raises(BackendUnavailableError, match="the chunk index is gone"):
        await world.similar("notes::tides.md", LOCAL_OWNER)


@pytest.mark.parametrize("limit", [0, 51])
async def test_a_limit_out_of_bounds_is_refused(world: SearchWorld, limit: int) -> None:
    with pytest.raises(InvalidRequestError):
        await world.similar("notes::tides.md", LOCAL_OWNER, limit=limit)
