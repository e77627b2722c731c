"""Reading a document: whole, by section, by lines or by page, never past a cap."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from armillary_core.domain.chapter import Chapter, ChapterKind, subtree
from armillary_core.domain.document import Document, ExtractionState, split_id
from armillary_core.domain.errors import ChapterNotFoundError, DocumentNotFoundError, InvalidRequestError
from armillary_core.domain.token import Caller
from armillary_core.ports.catalogue import Catalogue
from armillary_core.usecases.resolve import Resolve, shown

_LINES = re.compile(r"\s*L?(\d{1,9})\s*(?:[-–:]\s*L?(\d{1,9})\s*)?")
_LISTED_BYTES = 900


@dataclass(frozen=True, slots=True)
class ReadRequest:
    doc: str  # document or chapter id
    section: str | None = None
    subsections: bool = True
    lines: str | None = None  # "a-b"
    page: int | None = None
    start: int | None = None  # continue here, up to `end`: characters of the extracted text
    end: int | None = None
    max_bytes: int = 8000


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """[start, end) of `source` is what is shown; `until` is where the whole of what was asked for ends."""

    document: Document
    chapter: Chapter | None
    source: str
    start: int
    end: int
    until: int
    lines: tuple[int, int]
    total_lines: int
    page: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return self.source[self.start : self.end]

    @property
    def is_cut(self) -> bool:
        return self.end < self.until


class Read:
    """Answers from the text in the catalogue: an id exists there or it does not exist."""

    def __init__(self, catalogue: Catalogue, resolve: Resolve | None = None) -> None:
        self._catalogue = catalogue
        self._resolve = resolve or Resolve(catalogue)

    def __call__(self, request: ReadRequest, caller: Caller) -> ReadAnswer:
        """What was asked for, up to the cap. Raises NotFoundError, InvalidRequestError."""
        found = self._resolve(request.doc, caller)
        document, chapter = found.document, found.chapter
        source = self._text(document)
        chapters = self._catalogue.documents.chapters(document.pk)
        page: int | None = None
        notes: list[str] = []
        if request.section is not None and request.section.strip():
            chapter, also = find_section(document, chapters, request.section, within=chapter)
            if also:
                notes.append(f"Also under this heading: {', '.join('#' + other.anchor for other in also[:8])}.")
            if request.lines is not None or request.page is not None:
                notes.append("section was used; lines and page were left aside.")
            start, until = _extent(chapters, chapter, whole=request.subsections)
        elif request.lines is not None:
            start, until = line_range(source, request.lines)
        elif request.page is not None:
            page = request.page
            start, until = page_range(document, chapters, page)
        elif chapter is not None:
            start, until = _extent(chapters, chapter, whole=request.subsections)
        else:
            start, until = 0, len(source)
        if request.start is not None:
            until = min(request.end if request.end is not None else until, len(source))
            start = min(max(request.start, 0), until)
        end = cut_at(source, start, until, request.max_bytes)
        first_line = source.count("\n", 0, start) + 1
        last = end - 1 if end > start and source[end - 1] == "\n" else end
        return ReadAnswer(
            document=document,
            chapter=chapter,
            source=source,
            start=start,
            end=end,
            until=until,
            lines=(first_line, first_line + source.count("\n", start, last)),
            total_lines=count_lines(source),
            page=page if page is not None else (chapter.page if chapter is not None else None),
            notes=tuple(notes),
        )

    def _text(self, document: Document) -> str:
        if not document.present:
            raise DocumentNotFoundError(
                f"{document.id} was not found by the last good scan (desync): only its card is kept. "
                f'get_card(doc="{document.id}") shows it.'
            )
        text = self._catalogue.documents.text(document.pk)
        if text is not None:
            return text
        if document.state is ExtractionState.FAILED:
            why = f"could not be extracted: {document.reason or 'no reason was kept'}"
        elif document.state is ExtractionState.PENDING:
            why = "is waiting to be extracted; ask again in a moment"
        else:
            why = f"is known by name and size only ({document.reason or document.media_type})"
        raise DocumentNotFoundError(
            f'{document.id} has no text: it {why}. get_card(doc="{document.id}") still answers.'
        )


def count_lines(text: str) -> int:
    """Lines as an editor counts them: a last line without a line end counts, an empty one after it does not."""
    return text.count("\n") + (1 if text and not text.endswith("\n") else 0)


def cut_at(text: str, start: int, until: int, max_bytes: int) -> int:
    """Where to stop so that text[start:stop] has at most max_bytes: after a line, else after a word, else anywhere."""
    window = text[start : min(until, start + max_bytes)].encode("utf-8", "replace")
    if len(window) <= max_bytes and start + max_bytes >= until:
        return until
    end = start + len(window[:max_bytes].decode("utf-8", "ignore"))
    for separator in ("\n", " "):
        position = text.rfind(separator, start, end)
        if position >= start + (end - start) // 2:
            return position + 1
    return max(end, min(start + 1, until))


def line_range(text: str, wanted: str) -> tuple[int, int]:
    """Characters of lines "a-b" (1-based, inclusive). Raises InvalidRequestError."""
    match = _LINES.fullmatch(wanted)
    if match is None:
        raise InvalidRequestError(f'lines "{shown(wanted, 40)}" is not a range. Write "10-40", or "10" for one line.')
    first = int(match.group(1))
    last = int(match.group(2)) if match.group(2) else first
    total = count_lines(text)
    if first < 1 or last < first:
        raise InvalidRequestError(f'lines "{shown(wanted, 40)}" is not a range: begin at 1 and do not go backwards.')
    if first > max(total, 1):
        raise InvalidRequestError(f'lines "{shown(wanted, 40)}" begin after the end: the document has {total} lines.')
    start = 0
    for _ in range(first - 1):
        start = text.index("\n", start) + 1
    until = start
    for _ in range(last - first + 1):
        position = text.find("\n", until)
        if position < 0:
            return start, len(text)
        until = position + 1
    return start, until


def page_range(document: Document, chapters: Sequence[Chapter], page: int) -> tuple[int, int]:
    """Characters of one page. Raises ChapterNotFoundError when there is no such page."""
    paged = [chapter for chapter in chapters if chapter.page is not None]
    if not paged:
        raise ChapterNotFoundError(f"{document.id} has no pages. Use section or lines.")
    pages = sorted({chapter.page for chapter in paged if chapter.page is not None})
    exact = [chapter for chapter in paged if chapter.page == page]
    if not exact:
        before = [chapter for chapter in paged if chapter.page is not None and chapter.page < page]
        if not before or page > pages[-1]:
            raise ChapterNotFoundError(f"{document.id} has no page {page}. Its pages: {pages[0]} to {pages[-1]}.")
        exact = [max(before, key=lambda chapter: (chapter.page or 0, chapter.ordinal))]
    whole = [chapter for chapter in exact if chapter.kind is ChapterKind.PAGE] or exact
    return min(chapter.start for chapter in whole), max(chapter.end for chapter in whole)


def find_section(
    document: Document, chapters: Sequence[Chapter], wanted: str, *, within: Chapter | None = None
) -> tuple[Chapter, list[Chapter]]:
    """The chapter that an anchor, chapter id, heading or "A > B" path names, and others of the same name.
    Raises ChapterNotFoundError that lists what there is."""
    text = wanted.strip()
    split = split_id(text)
    if split is not None and split[2] is not None and text.startswith(f"{document.id}#"):
        text = f"#{split[2]}"
    anchor = text.removeprefix("#")
    for chapter in chapters:
        if chapter.anchor == anchor:
            return chapter, []
    heading = _plain(text.lstrip("#"))
    path = tuple(_plain(part) for part in text.split(">"))
    inside = {chapter.ordinal for chapter in subtree(list(chapters), _index(chapters, within))} if within else set()
    for test in (
        lambda chapter: _plain(chapter.name) == heading,
        lambda chapter: len(path) > 1 and _path(chapter)[-len(path) :] == path,
        lambda chapter: _path(chapter)[-1:] == path[-1:] and _is_spread(path, _path(chapter)),
        lambda chapter: chapter.anchor.casefold() == anchor.casefold(),
    ):
        found = [chapter for chapter in chapters if chapter.is_named and test(chapter)]
        if found:
            best = next((chapter for chapter in found if chapter.ordinal in inside), found[0])
            return best, [chapter for chapter in found if chapter is not best]
    raise ChapterNotFoundError(f'No section "{shown(wanted)}" in {document.id}. {_outline(document, chapters)}')


def _outline(document: Document, chapters: Sequence[Chapter]) -> str:
    listed: list[str] = []
    size = 0
    for chapter in chapters:
        entry = f"#{chapter.anchor}" + (f" ({shown(chapter.name, 60)})" if chapter.is_named else "")
        size += len(entry.encode("utf-8", "replace")) + 2
        if size > _LISTED_BYTES:
            break
        listed.append(entry)
    if not listed:
        return "It has no sections; read it by lines."
    more = len(chapters) - len(listed)
    rest = f' and {more} more: list_chapters(doc="{document.id}") lists them all' if more else ""
    return f"Sections: {', '.join(listed)}{rest}."


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _path(chapter: Chapter) -> tuple[str, ...]:
    return tuple(_plain(part) for part in chapter.path)


def _is_spread(wanted: tuple[str, ...], path: tuple[str, ...]) -> bool:
    """Whether the wanted parts occur in this order, others between them."""
    rest = iter(path)
    return len(wanted) > 1 and all(part in rest for part in wanted)


def _index(chapters: Sequence[Chapter], chapter: Chapter) -> int:
    return next(index for index, other in enumerate(chapters) if other.ordinal == chapter.ordinal)


def _extent(chapters: Sequence[Chapter], chapter: Chapter, *, whole: bool) -> tuple[int, int]:
    if not whole:
        return chapter.start, chapter.end
    return chapter.start, subtree(list(chapters), _index(chapters, chapter))[-1].end
