"""The stretch of a text to show: whole lines, list items, table rows, fences or paragraphs around what matched."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from armillary_core.text.matches import Match, within

_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_ITEM: Final = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s")
_ROW: Final = re.compile(r"\s*\|")
_HEADING: Final = re.compile(r"#{1,6}\s")
_DELIMITER: Final = re.compile(r"\s*\|?[\s:|-]*-[\s:|-]*$")
_SENTENCE: Final = re.compile(r"(?<=[.!?…])[\"'”»)\]]*\s+|(?<=[。！？；])")
_SIGNATURE_END: Final = re.compile(r"[:{;]\s*$")
_SIGNATURE_LINES: Final = 6
_LEAD_CHARS: Final = 300


@dataclass(frozen=True, slots=True)
class Stretch:
    """[start, end) of the text, and what has to be read before it: a table's header, a function's signature."""

    start: int
    end: int
    lead: str = ""


@dataclass(frozen=True, slots=True)
class _Block:
    start: int
    end: int


def choose_stretch(
    text: str,
    start: int,
    end: int,
    matches: Sequence[Match],
    *,
    size: int,
    weights: Mapping[int, float],
) -> Stretch:
    """Of text[start:end], at most about `size` characters in whole blocks that hold most of the question; what room is
    left goes to what follows, then to what stands before."""
    if end - start <= size:
        return _trimmed(text, Stretch(start, end, _table_header(text, start)))
    blocks = list(_blocks(text, start, end, longest=max(size // 2, 80)))
    if not blocks:
        return Stretch(start, start)
    first, last = _heaviest(blocks, within(matches, start, end), size, weights)
    first, last = _grown(blocks, first, last, size)
    return _trimmed(text, Stretch(blocks[first].start, blocks[last].end, _table_header(text, blocks[first].start)))


def signature(text: str, start: int, end: int) -> str:
    """The first lines of a function or class, up to where its body begins."""
    lines: list[str] = []
    for line in text[start:end].split("\n", _SIGNATURE_LINES)[:_SIGNATURE_LINES]:
        lines.append(line.rstrip())
        if _SIGNATURE_END.search(line):
            break
    else:
        lines = lines[:1]
    return "\n".join(lines)[:_LEAD_CHARS]


def _heaviest(
    blocks: Sequence[_Block],
    matches: Sequence[Match],
    size: int,
    weights: Mapping[int, float],
) -> tuple[int, int]:
    """The run of blocks within `size` that holds most, the shortest and earliest of several."""
    holding: list[set[int]] = [set() for _ in blocks]
    place = 0
    for match in matches:
        while place < len(blocks) - 1 and match.start >= blocks[place].end:
            place += 1
        holding[place].update(match.tokens)
    best = (0.0, 0)
    chosen = (0, 0)
    for first, own in enumerate(holding):
        if not own:
            continue
        held: set[int] = set()
        worth = 0.0
        for last in range(first, len(blocks)):
            length = blocks[last].end - blocks[first].start
            if length > size and last > first:
                break
            fresh = holding[last] - held
            if not fresh:
                continue
            held |= fresh
            worth += sum(weights.get(token, 0.0) for token in fresh)
            if (round(worth, 6), -length) > best:
                best, chosen = (round(worth, 6), -length), (first, last)
    return chosen


def _grown(blocks: Sequence[_Block], first: int, last: int, size: int) -> tuple[int, int]:
    while True:
        if last + 1 < len(blocks) and blocks[last + 1].end - blocks[first].start <= size:
            last += 1
        elif first > 0 and blocks[last].end - blocks[first - 1].start <= size:
            first -= 1
        else:
            return first, last


def _blocks(text: str, start: int, end: int, *, longest: int) -> Iterator[_Block]:
    """Paragraphs, list items, table rows and fences in order; what is too long for one is split at lines, sentences
    or words."""
    opened: int | None = None
    fence = ""
    at = start
    while at < end:
        newline = text.find("\n", at, end)
        after = end if newline < 0 else newline + 1
        line = text[at:after]
        mark = _FENCE.match(line)
        if fence:
            if mark and mark.group(1).startswith(fence):
                yield from _split(text, opened if opened is not None else at, after, longest)
                opened, fence = None, ""
        elif not line.strip():
            if opened is not None:
                yield from _split(text, opened, at, longest)
            opened = None
        else:
            begins = mark or _ITEM.match(line) or _ROW.match(line) or _HEADING.match(line)
            if begins and opened is not None:
                yield from _split(text, opened, at, longest)
                opened = None
            if opened is None:
                opened = at
            if mark:
                fence = mark.group(1)
        at = after
    if opened is not None:
        yield from _split(text, opened, end, longest)


def _split(text: str, start: int, end: int, longest: int) -> Iterator[_Block]:
    while end - start > longest:
        cut = text.rfind("\n", start + 1, start + longest) + 1
        if cut <= start:
            cut = max((found.end() for found in _SENTENCE.finditer(text, start, start + longest)), default=0)
        if cut <= start:
            cut = text.rfind(" ", start + 1, start + longest) + 1
        if cut <= start:
            cut = start + longest
        yield _Block(start, cut)
        start = cut
    if text[start:end].strip():
        yield _Block(start, end)


def _table_header(text: str, at: int) -> str:
    """The header of the table whose later row is at `at`."""
    if not _ROW.match(text, at):
        return ""
    top = at
    while top > 0:
        line = text.rfind("\n", 0, top - 1) + 1
        if not _ROW.match(text, line, top):
            break
        top = line
    lines = text[top:at].split("\n")[:2]
    if len(lines) < 2 or not _DELIMITER.match(lines[1]):
        return ""
    return "\n".join(lines)[:_LEAD_CHARS]


def _trimmed(text: str, stretch: Stretch) -> Stretch:
    piece = text[stretch.start : stretch.end]
    kept = piece.rstrip()
    lead = len(kept) - len(kept.lstrip("\n"))
    return Stretch(stretch.start + lead, stretch.start + len(kept), stretch.lead)
