"""What every card index promises."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from random import Random

import pytest

from armillary_core.domain.card import BaseLayer, Card, Enrichment
from armillary_core.domain.chapter import ChapterKind
from armillary_core.domain.document import DocumentId, ExtractionState, path_hash
from armillary_core.domain.errors import BackendUnavailableError
from armillary_core.domain.facets import facets_of
from armillary_core.domain.query import (
    All,
    AnyOf,
    Eq,
    Field,
    Filter,
    In,
    LegUnavailable,
    MatchClass,
    NameHit,
    NameHits,
    Not,
    Range,
)
from armillary_core.ports.card_index import CardIndex
from armillary_core.ports.catalogue.outbox import CardIndexState
from contract import random_filters as values
from contract.implementations import CARD_INDEX_IMPLEMENTATIONS, OpenCardIndex
from factories import make_chapter, make_document
from fakes import holds

pytestmark = pytest.mark.anyio

EXACT, PREFIX, WORDS, FUZZY, PARTIAL = MatchClass


@pytest.fixture(params=CARD_INDEX_IMPLEMENTATIONS)
def open_index(request: pytest.FixtureRequest) -> OpenCardIndex:
    opener: OpenCardIndex = request.param
    return opener


@pytest.fixture
async def index(open_index: OpenCardIndex, tmp_path: Path) -> AsyncIterator[CardIndex]:
    async with open_index(tmp_path / "cards") as opened:
        yield opened


def make_state(
    pk: int,
    title: str | None = "Guide",
    *,
    path: str | bytes | None = None,
    chapters: Sequence[tuple[str, ...]] = (),
    kind: ChapterKind = ChapterKind.HEADING,
    project: str = "notes",
    keywords: tuple[str, ...] = (),
    headings: tuple[str, ...] = (),
    summary: str | None = None,
) -> CardIndexState:
    raw = path if isinstance(path, bytes) else (path or f"file{pk}.md").encode()
    document = make_document(pk, raw, project=project, title=title)
    base = BaseLayer(headings=headings, keywords=keywords, summary=summary)
    outline = tuple(
        make_chapter(ordinal, trail[-1], path=trail, level=len(trail), kind=kind)
        for ordinal, trail in enumerate(chapters, start=1)
    )
    return CardIndexState(pk, pk, Card(document, base), outline)


async def find(index: CardIndex, text: str, *, filter: Filter | None = None, limit: int = 20) -> tuple[NameHit, ...]:
    found = await index.search(text, filter=filter, limit=limit)
    assert isinstance(found, NameHits), found
    return found.hits


async def first(index: CardIndex, text: str) -> tuple[int, int | None, MatchClass] | None:
    hits = await find(index, text)
    return (hits[0].document, hits[0].chapter, hits[0].match) if hits else None


LIBRARY = [
    make_state(
        1,
        "Getting Started",
        path="docs/getting-started.md",
        chapters=[("Getting Started",), ("Getting Started", "Installation"), ("Getting Started", "First steps")],
        keywords=("quick start", "tutorial"),
        headings=("Installation", "First steps"),
        summary="How to put the telescope on its tripod",
    ),
    make_state(
        2,
        None,
        path="src/core/user_store.py",
        chapters=[("UserStore",), ("UserStore", "getUserById"), ("UserStore", "save_user"), ("parse_utf8",)],
        kind=ChapterKind.METHOD,
    ),
    make_state(3, "Größe der Straße", path="Übersicht/ёлка.md"),
    make_state(4, "データベースを圧縮する", path="docs/データベース.md"),
    make_state(5, "Docker Compose in production", path="ops/docker.md", chapters=[("Docker", "Health checks")]),
    make_state(6, "C# and C++ side by side", path="lang/C#.md"),
    make_state(7, "Café menus", path="docs/a b (old).md"),
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Getting Started", (1, None, EXACT), id="title"),
        pytest.param("  getting   STARTED ", (1, None, EXACT), id="case and white space"),
        pytest.param('"getting started"', (1, None, EXACT), id="quoted"),
        pytest.param("Getting started?", (1, None, EXACT), id="final punctuation"),
        pytest.param("getting-started.md", (1, None, EXACT), id="file name"),
        pytest.param("getting-started", (1, None, EXACT), id="file name without suffix"),
        pytest.param("docs/getting-started.md", (1, None, EXACT), id="path"),
        pytest.param("core/user_store.py", (2, None, EXACT), id="end of a path"),
        pytest.param("notes::src/core/user_store.py", (2, None, EXACT), id="document id"),
        pytest.param("quick start", (1, None, EXACT), id="keyword"),
        pytest.param("installation", (1, 2, EXACT), id="chapter"),
        pytest.param("getUserById", (2, 2, EXACT), id="identifier"),
        pytest.param("getUserById()", (2, 2, EXACT), id="identifier with its brackets"),
        pytest.param("UserStore.getUserById", (2, 2, EXACT), id="Class.method"),
        pytest.param("grosse der strasse", (3, None, EXACT), id="umlauts and sharp s"),
        pytest.param("елка", (3, None, EXACT), id="yo"),
        pytest.param("データベースを圧縮する", (4, None, EXACT), id="Japanese"),
        pytest.param("cafe menus", (7, None, EXACT), id="accents"),
        pytest.param("a b (old).md", (7, None, EXACT), id="brackets in a file name"),
        pytest.param("C#", (6, None, EXACT), id="C#"),
        pytest.param("get user by id", (2, 2, PREFIX), id="parts of camelCase"),
        pytest.param("save user", (2, 3, PREFIX), id="parts of snake_case"),
        pytest.param("saveUser", (2, 3, PREFIX), id="snake_case typed as camelCase"),
        pytest.param("getuserb", (2, 2, PREFIX), id="unfinished identifier"),
        pytest.param("parse utf8", (2, 4, PREFIX), id="digits stay with their letters"),
        pytest.param("docker comp", (5, None, PREFIX), id="unfinished word"),
        pytest.param("production docker", (5, None, PREFIX), id="any order"),
        pytest.param("health", (5, 1, PREFIX), id="first word of a chapter"),
        pytest.param("圧縮", (4, None, PREFIX), id="part of a Japanese name"),
        pytest.param("c++", (6, None, PREFIX), id="C++"),
        pytest.param("telescope tutorial", (1, None, WORDS), id="summary and keyword"),
        pytest.param("ops production", (5, None, WORDS), id="folder and title"),
        pytest.param("docker compse", (5, None, FUZZY), id="a letter missing"),
        pytest.param("gettign startde", (1, None, FUZZY), id="letters swapped"),
        pytest.param("instalaltoin", (1, 2, FUZZY), id="two mistakes in a long word"),
        pytest.param("how do I run docker compose on the moon", (5, None, PARTIAL), id="some words of a question"),
        pytest.param("zzyzx", None, id="nothing like it"),
        pytest.param("caf", (7, None, PREFIX), id="accents and a prefix"),
        pytest.param("mneus", (7, None, FUZZY), id="one mistake in five letters"),
        pytest.param("mnu", None, id="no mistakes in three letters"),
        pytest.param("what is the", None, id="small words only"),
    ],
)
async def test_names_are_found_as_people_type_them(
    index: CardIndex, text: str, expected: tuple[int, int | None, MatchClass] | None
) -> None:
    await index.upsert(LIBRARY)
    assert await first(index, text) == expected


async def test_better_classes_of_match_come_first(index: CardIndex) -> None:
    await index.upsert(
        [
            make_state(1, "Red apples and one green"),
            make_state(2, "Green pear", keywords=("apple",)),
            make_state(3, "Green apple pies"),
            make_state(4, "Green Apple"),
            make_state(5, "Nothing of the kind"),
            make_state(6, "The apple orchard"),
        ]
    )
    hits = await find(index, "green apple")
    assert [(hit.document, hit.match) for hit in hits] == [
        (4, EXACT),
        (3, PREFIX),
        (1, PREFIX),
        (2, WORDS),
        (6, PARTIAL),
    ]
    assert all(0 <= hit.score <= 1 for hit in hits)


async def test_a_title_is_worth_more_than_a_chapter_of_the_same_name(index: CardIndex) -> None:
    await index.upsert([make_state(1, "Handbook", chapters=[("Handbook", "Backups")]), make_state(2, "Backups")])
    assert [(hit.document, hit.chapter) for hit in await find(index, "backups")] == [(2, None), (1, 1)]


async def test_a_chapter_named_like_its_document_is_not_a_second_hit(index: CardIndex) -> None:
    await index.upsert([make_state(1, "Backups", chapters=[("Backups",), ("Backups", "Nightly")])])
    assert [hit.chapter for hit in await find(index, "backups")] == [None]


async def test_a_chapter_is_not_found_for_the_headings_above_it_alone(index: CardIndex) -> None:
    await index.upsert([make_state(1, "Handbook", chapters=[("Backups", "Nightly"), ("Backups", "Weekly")])])
    assert await find(index, "backups") == ()
    assert [hit.chapter for hit in await find(index, "backups weekly")] == [2]


@pytest.mark.parametrize("text", ["", " \n\t", "?!", "...", "/", "()", "—", '"', "\u00a0", "«»", "\x00"])
async def test_blanks_and_punctuation_find_nothing(index: CardIndex, text: str) -> None:
    await index.upsert(LIBRARY)
    assert await find(index, text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "title:guide",
        "guide AND NOT other",
        "name:[a TO z]",
        "guide~2",
        "+guide -other",
        '"guide',
        "(guide",
        "guide)",
        "gu*",
        "*",
        "guide^5",
        "/gu.de/",
        "guide\\",
        "guide\x00",
        "\udcff guide",
        "guide " * 400,
        "g" * 5000,
        "{guide} 'OR' 1=1 --",
    ],
)
async def test_a_question_is_never_a_query_language(index: CardIndex, text: str) -> None:
    await index.upsert([make_state(1, "Guide"), make_state(2, "Other"), make_state(3, "Zebra")])
    assert {hit.document for hit in await find(index, text)} <= {1, 2}
    assert not {hit.document for hit in await find(index, "name:*")}


async def test_the_score_does_not_depend_on_other_documents(index: CardIndex) -> None:
    await index.upsert([make_state(1, "Green apple pies", chapters=[("Apple",)])])
    alone = await find(index, "green apple")
    await index.upsert([make_state(pk, f"Green tea number {pk}", keywords=("apple",)) for pk in range(2, 120)])
    among_many = await find(index, "green apple", limit=200)
    assert [hit for hit in among_many if hit.document == 1] == list(alone)


async def test_ties_are_in_the_order_of_documents_wherever_the_cut_is(index: CardIndex) -> None:
    documents = list(range(1, 301))
    Random(3).shuffle(documents)
    for start in range(0, 300, 60):
        await index.upsert(
            [make_state(pk, "Options", chapters=[("Options", "See also")]) for pk in documents[start : start + 60]]
        )
    await index.upsert([make_state(pk, "Options", chapters=[("Options", "See also")]) for pk in documents[:40]])
    for limit in (1, 7, 100, 299):
        assert [hit.document for hit in await find(index, "options", limit=limit)] == list(range(1, limit + 1))
        assert [hit.document for hit in await find(index, "see also", limit=limit)] == list(range(1, limit + 1))


async def test_a_known_document_is_replaced_whole(index: CardIndex) -> None:
    await index.upsert([make_state(1, "Old name", path="a.md", chapters=[("Gone",), ("Kept",)])])
    await index.upsert([make_state(1, "New name", path="b.md", chapters=[("Kept",)])])
    assert await find(index, "gone") == ()
    assert [hit.match for hit in await find(index, "old")] == []
    assert [hit.chapter for hit in await find(index, "kept")] == [1]
    assert await index.count() == 1


async def test_the_last_of_two_states_of_one_document_counts(index: CardIndex) -> None:
    await index.upsert([make_state(1, "First"), make_state(2, "Other"), make_state(1, "Second")])
    assert await find(index, "first") == ()
    assert len(await find(index, "second")) == 1
    assert await index.count() == 2


async def test_deleting_forgets_cards_and_chapters_and_an_unknown_one_is_a_no_op(index: CardIndex) -> None:
    await index.upsert(LIBRARY)
    await index.delete([1, 999])
    await index.delete([])
    assert await index.count() == len(LIBRARY) - 1
    assert await find(index, "installation") == ()
    assert await find(index, "getting started") == ()


async def test_deleted_documents_never_crowd_out_the_living(index: CardIndex) -> None:
    await index.upsert([make_state(pk, "Meeting notes", chapters=[("Agenda",)]) for pk in range(1, 51)])
    await index.delete(range(1, 41))
    living = list(range(41, 51))
    assert [hit.document for hit in await find(index, "meeting notes", limit=10)] == living
    assert [hit.document for hit in await find(index, "agenda", limit=10)] == living
    assert await index.count() == 10


async def test_a_tiny_project_beside_a_huge_one_is_found(index: CardIndex) -> None:
    await index.upsert([make_state(pk, "Install", chapters=[("Install", "Steps")]) for pk in range(1, 401)])
    await index.upsert([make_state(900, "How we once had to install it by hand", project="tiny")])
    hits = await find(index, "install", filter=Eq(Field.PROJECT, "tiny"), limit=3)
    assert [hit.document for hit in hits] == [900]


async def test_the_count_is_of_documents_not_of_chapters(index: CardIndex) -> None:
    assert await index.count() == 0
    await index.upsert(LIBRARY)
    assert await index.count() == len(LIBRARY)


def random_state(random: Random, pk: int) -> CardIndexState:
    """A card of title "Guide" with random facets and one chapter."""
    enriched = random.random() < 0.5
    card = Card(
        make_document(
            pk,
            random.choice(values.PATHS),
            project=random.choice(values.PROJECTS),
            media_type=random.choice(values.MEDIA_TYPES),
            locale=random.choice(values.LOCALES),
            version=random.choice(values.VERSIONS),
            content_hash="same",
            state=random.choice((ExtractionState.OK, ExtractionState.FAILED)),
        ),
        BaseLayer(type=random.choice(values.TYPES), date=random.choice(values.DATES)),
        Enrichment(content_hash=random.choice(("same", "other"))) if enriched else None,
        diverged_from=(DocumentId("notes::copy.md"),) if random.random() < 0.2 else (),
    )
    return CardIndexState(pk, pk, card, (make_chapter(0, "Details"),))


async def test_filters_let_through_what_they_say(index: CardIndex) -> None:
    random = Random(20)
    states = {pk: random_state(random, pk) for pk in range(1, 61)}
    await index.upsert(list(states.values()))
    for number in range(150):
        wanted = values.random_filter(random)
        expected = {pk for pk, state in states.items() if holds(wanted, facets_of(state.card))}
        for text in ("guide", "details"):
            found = await find(index, text, filter=wanted, limit=100)
            assert {hit.document for hit in found} == expected, (number, text, wanted)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        pytest.param(In(Field.PROJECT, ()), 0, id="in nothing"),
        pytest.param(AnyOf(()), 0, id="any of nothing"),
        pytest.param(All(()), 3, id="all of nothing"),
        pytest.param(Not(Eq(Field.TYPE, "guide")), 2, id="not, when absent"),
        pytest.param(Not(Range(Field.DATE, 0, None)), 2, id="not a range, when absent"),
        pytest.param(Range(Field.DATE), 2, id="a range open at both ends wants the field"),
        pytest.param(Range(Field.DATE, 9, 9), 1, id="bounds are inclusive"),
        pytest.param(Range(Field.DATE, 5, 1), 0, id="an empty range"),
        pytest.param(Range(Field.PROJECT, 1, 2), 0, id="a range over words"),
        pytest.param(Eq(Field.PROJECT, 5), 0, id="a number where words are"),
        pytest.param(Eq(Field.DATE, "9"), 0, id="a word where numbers are"),
        pytest.param(In(Field.DATE, ("x", 9, -1)), 2, id="words and numbers"),
        pytest.param(Eq(Field.TYPE, "\udcff"), 0, id="a lone surrogate"),
        pytest.param(Eq(Field.TYPE, "gu*de' OR 1=1"), 0, id="a value is only a value"),
        pytest.param(Eq(Field.DOCUMENT, 3), 1, id="one document"),
        pytest.param(Eq(Field.FOLDERS, path_hash(b"docs")), 2, id="a folder"),
    ],
)
async def test_awkward_filters(index: CardIndex, wanted: Filter, expected: int) -> None:
    def state(pk: int, path: bytes, base: BaseLayer) -> CardIndexState:
        return CardIndexState(pk, pk, Card(make_document(pk, path), base), ())

    await index.upsert(
        [
            state(1, b"docs/a.md", BaseLayer(type="guide", date="1969-12-31")),
            state(2, b"docs/deep/b.md", BaseLayer(date="1970-01-10")),
            state(3, b"docsets/c.md", BaseLayer()),
        ]
    )
    assert len(await find(index, "guide", filter=wanted)) == expected


async def test_a_deadline_that_has_passed_makes_the_leg_unavailable(index: CardIndex) -> None:
    await index.upsert(LIBRARY)
    found = await index.search("docker", filter=None, limit=3, deadline_seconds=0)
    assert isinstance(found, LegUnavailable)
    assert found.reason


async def test_the_limit_holds_over_all_classes_together(index: CardIndex) -> None:
    await index.upsert([make_state(pk, title) for pk, title in enumerate(["Apple", "Apple pie", "Pie", "Apples"])])
    assert len(await find(index, "apple pie", limit=2)) == 2
    assert await find(index, "apple", limit=0) == ()


async def test_names_that_are_not_unicode_are_stored_and_found(index: CardIndex) -> None:
    await index.upsert([make_state(1, None, path=b"caf\xe9/men\xfc \xff.md"), make_state(2, "Broken \udcff title")])
    assert await index.count() == 2
    assert [hit.document for hit in await find(index, "broken title")] == [2]
    assert [hit.document for hit in await find(index, "caf%E9/men%FC %FF.md")] == [1]


async def test_a_very_long_name_is_stored_and_found(index: CardIndex) -> None:
    title = "Minutes of " + "the long meeting " * 500
    await index.upsert([make_state(1, title, headings=tuple(f"Heading {n}" for n in range(3000)))])
    assert [hit.document for hit in await find(index, "minutes meeting")] == [1]


async def test_clearing_forgets_everything_and_the_index_goes_on(index: CardIndex) -> None:
    await index.upsert(LIBRARY)
    await index.clear()
    assert await index.count() == 0
    assert await find(index, "docker") == ()
    await index.upsert(LIBRARY[:1])
    assert len(await find(index, "getting started")) == 1


async def test_a_changed_card_is_filtered_by_what_it_became(index: CardIndex) -> None:
    before = make_state(1, "Guide", chapters=[("Details",)])
    after = dataclasses.replace(
        before, card=dataclasses.replace(before.card, enrichment=Enrichment(type="adr", date="2025-01-02"))
    )
    await index.upsert([before])
    await index.upsert([after])
    for text in ("guide", "details"):
        assert len(await find(index, text, filter=Eq(Field.TYPE, "adr"))) == 1
        assert await find(index, text, filter=Eq(Field.STATE, "empty")) == ()


async def test_a_closed_index_says_so(open_index: OpenCardIndex, tmp_path: Path) -> None:
    async with open_index(tmp_path / "cards") as index:
        await index.close()
        with pytest.raises(BackendUnavailableError):
            await index.upsert(LIBRARY)
        assert isinstance(await index.search("docker", filter=None, limit=3), LegUnavailable)
