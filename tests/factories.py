"""Domain values for tests, as extraction would make them: `make_indexed(text="…")` is a whole document."""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence

from armillary_core.domain.card import BaseLayer, Card, Enrichment
from armillary_core.domain.chapter import Chapter, ChapterKind
from armillary_core.domain.chunk import Chunk, ChunkSpan, TermCounts
from armillary_core.domain.document import Document, ExtractionState, FileStamp
from armillary_core.domain.ingest import ExtractedText, Failed, Indexed, NameOnly
from armillary_core.domain.project import Project, ProjectName
from armillary_core.text.cards import card_text, text_hash


def make_hash(text: str) -> str:
    """SHA-256 hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def make_stamp(size: int = 100, mtime_ns: int = 1_700_000_000_000_000_000, inode: int = 1) -> FileStamp:
    return FileStamp(size, mtime_ns, inode)


def token(word: str) -> int:
    """A token id for words of tests; not the product's."""
    return int.from_bytes(hashlib.blake2b(word.encode("utf-8"), digest_size=4).digest(), "little")


def make_terms(words: Iterable[str]) -> TermCounts:
    counted = Counter(token(word) for word in words)
    return TermCounts(array("I", counted.keys()), array("H", counted.values()))


def split_words(text: str) -> list[str]:
    return "".join(char.lower() if char.isalnum() else " " for char in text).split()


def make_chapter(ordinal: int = 0, name: str = "Title", *, start: int = 0, end: int = 100, **fields: object) -> Chapter:
    values: dict[str, object] = {
        "ordinal": ordinal,
        "level": 1,
        "name": name,
        "path": (name,) if name else (),
        "kind": ChapterKind.HEADING if name else ChapterKind.PARAGRAPH,
        "start_line": 1,
        "end_line": 1,
        "start": start,
        "end": end,
        "anchor": name.lower().replace(" ", "-") or f"L{ordinal + 1}",
    }
    return Chapter(**(values | fields))  # type: ignore[arg-type] # fields are named by the test


def make_chapters(text: str) -> tuple[Chapter, ...]:
    """A chapter for each line that begins with '#', and one for what stands before the first."""
    starts: list[tuple[int, int, int, str]] = []  # offset, line, level, name
    offset = 0
    for number, line in enumerate(text.splitlines(keepends=True), start=1):
        if line.startswith("#"):
            starts.append((offset, number, len(line) - len(line.lstrip("#")), line.strip("# \n")))
        elif not starts:
            starts.append((offset, number, 0, ""))
        offset += len(line)
    chapters: list[Chapter] = []
    trail: list[tuple[int, str]] = []
    for ordinal, (start, line_number, level, name) in enumerate(starts):
        following = starts[ordinal + 1] if ordinal + 1 < len(starts) else (len(text), text.count("\n") + 2, 0, "")
        trail = [entry for entry in trail if entry[0] < level] + ([(level, name)] if name else [])
        chapters.append(
            make_chapter(
                ordinal,
                name,
                start=start,
                end=following[0],
                level=level,
                path=tuple(entry[1] for entry in trail) if name else (),
                start_line=line_number,
                end_line=max(line_number, following[1] - 1),
                kind=ChapterKind.HEADING if name else ChapterKind.PREAMBLE,
                anchor=f"{name.lower().replace(' ', '-') or '_preamble'}{f'-{ordinal}' if ordinal else ''}",
            )
        )
    return tuple(chapters)


def make_chunk(ordinal: int = 0, text: str = "some words", *, start: int = 0, breadcrumb: str = "Title") -> Chunk:
    return Chunk(
        ordinal=ordinal,
        start=start,
        end=start + len(text),
        spans=(ChunkSpan(0, start, start + len(text)),),
        breadcrumb=breadcrumb,
        terms=make_terms(split_words(text)),
        text_hash=text_hash(breadcrumb, text),
    )


def make_chunks(text: str, chapters: Sequence[Chapter], title: str) -> tuple[Chunk, ...]:
    """A chunk a chapter."""
    return tuple(
        Chunk(
            ordinal=chapter.ordinal,
            start=chapter.start,
            end=chapter.end,
            spans=(ChunkSpan(chapter.ordinal, chapter.start, chapter.end),),
            breadcrumb=" > ".join((title, *chapter.path)),
            terms=make_terms(split_words(text[chapter.start : chapter.end])),
            text_hash=text_hash(" > ".join((title, *chapter.path)), text[chapter.start : chapter.end]),
        )
        for chapter in chapters
    )


def make_indexed(
    text: str = "# Title\nsome words\n",
    *,
    path: bytes = b"guide.md",
    title: str | None = None,
    language: str | None = "en",
    stamp: FileStamp | None = None,
    base: BaseLayer | None = None,
    locale: str | None = None,
    version: str | None = None,
    media_type: str = "text/markdown",
    content_hash: str | None = None,
    note: str | None = None,
) -> Indexed:
    """A document of this text: a chapter for each '#' line, a chunk for each chapter; `path` only colours its
    card's text."""
    chapters = make_chapters(text)
    shown = title or next((chapter.name for chapter in chapters if chapter.name), None)
    chunks = make_chunks(text, chapters, shown or "")
    layer = base or BaseLayer(headings=tuple(chapter.name for chapter in chapters if chapter.name))
    shown_on_card = card_text(
        title=shown, path=path, headings=layer.headings, summary=layer.summary, keywords=layer.keywords
    )
    card_words = split_words(shown_on_card)
    words = {token(word): word for word in (*split_words(text), *card_words)}
    return Indexed(
        content_hash=content_hash or make_hash(text),
        stamp=stamp or make_stamp(size=len(text)),
        media_type=media_type,
        text=ExtractedText(
            text=text,
            chapters=chapters,
            title=shown,
            charset="utf-8",
            base=layer,
            locale=locale,
            version=version,
            note=note,
        ),
        language=language,
        lines=text.count("\n"),
        chunks=chunks,
        card_terms=make_terms(card_words),
        card_hash=text_hash("", shown_on_card) if len(chunks) != 1 else None,
        words=words,
    )


def make_name_only(content: str = "binary", *, media_type: str = "image/png") -> NameOnly:
    return NameOnly(make_hash(content), make_stamp(), media_type, "known by name only", make_terms(["picture"]))


def make_failed(reason: str = "password protected", *, retryable: bool = False) -> Failed:
    return Failed(reason, "application/pdf", None if retryable else make_hash(reason), make_stamp(), retryable)


def make_document(pk: int = 1, path: bytes = b"guide.md", *, project: str = "notes", **fields: object) -> Document:
    values: dict[str, object] = {
        "pk": pk,
        "project": ProjectName(project),
        "path": path,
        "stamp": make_stamp(),
        "content_hash": make_hash(f"{project} {path!r}"),
        "media_type": "text/markdown",
        "charset": "utf-8",
        "language": "en",
        "title": "Guide",
        "locale": None,
        "version": None,
        "lines": 10,
        "state": ExtractionState.OK,
        "reason": None,
        "content_revision": 1,
        "card_revision": 1,
        "present": True,
    }
    return Document(**(values | fields))  # type: ignore[arg-type] # fields are named by the test


def make_card(
    document: Document | None = None, *, base: BaseLayer | None = None, enrichment: Enrichment | None = None
) -> Card:
    return Card(document or make_document(), base or BaseLayer(), enrichment)


def make_project(name: str = "notes", root: str = "/projects/notes", *, private: bool = False) -> Project:
    return Project(id=1, name=ProjectName(name), root=root, private=private)
