"""Equal text is embedded once, ever; what lacks a vector is always found."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from armillary_core.domain.card import CardChange
from armillary_core.domain.chunk import CARD_ORDINAL
from armillary_core.domain.project import ProjectName
from armillary_core.ports.catalogue import Catalogue
from armillary_core.ports.catalogue.outbox import Engine
from armillary_core.ports.catalogue.vectors import Missing
from armillary_core.text.cards import text_hash, text_of_card
from factories import make_indexed, make_name_only, make_stamp

NOTES = ProjectName("notes")
OTHER = ProjectName("other")


def store(catalogue: Catalogue, files: dict[bytes, str], *, language: str | None = "en") -> list[int]:
    rows = [(path, make_stamp(), make_indexed(text, path=path, language=language)) for path, text in files.items()]
    return catalogue.ingest.store(NOTES, rows)


def embed(catalogue: Catalogue, model: str = "m", languages: list[str] | None = None) -> int:
    """Everything that is missing, a few at a time."""
    rounds = 0
    while rows := catalogue.vectors.missing(model, limit=3, languages=languages):
        assert len(rows) <= 3
        catalogue.vectors.put(model, {row.text_hash: row.text_hash.encode() for row in rows})
        rounds += 1
        assert rounds < 100
    return rounds


def test_a_missing_text_says_where_it_is(catalogue: Catalogue) -> None:
    (pk,) = store(catalogue, {b"a": "# One\nfirst\n"})
    chunk = catalogue.documents.chunks([pk])[pk][0]

    assert catalogue.vectors.missing("m") == [Missing(chunk.text_hash, pk, 0, chunk.breadcrumb, chunk.start, chunk.end)]
    assert catalogue.vectors.count_missing("m") == 1


def test_the_card_of_a_document_of_several_chunks_is_a_text_too(catalogue: Catalogue) -> None:
    (pk,) = store(catalogue, {b"a": "# One\n# Two\n"})

    card = [row for row in catalogue.vectors.missing("m") if row.ordinal == CARD_ORDINAL]

    document_card = catalogue.cards.get(pk)
    assert document_card is not None
    assert card == [Missing(text_hash("", text_of_card(document_card)), pk, CARD_ORDINAL, "", 0, 0)]
    assert catalogue.vectors.expected([NOTES]) == 3


@pytest.mark.parametrize("name_only", [True, False], ids=["name only", "one chunk"])
def test_an_enriched_card_gets_a_vector(catalogue: Catalogue, name_only: bool) -> None:
    outcome = make_name_only() if name_only else make_indexed("# One\n")
    (pk,) = catalogue.ingest.store(NOTES, [(b"a", make_stamp(), outcome)])
    embed(catalogue)

    card = catalogue.cards.update(pk, CardChange(summary="new words"), by="a", at=1.0)

    (row,) = catalogue.vectors.missing("m")
    assert (row.text_hash, row.pk, row.ordinal) == (text_hash("", text_of_card(card)), pk, CARD_ORDINAL)
    embed(catalogue)
    catalogue.ingest.reset_enrichment(NOTES)
    assert catalogue.vectors.missing("m") == []
    assert catalogue.vectors.expected([NOTES]) == (0 if name_only else 1)


def test_equal_texts_are_missing_once_and_known_ever_after(catalogue: Catalogue) -> None:
    first, second = store(catalogue, {b"a": "# Same\nwords\n", b"b": "# Same\nwords\n"})
    (row,) = catalogue.vectors.missing("m")
    catalogue.outbox.done(Engine.CHUNKS, catalogue.outbox.pending(Engine.CHUNKS))

    catalogue.vectors.put("m", {row.text_hash: b"1234"})

    assert {told.pk for told in catalogue.outbox.pending(Engine.CHUNKS)} == {first, second}
    assert catalogue.vectors.get("m", [row.text_hash, "00", "no hash"]) == {row.text_hash: b"1234"}
    assert catalogue.vectors.get("other", [row.text_hash]) == {}
    assert catalogue.vectors.missing("m") == []
    assert catalogue.vectors.present("m", [NOTES]) == catalogue.vectors.expected([NOTES]) == 2

    catalogue.ingest.vanish(NOTES, [first, second])
    store(catalogue, {b"c": "# Same\nwords\n"})
    assert catalogue.vectors.missing("m") == []


def test_missing_texts_are_found_after_every_kind_of_change(
    catalogue: Catalogue, open_catalogue: Callable[[], Catalogue]
) -> None:
    store(catalogue, {b"a": "# A\n", b"b": "# B\n"})
    embed(catalogue)
    assert catalogue.vectors.count_missing("m") == 0

    store(catalogue, {b"a": "# A changed\n"})
    assert catalogue.vectors.count_missing("m") == 1
    embed(catalogue)

    other = open_catalogue()
    store(other, {b"c": "# C\n"})
    assert len(catalogue.vectors.missing("m")) == 1
    other.vectors.put("m", {row.text_hash: b"v" for row in other.vectors.missing("m")})
    assert catalogue.vectors.missing("m") == []

    assert len(catalogue.vectors.missing("another model")) == 3
    assert other.vectors.forget_unused(keep_models=["another model"]) == 4
    assert len(catalogue.vectors.missing("m")) == 3


def test_all_texts_are_reached_a_few_at_a_time(catalogue: Catalogue) -> None:
    store(catalogue, {b"%d" % number: f"# One {number}\n# Two\n" for number in range(10)})
    expected = catalogue.vectors.expected([NOTES])

    embed(catalogue)

    assert catalogue.vectors.count_missing("m") == 0
    assert catalogue.vectors.present("m", [NOTES]) == expected == 30


def test_a_model_of_some_languages_is_asked_for_these_only(catalogue: Catalogue) -> None:
    store(catalogue, {b"en": "# English\n"}, language="en")
    store(catalogue, {b"ru": "# Русский\n"}, language="ru")
    store(catalogue, {b"xx": "# Neither\n"}, language=None)

    assert catalogue.vectors.count_missing("m", languages=["en"]) == 2
    embed(catalogue, languages=["en"])
    assert catalogue.vectors.missing("m", languages=["en"]) == []
    assert len(catalogue.vectors.missing("m")) == 1
    assert catalogue.vectors.count_missing("m", languages=[]) == 0
    assert (catalogue.vectors.present("m", [NOTES]), catalogue.vectors.expected([NOTES])) == (2, 3)

    store(catalogue, {b"ru": "# Русский\n"}, language="en")
    assert catalogue.vectors.count_missing("m", languages=["en"]) == 1


def test_expected_and_present_are_counted_for_the_projects_asked(catalogue: Catalogue) -> None:
    catalogue.projects.put(OTHER, root="/other")
    store(catalogue, {b"a": "# A\n# B\n"})
    catalogue.ingest.store(OTHER, [(b"x", make_stamp(), make_indexed("# X\n"))])
    rows = catalogue.vectors.missing("m", limit=2)
    catalogue.vectors.put("m", {row.text_hash: b"v" for row in rows})

    assert (catalogue.vectors.present("m", [NOTES]), catalogue.vectors.expected([NOTES])) == (2, 3)
    assert (catalogue.vectors.present("m", [OTHER]), catalogue.vectors.expected([OTHER])) == (0, 1)
    assert (catalogue.vectors.present("m", []), catalogue.vectors.expected([])) == (0, 0)
    embed(catalogue)
    assert (catalogue.vectors.present("m", [NOTES, OTHER]), catalogue.vectors.expected([NOTES, OTHER])) == (4, 4)


def test_desync_documents_lack_nothing(catalogue: Catalogue) -> None:
    (pk,) = store(catalogue, {b"a": "# A\n"})
    catalogue.cards.update(pk, CardChange(summary="s"), by="a", at=1.0)
    catalogue.ingest.vanish(NOTES, [pk])

    assert catalogue.vectors.missing("m") == []
    assert catalogue.vectors.expected([NOTES]) == 0


def test_vectors_nobody_needs_are_forgotten(catalogue: Catalogue) -> None:
    gone, _ = store(catalogue, {b"a": "# A\n", b"b": "# B\n"})
    hashes = {row.text_hash: row.pk for row in catalogue.vectors.missing("m")}
    embed(catalogue, "m")
    embed(catalogue, "old")
    catalogue.ingest.vanish(NOTES, [gone])

    assert catalogue.vectors.forget_unused(keep_models=["m"]) == 3
    assert catalogue.vectors.forget_unused(keep_models=["m"]) == 0

    assert {hashes[held] for held in catalogue.vectors.get("m", hashes)} == set(hashes.values()) - {gone}
    assert catalogue.vectors.get("old", hashes) == {}
    assert catalogue.vectors.missing("m") == []
    assert len(catalogue.vectors.missing("old")) == 1
