from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armillary_core.domain.chapter import ChapterKind
from armillary_core.domain.errors import ChapterNotFoundError, DocumentNotFoundError, InvalidRequestError
from armillary_core.domain.token import LOCAL_OWNER
from armillary_core.usecases.read import Read, ReadAnswer, ReadRequest, count_lines, cut_at, line_range
from factories import make_chapter, make_failed, make_indexed, make_name_only
from shelves import Shelf

GUIDE = """\
before everything
# Guide
intro
## Install
install text
### On Linux
linux text
## Install
second install
# Appendix
the end"""


@pytest.fixture
def read(shelf: Shelf) -> Read:
    shelf.project("p")
    shelf.add("p", {"guide.md": GUIDE, "page.png": make_name_only(), "locked.pdf": make_failed("password protected")})
    return Read(shelf.catalogue)


def ask(read: Read, **wanted: object) -> ReadAnswer:
    return read(ReadRequest(doc="p::guide.md", **wanted), LOCAL_OWNER)  # type: ignore[arg-type]  # named by the test


def test_a_whole_document_is_read(read: Read) -> None:
    whole = ask(read)
    assert whole.text == GUIDE
    assert (whole.lines, whole.total_lines, whole.is_cut) == ((1, 11), 11, False)


@pytest.mark.parametrize(
    "section",
    [
        "#install-2",
        "install-2",
        "Install",
        "INSTALL",
        "  install ",
        "Guide > Install",
        "guide>install",
        "## Install",
        "p::guide.md#install-2",
    ],
)
def test_a_section_is_found_by_anchor_id_heading_and_path(read: Read, section: str) -> None:
    found = ask(read, section=section)
    assert found.text == "## Install\ninstall text\n### On Linux\nlinux text\n"
    assert found.lines == (4, 7)
    assert found.chapter is not None and found.chapter.anchor == "install-2"


def test_sub_chapters_can_be_left_out(read: Read) -> None:
    assert ask(read, section="Install", subsections=False).text == "## Install\ninstall text\n"
    assert ask(read, section="Guide", subsections=False).text == "# Guide\nintro\n"


def test_the_last_section_goes_to_the_end(read: Read) -> None:
    assert ask(read, section="appendix").text == "# Appendix\nthe end"


def test_equal_headings_are_all_reachable_and_named(read: Read) -> None:
    assert ask(read, section="Install").notes == ("Also under this heading: #install-4.",)
    assert ask(read, section="install-4").text == "## Install\nsecond install\n"


def test_the_preamble_is_a_section(read: Read) -> None:
    assert ask(read, section="_preamble").text == "before everything\n"


def test_a_missing_section_lists_what_there_is(read: Read) -> None:
    with pytest.raises(ChapterNotFoundError, match=r"Sections: #_preamble, #guide-1 \(Guide\), #install-2 \(Install\)"):
        ask(read, section="Uninstall")


def test_a_long_list_of_sections_is_cut_with_a_way_on(shelf: Shelf, read: Read) -> None:
    shelf.add("p", {"long.md": "".join(f"# Heading number {number}\n" for number in range(500))})
    with pytest.raises(ChapterNotFoundError, match=r'more: list_chapters\(doc="p::long\.md"\)') as refused:
        read(ReadRequest(doc="p::long.md", section="nothing"), LOCAL_OWNER)
    assert len(str(refused.value)) < 1400


def test_a_chapter_id_reads_that_chapter(read: Read) -> None:
    found = read(ReadRequest(doc="p::guide.md#on-linux-3"), LOCAL_OWNER)
    assert found.text == "### On Linux\nlinux text\n"


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ("1-2", "before everything\n# Guide\n"),
        ("3", "intro\n"),
        ("11-11", "the end"),
        ("10-500", "# Appendix\nthe end"),
        (" 2 - 3 ", "# Guide\nintro\n"),
        ("L2-L3", "# Guide\nintro\n"),
        ("2:3", "# Guide\nintro\n"),
    ],
)
def test_lines_are_inclusive_and_counted_as_an_editor_does(read: Read, lines: str, text: str) -> None:
    assert ask(read, lines=lines).text == text


@pytest.mark.parametrize("lines", ["0-3", "5-3", "a-b", "", "-3", "3-", "1.5", "12-13", "9" * 30])
def test_bad_ranges_are_refused(read: Read, lines: str) -> None:
    with pytest.raises(InvalidRequestError, match="lines"):
        ask(read, lines=lines)


def test_section_beats_lines_and_says_so(read: Read) -> None:
    found = ask(read, section="Appendix", lines="1-2")
    assert found.text.startswith("# Appendix")
    assert "section was used; lines and page were left aside." in found.notes


def test_a_cut_is_continued_from_where_it_ended(read: Read) -> None:
    said, start, end = "", None, None
    while True:
        part = ask(read, start=start, end=end, max_bytes=40)
        said += part.text
        assert len(part.text.encode()) <= 40
        if not part.is_cut:
            break
        start, end = part.end, part.until
    assert said == GUIDE


def test_a_cut_section_stays_a_section(read: Read) -> None:
    first = ask(read, section="Install", max_bytes=24)
    assert first.text == "## Install\ninstall text\n" and first.is_cut
    rest = ask(read, start=first.end, end=first.until)
    assert rest.text == "### On Linux\nlinux text\n" and rest.lines == (6, 7)


def test_pages_are_read_by_number(shelf: Shelf, read: Read) -> None:
    text = "one\ntwo\nthree\n"
    pages = [
        make_chapter(n, "", start=start, end=end, page=n + 1, kind=ChapterKind.PAGE, level=1, anchor=f"page-{n + 1}")
        for n, (start, end) in enumerate([(0, 4), (4, 8), (8, 14)])
    ]
    indexed = make_indexed(text)
    shelf.add("p", {"book.pdf": replace(indexed, text=replace(indexed.text, chapters=tuple(pages)), chunks=())})
    found = read(ReadRequest(doc="p::book.pdf", page=2), LOCAL_OWNER)
    assert (found.text, found.page, found.lines) == ("two\n", 2, (2, 2))
    with pytest.raises(ChapterNotFoundError, match=r"no page 4\. Its pages: 1 to 3"):
        read(ReadRequest(doc="p::book.pdf", page=4), LOCAL_OWNER)
    with pytest.raises(ChapterNotFoundError, match="has no pages"):
        ask(read, page=1)


@pytest.mark.parametrize(
    ("doc", "why"),
    [
        ("p::page.png", "known by name and size only"),
        ("p::locked.pdf", "could not be extracted: password protected"),
    ],
)
def test_a_document_without_text_says_why(read: Read, doc: str, why: str) -> None:
    with pytest.raises(DocumentNotFoundError, match=why):
        read(ReadRequest(doc=doc), LOCAL_OWNER)


@given(st.text(alphabet="ab \né漢🙂", max_size=200), st.integers(min_value=4, max_value=60))
def test_cutting_loses_nothing_and_keeps_to_the_bytes(text: str, limit: int) -> None:
    pieces, start = [], 0
    while start < len(text):
        end = cut_at(text, start, len(text), limit)
        assert start < end <= len(text)
        assert len(text[start:end].encode()) <= limit
        pieces.append(text[start:end])
        start = end
    assert "".join(pieces) == text


@given(st.text(alphabet="ab\n\u2028\x0c\x85", max_size=60))
def test_only_line_feeds_end_lines(text: str) -> None:
    lines = text.split("\n")
    expected = len(lines) - (1 if lines[-1] == "" else 0)
    assert count_lines(text) == expected
    if expected:
        start, end = line_range(text, f"{expected}")
        assert text[start:end].rstrip("\n") == lines[expected - 1]
