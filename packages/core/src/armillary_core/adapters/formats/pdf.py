"""PDF: a chapter for each page that has text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final

from typing_extensions import override

from armillary_core.adapters.formats.plain_words import first_paragraph
from armillary_core.domain.card import BaseLayer
from armillary_core.domain.chapter import ChapterKind
from armillary_core.domain.errors import UnreadableSourceError
from armillary_core.domain.ingest import ExtractedText
from armillary_core.ports.extractor import Extractor, SourceFile
from armillary_core.text.outline import Heading, chapters_from_headings, count_lines

if TYPE_CHECKING:
    import pypdfium2

MOST_PAGES: Final = 10_000
_MOST_CHARS: Final = 32 << 20
_MOST_HEADINGS: Final = 200
_HYPHEN: Final = re.compile(r"[\u0002\ufffe]\r?\n?")  # how a hyphen at the end of a line comes out
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff\ud800-\udfff]")
_DATE: Final = re.compile(r"D?:?(\d{4})(\d{2})(\d{2})")
_SPLIT: Final = re.compile(r"\s*[,;]\s*")


class PdfExtractor(Extractor):
    """A hit can cite its page; the bookmarks become headings of the card."""

    media_types: ClassVar[frozenset[str]] = frozenset({"application/pdf"})
    version: ClassVar[int] = 1
    requires: ClassVar[tuple[str, ...]] = ("pypdfium2",)

    @override
    def extract(self, source: SourceFile) -> ExtractedText:
        """Raises UnreadableSourceError for a file that is empty, broken, locked or without text."""
        import pypdfium2

        if not source.content:
            raise UnreadableSourceError("empty file")
        if b"%PDF-" not in source.content[:1024]:
            raise UnreadableSourceError("not a PDF")
        try:
            document = pypdfium2.PdfDocument(source.content)
        except pypdfium2.PdfiumError as exc:
            if "assword" in str(exc):
                raise UnreadableSourceError("encrypted: it opens with a password only") from exc
            raise UnreadableSourceError("damaged or cut off: not a readable PDF") from exc
        try:
            return _extracted(document)
        except pypdfium2.PdfiumError as exc:
            raise UnreadableSourceError(f"damaged PDF ({exc})") from exc
        finally:
            document.close()


def _extracted(document: pypdfium2.PdfDocument) -> ExtractedText:
    pages = len(document)
    if not pages:
        raise UnreadableSourceError("damaged or cut off: a PDF without pages")
    parts: list[str] = []
    headings: list[Heading] = []
    line, size = 1, 0
    note = None
    broken: list[int] = []
    for number in range(min(pages, MOST_PAGES)):
        text = _page_text(document, number)
        if text is None:
            broken.append(number + 1)
        if not text:
            continue
        size += len(text)
        if size > _MOST_CHARS:
            note = f"only pages 1 to {number} of {pages} were read: too much text"
            break
        headings.append(Heading(line, 0, "", ChapterKind.PAGE, anchor=f"page-{number + 1}", page=number + 1))
        parts.append(f"{text}\n\n")
        line += count_lines(text) + 1
    if pages > MOST_PAGES and note is None:
        note = f"only the first {MOST_PAGES:,} of {pages:,} pages were read"
    if broken:
        note = "; ".join(filter(None, (note, f"{len(broken)} damaged pages, the first is page {broken[0]}")))
    if not parts:
        raise UnreadableSourceError("no text: scanned, needs OCR")
    text = "".join(parts).rstrip("\n") + "\n"
    told = document.get_metadata_dict()
    return ExtractedText(
        text=text,
        chapters=chapters_from_headings(text, headings),
        title=_title(told),
        base=BaseLayer(
            headings=tuple(list(dict.fromkeys(_bookmarks(document)))[:_MOST_HEADINGS]),
            summary=_clean(told.get("Subject", ""))[:300] or first_paragraph(text),
            keywords=tuple([word for word in _SPLIT.split(_clean(told.get("Keywords", ""))) if word][:100]),
            date=_date(told),
        ),
        note=note,
        pages=pages,
    )


def _page_text(document: pypdfium2.PdfDocument, number: int) -> str | None:
    """None when the page itself is damaged."""
    import pypdfium2

    try:
        page = document[number]
    except pypdfium2.PdfiumError:
        return None
    try:
        text_page = page.get_textpage()
        try:
            raw: str = text_page.get_text_bounded()
        finally:
            text_page.close()
    except pypdfium2.PdfiumError:
        return None
    finally:
        page.close()
    lines = _CONTROL.sub("", _HYPHEN.sub("", raw).replace("\r\n", "\n").replace("\r", "\n")).split("\n")
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def _bookmarks(document: pypdfium2.PdfDocument) -> Iterator[str]:
    import pypdfium2

    try:
        for item in document.get_toc(max_depth=6):
            title: Any = item.get_title()
            if isinstance(title, str) and (words := _clean(title)):
                yield words[:300]
    except (pypdfium2.PdfiumError, RecursionError):
        return


def _title(told: Mapping[str, str]) -> str | None:
    """The title in the metadata, unless it is only what a program left there."""
    title = _clean(told.get("Title", ""))
    lower = title.lower()
    if len(title) < 3 or lower.startswith(("untitled", "microsoft word", "powerpoint")):
        return None
    return None if lower.endswith((".doc", ".docx", ".tex", ".dvi", ".indd", ".pdf")) else title[:300]


def _clean(words: str) -> str:
    return " ".join(_CONTROL.sub("", words).split())


def _date(told: Mapping[str, str]) -> str | None:
    import datetime

    match = _DATE.match(told.get("ModDate") or told.get("CreationDate") or "")
    try:
        return datetime.date(*map(int, match.groups())).isoformat() if match else None
    except ValueError:
        return None
