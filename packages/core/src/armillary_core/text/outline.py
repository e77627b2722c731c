"""Chapters of a text: from its headings, or from its paragraphs when it has none."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from armillary_core.domain.chapter import Chapter, ChapterKind
from armillary_core.text.folding import MARKS

PREAMBLE_ANCHOR: Final = "_preamble"

_MAX_NAME: Final = 1000
_MAX_PARAGRAPHS: Final = 20_000
_NOT_SLUG: Final = re.compile(rf"[^\w\- {MARKS}]")
_BLANK_LINES: Final = re.compile(r"\n(?:[^\S\n]*\n)+")


@dataclass(frozen=True, slots=True)
class Heading:
    """Where a chapter begins. Without an anchor of its own it gets GitHub's, made from its name."""

    line: int  # 1-based
    level: int
    name: str
    kind: ChapterKind = ChapterKind.HEADING
    anchor: str | None = None
    page: int | None = None


def slug(name: str) -> str:
    """GitHub's anchor for a heading: lower case, spaces to hyphens, punctuation dropped. May be empty."""
    return _NOT_SLUG.sub("", name.strip().lower()).replace(" ", "-")


class Anchors:
    """Anchors that are unique in one document: a repeated one gets `-1`, `-2`, …"""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {PREAMBLE_ANCHOR: 0}

    def claim(self, wanted: str) -> str:
        anchor = wanted
        while anchor in self._seen:
            self._seen[wanted] += 1
            anchor = f"{wanted}-{self._seen[wanted]}"
        self._seen[anchor] = 0
        return anchor


def line_starts(text: str) -> list[int]:
    """The offset of every line's first character; a text that ends with a line end has no further line."""
    starts = [0]
    at = text.find("\n")
    while at != -1:
        starts.append(at + 1)
        at = text.find("\n", at + 1)
    if len(starts) > 1 and starts[-1] == len(text):
        starts.pop()
    return starts


def count_lines(text: str) -> int:
    """Lines as an editor counts them, without the empty one after a final line end; 0 for an empty text."""
    return text.count("\n") + (not text.endswith("\n")) if text else 0


def chapters_from_headings(
    text: str, headings: Sequence[Heading], *, preamble: ChapterKind = ChapterKind.PREAMBLE
) -> tuple[Chapter, ...]:
    """Chapters that follow each other and cover the text. What stands before the first heading is the preamble; white
    space there belongs to the first chapter. Headings are in order of their lines, at most one a line."""
    if not text.strip():
        return ()
    starts = line_starts(text)
    anchors = Anchors()
    marks = [heading for heading in headings if heading.line <= len(starts)]
    chapters: list[Chapter] = []
    begin = starts[marks[0].line - 1] if marks else len(text)
    if not marks or text[:begin].strip():
        last = marks[0].line - 1 if marks else len(starts)
        chapters.append(Chapter(0, 0, "", (), preamble, 1, last, 0, begin, PREAMBLE_ANCHOR))
    above: list[tuple[int, str]] = []
    for number, heading in enumerate(marks):
        following = marks[number + 1] if number + 1 < len(marks) else None
        name = heading.name[:_MAX_NAME]
        if heading.level > 0:
            while above and above[-1][0] >= heading.level:
                above.pop()
        else:
            above.clear()
        path = tuple([title for _, title in above if title] + ([name] if name else []))
        if heading.level > 0:
            above.append((heading.level, name))
        chapters.append(
            Chapter(
                ordinal=len(chapters),
                level=heading.level,
                name=name,
                path=path,
                kind=heading.kind,
                start_line=heading.line if chapters else 1,
                end_line=following.line - 1 if following else len(starts),
                start=starts[heading.line - 1] if chapters else 0,
                end=starts[following.line - 1] if following else len(text),
                anchor=anchors.claim(heading.anchor or slug(name) or f"L{heading.line}"),
                page=heading.page,
            )
        )
    return tuple(chapters)


def chapters_from_paragraphs(text: str) -> tuple[Chapter, ...]:
    """One chapter for each stretch between blank lines, which belong to the stretch before them."""
    if not text.strip():
        return ()
    starts = line_starts(text)
    begins = [0]
    begins.extend(match.end() for match in _BLANK_LINES.finditer(text, len(text) - len(text.lstrip())))
    while begins[-1] >= len(text) or not text[begins[-1] :].strip():
        begins.pop()
    if len(begins) > _MAX_PARAGRAPHS:
        begins = list(_thinned(begins, len(text) // _MAX_PARAGRAPHS + 1))
    ends = [*begins[1:], len(text)]
    chapters: list[Chapter] = []
    for ordinal, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        first = bisect_right(starts, begin)
        last = bisect_right(starts, end - 1)
        chapters.append(Chapter(ordinal, 0, "", (), ChapterKind.PARAGRAPH, first, last, begin, end, f"L{first}"))
    return tuple(chapters)


def _thinned(begins: Iterable[int], apart: int) -> Iterable[int]:
    last: int | None = None
    for begin in begins:
        if last is None or begin - last >= apart:
            last = begin
            yield begin
