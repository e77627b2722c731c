"""Engines hear the current state of every document that changed, as often as it takes."""

from __future__ import annotations

from armillary_core.domain.card import CardChange
from armillary_core.domain.project import ProjectName
from armillary_core.ports.catalogue import Catalogue
from armillary_core.ports.catalogue.outbox import Engine
from factories import make_indexed, make_name_only, make_stamp

NOTES = ProjectName("notes")
TEXT = "before\n# Keys\nrotate\n## Monthly\nevery month\n"


def store(catalogue: Catalogue, *texts: str) -> list[int]:
    rows = [(b"%d.md" % number, make_stamp(), make_indexed(text)) for number, text in enumerate(texts)]
    return catalogue.ingest.store(NOTES, rows)


def test_rows_come_oldest_first_and_fresh_ones_before_failed_ones(catalogue: Catalogue) -> None:
    first, second, third = store(catalogue, "# A\n", "# B\n", "# C\n")
    rows = catalogue.outbox.pending(Engine.CHUNKS)
    assert [row.pk for row in rows] == [first, second, third]
    assert rows[0].revision < rows[1].revision < rows[2].revision

    catalogue.outbox.failed(Engine.CHUNKS, rows[:1], "no")

    assert [(row.pk, row.attempts) for row in catalogue.outbox.pending(Engine.CHUNKS)] == [
        (second, 0),
        (third, 0),
        (first, 1),
    ]
    assert [row.attempts for row in catalogue.outbox.pending(Engine.CARDS)] == [0, 0, 0]
    assert len(catalogue.outbox.pending(Engine.CHUNKS, limit=2)) == 2


def test_a_row_that_was_written_again_meanwhile_stays(catalogue: Catalogue) -> None:
    pk, _ = store(catalogue, "# A\n", "# B\n")
    sent = catalogue.outbox.pending(Engine.CHUNKS)
    store(catalogue, "# A changed\n")

    catalogue.outbox.done(Engine.CHUNKS, sent)

    (left,) = catalogue.outbox.pending(Engine.CHUNKS)
    assert left.pk == pk
    assert left.revision > max(row.revision for row in sent)
    assert catalogue.outbox.count(Engine.CHUNKS) == 1
    assert catalogue.outbox.count(Engine.CARDS) == 2


def test_a_row_that_fails_too_often_is_given_up_until_the_document_changes(catalogue: Catalogue) -> None:
    pk, other = store(catalogue, "# A\n", "# B\n")
    for _ in range(5):
        rows = [row for row in catalogue.outbox.pending(Engine.CARDS) if row.pk == pk]
        catalogue.outbox.failed(Engine.CARDS, rows, "the engine's words")

    assert [row.pk for row in catalogue.outbox.pending(Engine.CARDS)] == [other]
    assert catalogue.outbox.poisoned(Engine.CARDS) == [(pk, "the engine's words")]
    assert catalogue.outbox.poisoned(Engine.CHUNKS) == []

    store(catalogue, "# A changed\n")
    assert catalogue.outbox.poisoned(Engine.CARDS) == []
    assert [(row.pk, row.attempts) for row in catalogue.outbox.pending(Engine.CARDS)] == [(other, 0), (pk, 0)]


def test_a_failure_of_an_older_state_does_not_count(catalogue: Catalogue) -> None:
    store(catalogue, "# A\n")
    sent = catalogue.outbox.pending(Engine.CARDS)
    store(catalogue, "# A changed\n")

    catalogue.outbox.failed(Engine.CARDS, sent, "no")

    assert catalogue.outbox.pending(Engine.CARDS)[0].attempts == 0


def test_chunk_states_hold_all_that_the_chunk_index_needs(catalogue: Catalogue) -> None:
    made = make_indexed(TEXT)
    (pk,) = catalogue.ingest.store(NOTES, [(b"a.md", make_stamp(), made)])

    (state,) = catalogue.outbox.chunk_states(catalogue.outbox.pending(Engine.CHUNKS))

    assert (state.pk, state.card) == (pk, catalogue.cards.get(pk))
    assert state.revision == catalogue.outbox.pending(Engine.CHUNKS)[0].revision
    assert state.chunks == made.chunks
    assert state.card_terms == made.card_terms
    assert state.average_length == catalogue.terms.counts([NOTES]).average_length > 0


def test_card_states_hold_named_chapters_only(catalogue: Catalogue) -> None:
    (pk,) = store(catalogue, TEXT)

    (state,) = catalogue.outbox.card_states(catalogue.outbox.pending(Engine.CARDS))

    assert (state.pk, state.card) == (pk, catalogue.cards.get(pk))
    assert [chapter.name for chapter in state.chapters] == ["Keys", "Monthly"]


def test_a_document_without_text_still_has_its_card_chunk(catalogue: Catalogue) -> None:
    made = make_name_only()
    catalogue.ingest.store(NOTES, [(b"logo.png", make_stamp(), made)])

    (state,) = catalogue.outbox.chunk_states(catalogue.outbox.pending(Engine.CHUNKS))

    assert (state.chunks, state.card_terms) == ((), made.card_terms)


def test_an_enriched_card_changes_the_card_terms(catalogue: Catalogue) -> None:
    (pk,) = store(catalogue, TEXT)
    before = catalogue.outbox.chunk_states(catalogue.outbox.pending(Engine.CHUNKS))[0].card_terms
    for engine in Engine:
        catalogue.outbox.done(engine, catalogue.outbox.pending(engine))

    catalogue.cards.update(pk, CardChange(summary="an entirely new summary"), by="agent", at=1.0)

    (state,) = catalogue.outbox.chunk_states(catalogue.outbox.pending(Engine.CHUNKS))
    assert state.card.summary == "an entirely new summary"
    assert state.card_terms != before
    assert [row.pk for row in catalogue.outbox.pending(Engine.CARDS)] == [pk]


def test_engines_hear_of_every_document_of_a_removed_project(catalogue: Catalogue) -> None:
    pks = store(catalogue, *(f"# Page {number}\n" for number in range(450)))
    catalogue.cards.update(pks[0], CardChange(summary="s"), by="agent", at=1.0)
    for engine in Engine:
        catalogue.outbox.done(engine, catalogue.outbox.pending(engine, limit=1000))

    catalogue.projects.remove(NOTES)

    for engine in Engine:
        rows = catalogue.outbox.pending(engine, limit=1000)
        assert {row.pk for row in rows} == set(pks)
        assert catalogue.outbox.chunk_states(rows) == []
        assert catalogue.outbox.card_states(rows) == []
        assert catalogue.outbox.count_by_project(engine) == {}


def test_add_all_tells_about_every_present_document_anew(catalogue: Catalogue) -> None:
    first, gone = store(catalogue, "# A\n", "# B\n")
    catalogue.cards.update(gone, CardChange(summary="s"), by="agent", at=1.0)
    catalogue.ingest.vanish(NOTES, [gone])
    sent = catalogue.outbox.pending(Engine.CHUNKS)
    catalogue.outbox.done(Engine.CHUNKS, sent)

    assert catalogue.outbox.add_all(Engine.CHUNKS) == 1

    (row,) = catalogue.outbox.pending(Engine.CHUNKS)
    assert row.pk == first
    assert row.revision > max(old.revision for old in sent)
    assert catalogue.outbox.count_by_project(Engine.CHUNKS) == {"notes": 1}


def test_add_tells_again_and_forgives_failures(catalogue: Catalogue) -> None:
    (pk,) = store(catalogue, "# A\n")
    before = catalogue.outbox.pending(Engine.CHUNKS)
    catalogue.outbox.failed(Engine.CHUNKS, before, "no")

    catalogue.outbox.add(Engine.CHUNKS, [pk, pk])

    (row,) = catalogue.outbox.pending(Engine.CHUNKS)
    assert (row.pk, row.attempts) == (pk, 0)
    assert row.revision > before[0].revision
