from __future__ import annotations

import pytest

from armillary_core.domain.card import CardChange, CardState
from armillary_core.domain.errors import (
    AccessDeniedError,
    ConflictError,
    DocumentNotFoundError,
    InvalidRequestError,
    ProjectNotFoundError,
)
from armillary_core.domain.token import LOCAL_OWNER, Caller, Right
from armillary_core.usecases.enrich import CardWrite, Enrich
from shelves import Shelf

WRITER = Caller("writer", frozenset({Right.READ, Right.ENRICH}))
READER = Caller("reader", frozenset({Right.READ}))


@pytest.fixture
def enrich(shelf: Shelf) -> Enrich:
    shelf.project("p")
    shelf.project("secret", private=True)
    shelf.add("p", {"a.md": "# A\ntext\n", "b.md": "# B\ntext\n"})
    shelf.add("secret", {"s.md": "# S\n"})
    return Enrich(shelf.catalogue, shelf.clock, doc_types={"guide": "How to", "notes": "Notes"})


def write(doc: str = "p::a.md", if_hash: str | None = None, **fields: object) -> CardWrite:
    return CardWrite(doc, CardChange(**fields), if_hash)  # type: ignore[arg-type]  # named by the test


def test_only_passed_fields_change(enrich: Enrich, shelf: Shelf) -> None:
    enrich.update(write(type="guide", summary="One.", keywords=("k1", "k2"), date="2026-01-02"), WRITER)
    shelf.clock.advance(5)
    card = enrich.update(write(summary="Two."), WRITER)
    assert (card.type, card.summary, card.keywords, card.date) == ("guide", "Two.", ("k1", "k2"), "2026-01-02")
    assert card.enrichment is not None
    assert (card.enrichment.enriched_by, card.enrichment.enriched_at) == ("writer", shelf.clock.now())
    assert card.states == (CardState.ENRICHED,)


def test_an_empty_value_clears_a_field(enrich: Enrich) -> None:
    enrich.update(write(summary="One.", keywords=("k",), date="2026-01-02", type="guide"), WRITER)
    card = enrich.update(write(summary="", keywords=(), date="", type=""), WRITER)
    assert card.enrichment is not None
    assert not any((card.enrichment.summary, card.enrichment.keywords, card.enrichment.date, card.enrichment.type))


def test_two_writers_of_different_fields_both_keep_theirs(enrich: Enrich) -> None:
    enrich.update(write(summary="Mine."), WRITER)
    card = enrich.update(write(keywords=("yours",)), LOCAL_OWNER)
    assert (card.summary, card.keywords) == ("Mine.", ("yours",))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "Nothing to write for p::a.md: pass at least one of type, summary"),
        ({"type": "book"}, 'type "book" is not in the vocabulary. Types: guide, notes.'),
        ({"date": "2026-02-29"}, "is not a calendar date"),
        ({"date": "29.02.2024"}, "is not a calendar date"),
        ({"summary": "x" * 4001}, "summary has 4001 characters; at most 4000"),
        ({"keywords": tuple(f"k{number}" for number in range(201))}, "keywords has 201 entries; at most 200"),
        ({"headings": ("x" * 201,)}, "is longer than 200 characters"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_written(
    enrich: Enrich, shelf: Shelf, fields: dict[str, object], said: str
) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        enrich.update(write(**fields), WRITER)
    assert said in str(refused.value)
    card = shelf.catalogue.cards.get(shelf.find("p", "a.md").pk)
    assert card is not None and card.enrichment is None


def test_without_a_vocabulary_any_type_is_taken(shelf: Shelf, enrich: Enrich) -> None:
    free = Enrich(shelf.catalogue, shelf.clock)
    assert free.update(write(type="pamphlet"), WRITER).type == "pamphlet"
    with pytest.raises(InvalidRequestError, match="at most 60"):
        free.update(write(type="x" * 61), WRITER)


def test_words_are_trimmed_and_told_apart(enrich: Enrich) -> None:
    card = enrich.update(write(keywords=(" a ", "a", "", "b\x00\nc"), summary=" one \x1b line \n two "), WRITER)
    assert card.keywords == ("a", "b c")
    assert card.summary == "one line\ntwo"


def test_if_hash_refuses_a_card_whose_file_changed(enrich: Enrich, shelf: Shelf) -> None:
    known = shelf.find("p", "a.md").content_hash or ""
    enrich.update(write(if_hash=known, summary="ok"), WRITER)
    enrich.update(write(if_hash=known[:16].upper(), summary="short is enough"), WRITER)
    shelf.add("p", {"a.md": "# A\nother text\n"})
    for given in (known, known[:16], "nonsense", known[:4]):
        with pytest.raises(ConflictError, match=r"p::a\.md changed since it was read .* Read it again"):
            enrich.update(write(if_hash=given, summary="late"), WRITER)
    with pytest.raises(ConflictError):
        enrich.update(write(if_hash=(shelf.find("p", "a.md").content_hash or "")[:4], summary="too short"), WRITER)


def test_a_batch_writes_what_it_can_and_reports_the_rest(enrich: Enrich) -> None:
    results = enrich.update_many(
        [write(summary="a"), write("p::nothing.md", summary="x"), write("p::b.md", date="never"), write("p::b.md")],
        WRITER,
    )
    assert [result.error.code if result.error else "ok" for result in results] == [
        "ok",
        "document_not_found",
        "invalid_request",
        "invalid_request",
    ]
    with pytest.raises(InvalidRequestError, match="cards is empty"):
        enrich.update_many([], WRITER)
    with pytest.raises(InvalidRequestError, match="51 entries; at most 50"):
        enrich.update_many([write(summary="x")] * 51, WRITER)


def test_the_right_to_enrich_is_needed(enrich: Enrich) -> None:
    with pytest.raises(AccessDeniedError):
        enrich.update(write(summary="x"), READER)
    with pytest.raises(AccessDeniedError):
        enrich.update_many([write(summary="x")], READER)
    with pytest.raises(AccessDeniedError):
        enrich.accept_divergence("p::a.md", READER)


def test_a_private_card_cannot_be_written(enrich: Enrich) -> None:
    with pytest.raises(ProjectNotFoundError, match='No project "secret"'):
        enrich.update(write("secret::s.md", summary="x"), WRITER)


def test_accepting_a_divergence_clears_it_and_says_from_what(enrich: Enrich, shelf: Shelf) -> None:
    pk, other, hidden = (shelf.find(*place).pk for place in (("p", "a.md"), ("p", "b.md"), ("secret", "s.md")))
    shelf.catalogue.ingest.set_divergence({pk: (other, hidden)})
    document, former = enrich.accept_divergence("p::a.md", WRITER)
    assert document.id == "p::a.md" and [found.id for found in former] == ["p::b.md"]
    with pytest.raises(InvalidRequestError, match="no divergence to accept"):
        enrich.accept_divergence("p::a.md", WRITER)
    with pytest.raises(DocumentNotFoundError):
        enrich.accept_divergence("p::zzz.md", WRITER)


def test_every_write_is_announced(shelf: Shelf, enrich: Enrich) -> None:
    told: list[int] = []
    telling = Enrich(shelf.catalogue, shelf.clock, changed=lambda: told.append(1))
    telling.update(write(summary="x"), WRITER)
    with pytest.raises(InvalidRequestError):
        telling.update(write(), WRITER)
    assert told == [1]
