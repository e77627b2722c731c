"""Cards: what is written stays, who wrote it is known, lists find them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from armillary_core.domain.card import BaseLayer, CardChange, CardState, Enrichment
from armillary_core.domain.errors import ConflictError, DocumentNotFoundError, InvalidRequestError
from armillary_core.domain.project import ProjectName
from armillary_core.ports.catalogue import Catalogue
from armillary_core.ports.catalogue.cards import CardListing
from factories import make_failed, make_hash, make_indexed, make_stamp

NOTES = ProjectName("notes")
OTHER = ProjectName("other")
TEXT = "# Keys\nrotate\n"


@pytest.fixture
def pk(catalogue: Catalogue) -> int:
    base = BaseLayer(("Keys",), "from the file", ("base",), "2020-01-01", "note")
    return catalogue.ingest.store(NOTES, [(b"keys.md", make_stamp(), make_indexed(TEXT, base=base))])[0]


def test_an_update_writes_the_passed_fields_who_and_when(catalogue: Catalogue, pk: int) -> None:
    change = CardChange(type="guide", summary="Иванов 🚀", keywords=("a", "b"), headings=("H",), date="2024-02-29")

    card = catalogue.cards.update(pk, change, by="agent", at=12.5)

    assert card.enrichment == Enrichment(
        "guide", "Иванов 🚀", ("a", "b"), ("H",), "2024-02-29", 12.5, "agent", make_hash(TEXT)
    )
    assert card == catalogue.cards.get(pk)
    assert card.states == (CardState.ENRICHED,)


def test_fields_that_are_not_passed_stay_and_empty_ones_are_cleared(catalogue: Catalogue, pk: int) -> None:
    catalogue.cards.update(
        pk, CardChange(type="guide", summary="s", keywords=("k",), date="2024-01-01"), by="a", at=1.0
    )
    catalogue.cards.update(pk, CardChange(summary="", keywords=()), by="b", at=2.0)

    card = catalogue.cards.get(pk)
    assert card is not None
    assert card.enrichment == Enrichment("guide", None, (), (), "2024-01-01", 2.0, "b", make_hash(TEXT))
    assert (card.summary, card.keywords) == ("from the file", ("base",))


def test_an_update_is_there_for_other_processes_at_once(
    catalogue: Catalogue, pk: int, open_catalogue: Callable[[], Catalogue]
) -> None:
    other = open_catalogue()
    catalogue.cards.update(pk, CardChange(summary="s"), by="a", at=1.0)

    assert other.cards.by_pk([pk, 999]) == {pk: catalogue.cards.get(pk)}


def test_if_hash_refuses_a_card_whose_file_changed(catalogue: Catalogue, pk: int) -> None:
    catalogue.cards.update(pk, CardChange(summary="first"), by="a", at=1.0, if_hash=make_hash(TEXT))
    with pytest.raises(ConflictError, match="changed since it was read"):
        catalogue.cards.update(pk, CardChange(summary="second"), by="a", at=2.0, if_hash=make_hash("older"))

    card = catalogue.cards.get(pk)
    assert card is not None
    assert card.summary == "first"
    assert len(catalogue.cards.history(pk)) == 1


def test_updating_a_document_that_is_gone_is_refused(catalogue: Catalogue, pk: int) -> None:
    catalogue.ingest.vanish(NOTES, [pk])

    with pytest.raises(DocumentNotFoundError):
        catalogue.cards.update(pk, CardChange(summary="s"), by="a", at=1.0)
    assert catalogue.cards.get(pk) is None


def test_half_a_character_is_refused_or_replaced_never_a_fault(catalogue: Catalogue, pk: int) -> None:
    card = catalogue.cards.update(pk, CardChange(summary="a\ud800b", keywords=("\udfff",)), by="\ud800", at=1.0)
    assert (card.summary, card.keywords, len(catalogue.cards.history(pk))) == ("a?b", ("?",), 1)
    with pytest.raises(InvalidRequestError):
        catalogue.cards.list(CardListing((NOTES,), type="\ud800"))
    assert catalogue.documents.chapters_named([NOTES], "\ud800", limit=1) == ([], 0)


def test_history_is_kept_newest_first(catalogue: Catalogue, pk: int) -> None:
    catalogue.cards.update(pk, CardChange(summary="one"), by="a", at=1.0)
    catalogue.cards.update(pk, CardChange(keywords=("k",), type=""), by="b", at=2.0)

    events = catalogue.cards.history(pk)

    assert [(event.at, event.by, event.change) for event in events] == [
        (2.0, "b", {"type": "", "keywords": ["k"]}),
        (1.0, "a", {"summary": "one"}),
    ]
    assert len(catalogue.cards.history(pk, limit=1)) == 1


def test_writers_of_different_fields_lose_nothing(
    catalogue: Catalogue, pk: int, open_catalogue: Callable[[], Catalogue]
) -> None:
    other = open_catalogue()

    def write(number: int) -> None:
        store = (catalogue, other)[number % 2].cards
        change = CardChange(summary=f"s{number}") if number % 2 else CardChange(keywords=(f"k{number}",))
        store.update(pk, change, by=f"w{number}", at=float(number))

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(write, range(24)))

    card = catalogue.cards.get(pk)
    assert card is not None
    assert card.enrichment is not None
    assert card.enrichment.summary is not None
    assert card.enrichment.keywords
    events = catalogue.cards.history(pk)
    assert {event.by for event in events} == {f"w{number}" for number in range(24)}
    last = next(event.change["summary"] for event in events if "summary" in event.change)
    assert card.summary == last


@pytest.fixture
def shelf(catalogue: Catalogue) -> Catalogue:
    """Documents of two projects in every state."""
    catalogue.projects.put(OTHER, root="/other")

    def base(kind: str | None = None, date: str | None = None) -> BaseLayer:
        return BaseLayer(type=kind, date=date)

    rows = [
        (b"a/one.md", make_indexed("# Zebra\n", base=base("guide", "2024-01-01"), locale="en", version="1")),
        (b"a/two.md", make_indexed("# Élan\n", base=base("note", "2024-03-01"), locale="de", version="2")),
        (b"a b/three.md", make_indexed("# ant\n", base=base("guide"))),
        (b"a.md", make_indexed("# Bee\n", base=base(None, "2023-12-31"))),
        (b"broken.pdf", make_failed()),
        (b"gone.md", make_indexed("# Gone\n")),
        (b"%.md", make_indexed("no title\n")),
    ]
    pks = catalogue.ingest.store(NOTES, [(path, make_stamp(), outcome) for path, outcome in rows])
    catalogue.ingest.store(OTHER, [(b"a/one.md", make_stamp(), make_indexed("# Other\n", base=base("guide")))])
    catalogue.cards.update(pks[1], CardChange(type="how-to", date="2025-05-05"), by="a", at=1.0)
    catalogue.cards.update(pks[2], CardChange(summary="s"), by="a", at=1.0)
    catalogue.ingest.store(NOTES, [(b"a b/three.md", make_stamp(), make_indexed("# ant\nnew\n", base=base("guide")))])
    catalogue.cards.update(pks[5], CardChange(summary="s"), by="a", at=1.0)
    catalogue.ingest.vanish(NOTES, [pks[5]])
    catalogue.ingest.set_divergence({pks[0]: (pks[3],)})
    return catalogue


EVERYTHING = ["%.md", "a b/three.md", "a.md", "a/one.md", "a/two.md", "broken.pdf", "gone.md"]


@pytest.mark.parametrize(
    ("filters", "paths"),
    [
        ({}, EVERYTHING),
        ({"projects": ()}, []),
        ({"projects": (OTHER,)}, ["a/one.md"]),
        ({"projects": (OTHER, NOTES), "path": "a/one.md"}, ["a/one.md", "a/one.md"]),
        ({"type": "guide"}, ["a b/three.md", "a/one.md"]),
        ({"type": "note"}, []),
        ({"type": "how-to"}, ["a/two.md"]),
        ({"state": "empty"}, ["%.md", "a.md", "a/one.md", "broken.pdf"]),
        ({"state": "stale"}, ["%.md", "a b/three.md", "a.md", "a/one.md", "broken.pdf"]),
        ({"state": "desync"}, ["gone.md"]),
        ({"state": "diverged"}, ["a/one.md"]),
        ({"state": "diverged", "seen": (NOTES,)}, ["a/one.md"]),
        ({"state": "diverged", "seen": (OTHER,)}, []),
        ({"state": "failed"}, ["broken.pdf"]),
        ({"state": "nonsense"}, []),
        ({"path": "a"}, ["a/one.md", "a/two.md"]),
        ({"path": "a/"}, ["a/one.md", "a/two.md"]),
        ({"path": "a\\one.md"}, ["a/one.md"]),
        ({"path": "%25.md"}, ["%.md"]),
        ({"path": "nowhere"}, []),
        ({"locale": "de"}, ["a/two.md"]),
        ({"version": "1", "type": "guide"}, ["a/one.md"]),
        ({"since": "2024-01-01"}, ["a/one.md", "a/two.md"]),
        ({"until": "2024-01-01"}, ["a.md", "a/one.md"]),
        ({"since": "2024-01-02", "until": "2025-05-05"}, ["a/two.md"]),
    ],
    ids=lambda value: "-".join(f"{key}={each}" for key, each in value.items()) if isinstance(value, dict) else "",
)
def test_lists_are_filtered(shelf: Catalogue, filters: dict[str, object], paths: list[str]) -> None:
    listing = CardListing(**({"projects": (NOTES,)} | filters))  # type: ignore[arg-type] # a table of fields

    cards, total = shelf.cards.list(listing)

    assert [card.document.path.decode() for card in cards] == paths
    assert total == len(paths)


def test_a_folder_is_not_a_beginning_of_a_name(catalogue: Catalogue) -> None:
    paths = [b"a-b/x", b"a.md", b"a/x", b"a0", b"ab/x"]
    catalogue.ingest.store(NOTES, [(path, make_stamp(), make_indexed(f"{path!r}")) for path in paths])

    cards, total = catalogue.cards.list(CardListing((NOTES,), path="a"))

    assert [card.document.path for card in cards] == [b"a/x"]
    assert total == 1


@pytest.mark.parametrize(
    ("sort", "paths"),
    [
        ("path", EVERYTHING),
        ("date", ["a/two.md", "a/one.md", "a.md", "%.md", "a b/three.md", "broken.pdf", "gone.md"]),
        ("title", ["a b/three.md", "a.md", "a/two.md", "gone.md", "a/one.md", "%.md", "broken.pdf"]),
    ],
)
def test_lists_are_sorted_and_paged(shelf: Catalogue, sort: str, paths: list[str]) -> None:
    pages = [shelf.cards.list(CardListing((NOTES,), sort=sort, limit=3, offset=at)) for at in (0, 3, 6, 9)]

    assert [card.document.path.decode() for cards, _ in pages for card in cards] == paths
    assert {total for _, total in pages} == {7}


def test_a_listed_card_is_the_whole_card(shelf: Catalogue) -> None:
    cards, _ = shelf.cards.list(CardListing((NOTES,)))

    assert {card.document.pk: card for card in cards} == shelf.cards.by_pk(card.document.pk for card in cards)


def test_counts_agree_with_lists(shelf: Catalogue) -> None:
    counts = shelf.projects.counts([NOTES])[NOTES]

    def listed(state: str | None) -> int:
        return shelf.cards.list(CardListing((NOTES,), state=state))[1]

    assert counts.documents == listed(None) == counts.empty + counts.enriched + counts.stale + counts.desync
    assert counts.empty == listed("empty")
    assert counts.empty + counts.stale == listed("stale")
    assert counts.desync == listed("desync") == 1
    assert counts.diverged == listed("diverged") == 1
    assert counts.failed == listed("failed") == 1
    assert (counts.chapters, counts.chunks) == (5, 5)
