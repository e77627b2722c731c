"""What readers find: chapters by name, copies, paths that were meant."""

from __future__ import annotations

import pytest

from armillary_core.domain.card import CardChange
from armillary_core.domain.chunk import CARD_ORDINAL, chunk_key
from armillary_core.domain.project import ProjectName
from armillary_core.ports.catalogue import Catalogue
from armillary_core.ports.catalogue.documents import Label
from factories import make_hash, make_indexed, make_stamp

NOTES = ProjectName("notes")
OTHER = ProjectName("other")


def store(catalogue: Catalogue, files: dict[bytes, str], project: ProjectName = NOTES) -> list[int]:
    rows = [(path, make_stamp(), make_indexed(text)) for path, text in files.items()]
    return catalogue.ingest.store(project, rows)


def test_chapters_are_found_by_part_of_their_name(catalogue: Catalogue) -> None:
    catalogue.projects.put(OTHER, root="/other")
    store(catalogue, {b"b.md": "# Key rotation\n## The Keys\n", b"a.md": "# Keys\nunnamed\n", b"c.md": "# Ключ ёлки\n"})
    store(catalogue, {b"d.md": "# Keys\n"}, OTHER)

    def names(name: str, projects: tuple[ProjectName, ...] = (NOTES,), **page: int) -> list[tuple[bytes, str]]:
        refs, _ = catalogue.documents.chapters_named(projects, name, **({"limit": 10} | page))
        return [(ref.document.path, ref.chapter.name) for ref in refs]

    assert names("keys") == [(b"a.md", "Keys"), (b"b.md", "The Keys")]
    assert names("KEY") == [(b"a.md", "Keys"), (b"b.md", "Key rotation"), (b"b.md", "The Keys")]
    assert names("key", limit=1, offset=1) == [(b"b.md", "Key rotation")]
    assert names("елки") == names("ЁЛКИ") == [(b"c.md", "Ключ ёлки")]
    assert names("keys", (NOTES, OTHER)) == [(b"a.md", "Keys"), (b"d.md", "Keys"), (b"b.md", "The Keys")]
    assert names("%") == names("nothing") == names("keys", ()) == []
    assert catalogue.documents.chapters_named([NOTES], "key", limit=1)[1] == 3


def test_labels_say_what_a_search_weighs(catalogue: Catalogue) -> None:
    pk, _ = store(catalogue, {b"a.md": "# Same\n", b"b.md": "# Else\n"})
    document = catalogue.documents.by_pk([pk])[pk]

    assert catalogue.documents.labels([pk, 999]) == {
        pk: Label(make_hash("# Same\n"), document.title, b"a.md", document.language)
    }
    assert catalogue.documents.labels([]) == {}


def test_several_outlines_and_chunks_are_read_at_once(catalogue: Catalogue) -> None:
    first, second = store(catalogue, {b"a.md": "# One\ntext\n## Two\nmore\n", b"b.md": "# Else\n"})
    documents = catalogue.documents

    assert documents.outlines([first, second, 999]) == {pk: documents.chapters(pk) for pk in (first, second)}
    keys = [chunk_key(first, 0), chunk_key(second, 0), chunk_key(first, 99), chunk_key(first, CARD_ORDINAL)]
    assert documents.chunks_at(keys) == {chunk_key(pk, 0): documents.chunk(pk, 0) for pk in (first, second)}
    assert documents.outlines([]) == documents.chunks_at([]) == {}


def test_copies_are_found_in_the_projects_asked_for_only(catalogue: Catalogue) -> None:
    catalogue.projects.put(OTHER, root="/other")
    first, second, _, gone = store(
        catalogue, {b"a": "# Same\n", b"b": "# Same\n", b"c": "# Else\n", b"gone": "# Same\n"}
    )
    (third,) = store(catalogue, {b"d": "# Same\n"}, OTHER)
    catalogue.cards.update(gone, CardChange(summary="s"), by="a", at=1.0)
    catalogue.ingest.vanish(NOTES, [gone])
    document = catalogue.documents.by_pk([first])[first]

    assert [copy.pk for copy in catalogue.documents.copies(document, [NOTES])] == [second]
    assert [copy.pk for copy in catalogue.documents.copies(document, [NOTES, OTHER])] == [second, third]
    assert catalogue.documents.copies(document, []) == []
    found = catalogue.documents.copies_of([make_hash("# Same\n"), make_hash("# Else\n"), "x"], [NOTES, OTHER])
    assert {key: [copy.pk for copy in there] for key, there in found.items()} == {
        make_hash("# Same\n"): [first, second, third]
    }
    assert catalogue.documents.copies_of([make_hash("# Same\n")], [OTHER]) == {}


@pytest.mark.parametrize(
    ("wanted", "meant"),
    [
        ("docs/backup.md", b"ops/backup.md"),
        ("ops/bakcup.md", b"ops/backup.md"),
        ("ops\\Backup.MD", b"ops/backup.md"),
        ("backup", b"ops/backup.md"),
        ("guide/instal.rst", b"guide/install.rst"),
        ("имя.md", "заметки/имя.md".encode()),
    ],
)
def test_a_wrong_path_is_answered_with_the_one_that_was_meant(catalogue: Catalogue, wanted: str, meant: bytes) -> None:
    files = {b"ops/backup.md": "# B\n", b"guide/install.rst": "# I\n", "заметки/имя.md".encode(): "# N\n"}
    store(catalogue, files | {b"page-%d.txt" % number: f"# {number}\n" for number in range(300)})

    assert [document.path for document in catalogue.documents.near_paths([NOTES], wanted)][:1] == [meant]
    assert catalogue.documents.near_paths([OTHER], wanted) == []


def test_of_two_equal_names_the_one_in_a_folder_like_it_comes_first(catalogue: Catalogue) -> None:
    store(catalogue, {b"a/x/readme.md": "# A\n", b"b/y/readme.md": "# B\n", b"zzzz.bin": "# Z\n"})

    near = catalogue.documents.near_paths([NOTES], "b/readme.md")

    assert [document.path for document in near] == [b"b/y/readme.md", b"a/x/readme.md"]
    assert len(catalogue.documents.near_paths([NOTES], "b/readme.md", limit=1)) == 1
    assert catalogue.documents.near_paths([NOTES], "/") == []


def test_chunks_of_several_documents_come_in_order_without_card_chunks(catalogue: Catalogue) -> None:
    pks = store(catalogue, {b"%d" % number: "".join(f"# {n} {number}\nw\n" for n in range(5)) for number in range(3)})

    chunks = catalogue.documents.chunks([*reversed(pks), 999])

    assert {pk: [chunk.ordinal for chunk in held] for pk, held in chunks.items()} == {pk: [0, 1, 2, 3, 4] for pk in pks}
    assert catalogue.documents.chunk(pks[0], (1 << 20) - 1) is None


def test_texts_of_several_documents(catalogue: Catalogue) -> None:
    first, second = store(catalogue, {b"a": "# A\nlone \ud800 and \x00 and 🚀\r\n", b"b": ""})

    assert catalogue.documents.texts([first, second, 99]) == {first: "# A\nlone \ud800 and \x00 and 🚀\r\n", second: ""}
    assert catalogue.documents.text(99) is None
