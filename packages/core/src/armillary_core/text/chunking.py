"""Chunks: consecutive chapters packed in order, a chapter split only when it is longer than one chunk."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from armillary_core.domain.chapter import Chapter
from armillary_core.domain.chunk import CARD_ORDINAL, Chunk, ChunkSpan
from armillary_core.text.cards import text_hash
from armillary_core.text.tokens import count_tokens

CHUNKING_VERSION: Final = 1

MAX_CHARS: Final = 1200
MAX_BYTES: Final = 2000
OVERLAP: Final = MAX_CHARS * 15 // 100
_BREADCRUMB: Final = " > "
_MAX_CRUMB: Final = 300  # characters of a breadcrumb: a heading of a thousand characters says no more

_ATOMIC: Final = re.compile(
    r"^(?P<fence> {0,3}(?P<mark>`{3,}+|~{3,}+)[^\n]*\n(?:.*?\n)??(?: {0,3}(?P=mark)[`~]*[^\S\n]*$|\Z))"
    r"|^(?P<table>[^\S\n]*\|[^\n]*(?:\n[^\S\n]*\|[^\n]*)+)",
    re.MULTILINE | re.DOTALL,
)
_SENTENCE_END: Final = re.compile(r"""[.!?…]["'”»)\]]*(?=\s)|[。！？；]""")
_WIDEST_INDENT: Final = 200  # what is further from its line's beginning is not indented but far away
_SPACE: Final = re.compile(r"\s*")
_SIGN: Final = re.compile(r"[,;:|&/>)}\]，、]")


@dataclass(frozen=True, slots=True)
class ChunkedText:
    """The chunks of a document and a surface form for each of their tokens."""

    chunks: tuple[Chunk, ...]
    words: dict[int, str]


def breadcrumb_of(title: str | None, path: Sequence[str]) -> str:
    """`title > heading > heading`; a title that is the first heading too is said once."""
    parts = [title] if title else []
    parts.extend(path[1:] if parts and path and path[0] == title else path)
    return _BREADCRUMB.join(part[:_MAX_CRUMB] for part in parts)


def chunk_document(
    text: str,
    chapters: Sequence[Chapter],
    *,
    title: str | None,
    language: str | None,
    indexed: str | None = None,
) -> ChunkedText:
    """Chunks in order with their token counts. `indexed` is the text with what is no content blanked out: as long as
    the text, and counted in its place."""
    chunks: list[Chunk] = []
    words: dict[int, str] = {}
    source = text if indexed is None else indexed
    for start, end, spans in _packed(text, chapters):
        if len(chunks) >= CARD_ORDINAL:
            break
        breadcrumb = breadcrumb_of(title, _common_path([chapters[span.chapter].path for span in spans]))
        body = source[start:end]
        counted = count_tokens(f"{breadcrumb}\n{body}", language)
        words.update(counted.words)
        chunks.append(
            Chunk(
                ordinal=len(chunks),
                start=start,
                end=end,
                spans=spans,
                breadcrumb=breadcrumb,
                terms=counted.terms,
                text_hash=text_hash(breadcrumb, text[start:end]),
            )
        )
    return ChunkedText(tuple(chunks), words)


def _common_path(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    if len(paths) == 1:
        return paths[0]
    columns = takewhile(lambda column: len(set(column)) == 1, zip(*paths, strict=False))
    return tuple(column[0] for column in columns)


_Packed = tuple[int, int, tuple[ChunkSpan, ...]]


def _packed(text: str, chapters: Sequence[Chapter]) -> Iterator[_Packed]:
    ascii_only = text.isascii()
    spans: list[ChunkSpan] = []
    for chapter in chapters:
        start, end = _trimmed(text, chapter.start, chapter.end)
        if start == end:
            continue
        span = ChunkSpan(chapter.ordinal, start, end)
        if spans and _fits(text, spans[0].start, end, ascii_only=ascii_only):
            spans.append(span)
            continue
        if spans:
            yield spans[0].start, spans[-1].end, tuple(spans)
        spans = [span]
        if _fits(text, start, end, ascii_only=ascii_only):
            continue
        pieces = [ChunkSpan(chapter.ordinal, *piece) for piece in _split(text, start, end, ascii_only=ascii_only)]
        yield from ((piece.start, piece.end, (piece,)) for piece in pieces[:-1])
        spans = [pieces[-1]]
    if spans:
        yield spans[0].start, spans[-1].end, tuple(spans)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Without blank lines at the beginning and white space at the end; the first line keeps its indentation."""
    body = text[start:end]
    kept = len(body.rstrip())
    if not kept:
        return start, start
    lead = len(body) - len(body.lstrip())
    line = body.rfind("\n", 0, lead) + 1
    return start + line, start + kept


def _skip_blank_lines(text: str, start: int, end: int) -> int:
    space = _SPACE.match(text, start, end)
    lead = space.end() if space else start
    line = max(text.rfind("\n", start, lead) + 1, start)
    return line if lead - line < _WIDEST_INDENT else lead


def _fits(text: str, start: int, end: int, *, ascii_only: bool) -> bool:
    if end - start > MAX_CHARS:
        return False
    return ascii_only or len(text[start:end].encode("utf-8", "surrogatepass")) <= MAX_BYTES


def _reach(text: str, start: int, end: int, *, ascii_only: bool) -> int:
    """The furthest end of a chunk that begins at `start`."""
    furthest = min(end, start + MAX_CHARS)
    if ascii_only:
        return furthest
    raw = text[start:furthest].encode("utf-8", "surrogatepass")
    if len(raw) <= MAX_BYTES:
        return furthest
    return start + max(len(raw[:MAX_BYTES].decode("utf-8", "ignore")), 1)


def _split(text: str, start: int, end: int, *, ascii_only: bool) -> list[tuple[int, int]]:
    """Pieces of a chapter that is too long: each ends at the best boundary in reach, each but the first begins with
    the end of the one before."""
    whole = [block.span() for block in _ATOMIC.finditer(text, start, end)]
    blocks = [(first, last) for first, last in whole if _fits(text, first, last, ascii_only=ascii_only)]
    pieces: list[tuple[int, int]] = []
    at, block = start, 0
    while True:
        limit = _reach(text, at, end, ascii_only=ascii_only)
        if limit >= end:
            pieces.append((at, end))
            return pieces
        while block < len(blocks) and blocks[block][1] <= at:
            block += 1
        cut = _cut(text, at, limit, [span for span in blocks[block : block + 64] if span[0] < limit])
        if kept := len(text[at:cut].rstrip()):
            pieces.append((at, at + kept))
        following = _overlap_start(text, at, cut, blocks[block : block + 64])
        at = _skip_blank_lines(text, max(following, at + 1), end)


def _cut(text: str, start: int, limit: int, blocks: Sequence[tuple[int, int]]) -> int:
    """Where a piece that may reach to `limit` ends: a paragraph, line, sentence or word boundary."""
    broken = next((span for span in blocks if span[0] < limit < span[1]), None)
    if broken is not None and broken[0] > start and text[start : broken[0]].strip():
        return broken[0]
    size = limit - start
    for boundary in (
        _last(text, "\n\n", start + size * 2 // 5, limit, blocks),
        _last(text, "\n", start + size * 2 // 5, limit, blocks),
    ):
        if boundary is not None:
            return boundary
    window = text[start:limit]
    for pattern, low in ((_SENTENCE_END, size // 2), (_SIGN, size * 3 // 4)):
        if pattern is _SIGN:
            space = max(window.rfind(" ", size // 2), window.rfind("\t", size // 2))
            if space > 0:
                return start + space + 1
        ends = [match.end() for match in pattern.finditer(window, low)]
        if ends and ends[-1] < size:
            return start + ends[-1]
    return _character_boundary(text, start, limit)


def _last(text: str, sign: str, low: int, high: int, blocks: Sequence[tuple[int, int]]) -> int | None:
    at = text.rfind(sign, low, high)
    while at != -1:
        cut = at + len(sign)
        inside = next((span for span in blocks if span[0] < cut < span[1]), None)
        if inside is None:
            return cut
        at = text.rfind(sign, low, max(low, inside[0]))
        if inside[0] > low and at == -1:
            return inside[0]
    return None


def _character_boundary(text: str, start: int, limit: int) -> int:
    """Not between a letter and its accent, nor inside a joined emoji."""
    cut = limit
    while cut > start + 1 and limit - cut < 24 and _continues(text, cut):
        cut -= 1
    return cut if cut > start + 1 else limit


def _continues(text: str, at: int) -> bool:
    char = text[at]
    return char in "\u200d\ufe0f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff" or (
        text[at - 1] == "\u200d" or unicodedata.combining(char) > 0
    )


def _overlap_start(text: str, start: int, cut: int, blocks: Sequence[tuple[int, int]]) -> int:
    """Where the next piece begins: about 15 % before the cut, at a boundary, never inside a fence or table."""
    if any(first >= cut and not text[cut:first].strip() for first, _ in blocks):
        return cut  # what follows fits whole, but not together with more
    low = max(cut - OVERLAP, start + 1)
    inside = next((span for span in blocks if span[0] < cut and low < span[1]), None)
    if inside is not None:
        low = inside[1] if inside[1] <= cut else cut
    if low >= cut:
        return cut
    window = text[low:cut]
    line = window.find("\n")
    if 0 <= line < len(window) - 1 and window[line + 1 :].strip():
        return low + line + 1
    sentence = _SENTENCE_END.search(window[:-1])
    if sentence and window[sentence.end() :].strip():
        following = window[sentence.end() :]
        return low + len(window) - len(following.lstrip())
    space = window.find(" ")
    if 0 <= space < len(window) - 1:
        return low + space + 1
    return low
