from __future__ import annotations

import io
import zipfile

import pytest

from armillary_core.adapters.formats.docx import DocxExtractor
from armillary_core.domain.errors import UnreadableSourceError
from armillary_core.domain.ingest import ExtractedText
from armillary_core.ports.extractor import SourceFile
from office_files import make_docx, paragraph, table


def extract(content: bytes) -> ExtractedText:
    return DocxExtractor().extract(SourceFile("a.docx", content))


def test_headings_lists_and_tables_are_kept_in_order() -> None:
    text = extract(
        make_docx(
            paragraph("Top", "Heading1")
            + paragraph("Some text.")
            + paragraph("one", item=True)
            + paragraph("two", item=True)
            + paragraph("Inner", "Mine")
            + table([["Name", "Value"], ["depth", "3 m"]])
            + paragraph("End.")
        )
    )
    assert text.text == ("# Top\n\nSome text.\n\n- one\n- two\n\n## Inner\n\nName | Value\ndepth | 3 m\n\nEnd.\n")
    assert [(chapter.name, chapter.level, chapter.start_line) for chapter in text.chapters] == [
        ("Top", 1, 1),
        ("Inner", 2, 8),
    ]


def test_comments_deletions_and_instructions_are_left_out() -> None:
    body = (
        "<w:p><w:r><w:t>kept</w:t></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del>"
        "<w:ins><w:r><w:t> added</w:t></w:r></w:ins><w:r><w:instrText>PAGE</w:instrText></w:r>"
        "<w:r><w:commentReference w:id='1'/></w:r></w:p>"
    )
    comments = '<w:comments xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"/>'
    assert extract(make_docx(body, extra={"word/comments.xml": comments})).text == "kept added\n"


def test_properties_reach_the_card() -> None:
    text = extract(make_docx(paragraph("Words of the letter."), title="The letter"))
    assert (text.title, text.base.date, text.base.keywords) == ("The letter", "2026-05-06", ("harbour", "tide"))
    assert text.base.summary == "Words of the letter."


def test_the_first_heading_is_the_title_when_there_is_no_other() -> None:
    assert extract(make_docx(paragraph("Top", "Heading1") + paragraph("x"))).title == "Top"


def _bomb() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"<a>" + b" " * (64 << 20) + b"</a>")
    return buffer.getvalue()


def _other_zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.txt", b"x")
    return buffer.getvalue()


ENTITY = '<!DOCTYPE w [<!ENTITY x SYSTEM "file:///etc/hostname">]>'


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty file"),
        (b"PK\x03\x04 cut", "damaged or cut off"),
        (b"not a zip", "damaged or cut off"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "encrypted"),
        (_other_zip(), "not a Word document"),
        (_bomb(), "packed beyond belief"),
        (make_docx(""), "no text"),
        (make_docx(paragraph("&x;"), prolog=ENTITY), "document type"),
        (make_docx("<w:p>"), "not valid XML"),
        (make_docx(paragraph("words") * 50)[:900], "damaged or cut off"),
    ],
    ids=["empty", "cut", "garbage", "encrypted", "zip", "bomb", "blank", "entity", "xml", "half"],
)
def test_what_cannot_be_read_is_refused_in_plain_words(content: bytes, reason: str) -> None:
    with pytest.raises(UnreadableSourceError, match=reason):
        extract(content)
