"""The term dictionary stays exact whatever happens to documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import count

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from armillary_core.domain.card import CardChange
from armillary_core.domain.project import ProjectName
from armillary_core.ports.catalogue import Catalogue
from armillary_core.ports.catalogue.outbox import Engine
from factories import make_failed, make_indexed, make_stamp, make_terms, token

NOTES = ProjectName("notes")
WORDS = ("alpha", "beta", "gamma", "delta")
_numbers = count()


def recount(catalogue: Catalogue, project: ProjectName) -> tuple[Counter[int], int, int]:
    """Chunks by token, chunks and tokens, as the chunk index is told."""
    catalogue.outbox.add(Engine.CHUNKS, [row.pk for row in catalogue.ingest.known(project)])
    terms: Counter[int] = Counter()
    chunks = tokens = 0
    for state in catalogue.outbox.chunk_states(catalogue.outbox.pending(Engine.CHUNKS, limit=10_000)):
        if state.card.document.project == project:
            for held in (*(chunk.terms for chunk in state.chunks), state.card_terms):
                terms.update(held.ids)
                chunks += 1
                tokens += held.length
    return terms, chunks, tokens


def check(catalogue: Catalogue, project: ProjectName) -> None:
    terms, chunks, tokens = recount(catalogue, project)
    asked = [*terms, *(token(word) for word in WORDS)]
    assert catalogue.terms.frequencies([project], asked) == dict(terms)
    counts = catalogue.terms.counts([project])
    assert (counts.chunks, round(counts.average_length * counts.chunks)) == (chunks, tokens)


step = st.one_of(
    st.tuples(st.just("store"), st.integers(0, 4), st.lists(st.sampled_from(WORDS), max_size=6)),
    st.tuples(st.sampled_from(["vanish", "enrich", "fail", "unread", "drop", "reset"]), st.integers(0, 4), st.just([])),
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(step, max_size=14))
def test_counts_are_exact_after_any_sequence_of_changes(
    catalogue: Catalogue, steps: list[tuple[str, int, list[str]]]
) -> None:
    project = ProjectName(f"p{next(_numbers)}")
    catalogue.projects.put(project, root="/p")
    for action, number, words in steps:
        path = b"%d.md" % number
        document = catalogue.documents.find(project, path)
        if action == "store":
            text = "".join(f"# {word}\n{word} text\n" for word in words)
            catalogue.ingest.store(project, [(path, make_stamp(), make_indexed(text))])
        elif action in ("fail", "unread"):
            failed = make_failed(retryable=action == "unread")
            catalogue.ingest.store(project, [(path, make_stamp(), failed)])
        elif action == "drop":
            catalogue.ingest.drop_desync(project)
        elif action == "reset":
            catalogue.ingest.reset_enrichment(project)
        elif document is not None and action == "vanish" and document.present:
            catalogue.ingest.vanish(project, [document.pk])
        elif document is not None and action == "enrich":
            catalogue.cards.update(document.pk, CardChange(keywords=("alpha", "zulu")), by="a", at=1.0)
    check(catalogue, project)
    catalogue.projects.remove(project)
    assert catalogue.terms.frequencies([project], [token(word) for word in WORDS]) == {}
    assert catalogue.terms.counts([project]).chunks == 0


def test_only_the_projects_asked_for_are_counted(catalogue: Catalogue) -> None:
    private = ProjectName("private")
    catalogue.projects.put(private, root="/private", private=True)
    catalogue.ingest.store(NOTES, [(b"a", make_stamp(), make_indexed("# X\nshared\n"))])
    catalogue.ingest.store(private, [(b"a", make_stamp(), make_indexed("# X\nshared secretword\n"))])

    assert catalogue.terms.frequencies([NOTES], [token("shared"), token("secretword")]) == {token("shared"): 1}
    assert catalogue.terms.frequencies([NOTES, private], [token("shared")]) == {token("shared"): 2}
    assert catalogue.terms.near([NOTES], "secretwort") == []
    assert catalogue.terms.near([NOTES, private], "secretwort") == [("secretword", 1)]
    assert catalogue.terms.counts([]).chunks == 0
    assert catalogue.terms.frequencies([], [token("shared")]) == {}


def test_near_finds_the_right_form_of_every_single_mistake(catalogue: Catalogue) -> None:
    catalogue.ingest.store(NOTES, [(b"a", make_stamp(), make_indexed("# X\nkubernetes certificate ключ\n"))])

    right = "kubernetes"
    mistakes = {right[:at] + "q" + right[at + 1 :] for at in range(len(right))}
    mistakes |= {right[:at] + right[at + 1 :] for at in range(len(right))}
    mistakes |= {right[:at] + "q" + right[at:] for at in range(len(right) + 1)}
    mistakes |= {right[:at] + right[at + 1] + right[at] + right[at + 2 :] for at in range(len(right) - 1)}
    missed = [word for word in mistakes if catalogue.terms.near([NOTES], word)[:1] != [("kubernetes", 1)]]
    assert missed == []
    assert catalogue.terms.near([NOTES], "клюк")[0] == ("ключ", 1)
    assert catalogue.terms.near([NOTES], "q") == []
    assert len(catalogue.terms.near([NOTES], "certificat", limit=1)) == 1
    for odd in ("\ud7ff\ud7ff", "\U0010ffff\U0010ffff", "%%", "'\"", "\x00\x00"):
        assert catalogue.terms.near([NOTES], odd) == []


def test_what_an_agent_wrote_is_a_known_word(catalogue: Catalogue) -> None:
    (pk,) = catalogue.ingest.store(NOTES, [(b"a", make_stamp(), make_indexed("# X\nwords\n"))])

    catalogue.cards.update(pk, CardChange(keywords=("zanzibar",)), by="agent", at=1.0)
    assert catalogue.terms.near([NOTES], "zanzibur") == [("zanzibar", 1)]

    catalogue.cards.update(pk, CardChange(keywords=()), by="agent", at=2.0)
    assert catalogue.terms.near([NOTES], "zanzibur") == []


def test_the_average_length_is_handed_out_unchanged_until_it_drifts(catalogue: Catalogue) -> None:
    def averages() -> set[float]:
        catalogue.outbox.add(Engine.CHUNKS, [row.pk for row in catalogue.ingest.known(NOTES)])
        states = catalogue.outbox.chunk_states(catalogue.outbox.pending(Engine.CHUNKS, limit=1000))
        return {state.average_length for state in states}

    def add(first: int, last: int, length: int) -> None:
        text = "# X\n" + " ".join(f"word{number}" for number in range(length)) + "\n"
        rows = [(b"%d" % number, make_stamp(), make_indexed(f"{text}{number}\n")) for number in range(first, last)]
        catalogue.ingest.store(NOTES, rows)

    add(0, 10, 20)
    before = averages()
    add(10, 12, 30)
    assert averages() == before
    assert catalogue.ingest.settle_average(NOTES) is False
    assert averages() == before

    add(12, 40, 80)
    for engine in Engine:
        catalogue.outbox.done(engine, catalogue.outbox.pending(engine, limit=1000))
    assert catalogue.ingest.settle_average(NOTES) is True
    assert len(catalogue.outbox.pending(Engine.CHUNKS, limit=1000)) == 40
    assert catalogue.outbox.pending(Engine.CARDS) == []
    assert averages() == {catalogue.terms.counts([NOTES]).average_length}
    assert catalogue.ingest.settle_average(NOTES) is False


def test_two_hundred_documents_settle_the_average_by_themselves(catalogue: Catalogue) -> None:
    def add(first: int, last: int, length: int) -> None:
        text = "# X\n" + "word " * length + "\n"
        rows = [(b"%d" % number, make_stamp(), make_indexed(f"{text}{number}\n")) for number in range(first, last)]
        catalogue.ingest.store(NOTES, rows)

    add(0, 10, 5)
    early = catalogue.outbox.chunk_states(catalogue.outbox.pending(Engine.CHUNKS))[0].average_length
    add(10, 200, 100)

    settled = catalogue.outbox.chunk_states(catalogue.outbox.pending(Engine.CHUNKS))[0].average_length
    assert settled > 2 * early
    assert settled == catalogue.terms.counts([NOTES]).average_length


def test_a_repeated_token_counts_once_a_chunk_and_often_in_length(
    catalogue: Catalogue, open_catalogue: Callable[[], Catalogue]
) -> None:
    text = "# X\n" + "many " * 70_0 + "\n"
    (pk,) = catalogue.ingest.store(NOTES, [(b"a", make_stamp(), make_indexed(text))])

    assert catalogue.terms.frequencies([NOTES], [token("many")]) == {token("many"): 1}
    (chunk,) = open_catalogue().documents.chunks([pk])[pk]
    assert chunk.terms == make_terms(["x", *["many"] * 700])
