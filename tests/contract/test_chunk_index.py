"""What every chunk index promises."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from armillary_core.domain.chunk import chunk_key
from armillary_core.domain.document import folder_hashes
from armillary_core.domain.errors import BackendRejectedError, BackendUnavailableError
from armillary_core.domain.facets import Facets, days_since_epoch
from armillary_core.domain.query import (
    All,
    AnyOf,
    Eq,
    Field,
    Filter,
    Hits,
    In,
    LegUnavailable,
    Not,
    Range,
    SparseVector,
)
from armillary_core.ports.chunk_index import ChunkIndex, Point
from contract import random_filters as values
from contract.implementations import CHUNK_INDEX_IMPLEMENTATIONS, OpenChunkIndex
from fakes import holds

pytestmark = pytest.mark.anyio

APPLE, PEAR, PLUM = 11, 4_000_000_000, 33  # token ids; they have 32 bits


@pytest.fixture(params=CHUNK_INDEX_IMPLEMENTATIONS)
def open_index(request: pytest.FixtureRequest) -> OpenChunkIndex:
    opener: OpenChunkIndex = request.param
    return opener


@pytest.fixture
async def index(open_index: OpenChunkIndex, tmp_path: Path) -> AsyncIterator[ChunkIndex]:
    async with open_index(tmp_path / "chunks") as opened:
        yield opened


def make_point(
    document: int,
    ordinal: int = 0,
    *,
    revision: int = 1,
    words: dict[int, float] | None = None,
    meaning: list[float] | None = None,
    **payload: str | int | list[str] | list[int] | None,
) -> Point:
    weights = {APPLE: 1.0} if words is None else words
    return Point(
        key=chunk_key(document, ordinal),
        document=document,
        revision=revision,
        words=SparseVector(tuple(weights), tuple(weights.values())),
        meaning=meaning,
        payload={"project": "notes"} | {name: value for name, value in payload.items() if value is not None},
    )


def ask(**weights: float) -> SparseVector:
    ids = {"apple": APPLE, "pear": PEAR, "plum": PLUM}
    return SparseVector(tuple(ids[word] for word in weights), tuple(weights.values()))


async def find_words(
    index: ChunkIndex, query: SparseVector, *, filter: Filter | None = None, limit: int = 10
) -> list[int]:
    found = await index.by_words(query, filter=filter, limit=limit)
    assert isinstance(found, Hits)
    return [hit.key for hit in found.hits]


async def find_meaning(
    index: ChunkIndex, query: list[float], *, filter: Filter | None = None, limit: int = 10
) -> list[int]:
    found = await index.by_meaning(query, filter=filter, limit=limit)
    assert isinstance(found, Hits)
    return [hit.key for hit in found.hits]


async def test_words_are_ranked_by_the_dot_product_of_the_weights_given(index: ChunkIndex) -> None:
    await index.upsert(
        [
            make_point(1, words={APPLE: 1.5, PLUM: 0.5}),
            make_point(2, words={PEAR: 2.0, APPLE: 0.25}),
            make_point(3, words={PLUM: 9.0}),
        ]
    )
    found = await index.by_words(ask(apple=2.0, pear=3.0), filter=None, limit=10)
    assert isinstance(found, Hits)
    assert [hit.key for hit in found.hits] == [chunk_key(2, 0), chunk_key(1, 0)]
    assert [hit.score for hit in found.hits] == pytest.approx([6.5, 3.0])


async def test_the_weight_of_a_word_does_not_depend_on_how_many_points_hold_it(index: ChunkIndex) -> None:
    await index.upsert([make_point(1, words={APPLE: 1.0})])
    alone = await index.by_words(ask(apple=1.0), filter=None, limit=1)
    await index.upsert([make_point(pk, words={APPLE: 0.5}) for pk in range(2, 60)])
    among_many = await index.by_words(ask(apple=1.0), filter=None, limit=1)
    assert isinstance(alone, Hits) and isinstance(among_many, Hits)
    assert alone.hits == among_many.hits


async def test_a_question_that_shares_no_token_finds_nothing(index: ChunkIndex) -> None:
    await index.upsert([make_point(1), make_point(2, words={})])
    assert await find_words(index, ask(plum=1.0)) == []
    assert await find_words(index, SparseVector()) == []


async def test_meaning_is_ranked_by_cosine_and_points_without_a_vector_are_left_out(index: ChunkIndex) -> None:
    await index.upsert(
        [
            make_point(1, meaning=[1.0, 0.0, 0.0]),
            make_point(2),
            make_point(3, meaning=[0.6, 0.8, 0.0]),
            make_point(4, meaning=[0.0, 0.0, 1.0]),
        ]
    )
    found = await index.by_meaning([0.0, 3.0, 0.3], filter=None, limit=10)
    assert isinstance(found, Hits)
    assert [hit.key for hit in found.hits] == [chunk_key(3, 0), chunk_key(4, 0)]
    assert found.hits[0].score == pytest.approx(0.796, abs=0.001)


async def test_the_meaning_leg_is_unavailable_until_there_are_vectors(index: ChunkIndex) -> None:
    await index.upsert([make_point(1)])
    assert isinstance(await index.by_meaning([1.0, 0.0], filter=None, limit=3), LegUnavailable)
    assert await index.count(with_meaning=True) == 0
    assert await index.vectors([chunk_key(1, 0)]) == {}
    await index.upsert([make_point(1, meaning=[1.0, 0.0])])
    assert await find_meaning(index, [1.0, 0.0]) == [chunk_key(1, 0)]


async def test_a_vector_of_another_length_is_refused_and_a_question_of_another_length_is_unavailable(
    index: ChunkIndex,
) -> None:
    await index.upsert([make_point(1, meaning=[1.0, 0.0])])
    with pytest.raises(BackendRejectedError):
        await index.upsert([make_point(2, meaning=[1.0, 0.0, 0.0])])
    assert isinstance(await index.by_meaning([1.0, 0.0, 0.0], filter=None, limit=3), LegUnavailable)
    assert await find_words(index, ask(apple=1.0)) == [chunk_key(1, 0)]


async def test_ties_are_in_the_order_of_keys_wherever_the_cut_is(index: ChunkIndex) -> None:
    documents = list(range(1, 301))
    Random(3).shuffle(documents)
    await index.upsert([make_point(pk, meaning=[0.0, 1.0]) for pk in documents])
    await index.upsert([make_point(pk, revision=2, meaning=[0.0, 1.0]) for pk in documents[:40]])
    in_order = [chunk_key(pk, 0) for pk in range(1, 301)]
    for limit in (1, 7, 100, 299):
        assert await find_words(index, ask(apple=1.0), limit=limit) == in_order[:limit]
        assert await find_meaning(index, [0.0, 1.0], limit=limit) == in_order[:limit]


async def test_a_known_key_is_replaced_whole(index: ChunkIndex) -> None:
    await index.upsert([make_point(1, words={APPLE: 1.0}, meaning=[1.0, 0.0], type="guide")])
    await index.upsert([make_point(1, revision=2, words={PEAR: 1.0}, locale="ru")])
    assert await find_words(index, ask(apple=1.0)) == []
    assert await find_words(index, ask(pear=1.0), filter=Eq(Field.TYPE, "guide")) == []
    assert await find_words(index, ask(pear=1.0), filter=Eq(Field.LOCALE, "ru")) == [chunk_key(1, 0)]
    assert await index.count(with_meaning=True) == 0


async def test_points_of_an_older_revision_are_gone_and_other_documents_stay(index: ChunkIndex) -> None:
    await index.upsert([make_point(1, ordinal, revision=5) for ordinal in range(10)])
    await index.upsert([make_point(2, ordinal, revision=6) for ordinal in range(3)])
    await index.upsert([make_point(1, ordinal, revision=7) for ordinal in range(4)])
    assert sorted(await find_words(index, ask(apple=1.0), limit=50)) == [
        *(chunk_key(1, ordinal) for ordinal in range(4)),
        *(chunk_key(2, ordinal) for ordinal in range(3)),
    ]


async def test_one_call_can_carry_documents_of_different_revisions(index: ChunkIndex) -> None:
    await index.upsert([make_point(1, ordinal, revision=10) for ordinal in range(3)])
    await index.upsert([make_point(2, ordinal, revision=20) for ordinal in range(3)])
    await index.upsert([make_point(1, 0, revision=11), make_point(2, 0, revision=21)])
    assert await find_words(index, ask(apple=1.0)) == [chunk_key(1, 0), chunk_key(2, 0)]


async def test_many_points_can_be_written_in_one_call(index: ChunkIndex) -> None:
    await index.upsert([make_point(pk, ordinal) for pk in range(1, 101) for ordinal in range(9)])
    assert await index.count() == 900


async def test_deleting_forgets_whole_documents_and_an_unknown_one_is_a_no_op(index: ChunkIndex) -> None:
    await index.upsert([make_point(pk, ordinal) for pk in (1, 2, 3) for ordinal in (0, 1)])
    await index.delete_documents([2, 999])
    await index.delete_documents([])
    assert await index.count() == 4
    assert await index.count(filter=Eq(Field.DOCUMENT, 2)) == 0


async def test_deleted_points_never_crowd_out_the_living(index: ChunkIndex) -> None:
    await index.upsert([make_point(pk, words={APPLE: 2.0 - pk / 100}, meaning=[1.0, pk / 100]) for pk in range(1, 51)])
    await index.delete_documents(range(1, 41))
    living = [chunk_key(pk, 0) for pk in range(41, 51)]
    for _ in range(2):
        assert await find_words(index, ask(apple=1.0), limit=10) == living
        assert await find_meaning(index, [1.0, 0.0], limit=10) == living
        assert await index.count() == await index.count(with_meaning=True) == 10
        await index.tidy()


async def test_tidying_keeps_every_living_point(index: ChunkIndex) -> None:
    await index.upsert([make_point(pk, meaning=[1.0, pk / 1000], type="guide") for pk in range(1, 1501)])
    await index.delete_documents(range(1, 1001))
    await index.tidy()
    assert await index.count(filter=Eq(Field.TYPE, "guide"), with_meaning=True) == 500
    assert await find_words(index, ask(apple=1.0), limit=3) == [chunk_key(pk, 0) for pk in (1001, 1002, 1003)]
    assert await find_meaning(index, [1.0, 1.001], limit=1) == [chunk_key(1001, 0)]
    await index.upsert([make_point(1, words={PEAR: 1.0}, meaning=[0.0, 1.0])])
    assert await find_words(index, ask(pear=1.0)) == [chunk_key(1, 0)]


async def test_a_tiny_project_beside_a_huge_one_is_found(index: ChunkIndex) -> None:
    await index.upsert([make_point(pk, words={APPLE: 5.0}, meaning=[1.0, 0.0]) for pk in range(1, 501)])
    await index.upsert([make_point(900, words={APPLE: 0.1}, meaning=[0.1, 1.0], project="tiny")])
    only_tiny = Eq(Field.PROJECT, "tiny")
    assert await find_words(index, ask(apple=1.0), filter=only_tiny, limit=3) == [chunk_key(900, 0)]
    assert await find_meaning(index, [1.0, 0.0], filter=only_tiny, limit=3) == [chunk_key(900, 0)]


async def test_vectors_are_given_back_for_the_points_that_have_them(index: ChunkIndex) -> None:
    await index.upsert([make_point(1, meaning=[0.6, 0.8]), make_point(2)])
    found = await index.vectors([chunk_key(1, 0), chunk_key(2, 0), chunk_key(3, 0)])
    assert list(found) == [chunk_key(1, 0)]
    assert found[chunk_key(1, 0)] == pytest.approx([0.6, 0.8], abs=1e-6)


def random_facets(random: Random) -> Facets:
    facets = {
        "project": random.choice(values.PROJECTS),
        "type": random.choice(values.TYPES),
        "folders": folder_hashes(random.choice(values.PATHS)),
        "media_type": random.choice(values.MEDIA_TYPES),
        "locale": random.choice(values.LOCALES),
        "version": random.choice(values.VERSIONS),
        "date": days_since_epoch(random.choice(values.DATES)),
        "state": random.sample(values.STATES, 2),
    }
    return {name: value for name, value in facets.items() if value is not None}


async def test_filters_let_through_what_they_say(index: ChunkIndex) -> None:
    random = Random(20)
    facets = {pk: random_facets(random) for pk in range(1, 61)}
    points = [make_point(pk, meaning=[1.0, pk / 100]) for pk in facets]
    await index.upsert([replace(point, payload=facets[point.document]) for point in points])
    for number in range(150):
        wanted = values.random_filter(random)
        expected = {chunk_key(pk, 0) for pk, facet in facets.items() if holds(wanted, {**facet, "document": pk})}
        assert set(await find_words(index, ask(apple=1.0), filter=wanted, limit=100)) == expected, (number, wanted)
        assert await index.count(filter=wanted) == len(expected), (number, wanted)
        if number % 5 == 0:
            assert set(await find_meaning(index, [1.0, 0.5], filter=wanted, limit=100)) == expected, wanted


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        pytest.param(In(Field.PROJECT, ()), 0, id="in nothing"),
        pytest.param(AnyOf(()), 0, id="any of nothing"),
        pytest.param(All(()), 3, id="all of nothing"),
        pytest.param(Not(Eq(Field.TYPE, "guide")), 2, id="not, when absent"),
        pytest.param(Not(Range(Field.DATE, 0, None)), 2, id="not a range, when absent"),
        pytest.param(Range(Field.DATE), 2, id="a range open at both ends wants the field"),
        pytest.param(Range(Field.DATE, 100, 100), 1, id="bounds are inclusive"),
        pytest.param(Range(Field.DATE, 5, 1), 0, id="an empty range"),
        pytest.param(Range(Field.PROJECT, 1, 2), 0, id="a range over words"),
        pytest.param(Eq(Field.PROJECT, 5), 0, id="a number where words are"),
        pytest.param(Eq(Field.DATE, "100"), 0, id="a word where numbers are"),
        pytest.param(In(Field.DATE, ("x", 100, -7)), 2, id="words and numbers"),
        pytest.param(Eq(Field.TYPE, "\udcff"), 0, id="a lone surrogate"),
        pytest.param(Eq(Field.TYPE, "gu*de' OR 1=1"), 0, id="a value is only a value"),
        pytest.param(Not(AnyOf((Eq(Field.TYPE, "guide"), Eq(Field.DATE, 100)))), 1, id="not any of"),
    ],
)
async def test_awkward_filters(index: ChunkIndex, wanted: Filter, expected: int) -> None:
    await index.upsert([make_point(1, type="guide", date=-7), make_point(2, date=100), make_point(3)])
    assert len(await find_words(index, ask(apple=1.0), filter=wanted)) == expected
    assert await index.count(filter=wanted) == expected


async def test_a_deadline_that_has_passed_makes_the_leg_unavailable(index: ChunkIndex) -> None:
    await index.upsert([make_point(1, meaning=[1.0, 0.0])])
    for found in (
        await index.by_words(ask(apple=1.0), filter=None, limit=3, deadline_seconds=0),
        await index.by_meaning([1.0, 0.0], filter=None, limit=3, deadline_seconds=0),
    ):
        assert isinstance(found, LegUnavailable)
        assert found.reason


async def test_a_limit_of_nothing_finds_nothing(index: ChunkIndex) -> None:
    await index.upsert([make_point(1)])
    assert await find_words(index, ask(apple=1.0), limit=0) == []


async def test_clearing_forgets_everything_and_the_index_goes_on(index: ChunkIndex) -> None:
    await index.upsert([make_point(pk, meaning=[1.0, 0.0]) for pk in range(1, 30)])
    await index.clear()
    assert await index.count() == 0
    assert await find_words(index, ask(apple=1.0)) == []
    await index.upsert([make_point(7, meaning=[1.0, 0.0])])
    assert await find_meaning(index, [1.0, 0.0]) == [chunk_key(7, 0)]


async def test_a_closed_index_says_so(open_index: OpenChunkIndex, tmp_path: Path) -> None:
    async with open_index(tmp_path / "chunks") as index:
        await index.close()
        with pytest.raises(BackendUnavailableError):
            await index.upsert([make_point(1)])
        assert isinstance(await index.by_words(ask(apple=1.0), filter=None, limit=3), LegUnavailable)
