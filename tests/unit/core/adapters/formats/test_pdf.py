from __future__ import annotations

import pytest

from armillary_core.adapters.formats.pdf import PdfExtractor
from armillary_core.domain.chapter import ChapterKind
from armillary_core.domain.errors import UnreadableSourceError
from armillary_core.domain.ingest import ExtractedText
from armillary_core.ports.extractor import SourceFile
from office_files import make_pdf


def extract(content: bytes) -> ExtractedText:
    return PdfExtractor().extract(SourceFile("a.pdf", content))


def test_pages_are_chapters_and_keep_their_numbers() -> None:
    text = extract(make_pdf([["first needleone"], [], ["third needlethree", "more"]]))
    assert [(chapter.anchor, chapter.page, chapter.kind) for chapter in text.chapters] == [
        ("page-1", 1, ChapterKind.PAGE),
        ("page-3", 3, ChapterKind.PAGE),
    ]
    assert text.pages == 3
    third = text.chapters[1]
    assert text.text[third.start : third.end] == "third needlethree\nmore\n"
    assert (third.start_line, third.end_line) == (3, 4)


def test_the_metadata_and_bookmarks_reach_the_card() -> None:
    text = extract(make_pdf([["a"], ["b"]], title="The report", bookmarks=[("Part one", 1), ("Part two", 2)]))
    assert text.title == "The report"
    assert text.base.headings == ("Part one", "Part two")
    assert (text.base.date, text.base.keywords) == ("2026-03-04", ("tide", "wind"))


@pytest.mark.parametrize("title", ["", "Microsoft Word - x.doc", "untitled", "report.tex"])
def test_a_title_that_a_program_left_is_none(title: str) -> None:
    assert extract(make_pdf([["a"]], title=title)).title is None


def test_many_pages_are_read() -> None:
    text = extract(make_pdf([[f"needle{number}"] for number in range(1, 301)]))
    assert len(text.chapters) == 300
    assert text.chapters[299].anchor == "page-300"
    assert "needle300" in text.text[text.chapters[299].start :]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty file"),
        (b"this is not a pdf", "not a PDF"),
        (b"%PDF-1.7\nnothing else", "damaged or cut off"),
        (make_pdf([[], []]), "scanned, needs OCR"),
        (make_pdf([["secret"]], locked=True), "password"),
    ],
    ids=["empty", "garbage", "truncated", "scanned", "locked"],
)
def test_what_cannot_be_read_is_refused_in_plain_words(content: bytes, reason: str) -> None:
    with pytest.raises(UnreadableSourceError, match=reason):
        extract(content)


def test_a_file_cut_in_the_middle_is_read_or_refused() -> None:
    whole = make_pdf([[f"line {number}"] * 40 for number in range(20)])
    for share in (0.3, 0.6, 0.9):
        try:
            text = extract(whole[: int(len(whole) * share)])
        except UnreadableSourceError as refused:
            assert "damaged" in refused.message or "scanned" in refused.message
        else:
            assert text.text
