from __future__ import annotations

import pytest

from armillary_core.domain.card import BaseLayer, CardChange
from armillary_core.domain.errors import DocumentNotFoundError, InvalidRequestError, ProjectNotFoundError
from armillary_core.domain.token import LOCAL_OWNER, Caller
from armillary_core.usecases.browse import Browse, CardPage, DocsQuery
from armillary_core.usecases.enrich import CardWrite, Enrich
from factories import make_failed, make_indexed
from shelves import Shelf

GUEST = Caller("guest")


@pytest.fixture
def browse(shelf: Shelf) -> Browse:
    shelf.project("alpha")
    shelf.project("beta")
    shelf.project("secret", private=True)
    shelf.add(
        "alpha",
        {
            "a.md": make_indexed("# Apple\ntext\n", base=BaseLayer(date="2026-01-05")),
            "docs/b.md": make_indexed("# Banana\n## Peel\ntext\n", base=BaseLayer(date="2026-03-01"), locale="de"),
            "docs/c.md": make_indexed("# Cherry\nsame text\n", version="2.0"),
            "broken.pdf": make_failed("password protected"),
        },
    )
    shelf.add("beta", {"c.md": "# Cherry\nsame text\n", "d.md": "# Date palm\n## Peel\n"})
    shelf.add("secret", {"c.md": "# Cherry\nsame text\n", "e.md": "# Elder\n## Peel\n"})
    enrich(shelf, "docs/b.md", type="guide", summary="Of bananas.")
    return Browse(shelf.catalogue, doc_types={"guide": "How to reach one goal", "report": "Results"})


def enrich(shelf: Shelf, path: str, project: str = "alpha", **fields: object) -> None:
    change = CardChange(**fields)  # type: ignore[arg-type]  # named by the test
    Enrich(shelf.catalogue, shelf.clock).update(CardWrite(f"{project}::{path}", change), LOCAL_OWNER)


def ids(page: CardPage) -> list[str]:
    return [str(card.id) for card in page.cards]


def test_the_cosmos_is_what_the_caller_may_see(browse: Browse) -> None:
    cosmos = browse.cosmos(GUEST)
    assert [(project.name, counts.documents) for project, counts in cosmos.projects] == [("alpha", 4), ("beta", 2)]
    assert cosmos.locales == {"de": 1} and cosmos.versions == {"2.0": 1}
    assert [(kind.name, kind.documents, kind.example) for kind in cosmos.types] == [
        ("guide", 1, "alpha::docs/b.md"),
        ("report", 0, None),
    ]
    assert [project.name for project, _ in browse.cosmos(LOCAL_OWNER).projects] == ["alpha", "beta", "secret"]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, ["alpha::a.md", "alpha::broken.pdf", "alpha::docs/b.md", "alpha::docs/c.md", "beta::c.md", "beta::d.md"]),
        ({"project": "beta"}, ["beta::c.md", "beta::d.md"]),
        ({"path": "docs"}, ["alpha::docs/b.md", "alpha::docs/c.md"]),
        ({"path": "./docs/"}, ["alpha::docs/b.md", "alpha::docs/c.md"]),
        ({"path": "\\docs\\c.md"}, ["alpha::docs/c.md"]),
        ({"type": "guide"}, ["alpha::docs/b.md"]),
        ({"locale": "de"}, ["alpha::docs/b.md"]),
        ({"version": "2.0"}, ["alpha::docs/c.md"]),
        ({"since": "2026-01-05"}, ["alpha::a.md", "alpha::docs/b.md"]),
        ({"since": "2026-01-05", "until": "2026-01-05"}, ["alpha::a.md"]),
        ({"since": "2026-01-05", "project": "beta"}, []),
        ({"state": "failed"}, ["alpha::broken.pdf"]),
    ],
)
def test_a_list_obeys_its_filters(browse: Browse, wanted: dict[str, str], found: list[str]) -> None:
    page = browse.docs(DocsQuery(**wanted), GUEST)  # type: ignore[arg-type]  # strings throughout
    assert ids(page) == found
    assert page.total == len(found)


def test_a_list_is_sorted_as_asked(browse: Browse) -> None:
    by_date = ids(browse.docs(DocsQuery(sort="date", limit=2), GUEST))
    assert by_date == ["alpha::docs/b.md", "alpha::a.md"]
    assert ids(browse.docs(DocsQuery(sort="title"), GUEST))[:2] == ["alpha::a.md", "alpha::docs/b.md"]


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        ({"type": "gide"}, 'No document has type "gide". Types in use: guide.'),
        ({"path": "nowhere"}, "No document matches these filters. The 2 projects have 6 documents."),
        ({"project": "beta", "state": "desync"}, 'No document matches these filters. Project "beta" has 2 documents.'),
    ],
)
def test_an_empty_list_says_why(browse: Browse, wanted: dict[str, str], why: str) -> None:
    assert browse.docs(DocsQuery(**wanted), GUEST).note == why  # type: ignore[arg-type]  # strings throughout


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"state": "rotten"}, 'state "rotten" is not known. One of: stale, empty'),
        ({"sort": "size"}, 'sort "size" is not known. One of: path, date, title'),
        ({"since": "2026-13-01"}, "since: date '2026-13-01' is not a calendar date"),
        ({"until": "yesterday"}, "until: date 'yesterday' is not a calendar date"),
    ],
)
def test_a_wrong_filter_is_refused_by_name(browse: Browse, wanted: dict[str, str], said: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        browse.docs(DocsQuery(**wanted), GUEST)  # type: ignore[arg-type]  # strings throughout
    assert said in str(refused.value)


def test_pages_go_on_after_the_last_document_that_is_still_there(shelf: Shelf, browse: Browse) -> None:
    first = browse.docs(DocsQuery(limit=3), GUEST)
    assert not first.is_last
    seen = tuple(card.document.pk for card in reversed(first.cards))
    shelf.vanish("alpha", "a.md", "broken.pdf")
    rest = browse.docs(DocsQuery(limit=3, offset=3, after=seen), GUEST)
    assert ids(rest) == ["alpha::docs/c.md", "beta::c.md", "beta::d.md"] and rest.is_last


def test_an_outline_has_every_chapter_in_order(browse: Browse) -> None:
    page = browse.chapters(GUEST, doc="docs/b.md")
    assert [(found.chapter.name, found.chapter.level) for found in page.chapters] == [("Banana", 1), ("Peel", 2)]
    assert [found.chapter.name for found in browse.chapters(GUEST, doc="docs/b.md", name="peel").chapters] == ["Peel"]
    assert "has 2 chapters" in browse.chapters(GUEST, doc="docs/b.md", name="core").note
    assert browse.chapters(GUEST, doc="broken.pdf").note == "alpha::broken.pdf has no outline: password protected."


def test_chapters_are_found_by_name_over_visible_projects(browse: Browse) -> None:
    page = browse.chapters(GUEST, name="peel")
    assert [found.document.id for found in page.chapters] == ["alpha::docs/b.md", "beta::d.md"]
    assert browse.chapters(GUEST, name="peel", project="beta").total == 1
    assert browse.chapters(LOCAL_OWNER, name="peel").total == 3
    assert "search_docs looks into the text" in browse.chapters(GUEST, name="nothing").note


def test_a_card_shows_copies_in_visible_projects_and_its_history(shelf: Shelf, browse: Browse) -> None:
    enrich(shelf, "docs/c.md", summary="first")
    shelf.clock.advance(60)
    enrich(shelf, "docs/c.md", summary="second", keywords=("k",))
    view = browse.card("alpha::docs/c.md", GUEST)
    assert view.card.summary == "second" and view.card.keywords == ("k",)
    assert [copy.id for copy in view.copies] == ["beta::c.md"]
    assert [event.change["summary"] for event in view.history] == ["second", "first"]
    assert [copy.id for copy in browse.card("alpha::docs/c.md", LOCAL_OWNER).copies] == ["beta::c.md", "secret::c.md"]


def test_divergence_from_a_private_copy_is_not_shown(shelf: Shelf, browse: Browse) -> None:
    pk = shelf.find("alpha", "docs/c.md").pk
    shelf.catalogue.ingest.set_divergence({pk: (shelf.find("secret", "c.md").pk,)})
    assert "diverged" not in browse.card("alpha::docs/c.md", GUEST).card.states
    assert "diverged" in browse.card("alpha::docs/c.md", LOCAL_OWNER).card.states


def test_a_writer_reads_its_own_write_at_once(shelf: Shelf, browse: Browse) -> None:
    enrich(shelf, "a.md", summary="new")
    assert browse.card("a.md", GUEST).card.summary == "new"
    assert "alpha::a.md" not in ids(browse.docs(DocsQuery(state="stale"), GUEST))


def test_what_is_not_there_is_not_found(browse: Browse) -> None:
    with pytest.raises(DocumentNotFoundError):
        browse.card("alpha::nothing.md", GUEST)
    with pytest.raises(ProjectNotFoundError):
        browse.docs(DocsQuery(project="secret"), GUEST)
    with pytest.raises(InvalidRequestError, match="Give doc"):
        browse.chapters(GUEST)


def test_an_empty_catalogue_says_so(shelf: Shelf) -> None:
    assert Browse(shelf.catalogue).docs(DocsQuery(), GUEST).note == "There is no project yet."
    shelf.project("new")
    assert Browse(shelf.catalogue).docs(DocsQuery(), GUEST).note == "The 1 projects have no documents yet."
