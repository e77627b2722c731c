"""A private project does not exist for a caller without the right: not by order, score, count, copy or suggestion."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from armillary_core.domain.card import BaseLayer
from armillary_core.domain.errors import DocumentNotFoundError, ProjectNotFoundError, UnknownFacetError
from armillary_core.domain.passage import SearchAnswer
from armillary_core.domain.project import ProjectName
from armillary_core.domain.query import Mode
from armillary_core.domain.token import LOCAL_OWNER, Caller
from search_world import GUEST, SearchWorld, analysed, documents_of, open_search_world

pytestmark = pytest.mark.anyio

TIDES = "# Tides\nThe spring tide comes with the full moon.\n"
PUBLIC = {
    "tides.md": TIDES,
    "keys.md": "# Keys\nRotate the backup keys every month.\n",
    "wind.md": "# Wind\nThe trade wind of spring blows all year.\n",
}
SECRET = {f"{n}.md": f"# Secret {n}\nThe quartz tide of the moon, merger {n}, spring.\n" for n in range(30)}


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[SearchWorld]:
    async with open_search_world(tmp_path) as opened:
        await opened.add("notes", PUBLIC)
        yield opened


async def hide(world: SearchWorld) -> None:
    world.project("vault", private=True)
    await world.add("vault", SECRET | {"copy.md": TIDES})


def told(answer: SearchAnswer) -> SearchAnswer:
    """Everything an answer says, but how long it took."""
    return replace(answer, legs=tuple(replace(leg, took_ms=0.0) for leg in answer.legs))


@pytest.mark.parametrize("mode", [Mode.KEYWORD, Mode.HYBRID, Mode.SEMANTIC])
@pytest.mark.parametrize(
    "query", ["spring tide of the moon", "quartz merger", "Secret 3", "mergr", "tides", "the keys of spring"]
)
async def test_answers_are_the_same_with_and_without_it(world: SearchWorld, mode: Mode, query: str) -> None:
    before = told(await world.ask(query, GUEST, mode=mode, explain=True))
    await hide(world)
    after = told(await world.ask(query, GUEST, mode=mode, explain=True))
    assert after == before
    assert "vault" not in repr(after)


async def test_those_who_may_see_it_find_it(world: SearchWorld) -> None:
    await hide(world)
    named = Caller(name="insider", projects=(ProjectName("vault"),))
    assert (await world.found("quartz merger", named))[0].startswith("vault::")
    assert (await world.found("quartz merger", LOCAL_OWNER))[0].startswith("vault::")
    assert await world.found("backup keys", named, project="vault") == []


async def test_answers_do_not_pass_from_one_caller_to_another(world: SearchWorld) -> None:
    await hide(world)
    owner = await world.ask("spring tide", LOCAL_OWNER)
    guest = await world.ask("spring tide", GUEST)
    assert owner.completeness.documents > guest.completeness.documents == 3
    assert documents_of(guest.passages)[0] == "notes::tides.md"
    assert guest.passages[0].also_in == ()


async def test_asking_for_it_is_asking_for_nothing(world: SearchWorld) -> None:
    with pytest.raises(ProjectNotFoundError) as before:
        await world.ask("tide", GUEST, project="vault")
    await hide(world)
    with pytest.raises(ProjectNotFoundError) as after:
        await world.ask("tide", GUEST, project="vault")
    assert after.value.message == before.value.message


async def test_its_facet_values_are_not_listed(world: SearchWorld) -> None:
    world.project("vault", private=True)
    document = analysed("# A\nx\n", "a.md", base=BaseLayer(type="memo"), locale="tlh", version="0.0.7")
    await world.add("vault", {"a.md": document})
    for narrowing in ({"type": "memo"}, {"locale": "tlh"}, {"version": "0.0.7"}):
        with pytest.raises(UnknownFacetError) as refused:
            await world.ask("tide", GUEST, **narrowing)
        assert "There are" not in refused.value.message


async def test_making_a_project_private_is_felt_at_once(world: SearchWorld) -> None:
    assert await world.found("spring tide", GUEST)
    world.project("notes", private=True)
    assert await world.found("spring tide", GUEST) == []


@pytest.mark.parametrize("is_embedded", [True, False], ids=["meaning", "words"])
async def test_similar_documents_and_copies_stay_hidden(world: SearchWorld, is_embedded: bool) -> None:
    if not is_embedded:
        world.embedder.down = "no model"
    before = told(await world.similar("notes::tides.md", GUEST))
    await hide(world)
    assert told(await world.similar("notes::tides.md", GUEST)) == before
    with pytest.raises((DocumentNotFoundError, ProjectNotFoundError)) as refused:
        await world.similar("vault::1.md", GUEST)
    assert "Secret" not in refused.value.message
