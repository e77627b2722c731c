"""A few words cut from a passage, the matches marked; display only."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
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
    weights: Mapping[int, float],
) -> str:
    """At most `size` visible characters of text[start:end] around most of the matches, on one line, cut at words;
    control characters are left out."""
    heading = _HEADING_LINE.match(text, start, end)
    if heading is not None:  # shown beside the snippet anyway
        start = heading.end()
    inside = within(matches, start, end)
    first, last = _window(text, start, end, inside, size, weights)
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
    weights: Mapping[int, float],
) -> tuple[int, int]:
    if end - start <= size:
        return start, end
    room = size - 2  # for the two signs of a cut
    first = _heaviest(matches, room - _LOOK_BACK // 2, weights)
    first = start if first is None else _begin(text, start, first)
    last = min(first + room, end)
    if last < end:
        space = max(text.rfind(" ", first, last + 1), text.rfind("\n", first, last + 1))
        if space > first + room // 2:
            last = space
    return first, last


def _heaviest(matches: Sequence[Match], room: int, weights: Mapping[int, float]) -> int | None:
    """Where the window begins that holds most words of the question, the earliest of several."""
    best, begin = 0.0, None
    held: Counter[int] = Counter()
    worth = 0.0
    last = 0
    for match in matches:
        while last < len(matches) and matches[last].end - match.start <= room:
            for token in matches[last].tokens:
                worth += 0.0 if held[token] else weights.get(token, 0.0)
                held[token] += 1
            last += 1
        if worth > best + 1e-9:
            best, begin = worth, match.start
        for token in match.tokens:  # it leaves as the window moves on
            if held[token]:
                held[token] -= 1
                worth -= 0.0 if held[token] else weights.get(token, 0.0)
    return begin


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
    line = piece.replace("\n", " ").replace("\t", " ")
    if line.isprintable():
        return line
    return "".join(char if char.isspace() or unicodedata.category(char) not in _UNSEEN else "" for char in line)
