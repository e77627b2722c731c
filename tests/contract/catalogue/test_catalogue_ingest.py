"""What a scan writes, and what stays of it."""

from __future__ import annotations

import pytest

from armillary_core.domain.card import BaseLayer, CardChange, CardState
from armillary_core.domain.document import ExtractionState, FileStamp
from armillary_core.domain.errors import ConflictError, DocumentNotFoundError, ProjectNotFoundError
from armillary_core.domain.ingest import ExtractionOutcome, Skipped, SkipRule
from armillary_core.domain.project import ProjectName
from armillary_core.ports.catalogue import Catalogue
from armillary_core.ports.catalogue.outbox import Engine
from factories import make_failed, make_hash, make_indexed, make_name_only, make_stamp

NOTES = ProjectName("notes")
TEXT = "before\n# Keys\nrotate the backup keys\n## Monthly\nevery month\n"


def store(catalogue: Catalogue, *outcomes: tuple[bytes, ExtractionOutcome], project: ProjectName = NOTES) -> list[int]:
    return catalogue.ingest.store(project, [(path, make_stamp(), outcome) for path, outcome in outcomes])


def settle(catalogue: Catalogue) -> None:
    """The engines heard of everything."""
    for engine in Engine:
        catalogue.outbox.done(engine, catalogue.outbox.pending(engine, limit=10_000))


def told(catalogue: Catalogue, engine: Engine = Engine.CHUNKS) -> set[int]:
    return {row.pk for row in catalogue.outbox.pending(engine, limit=10_000)}


def test_a_stored_document_comes_back_whole(catalogue: Catalogue) -> None:
    base = BaseLayer(("Keys", "Monthly"), "About keys", ("backup",), "2024-05-01", "guide")
    made = make_indexed(TEXT, base=base, locale="en", version="2", note="front matter is broken")

    (pk,) = store(catalogue, (b"ops/keys.md", made))

    document = catalogue.documents.find(NOTES, b"ops/keys.md")
    assert document is not None
    assert document.pk == pk
    assert document.content_hash == made.content_hash
    assert (document.media_type, document.charset, document.language) == ("text/markdown", "utf-8", "en")
    assert (document.title, document.locale, document.version, document.lines) == ("Keys", "en", "2", 5)
    assert (document.state, document.reason, document.present) == (ExtractionState.OK, "front matter is broken", True)
    assert document.stamp == made.stamp
    assert catalogue.documents.text(pk) == TEXT
    assert catalogue.documents.chapters(pk) == list(made.text.chapters)
    assert catalogue.documents.chunks([pk]) == {pk: list(made.chunks)}
    assert catalogue.documents.chunk(pk, 1) == made.chunks[1]
    assert catalogue.documents.chunk(pk, 99) is None
    card = catalogue.cards.get(pk)
    assert card is not None
    assert (card.base, card.enrichment, card.states) == (base, None, (CardState.EMPTY,))


@pytest.mark.parametrize(
    "path",
    [
        b"a b.md",
        b"na\xcc\x88ive.md",
        b"caf\xe9.md",
        b"line\nbreak",
        "имя 🚀.md".encode(),
        b'it\'s "x".md',
        b"a%23b#c.md",
    ],
    ids=["space", "NFD", "latin-1", "newline", "emoji", "quotes", "hash"],
)
def test_path_bytes_round_trip(catalogue: Catalogue, path: bytes) -> None:
    (pk,) = store(catalogue, (path, make_indexed()))

    assert [row.path for row in catalogue.ingest.known(NOTES)] == [path]
    found = catalogue.documents.find(NOTES, path)
    assert found is not None
    assert (found.pk, found.path) == (pk, path)


def test_names_that_are_not_unicode_come_back_as_they_were(catalogue: Catalogue) -> None:
    title = "caf\udce9 \x00 ü"
    made = make_indexed(TEXT, title=title)

    (pk,) = store(catalogue, (b"caf\xe9", made))

    assert catalogue.documents.by_pk([pk])[pk].title == title
    assert catalogue.documents.chunks([pk])[pk][0].breadcrumb == made.chunks[0].breadcrumb


def test_two_files_that_differ_only_by_case_are_two_documents(catalogue: Catalogue) -> None:
    pks = store(catalogue, (b"README.md", make_indexed("# A\n")), (b"readme.md", make_indexed("# B\n")))

    assert len(set(pks)) == 2
    assert [catalogue.documents.text(pk) for pk in pks] == ["# A\n", "# B\n"]


def test_a_replaced_document_keeps_its_pk_and_nothing_of_its_old_text(catalogue: Catalogue) -> None:
    (pk,) = store(catalogue, (b"a.md", make_indexed(TEXT)))
    before = catalogue.documents.by_pk([pk])[pk]
    settle(catalogue)

    assert store(catalogue, (b"a.md", make_indexed("# Other\nentirely\n"))) == [pk]

    after = catalogue.documents.by_pk([pk])[pk]
    assert after.content_revision > before.content_revision
    assert catalogue.documents.text(pk) == "# Other\nentirely\n"
    assert [chapter.name for chapter in catalogue.documents.chapters(pk)] == ["Other"]
    assert len(catalogue.documents.chunks([pk])[pk]) == 1
    assert catalogue.documents.chapters_named([NOTES], "monthly", limit=5) == ([], 0)
    assert told(catalogue, Engine.CHUNKS) == told(catalogue, Engine.CARDS) == {pk}


def test_storing_the_same_extraction_again_tells_nobody(catalogue: Catalogue) -> None:
    (pk,) = store(catalogue, (b"a.md", make_indexed(TEXT)))
    before = catalogue.documents.by_pk([pk])[pk]
    settle(catalogue)
    catalogue.ingest.mark_pending(NOTES)

    store(catalogue, (b"a.md", make_indexed(TEXT, stamp=make_stamp(mtime_ns=5))))

    after = catalogue.documents.by_pk([pk])[pk]
    assert after.content_revision == before.content_revision
    assert after.stamp.mtime_ns == 5
    assert told(catalogue, Engine.CHUNKS) == told(catalogue, Engine.CARDS) == set()
    assert not catalogue.ingest.known(NOTES)[0].pending


def test_another_extraction_of_the_same_bytes_is_a_new_revision(catalogue: Catalogue) -> None:
    content = make_hash("same bytes")
    (pk,) = store(catalogue, (b"a.md", make_indexed(TEXT, content_hash=content)))
    before = catalogue.documents.by_pk([pk])[pk].content_revision
    settle(catalogue)

    store(catalogue, (b"a.md", make_indexed(TEXT + "# More\n", content_hash=content)))

    assert catalogue.documents.by_pk([pk])[pk].content_revision > before
    assert told(catalogue) == {pk}


def test_many_documents_come_back_in_the_order_given(catalogue: Catalogue) -> None:
    names = [b"%d.md" % number for number in range(250)]

    pks = store(catalogue, *((name, make_indexed(f"# {name!r}\n")) for name in reversed(names)))

    found = catalogue.documents.by_pk(pks)
    assert [found[pk].path for pk in pks] == names[::-1]
    assert [document.path for document in catalogue.documents.in_project(NOTES)] == sorted(names)


def test_of_one_path_given_twice_the_last_one_stays(catalogue: Catalogue) -> None:
    first, second = store(catalogue, (b"a.md", make_indexed("# One\n")), (b"a.md", make_indexed("# Two\n")))

    assert first == second
    assert catalogue.documents.text(first) == "# Two\n"


def test_a_name_only_document_has_a_card_and_no_text(catalogue: Catalogue) -> None:
    (pk,) = store(catalogue, (b"logo.png", make_name_only()))

    document = catalogue.documents.by_pk([pk])[pk]
    assert (document.state, document.media_type) == (ExtractionState.NAME_ONLY, "image/png")
    assert catalogue.documents.text(pk) is None
    assert catalogue.documents.chapters(pk) == []
    assert catalogue.documents.chunks([pk]) == {}


def test_a_failed_document_is_replaced_by_nothing_and_says_why(catalogue: Catalogue) -> None:
    (pk,) = store(catalogue, (b"a.pdf", make_indexed(TEXT)))

    store(catalogue, (b"a.pdf", make_failed("scanned, needs OCR")))

    document = catalogue.documents.by_pk([pk])[pk]
    assert (document.state, document.reason) == (ExtractionState.FAILED, "scanned, needs OCR")
    assert catalogue.documents.text(pk) is None
    assert catalogue.documents.failed(NOTES) == [document]
    assert not catalogue.ingest.known(NOTES)[0].pending


def test_a_document_that_cannot_be_read_just_now_keeps_its_answers(catalogue: Catalogue) -> None:
    (pk,) = store(catalogue, (b"a.md", make_indexed(TEXT)))
    settle(catalogue)

    store(catalogue, (b"a.md", make_failed("permission denied", retryable=True)))

    document = catalogue.documents.by_pk([pk])[pk]
    assert (document.state, document.reason) == (ExtractionState.OK, "permission denied")
    assert catalogue.documents.text(pk) == TEXT
    assert told(catalogue) == set()
    assert catalogue.ingest.known(NOTES)[0].pending

    store(catalogue, (b"a.md", make_indexed(TEXT)))
    assert catalogue.documents.by_pk([pk])[pk].reason is None
    assert not catalogue.ingest.known(NOTES)[0].pending


def test_a_new_document_that_cannot_be_read_just_now_is_tried_again(catalogue: Catalogue) -> None:
    (pk,) = store(catalogue, (b"a.md", make_failed("permission denied", retryable=True)))

    known = catalogue.ingest.known(NOTES)[0]
    assert (known.pk, known.pending, known.present) == (pk, True, True)
    assert catalogue.documents.by_pk([pk])[pk].state is ExtractionState.FAILED


def test_storing_into_an_unknown_project_is_refused(catalogue: Catalogue) -> None:
    with pytest.raises(ProjectNotFoundError):
        store(catalogue, (b"a.md", make_indexed()), project=ProjectName("other"))


def test_known_says_what_a_scan_compares(catalogue: Catalogue, time: object) -> None:
    stamp = FileStamp(size=7, mtime_ns=-5, inode=(1 << 64) - 3)
    time.now = 50.0  # type: ignore[attr-defined] # the fixture's Time
    (pk,) = store(catalogue, (b"a.md", make_indexed(TEXT, stamp=stamp)))
    time.now = 90.0  # type: ignore[attr-defined]
    store(catalogue, (b"a.md", make_indexed(TEXT + "more\n", stamp=stamp)))

    (known,) = catalogue.ingest.known(NOTES)
    assert (known.pk, known.path, known.stamp) == (pk, b"a.md", stamp)
    assert known.content_hash == make_hash(TEXT + "more\n")
    assert (known.present, known.enriched, known.pending) == (True, False, False)
    assert (known.first_seen, known.verified_at) == (50.0, 90.0)
    assert catalogue.ingest.known(ProjectName("other")) == []
    assert catalogue.documents.by_pk([pk])[pk].stamp == stamp


def test_touch_writes_the_stamp_and_tells_nobody(catalogue: Catalogue) -> None:
    (pk,) = store(catalogue, (b"a.md", make_indexed(TEXT)))
    settle(catalogue)

    catalogue.ingest.touch(NOTES, [(pk, make_stamp(mtime_ns=9))], verified_at=77.0)

    (known,) = catalogue.ingest.known(NOTES)
    assert (known.stamp.mtime_ns, known.verified_at) == (9, 77.0)
    assert told(catalogue, Engine.CARDS) == told(catalogue, Engine.CHUNKS) == set()


def enrich(catalogue: Catalogue, pk: int, **fields: str) -> None:
    catalogue.cards.update(pk, CardChange(**(fields or {"summary": "kept"})), by="agent", at=10.0)  # type: ignore[arg-type]


def test_enrichment_survives_new_content_and_is_stale_then(catalogue: Catalogue) -> None:
    (pk,) = store(catalogue, (b"a.md", make_indexed(TEXT)))
    enrich(catalogue, pk)

    store(catalogue, (b"a.md", make_indexed(TEXT + "more\n")))
    card = catalogue.cards.get(pk)
    assert card is not None
    assert (card.summary, card.is_stale) == ("kept", True)
    assert catalogue.projects.counts([NOTES])[NOTES].stale == 1

    store(catalogue, (b"a.md", make_indexed(TEXT)))
    card = catalogue.cards.get(pk)
    assert card is not None
    assert not card.is_stale
    assert catalogue.projects.counts([NOTES])[NOTES].enriched == 1


def test_what_vanishes_is_gone_unless_it_was_enriched(catalogue: Catalogue) -> None:
    plain, enriched, stays = store(
        catalogue, *((name, make_indexed(f"# {name!r}\nwords\n")) for name in (b"plain", b"enriched", b"stays"))
    )
    enrich(catalogue, enriched)
    settle(catalogue)

    catalogue.ingest.vanish(NOTES, [plain, enriched])

    assert catalogue.documents.by_pk([plain]) == {}
    kept = catalogue.documents.by_pk([enriched])[enriched]
    assert (kept.present, kept.content_hash) == (False, make_hash("# b'enriched'\nwords\n"))
    assert catalogue.documents.text(enriched) is None
    assert catalogue.documents.chapters(enriched) == []
    assert catalogue.documents.chunks([enriched]) == {}
    assert catalogue.documents.chapters_named([NOTES], "enriched", limit=5) == ([], 0)
    card = catalogue.cards.get(enriched)
    assert card is not None
    assert (card.summary, card.states[0]) == ("kept", CardState.DESYNC)
    assert len(catalogue.cards.history(enriched)) == 1
    assert told(catalogue, Engine.CARDS) == told(catalogue, Engine.CHUNKS) == {plain, enriched}
    assert catalogue.outbox.card_states(catalogue.outbox.pending(Engine.CARDS)) == []
    assert catalogue.documents.text(stays) is not None


def test_a_desync_document_found_again_is_present_with_its_card(catalogue: Catalogue) -> None:
    (pk,) = store(catalogue, (b"a.md", make_indexed(TEXT)))
    enrich(catalogue, pk)
    catalogue.ingest.vanish(NOTES, [pk])
    settle(catalogue)

    assert store(catalogue, (b"a.md", make_indexed(TEXT))) == [pk]

    card = catalogue.cards.get(pk)
    assert card is not None
    assert (card.document.present, card.summary, card.is_stale) == (True, "kept", False)
    assert catalogue.documents.text(pk) == TEXT
    assert told(catalogue) == {pk}


def test_a_desync_document_that_cannot_be_read_is_not_called_changed(catalogue: Catalogue) -> None:
    (pk,) = store(catalogue, (b"a.md", make_indexed(TEXT)))
    enrich(catalogue, pk)
    catalogue.ingest.vanish(NOTES, [pk])

    store(catalogue, (b"a.md", make_failed("permission denied", retryable=True)))

    card = catalogue.cards.get(pk)
    assert card is not None
    assert (card.document.present, card.is_stale) == (True, False)


def test_drop_desync_removes_them_for_good(catalogue: Catalogue) -> None:
    gone, stays = store(catalogue, (b"a", make_indexed("# A\n")), (b"b", make_indexed("# B\n")))
    enrich(catalogue, gone)
    enrich(catalogue, stays)
    catalogue.ingest.vanish(NOTES, [gone])

    assert catalogue.ingest.drop_desync(NOTES) == 1

    assert [row.pk for row in catalogue.ingest.known(NOTES)] == [stays]
    assert catalogue.cards.history(gone) == []


def test_a_pk_is_never_given_twice(catalogue: Catalogue) -> None:
    (first,) = store(catalogue, (b"a", make_indexed("# A\n")))
    catalogue.ingest.vanish(NOTES, [first])

    (second,) = store(catalogue, (b"a", make_indexed("# A\n")))

    assert second > first


def test_moved_enrichment_takes_its_history_along(catalogue: Catalogue) -> None:
    old, new, other = store(
        catalogue, (b"old", make_indexed(TEXT)), (b"new", make_indexed(TEXT)), (b"o", make_indexed("# O\n"))
    )
    enrich(catalogue, old, summary="kept", type="guide")
    catalogue.ingest.set_divergence({other: (old,)})
    catalogue.ingest.vanish(NOTES, [old])
    settle(catalogue)

    catalogue.ingest.move_enrichment(old, new)

    card = catalogue.cards.get(new)
    assert card is not None
    assert (card.summary, card.type, card.is_stale) == ("kept", "guide", False)
    assert [event.change for event in catalogue.cards.history(new)] == [{"type": "guide", "summary": "kept"}]
    assert catalogue.documents.by_pk([old]) == {}
    assert {old, new} <= told(catalogue, Engine.CARDS)
    assert catalogue.ingest.diverged() == {other: (new,)}
    assert catalogue.projects.types([NOTES]) == {"guide": 1}


def test_moved_stale_enrichment_stays_stale(catalogue: Catalogue) -> None:
    old, new = store(catalogue, (b"old", make_indexed("# Old\n")), (b"new", make_indexed(TEXT)))
    enrich(catalogue, old)
    store(catalogue, (b"old", make_indexed(TEXT)))
    catalogue.ingest.vanish(NOTES, [old])

    catalogue.ingest.move_enrichment(old, new)

    card = catalogue.cards.get(new)
    assert card is not None
    assert card.is_stale
    assert catalogue.projects.counts([NOTES])[NOTES].stale == 1


def test_enrichment_moves_only_from_a_desync_document_to_an_empty_one(catalogue: Catalogue) -> None:
    old, new = store(catalogue, (b"old", make_indexed(TEXT)), (b"new", make_indexed(TEXT)))
    enrich(catalogue, old)
    with pytest.raises(ConflictError):
        catalogue.ingest.move_enrichment(old, new)
    catalogue.ingest.vanish(NOTES, [old])
    enrich(catalogue, new, summary="its own")
    with pytest.raises(ConflictError):
        catalogue.ingest.move_enrichment(old, new)
    with pytest.raises(DocumentNotFoundError):
        catalogue.ingest.move_enrichment(old, 999)

    card = catalogue.cards.get(new)
    assert card is not None
    assert card.summary == "its own"


def test_the_hash_before_a_change_is_kept_until_it_is_concluded(catalogue: Catalogue) -> None:
    def before() -> dict[bytes, str | None]:
        return {row.path: row.hash_before for row in catalogue.ingest.known(NOTES)}

    first = make_indexed("# A\n")
    pk, _ = store(catalogue, (b"a", first), (b"b", make_indexed("# B\n")))
    assert before() == {b"a": None, b"b": None}
    store(catalogue, (b"a", make_indexed("# A again\n")), (b"b", make_indexed("# B\n", title="read otherwise")))
    store(catalogue, (b"a", make_failed("gone", retryable=True)))
    store(catalogue, (b"a", make_indexed("# A once more\n")))
    assert before() == {b"a": first.content_hash, b"b": None}

    catalogue.ingest.forget_hashes_before([pk, 999])

    assert before() == {b"a": None, b"b": None}


def test_divergence_is_kept_until_cleared(catalogue: Catalogue) -> None:
    first, second = store(catalogue, (b"a", make_indexed("# A\n")), (b"b", make_indexed("# B\n")))
    settle(catalogue)

    catalogue.ingest.set_divergence({first: (second,), 999: (second,)})

    assert catalogue.ingest.diverged() == catalogue.ingest.diverged(NOTES) == {first: (second,)}
    assert catalogue.ingest.diverged(ProjectName("other")) == {}
    card = catalogue.cards.get(first)
    assert card is not None
    assert card.diverged_from == ("notes::b",)
    assert CardState.DIVERGED in card.states
    assert told(catalogue, Engine.CARDS) == told(catalogue, Engine.CHUNKS) == {first}

    store(catalogue, (b"a", make_indexed("# A again\n")))
    assert catalogue.ingest.diverged() == {first: (second,)}
    assert catalogue.cards.clear_divergence(first) == (second,)
    assert catalogue.cards.clear_divergence(first) == ()
    assert catalogue.ingest.diverged() == {}


def test_reset_drops_enrichment_and_history_says_so(catalogue: Catalogue) -> None:
    enriched, desync = store(catalogue, (b"a", make_indexed(TEXT)), (b"b", make_indexed("# B\n")))
    enrich(catalogue, enriched, summary="zebra", type="guide")
    enrich(catalogue, desync)
    catalogue.ingest.vanish(NOTES, [desync])

    assert catalogue.ingest.reset_enrichment(NOTES) == 2

    card = catalogue.cards.get(enriched)
    assert card is not None
    assert card.enrichment is None
    assert [event.change for event in catalogue.cards.history(enriched)] == [
        {"reset": True},
        {"type": "guide", "summary": "zebra"},
    ]
    assert catalogue.documents.by_pk([desync]) == {}
    assert catalogue.projects.types([NOTES]) == {}
    assert catalogue.terms.near([NOTES], "zebro") == []


def test_skipped_paths_are_replaced(catalogue: Catalogue) -> None:
    catalogue.ingest.replace_skipped(
        NOTES, [Skipped(b"x/", SkipRule.JUNK_DIR, "node_modules"), Skipped(b"\xff", SkipRule.NOT_A_FILE)]
    )
    catalogue.ingest.replace_skipped(
        NOTES, [Skipped(b"x/", SkipRule.HIDDEN), Skipped(b"y", SkipRule.SECRET), Skipped(b"z", SkipRule.SECRET)]
    )

    assert [row.path for row in catalogue.documents.skipped(NOTES)] == [b"x/", b"y", b"z"]
    assert catalogue.documents.skipped(NOTES, limit=1) == [Skipped(b"x/", SkipRule.HIDDEN)]
    assert catalogue.documents.skipped_counts(NOTES) == {"secret": 2, "hidden": 1}
    assert catalogue.projects.counts([NOTES])[NOTES].skipped == 3


def test_another_way_of_extracting_marks_every_document(catalogue: Catalogue) -> None:
    store(catalogue, (b"a", make_indexed("# A\n")), (b"b", make_indexed("# B\n")))

    assert catalogue.ingest.extraction_changed("1") is False
    assert catalogue.ingest.extraction_changed("1") is False
    assert not any(row.pending for row in catalogue.ingest.known(NOTES))
    assert catalogue.ingest.extraction_changed("2") is True
    assert all(row.pending for row in catalogue.ingest.known(NOTES))
    assert catalogue.ingest.extraction_changed("2") is False


def test_mark_pending_leaves_desync_documents_alone(catalogue: Catalogue) -> None:
    there, gone = store(catalogue, (b"a", make_indexed("# A\n")), (b"b", make_indexed("# B\n")))
    enrich(catalogue, gone)
    catalogue.ingest.vanish(NOTES, [gone])

    assert catalogue.ingest.mark_pending(NOTES) == 1
    assert [row.pk for row in catalogue.ingest.known(NOTES) if row.pending] == [there]


def test_same_hash_finds_present_documents_of_all_projects(catalogue: Catalogue) -> None:
    other = ProjectName("other")
    catalogue.projects.put(other, root="/other")
    first, gone = store(catalogue, (b"a", make_indexed(TEXT)), (b"gone", make_indexed(TEXT)))
    (second,) = store(catalogue, (b"b", make_indexed(TEXT)), project=other)
    enrich(catalogue, gone)
    catalogue.ingest.vanish(NOTES, [gone])

    found = catalogue.ingest.same_hash([make_hash(TEXT), make_hash("nobody"), "no hash at all"])

    assert {content: [document.pk for document in there] for content, there in found.items()} == {
        make_hash(TEXT): [first, second]
    }
    assert catalogue.ingest.hashes([first, gone, 999]) == {first: make_hash(TEXT), gone: make_hash(TEXT)}
