"""What a search finds and in which order, over a real catalogue and fake engines."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from armillary_core.domain.card import BaseLayer
from armillary_core.domain.chunk import split_key
from armillary_core.domain.document import DocumentId
from armillary_core.domain.errors import (
    InvalidQueryError,
    InvalidRequestError,
    ProjectNotFoundError,
    UnknownFacetError,
)
from armillary_core.domain.query import Mode, QueryClass, Scope, SearchQuery
from armillary_core.domain.token import LOCAL_OWNER
from armillary_core.usecases.search import Search
from armillary_core.usecases.search_policy import SearchPolicy
from factories import make_name_only
from search_world import SearchWorld, analysed, documents_of, open_search_world

pytestmark = pytest.mark.anyio

TIDES = "# Tides\nThe spring tide comes with the full moon.\n## Neap\nThe neap tide is the smaller one.\n"
KEYS = "# Keys\nRotate the backup keys every month.\n"
WIND = "# Wind\nThe trade wind blows all year.\n"


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[SearchWorld]:
    async with open_search_world(tmp_path) as opened:
        yield opened


async def test_a_word_of_a_document_finds_it(world: SearchWorld) -> None:
    await world.add("notes", {"tides.md": TIDES, "keys.md": KEYS, "wind.md": WIND})
    answer = await world.ask("which tide comes with the full moon")
    first = answer.passages[0]
    assert first.document == "notes::tides.md"
    assert first.title == "Tides"
    assert answer.relevant
    assert answer.mode is Mode.KEYWORD
    assert answer.query_class is QueryClass.QUESTION


async def test_a_passage_says_where_it_is(world: SearchWorld) -> None:
    await world.add("notes", {"tides.md": TIDES})
    first = (await world.ask("neap smaller")).passages[0]
    assert first.chapter == "notes::tides.md#neap-1"
    assert first.heading_path == ("Tides", "Neap")
    assert first.lines == (3, 4)
    assert TIDES[first.start : first.end] == first.text == "## Neap\nThe neap tide is the smaller one."
    assert first.snippet == "The \x02neap\x03 tide is the \x02smaller\x03 one."


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("# A\nWe are running late.\n", "run"),
        ("# A\nWe run late.\n", "running"),
        ("# A\nКлючи лежат на столе.\n", "ключ столы"),
        ("# A\nЕщё одна ёлка стоит в лесу.\n", "елка"),
        ("# A\nЕще одна елка стоит в лесу.\n", "ёлка"),
        ("# A\nthe get_user_by_id function\n", "user"),
        ("# A\nthe getUserById function\n", "get_user"),
        ("# A\npass --dry-run first\n", "--dry-run"),
        ("# A\nfails with E0277 here\n", "e0277"),
        ("# A\nDie Straße ist lang.\n", "strasse"),
        ("# A\nun café noir\n", "cafe"),
        ("# A\n今日は東京タワーに行った。\n", "東京タワー"),
        ("# A\nThe Word in CAPITALS.\n", "capitals"),
    ],
)
async def test_words_are_found_in_every_form(world: SearchWorld, text: str, query: str) -> None:
    await world.add("notes", {"a.md": text, "b.md": "# B\nNothing of this.\n"})
    assert (await world.found(query))[0] == "notes::a.md"


async def test_keyword_heading_summary_and_file_name_each_match(world: SearchWorld) -> None:
    base = BaseLayer(keywords=("estuary",), summary="About brackish water.", headings=("Mixing zones",))
    await world.add(
        "notes", {"delta_plan.md": analysed("# Rivers\nplain text\n", "delta_plan.md", base=base), "keys.md": KEYS}
    )
    for query in ("estuary", "brackish", "mixing zones", "delta plan", "delta_plan.md"):
        assert (await world.found(query))[0] == "notes::delta_plan.md", query


async def test_several_words_add_up(world: SearchWorld) -> None:
    await world.add(
        "notes", {"a.md": "# A\nred stone\n", "b.md": "# B\nred green stone\n", "c.md": "# C\ngreen blue red stone\n"}
    )
    assert await world.found("a stone that is red, green and blue") == ["notes::c.md", "notes::b.md", "notes::a.md"]


async def test_an_exact_title_file_name_or_path_is_first(world: SearchWorld) -> None:
    talk = "# Talk\n" + "rotation plan rotation plan backup schedule.py " * 30
    await world.add("notes", {"talk.md": talk, "ops/schedule.py": "# Rotation plan\nmonthly\n", "x.md": WIND})
    for query in ("rotation plan", "Rotation Plan", "schedule.py", "ops/schedule.py"):
        assert (await world.found(query))[0] == "notes::ops/schedule.py", query


async def test_an_exact_heading_is_cited_itself(world: SearchWorld) -> None:
    await world.add("notes", {"tides.md": TIDES, "talk.md": "# Talk\n" + "neap " * 50})
    first = (await world.ask("Neap")).passages[0]
    assert first.chapter == "notes::tides.md#neap-1"
    assert first.score == pytest.approx(0.95, abs=0.06)


async def test_what_stands_in_quotes_comes_first_as_it_stands(world: SearchWorld) -> None:
    await world.add(
        "notes",
        {"a.md": "# A\nkeys backup keys keys, backup\n", "b.md": "# B\nthe *backup*  keys are old and there is more\n"},
    )
    assert (await world.found('"backup keys" keys'))[0] == "notes::a.md"
    assert (await world.found('keys "the backup keys"'))[0] == "notes::b.md"
    answer = await world.ask('"keys the backup"')
    assert any("as it stands" in note for note in answer.notes)


async def test_a_whole_line_that_was_typed_comes_first(world: SearchWorld) -> None:
    await world.add(
        "notes",
        {
            "a.md": "# A\nstop daemon core stop daemon core stop core daemon\n",
            "b.md": "# B\n- Stop the *core* daemon: `corectl stop`\n" + "other words follow here. " * 20,
        },
    )
    assert (await world.found("Stop the core daemon"))[0] == "notes::b.md"


async def test_a_whole_line_is_found_among_the_best_by_words_wherever_it_was_placed(world: SearchWorld) -> None:
    await world.add(
        "notes",
        {
            "a.md": "# A\nstop daemon core stop daemon core stop core daemon\n",
            "b.md": "# B\n- Stop the *core* daemon: `corectl stop`\n" + "other words follow here. " * 20,
        },
    )

    async def first(policy: SearchPolicy) -> str:
        search = Search(world.catalogue, world.cards, world.chunks, world.embedder, world.clock, policy)
        answer = await search(SearchQuery("Stop the core daemon", mode=Mode.KEYWORD), LOCAL_OWNER)
        return answer.passages[0].document

    assert await first(SearchPolicy(line_places=0)) == "notes::b.md"
    assert await first(SearchPolicy(line_places=0, line_hits=0)) == "notes::a.md"


async def test_a_misspelt_word_is_mended_and_the_answer_says_so(world: SearchWorld) -> None:
    await world.add("notes", {"tides.md": TIDES, "keys.md": KEYS})
    answer = await world.ask("bakcup keys of the mooon")
    assert answer.mended == {"bakcup": "backup", "mooon": "moon"}
    assert documents_of(answer.passages) == ["notes::keys.md", "notes::tides.md"]
    assert "\x02backup\x03" in answer.passages[0].snippet


@pytest.mark.parametrize("query", ["keys", "getUserByld", '"bakcup"', "utf9", "cat"])
async def test_known_words_identifiers_quotes_digits_and_short_words_are_left_as_they_are(
    world: SearchWorld, query: str
) -> None:
    text = "# A\nkeys and keyz, getUserById, backup in utf8 by a bat\n"
    await world.add("notes", {"a.md": text, "b.md": "# B\nkeyz keyz\n"})
    assert (await world.ask(query)).mended == {}


async def test_a_misspelt_form_of_a_word_is_mended_when_another_form_was_written(world: SearchWorld) -> None:
    await world.add("notes", {"a.md": "# A\nIt was modified twice.\n", "b.md": "# B\nNothing else.\n"})
    answer = await world.ask("modfiying")
    assert answer.mended == {"modfiying": "modifying"}
    assert documents_of(answer.passages)[0] == "notes::a.md"


async def test_a_word_nobody_wrote_is_named_with_what_is_near(world: SearchWorld) -> None:
    await world.add("notes", {"a.md": "# A\nThe tidal range is large.\n"})
    answer = await world.ask("lorqe zzzzzz of which")
    assert answer.unknown == {"lorqe": ("large",), "zzzzzz": ()}


async def test_copies_are_one_passage_that_names_the_others(world: SearchWorld) -> None:
    await world.add("notes", {"b/tides.md": TIDES, "a/tides.md": TIDES, "keys.md": KEYS})
    await world.add("other", {"a/tides.md": TIDES})
    answer = await world.ask("spring tide moon", limit=10)
    copies = {"notes::a/tides.md", "notes::b/tides.md", "other::a/tides.md"}
    (shown,) = answer.passages
    assert {shown.document, *shown.also_in} == copies
    assert list(shown.also_in) == sorted(shown.also_in)
    assert answer.total == 1


async def test_one_document_does_not_fill_the_page(world: SearchWorld) -> None:
    big = "".join(f"# Tide {number}\n" + f"tide number {number} " * 60 + "\n" for number in range(9))
    others = {
        f"{number}.md": f"# Other {number}\nA tide among many other words in document {number}.\n"
        for number in range(3)
    }
    await world.add("notes", {"big.md": big, **others})
    answer = await world.ask("a question about any tide", limit=10)
    assert [passage.document for passage in answer.passages[:8]].count(DocumentId("notes::big.md")) == 5
    assert len(documents_of(answer.passages)) == 4
    assert len({(passage.document, passage.start) for passage in answer.passages}) == len(answer.passages)


async def test_pages_follow_each_other_without_gap_or_repetition(world: SearchWorld) -> None:
    await world.add("notes", {f"{number:02}.md": f"# N {number}\nA tide of day {number}.\n" for number in range(17)})
    whole = await world.ask("the tide of a day", limit=50)
    pages = [await world.ask("the tide of a day", limit=5, offset=offset) for offset in range(0, 20, 5)]
    assert [passage.document for page in pages for passage in page.passages] == documents_of(whole.passages)
    assert {page.total for page in pages} == {17}
    assert all(page.relevant for page in pages)


async def test_the_same_query_gives_the_same_order_every_time(world: SearchWorld) -> None:
    await world.add("notes", {f"{number}.md": f"# N {number}\nThe same tide.\nAnd {number}.\n" for number in range(20)})
    orders = [tuple(await world.found("same tide", mode=Mode.HYBRID, limit=20)) for _ in range(50)]
    assert len(set(orders)) == 1


async def test_equal_scores_are_ordered_by_project_and_path(world: SearchWorld) -> None:
    await world.add("zeta", {"a.md": "# One\nThe same tide x.\n"})
    await world.add("alpha", {"b.md": "# One\nThe same tide y.\n", "a.md": "# One\nThe same tide z.\n"})
    assert await world.found("same tide") == ["alpha::a.md", "alpha::b.md", "zeta::a.md"]


async def test_filters_narrow_inside_the_engines(world: SearchWorld) -> None:
    crowd = {f"big/{number}.md": f"# Tide {number}\ntide tide tide {number}\n" for number in range(150)}
    await world.add("huge", crowd)
    base = BaseLayer(type="guide", date="2026-02-03")
    await world.add(
        "tiny",
        {
            "docs/a b.md": analysed(
                "# Words\none tide among words\n", "docs/a b.md", base=base, locale="en", version="2.0"
            )
        },
    )
    wanted = ["tiny::docs/a b.md"]
    assert await world.found("a tide somewhere", project="tiny") == wanted
    for narrowing in (
        {"type": "guide"},
        {"path": "docs"},
        {"path": "docs/"},
        {"path": ".\\docs\\a b.md"},
        {"locale": "en"},
        {"version": "2.0"},
        {"since": "2026-02-03"},
        {"until": "2026-02-03"},
        {"since": "2026-01-01", "until": "2026-12-31", "type": "guide"},
    ):
        assert await world.found("a tide somewhere", **narrowing) == wanted, narrowing
    assert await world.found("a tide somewhere", since="2026-02-04") == []
    assert await world.found("a tide somewhere", path="doc") == []


@pytest.mark.parametrize(
    ("narrowing", "words"),
    [
        ({"type": "novel"}, 'No document has the type "novel". There are: guide.'),
        ({"locale": "xx"}, "en"),
        ({"version": "9"}, "2.0"),
        ({"media_type": "text/odd"}, "text/markdown"),
    ],
)
async def test_an_unknown_value_is_refused_with_those_there_are(
    world: SearchWorld, narrowing: dict[str, str], words: str
) -> None:
    base = BaseLayer(type="guide")
    await world.add("notes", {"a.md": analysed(TIDES, "a.md", base=base, locale="en", version="2.0")})
    with pytest.raises(UnknownFacetError) as refused:
        await world.ask("tide", **narrowing)
    assert words in refused.value.message


@pytest.mark.parametrize(
    "narrowing",
    [{"since": "yesterday"}, {"until": "2026-02-30"}, {"since": "2026-03-01", "until": "2026-02-01"}],
)
async def test_bad_dates_are_refused(world: SearchWorld, narrowing: dict[str, str]) -> None:
    await world.add("notes", {"a.md": TIDES})
    with pytest.raises(InvalidRequestError):
        await world.ask("tide", **narrowing)


@pytest.mark.parametrize("limit", [0, -1, 51])
async def test_a_limit_out_of_bounds_is_refused(world: SearchWorld, limit: int) -> None:
    with pytest.raises(InvalidRequestError, match="1 to 50"):
        await world.ask("tide", limit=limit)


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "?!", "\x00\x01", '""'])
async def test_a_query_without_words_is_refused(world: SearchWorld, text: str) -> None:
    with pytest.raises(InvalidQueryError, match=r"Give words"):
        await world.ask(text)


async def test_an_unknown_project_is_refused_with_those_there_are(world: SearchWorld) -> None:
    await world.add("notes", {"a.md": TIDES})
    with pytest.raises(ProjectNotFoundError, match=r'No project "nots"\. Projects: notes'):
        await world.ask("tide", project="nots")


@pytest.mark.parametrize(
    "text",
    [
        "tide AND NOT moon",
        "tide*",
        "-tide",
        '"tide',
        "(tide OR",
        "title:tide",
        "tide^5",
        "tide~2 [a TO b]",
        "\\tide",
        "'; DROP TABLE document; --",
    ],
)
async def test_operators_are_only_characters(world: SearchWorld, text: str) -> None:
    await world.add("notes", {"tides.md": TIDES, "drop.md": "# Drop\ndrop the table of the document\n"})
    assert await world.found(text)


async def test_a_pasted_text_is_cut_and_says_so(world: SearchWorld) -> None:
    await world.add("notes", {"tides.md": TIDES})
    answer = await world.ask("spring tide " + "and more words " * 400)
    assert documents_of(answer.passages) == ["notes::tides.md"]
    assert any("first" in note and "characters" in note for note in answer.notes)


async def test_titles_are_searched_alone(world: SearchWorld) -> None:
    await world.add("notes", {"tides.md": TIDES, "talk.md": "# Talk\ntides and wind\n"})
    answer = await world.ask("tides", scope=Scope.TITLES, mode=Mode.AUTO)
    assert documents_of(answer.passages) == ["notes::tides.md"]
    assert [leg.name for leg in answer.legs if leg.state == "ok"] == ["names"]


async def test_cards_are_searched_by_what_they_say_of_a_document(world: SearchWorld) -> None:
    base = BaseLayer(summary="How estuaries mix fresh and salt water.")
    await world.add(
        "notes", {"a.md": analysed("# A\nplain\n", "a.md", base=base), "b.md": "# B\nestuaries estuaries\n"}
    )
    answer = await world.ask("estuaries that mix water", scope=Scope.CARDS)
    assert documents_of(answer.passages) == ["notes::a.md"]
    assert answer.passages[0].text.startswith("# A")  # its lead


async def test_reference_catalogues_are_not_there_yet_and_the_answer_says_so(world: SearchWorld) -> None:
    await world.add("notes", {"tides.md": TIDES})
    answer = await world.ask("tide", scope=Scope.REFERENCE)
    assert answer.passages == ()
    assert answer.notes


async def test_a_file_known_by_name_only_is_found_by_it(world: SearchWorld) -> None:
    await world.add("notes", {"keys.md": KEYS})
    world.store("notes", {"img/harbour-map.png": make_name_only()})  # type: ignore[dict-item] # also an outcome
    await world.settle()
    first = (await world.ask("harbour map")).passages[0]
    assert first.document == "notes::img/harbour-map.png"
    assert (first.text, first.lines, first.chapter) == ("", None, None)


async def test_explain_tells_why(world: SearchWorld) -> None:
    await world.add("notes", {"tides.md": TIDES, "keys.md": KEYS})
    told = (await world.ask("Tides", mode=Mode.HYBRID, explain=True)).passages[0].explain
    assert told is not None
    assert {"fused", "words", "bm25", "meaning", "cosine", "weight", "names", "tier"} <= told.keys()
    assert told["names"] == "exact"
    assert (await world.ask("Tides")).passages[0].explain is None


async def test_scores_are_absolute(world: SearchWorld) -> None:
    await world.add("notes", {"tides.md": TIDES, "keys.md": KEYS, "wind.md": WIND})
    good = (await world.ask("spring tide full moon")).passages[0].score
    poor = (await world.ask("spring cleaning of refrigerators in apartment buildings downtown")).passages[0].score
    assert 0.0 <= poor < 0.3 < good <= 1.0


async def test_nothing_relevant_is_said_and_the_nearest_are_shown(world: SearchWorld) -> None:
    await world.add("notes", {f"{n}.md": f"# N {n}\nThe year {n} had a wind.\n" for n in range(9)} | {"t.md": TIDES})
    answer = await world.ask("refrigerators compressors thermostats evaporators condensers this year")
    assert answer.passages
    assert answer.relevant is False


async def test_a_document_gone_from_the_catalogue_is_not_shown(world: SearchWorld) -> None:
    pks = await world.add("notes", {"tides.md": TIDES, "other.md": "# Other\nA spring tide too.\n"})
    world.catalogue.ingest.vanish(world.catalogue.projects.all()[0].name, pks[:1])  # engines have not heard of it
    assert {split_key(key)[0] for key in world.chunks.points} == set(pks)
    assert await world.found("spring tide") == [DocumentId("notes::other.md")]
