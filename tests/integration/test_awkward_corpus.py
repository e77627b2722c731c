"""Every awkward case, in a git tree and in a plain folder: nothing stops a scan, a job or another file."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from armillary_core.domain.document import Document, ExtractionState, encode_path
from armillary_core.domain.ingest import SkipRule
from armillary_core.domain.passage import SearchAnswer
from armillary_core.domain.project import ProjectName
from armillary_core.usecases.ingest import ScanResult
from product import open_product

NAMES = [
    "name with spaces.md", "имя-файла.md", "日本語.md", "emoji-🚀.md", "new\nline.md", "tab\tname.md", 'quote"name.md',
    "-dash.md", "#hash.md", "per%20cent.md", "back\\slash.md", "a::b.md", "UPPER.MD", "case.md", "Case.md",
    "x" * 240 + ".md", "noext", "README", "readme.markdown", "src/inside-src.md",
    "deep/a/b/c/d/e/f/g/h/i/j/deepfile.md",
]  # fmt: skip

# query → the document that answers it
FOUND = {
    "hugeneedle": "huge.md",
    "lastneedleofhuge": "huge.md",
    "onelineneedle": "oneline.md",
    "crneedle": "cr.md",
    "bomneedle": "bom.md",
    "utf16needle": "utf16le.md",
    "utf16beneedle": "utf16be.md",
    "кодировка": "cp1251.md",
    "naïve": "latin1.md",
    "brokenneedle": "badutf8.md",
    "fenceneedle": "fence.md",
    "setextneedle": "setext.md",
    "csharpneedle": "atx.md",
    "frontneedle": "frontmatter.md",
    "badfrontneedle": "badfront.md",
    "tomlneedle": "tomlfront.md",
    "noheadneedle": "nohead.md",
    "preambleneedle": "preamble.md",
    "tableneedle": "table.md",
    "get_user_by_id": "ident.md",
    "E0277": "ident.md",
    "foo.bar.baz": "ident.md",
    "mdxneedle": "mdx.mdx",
    "документ": "ru.md",
    "елка": "ru.md",
    "中文": "zh.md",
    "データベース": "ja.md",
    "연결": "ko.md",
    "grossenanderung": "de.md",
    "strassenverkehrsordnung": "de.md",
    "resolution reseau": "fr.md",
    "résumé": "nfd.md",
    "البيانات": "ar.md",
    "badnameneedle": "bad%FFname.md",
    "methodneedle": "code.py",
    "plainneedle": "plain.txt",
    "pdfneedletwo": "multi.pdf",
    "pdflong7": "longpages.pdf",
    "htmlneedle": "page.html",
    "nestedneedle": "nested-repo/inner.md",
    "untrackedneedle": "untracked.md",
}
NOT_FOUND = [
    "outsidesecretneedle",
    "outsidesecretneedle2",
    "ignoredneedle",
    "scriptneedle",
    "navneedle",
    "commentneedle",
]

SKIPPED = {
    b"link-out.md": SkipRule.SYMLINK_OUTSIDE,
    b"linkdir-out": SkipRule.SYMLINK_OUTSIDE,
    b"link-in.md": SkipRule.SYMLINK_INSIDE,
    b"loop": SkipRule.SYMLINK_LOOP,
    b"dangling.md": SkipRule.SYMLINK_BROKEN,
    b"pipe.md": SkipRule.NOT_A_FILE,
    b".hidden.md": SkipRule.HIDDEN,
}


@dataclass(frozen=True)
class Indexed:
    git: bool
    scan: ScanResult
    documents: dict[bytes, Document]
    skipped: dict[bytes, SkipRule]
    answers: dict[str, SearchAnswer]
    second: ScanResult


async def _index(docs: Path, data: Path, git: bool) -> Indexed:
    async with open_product(data) as product:
        product.add("edge", docs)
        scan = await product.scan("edge")
        queries = [
            *FOUND,
            *NOT_FOUND,
            "nameneedle",
            "secondinstall",
            "jumpneedle",
            "trackedignoredneedle",
            "submoduleneedle",
        ]
        answers = {query: await product.search(query, limit=50) for query in queries}
        skipped = {row.path: row.rule for row in product.core.catalogue.documents.skipped(ProjectName("edge"))}
        second = await product.scan("edge")
        return Indexed(git, scan, dict(product.documents("edge")), skipped, answers, second)


@pytest.fixture(scope="module", params=[False, True], ids=["plain folder", "git tree"])
def edge(
    request: pytest.FixtureRequest, shared_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Indexed]:
    git: bool = request.param
    folder = tmp_path_factory.mktemp("edge")
    maker = shared_folder / "tools" / "make_edge_corpus.py"
    subprocess.run(
        [sys.executable, str(maker), str(folder), *(["--git"] if git else [])], check=True, capture_output=True
    )
    yield asyncio.run(_index(folder / "docs", tmp_path_factory.mktemp("data"), git))
    (folder / "docs" / "lockeddir").chmod(0o700)


def ids(answer: SearchAnswer) -> list[str]:
    return [passage.document for passage in answer.passages] if answer.relevant else []


@pytest.mark.parametrize("query", FOUND, ids=str)
def test_the_right_document_comes_first(edge: Indexed, query: str) -> None:
    assert ids(edge.answers[query])[:1] == [f"edge::{FOUND[query]}"]


@pytest.mark.parametrize("query", NOT_FOUND)
def test_what_is_outside_ignored_or_no_text_is_not_found(edge: Indexed, query: str) -> None:
    assert all(query not in passage.text for passage in edge.answers[query].passages)


def test_every_odd_name_is_a_document_and_round_trips(edge: Indexed) -> None:
    for name in NAMES:
        assert os.fsencode(name) in edge.documents, name
    shown = set(ids(edge.answers["nameneedle"]))
    missing = [name for name in NAMES if f"edge::{encode_path(os.fsencode(name))}" not in shown]
    assert not missing


@pytest.mark.parametrize("path", SKIPPED, ids=repr)
def test_each_skip_is_listed_with_its_rule(edge: Indexed, path: bytes) -> None:
    assert edge.skipped[path] is SKIPPED[path]


def test_hidden_and_junk_folders_are_one_row_each(edge: Indexed) -> None:
    assert edge.skipped[b".hiddendir/"] is SkipRule.HIDDEN
    assert edge.skipped[b"node_modules/"] is SkipRule.JUNK_DIR


def test_git_shapes_end_as_git_says(edge: Indexed) -> None:
    tracked_although_ignored = ids(edge.answers["trackedignoredneedle"])
    if edge.git:
        assert tracked_although_ignored == ["edge::tracked-but-ignored.md"]
        assert ids(edge.answers["submoduleneedle"])[:1] == ["edge::submod/submod.md"]
        assert edge.skipped[b"inner-worktree/"] is SkipRule.LINKED_WORKTREE
    else:
        assert tracked_although_ignored == []
        assert edge.skipped[b"tracked-but-ignored.md"] is SkipRule.GITIGNORE
    assert edge.skipped[b"ignored/"] is SkipRule.GITIGNORE


@pytest.mark.parametrize("path", [b"binary.md"], ids=repr)
def test_a_picture_with_a_text_name_is_known_by_name_only(edge: Indexed, path: bytes) -> None:
    assert edge.documents[path].state is ExtractionState.NAME_ONLY


@pytest.mark.parametrize(("path", "word"), [(b"scan.pdf", "OCR"), (b"notpdf.pdf", "PDF")], ids=["scan", "broken"])
def test_what_cannot_be_read_fails_alone_with_a_reason(edge: Indexed, path: bytes, word: str) -> None:
    document = edge.documents[path]
    assert document.state is ExtractionState.FAILED
    assert word in (document.reason or "")


def test_line_ends_do_not_change_the_hash_but_a_lone_return_does(edge: Indexed) -> None:
    assert edge.documents[b"crlf.md"].content_hash == edge.documents[b"lf.md"].content_hash
    assert edge.documents[b"cr.md"].content_hash != edge.documents[b"lf.md"].content_hash


def test_the_second_of_equal_headings_is_cited_exactly(edge: Indexed) -> None:
    passage = edge.answers["secondinstall"].passages[0]
    assert passage.chapter == "edge::dup.md#install-1"
    assert passage.heading_path == ("Guide", "Install")
    assert passage.lines is not None
    assert 11 <= passage.lines[0] <= 13


def test_a_jump_of_levels_keeps_the_full_heading_path(edge: Indexed) -> None:
    assert edge.answers["jumpneedle"].passages[0].heading_path == ("Back", "Jump to four")


def test_a_page_of_a_pdf_is_cited_by_number(edge: Indexed) -> None:
    assert edge.answers["pdfneedletwo"].passages[0].page == 2
    assert edge.answers["pdflong7"].passages[0].page == 7


def test_the_encoding_and_every_replaced_byte_are_told(edge: Indexed) -> None:
    assert (edge.documents[b"cp1251.md"].charset or "").lower().replace("-", "") in ("cp1251", "windows1251")
    assert "replaced" in (edge.documents[b"badutf8.md"].reason or "")


def test_empty_documents_are_listed_without_an_error(edge: Indexed) -> None:
    for path in (b"empty.md", b"whitespace.md"):
        assert edge.documents[path].state is ExtractionState.OK


def test_answers_stay_small_even_for_a_line_of_two_megabytes(edge: Indexed) -> None:
    for answer in edge.answers.values():
        assert all(len(passage.text) < 4000 and len(passage.snippet) < 400 for passage in answer.passages)


def test_a_second_scan_reads_nothing_again(edge: Indexed) -> None:
    retried = {b"unreadable.md"}
    assert edge.second.new == edge.second.removed == 0
    assert edge.second.changed <= len(retried)
    assert edge.second.state == "ok"
