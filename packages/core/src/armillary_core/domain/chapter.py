"""A chapter: a stretch of a document under one heading, with a place in the outline."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ChapterKind(StrEnum):
    HEADING = "heading"
    PREAMBLE = "preamble"
    PARAGRAPH = "paragraph"
    MODULE = "module"
    FUNCTION = "function"
    CLASS = "class"
    METHOD = "method"
    KEY = "key"  # a top-level key or section of YAML, TOML, JSON, INI
    PAGE = "page"
    SLIDE = "slide"
    SHEET = "sheet"
    CELL = "cell"


@dataclass(frozen=True, slots=True)
class Chapter:
    """Lines are 1-based and inclusive; characters are offsets into the document's extracted text, end exclusive.

    A chapter owns [start, end) up to the next chapter of any level: chapters of a document follow each other in
    `ordinal` order, do not overlap and cover the text. Its subtree is itself and all following chapters of a higher
    `level` up to the next one of the same or a lower level.
    """

    ordinal: int
    level: int  # 1 = top; 0 = no place in the outline (preamble, paragraph)
    name: str  # "" when it has none
    path: tuple[str, ...]  # heading path, this chapter's own name last
    kind: ChapterKind
    start_line: int
    end_line: int
    start: int
    end: int
    anchor: str  # unique in the document
    page: int | None = None

    @property
    def is_named(self) -> bool:
        return bool(self.name)


def subtree(chapters: tuple[Chapter, ...] | list[Chapter], index: int) -> list[Chapter]:
    """The chapter at `index` and its sub-chapters."""
    top = chapters[index]
    found = [top]
    if top.level == 0:
        return found
    for chapter in chapters[index + 1 :]:
        if chapter.level != 0 and chapter.level <= top.level:
            break
        if chapter.level == 0:
            break
        found.append(chapter)
    return found
