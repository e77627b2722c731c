"""A few words cut from a passage, the matches marked; display only."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Final

from armillary_core.text.matches import Match, within

MARK_START: Final = "\x02"
MARK_END: Final = "\x03"
_CUT: Final = "…"
_HEADING_LINE: Final = re.compile(r"\s*#{1,6}\s[^\n]*\n\s*(?=\S)")
_BOUNDARY: Final = re.compile(r"(?<=[.!?…:])\s+|\n+|(?<=[。！？；])")
_SPACE: Final = re.compile(r"\s+")
_LOOK_BACK: Final = 60  # characters before the first match, to begin where a sentence does
_UNSEEN: Final = frozenset({"Cc", "Cs", "Co", "Zl", "Zp"})


def cut_snippet(
    text: str,
    start: int,
    end: int,
    matches: Sequence[Match],
    *,
    size: int,
    weigh: Callable[[Sequence[Match]], float],
) -> str:
    """At most `size` visible characters of text[start:end] around most of the matches, on one line, cut at words;
    control characters are left out."""
    heading = _HEADING_LINE.match(text, start, end)
    if heading is not None:  # shown beside the snippet anyway
        start = heading.end()
    inside = within(matches, start, end)
    first, last = _window(text, start, end, inside, size, weigh)
    pieces = [_CUT] if first > start and text[start:first].strip() else []
    at = first
    for match in within(inside, first, last):
        if match.start >= at:
            pieces += [_clean(text[at : match.start]), MARK_START, _clean(text[match.start : match.end]), MARK_END]
            at = match.end
    pieces.append(_clean(text[at:last]))
    line = _SPACE.sub(" ", "".join(pieces)).strip()
    return line + _CUT if last < end and text[last:end].strip() else line


def _window(
    text: str,
    start: int,
    end: int,
    matches: Sequence[Match],
    size: int,
    weigh: Callable[[Sequence[Match]], float],
) -> tuple[int, int]:
    if end - start <= size:
        return start, end
    room = size - 2  # for the two signs of a cut
    first = start
    best = 0.0
    for number, match in enumerate(matches):
        held = [other for other in matches[number:] if other.end - match.start <= room - _LOOK_BACK // 2]
        worth = weigh(held)
        if worth > best + 1e-9:
            best, first = worth, match.start
    if best:
        first = _begin(text, start, first)
    last = min(first + room, end)
    if last < end:
        space = max(text.rfind(" ", first, last + 1), text.rfind("\n", first, last + 1))
        if space > first + room // 2:
            last = space
    return first, last


def _begin(text: str, start: int, at: int) -> int:
    """A sentence's or word's beginning shortly before `at`."""
    low = max(start, at - _LOOK_BACK)
    if low == start:
        return start
    ends = [found.end() for found in _BOUNDARY.finditer(text, low, at)]
    if ends:
        return ends[-1]
    space = text.find(" ", at - _LOOK_BACK // 2, at)
    return space + 1 if space >= 0 else at


def _clean(piece: str) -> str:
    if piece.isprintable():
        return piece
    return "".join(char if char.isspace() or unicodedata.category(char) not in _UNSEEN else "" for char in piece)
