"""How values lie in columns: packed, small, and the same on every machine we run on (little-endian)."""

from __future__ import annotations

import json
import zlib
from array import array
from collections.abc import Iterable, Sequence

from armillary_core.domain.card import BaseLayer
from armillary_core.domain.chapter import Chapter, ChapterKind
from armillary_core.domain.chunk import ChunkSpan, TermCounts
from armillary_core.text.folding import fold

_KINDS = {kind.value: kind for kind in ChapterKind}
_UNSIGNED = (1 << 64) - 1
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def pack_hash(text: str | None) -> bytes | None:
    return bytes.fromhex(text) if text is not None else None


def unpack_hash(raw: bytes | None) -> str | None:
    return raw.hex() if raw is not None else None


def known_hashes(hashes: Iterable[str]) -> list[bytes]:
    """Raw bytes of each hash once; what is no hash at all cannot be known."""
    found: dict[bytes, None] = {}
    for text in hashes:
        try:
            found[bytes.fromhex(text)] = None
        except ValueError:
            continue
    return list(found)


def signed(number: int) -> int:
    """An inode or device as SQLite's signed 64 bits."""
    return number - (1 << 64) if number >= 1 << 63 else number


def unsigned(number: int) -> int:
    return number & _UNSIGNED


def clean(text: str) -> str:
    """Text that can be bound: lone surrogates, which come from undecodable file names, become '?'."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")


def clean_or_none(text: str | None) -> str | None:
    return clean(text) if text else None


def pack_exact(text: str) -> str | bytes:
    """Text that must come back as it was, lone surrogates and all: bytes where SQLite's text cannot hold it."""
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def unpack_exact(value: str | bytes) -> str:
    return value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else value


def name_key(text: str) -> str:
    """A name as it is compared and sorted: without case and accents."""
    return clean(fold(text))


def pack_text(text: str) -> bytes:
    return zlib.compress(text.encode("utf-8", "surrogatepass"), 1)


def unpack_text(raw: bytes) -> str:
    return zlib.decompress(raw).decode("utf-8", "surrogatepass")


def pack_list(words: Sequence[str]) -> str:
    return pack_json(words) if words else "[]"


def unpack_list(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text)) if text != "[]" else ()


def pack_json(value: object) -> str:
    text = _encode(value)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:  # lone surrogates come back from escapes
        return json.dumps(value, separators=(",", ":"))
    return text


def pack_base(base: BaseLayer) -> str | None:
    """None when the layer is empty."""
    if not (base.headings or base.summary or base.keywords or base.date or base.type):
        return None
    return pack_json([base.headings, base.summary, base.keywords, base.date, base.type])


def unpack_base(text: str | None) -> BaseLayer:
    if text is None:
        return BaseLayer()
    headings, summary, keywords, date, kind = json.loads(text)
    return BaseLayer(tuple(headings), summary, tuple(keywords), date, kind)


def pack_chapters(chapters: Sequence[Chapter]) -> bytes:
    raw = _encode(
        [
            (c.ordinal, c.level, c.name, c.path, c.kind, c.start_line, c.end_line, c.start, c.end, c.anchor, c.page)
            for c in chapters
        ]
    ).encode("utf-8", "surrogatepass")
    return zlib.compress(raw, 1) if len(raw) > 256 else raw


def unpack_chapters(raw: bytes | None) -> list[Chapter]:
    if raw is None:
        return []
    if raw[:1] != b"[":
        raw = zlib.decompress(raw)
    return [
        Chapter(ordinal, level, name, tuple(path), _KINDS[kind], *rest)
        for ordinal, level, name, path, kind, *rest in json.loads(raw.decode("utf-8", "surrogatepass"))
    ]


def pack_spans(spans: Sequence[ChunkSpan]) -> bytes:
    numbers = array("I")
    for span in spans:
        numbers.extend((span.chapter, span.start, span.end))
    return numbers.tobytes()


def unpack_spans(raw: bytes) -> tuple[ChunkSpan, ...]:
    numbers = array("I", raw)
    return tuple(ChunkSpan(*numbers[at : at + 3]) for at in range(0, len(numbers), 3))


def pack_counts(terms: TermCounts) -> bytes:
    """Empty when every token occurs once, else a byte each where that is enough."""
    if not terms.counts or max(terms.counts) == 1:
        return b""
    if max(terms.counts) < 256:
        return bytes(terms.counts.tolist())
    return terms.counts.tobytes()


def unpack_terms(ids: bytes, counts: bytes) -> TermCounts:
    tokens = array("I", ids)
    if not counts:
        return TermCounts(tokens, array("H", [1]) * len(tokens))
    if len(counts) == len(tokens):
        return TermCounts(tokens, array("H", list(counts)))
    return TermCounts(tokens, array("H", counts))
