"""Search with legs that are off, slow or dead, and what its answer says of the index."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from typing_extensions import override

from armillary_core.domain.errors import BackendUnavailableError
from armillary_core.domain.passage import SearchAnswer
from armillary_core.domain.project import ProjectState
from armillary_core.domain.query import Filter, Hits, LegUnavailable, Mode, QueryClass, SparseVector
from armillary_core.ports.catalogue.outbox import Engine
from armillary_core.usecases.search import Search
from armillary_core.usecases.search_policy import SearchPolicy
from fakes import FakeChunkIndex
from search_world import SearchWorld, documents_of, open_search_world

pytestmark = pytest.mark.anyio

TIDES = "# Tides\nThe spring tide comes with the full moon.\n"
KEYS = "# Keys\nRotate the backup keys every month.\n"
RUSSIAN = "# Приливы\nСизигийный прилив бывает в полнолуние и он выше обычного.\n"


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[SearchWorld]:
    async with open_search_world(tmp_path) as opened:
        yield opened


def states(answer: SearchAnswer) -> dict[str, str]:
    return {leg.name: leg.state for leg in answer.legs}


@pytest.mark.parametrize(
    ("mode", "expected", "ran"),
    [
        (Mode.KEYWORD, {"words": "ok", "meaning": "off", "names": "ok"}, Mode.KEYWORD),
        (Mode.SEMANTIC, {"words": "off", "meaning": "ok", "names": "off"}, Mode.SEMANTIC),
        (Mode.HYBRID, {"words": "ok", "meaning": "ok", "names": "ok"}, Mode.HYBRID),
        (Mode.AUTO, {"words": "ok", "meaning": "ok", "names": "ok"}, Mode.HYBRID),
    ],
)
async def test_each_mode_runs_its_legs(world: SearchWorld, mode: Mode, expected: dict[str, str], ran: Mode) -> None:
    await world.add("notes", {"tides.md": TIDES, "keys.md": KEYS})
    answer = await world.ask("spring tide", mode=mode)
    assert states(answer) == expected
    assert answer.mode is ran
    assert answer.passages[0].document == "notes::tides.md"


async def test_auto_without_a_model_is_keyword_and_says_why(world: SearchWorld) -> None:
    await world.add("notes", {"tides.md": TIDES}, embed=False)
    world.embedder.down = "the model is being fetched"
    answer = await world.ask("spring tide", mode=Mode.AUTO)
    assert answer.mode is Mode.KEYWORD
    assert states(answer)["meaning"] == "unavailable"
    assert answer.legs[1].reason == "the model is being fetched"
    assert documents_of(answer.passages) == ["notes::tides.md"]


async def test_meaning_finds_what_shares_no_word_with_the_tokenizer(world: SearchWorld) -> None:
    await world.add("notes", {"tides.md": TIDES, "keys.md": KEYS})
    answer = await world.ask("spring tide", mode=Mode.SEMANTIC)
    assert answer.passages[0].document == "notes::tides.md"
    assert answer.passages[0].score > answer.passages[-1].score


@pytest.mark.parametrize("dead", ["words", "names", "meaning"])
async def test_a_dead_leg_is_skipped_with_a_reason(world: SearchWorld, dead: str) -> None:
    await world.add("notes", {"tides.md": TIDES, "keys.md": KEYS})
    if dead == "names":
        world.cards.down = "the card index is gone"
    elif dead == "meaning":
        world.embedder.down = "the model is gone"
    else:
        world.chunks.down = "the chunk index is gone"
    answer = await world.ask("tides", mode=Mode.HYBRID)
    assert states(answer)[dead] == "unavailable"
    assert "is gone" in next(leg.reason for leg in answer.legs if leg.name == dead)
    assert answer.passages[0].document == "notes::tides.md"


async def test_all_legs_dead_is_an_error_that_names_them(world: SearchWorld) -> None:
    await world.add("notes", {"tides.md": TIDES})
    world.cards.down, world.chunks.down = "the card index is gone", "the chunk index is gone"
    with pytest.raises(BackendUnavailableError) as refused:
        await world.ask("tides", mode=Mode.HYBRID)
    assert "the card index is gone" in refused.value.message
    assert "the chunk index is gone" in refused.value.message


async def test_semantic_search_without_a_model_says_the_way_out(world: SearchWorld) -> None:
    await world.add("notes", {"tides.md": TIDES}, embed=False)
    world.embedder.down = "it is switched off"
    with pytest.raises(BackendUnavailableError, match=r'it is switched off.*mode="keyword"'):
        await world.ask("tides", mode=Mode.SEMANTIC)


class SlowChunkIndex(FakeChunkIndex):
    """Answers by words when told to, which is never."""

    @override
    async def by_words(
        self, query: SparseVector, *, filter: Filter | None, limit: int, deadline_seconds: float = 2.0
    ) -> Hits | LegUnavailable:
        await asyncio.Event().wait()
        raise AssertionError


class BrokenChunkIndex(FakeChunkIndex):
    """Has a fault of its own."""

    @override
    async def by_words(
        self, query: SparseVector, *, filter: Filter | None, limit: int, deadline_seconds: float = 2.0
    ) -> Hits | LegUnavailable:
        raise RuntimeError("a fault inside")


@pytest.mark.parametrize("broken", [SlowChunkIndex, BrokenChunkIndex])
async def test_a_slow_or_faulty_leg_does_not_hold_up_the_others(
    world: SearchWorld, broken: type[FakeChunkIndex]
) -> None:
    await world.add("notes", {"tides.md": TIDES})
    search = Search(
        world.catalogue, world.cards, broken(64), world.embedder, world.clock, SearchPolicy(words_seconds=0.02)
    )
    world.search = search
    async with asyncio.timeout(5):
        answer = await world.ask("tides")
    assert states(answer)["words"] == "unavailable"
    assert "fault inside" not in answer.legs[0].reason
    assert documents_of(answer.passages) == ["notes::tides.md"]


async def test_an_english_only_model_stays_out_of_questions_in_another_script(tmp_path: Path) -> None:
    async with open_search_world(tmp_path, languages=("en",)) as world:
        await world.add("notes", {"tides.md": TIDES, "prilivy.md": RUSSIAN})
        answer = await world.ask("сизигийный прилив", mode=Mode.AUTO)
        assert answer.mode is Mode.KEYWORD
        meaning = answer.legs[1]
        assert (meaning.state, "English only" in meaning.reason) == ("off", True)
        assert any("English only" in note for note in answer.notes)
        assert documents_of(answer.passages) == ["notes::prilivy.md"]
        assert (await world.ask("spring tide", mode=Mode.AUTO)).mode is Mode.HYBRID


async def test_documents_in_another_script_lean_more_on_meaning(world: SearchWorld) -> None:
    await world.add("notes", {"tides.md": TIDES, "prilivy.md": RUSSIAN})
    answer = await world.ask("spring tide", mode=Mode.HYBRID, explain=True, limit=10)
    weights = {str(passage.document): (passage.explain or {})["weight"] for passage in answer.passages}
    policy = world.policy
    assert weights["notes::tides.md"] == policy.meaning_weight[answer.query_class]
    assert weights.get("notes::prilivy.md", policy.other_script_weight) == policy.other_script_weight


@pytest.mark.parametrize("name", ["getUserById", "user_by_id"])
async def test_a_question_that_names_code_of_the_documents_leans_on_words(world: SearchWorld, name: str) -> None:
    await world.add("notes", {"users.md": "# Users\nCall getUserById or user_by_id with a number.\n"})
    weights = {}
    for question in (
        f"what is the purpose of {name}",
        "what is the purpose of getGhost",
        "what about /user/by/id there",
    ):
        answer = await world.ask(question, mode=Mode.HYBRID, explain=True)
        explain = answer.passages[0].explain
        assert explain is not None
        weights[question] = explain["weight"]
    usual = world.policy.meaning_weight[QueryClass.QUESTION]
    assert list(weights.values()) == [world.policy.code_weight, usual, usual]


async def test_while_few_chunks_have_a_vector_meaning_weighs_less(world: SearchWorld) -> None:
    await world.add("notes", {"tides.md": TIDES})
    await world.add("notes", {f"{n}.md": f"# N {n}\nThe spring of year {n}.\n" for n in range(9)}, embed=False)
    answer = await world.ask("the spring tide of all", mode=Mode.HYBRID, explain=True)
    assert answer.completeness.meaning < answer.completeness.chunks_expected
    told = answer.passages[0].explain or {}
    assert told["weight"] < world.policy.meaning_weight[answer.query_class]


async def test_completeness_counts_what_waits(world: SearchWorld) -> None:
    await world.add("notes", {"tides.md": TIDES})
    whole = (await world.ask("tide")).completeness
    assert (whole.documents, whole.pending_documents) == (1, 0)
    assert whole.words == whole.chunks_expected == whole.meaning == 1
    world.store("notes", {"keys.md": KEYS})
    waiting = (await world.ask("tide")).completeness
    assert (waiting.documents, waiting.pending_documents) == (2, 1)
    assert waiting.words < waiting.chunks_expected
    assert world.catalogue.outbox.count(Engine.CHUNKS) == 1


async def test_while_much_is_waiting_a_count_is_a_second_old_at_most(world: SearchWorld) -> None:
    world.policy = replace(world.policy, much_waiting=1)
    world.search = Search(world.catalogue, world.cards, world.chunks, world.embedder, world.clock, world.policy)
    world.store("notes", {f"{n}.md": f"# N {n}\ntide {n}\n" for n in range(3)})
    assert (await world.ask("tide")).completeness.pending_documents == 3
    await world.settle()
    assert (await world.ask("tide")).completeness.pending_documents == 3
    world.clock.advance(1.1)
    assert (await world.ask("tide")).completeness.pending_documents == 0


async def test_nothing_found_says_why(world: SearchWorld) -> None:
    assert (await world.ask("tide")).notes == ("There is no project yet.",)
    world.project("empty")
    assert any("no documents" in note for note in (await world.ask("tide")).notes)
    world.store("notes", {"tides.md": TIDES})
    assert any("still being indexed" in note for note in (await world.ask("tide")).notes)
    await world.settle()
    world.project("late", state=ProjectState.NEW)
    assert any("late: not scanned yet" in note for note in (await world.ask("zzzz")).notes)


async def test_a_held_project_is_named_with_every_answer(world: SearchWorld) -> None:
    world.project("notes", state=ProjectState.HELD)
    await world.add("notes", {"tides.md": TIDES})
    answer = await world.ask("tide")
    assert answer.completeness.held == ("notes",)
    assert any("held" in note for note in answer.notes)


async def test_the_generation_changes_when_an_engine_is_rebuilt(world: SearchWorld) -> None:
    await world.add("notes", {"tides.md": TIDES})
    before = (await world.ask("tide")).generation
    assert before == (await world.ask("moon")).generation
    started = world.catalogue.generations.start(Engine.CHUNKS, "new schema", at=1.0)
    world.catalogue.generations.make_current(started.id)
    assert (await world.ask("tide")).generation != before
