"""Headings of a Markdown text, exactly as CommonMark sees them.

Most pages hold nothing that could hide or feign a heading other than plain fences: their lines are scanned. A page with
anything else (HTML, containers with headings, underlined headings) goes through the parser.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from armillary_core.domain.errors import UnreadableSourceError
from armillary_core.text.outline import Heading

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MAX_HEADINGS: Final = 200_000
_LONGEST: Final = 4000  # characters of a heading that are looked at; a name keeps a thousand

_CONTAINERS: Final = r"[ \t]*(?:>[ \t]*|(?:[-+*]|\d{1,9}[.)])(?:[ \t]+|$))*"
_MARK: Final = re.compile(
    r"^(?:(?P<atx> {0,3}(?P<level>#{1,6})(?=[ \t]|$)(?P<name>.*))"
    r"|(?P<fence>`{3,}|~{3,})(?P<info>.*)"
    r"|(?P<rule>[ \t]*(?:=+|-+)[ \t]*$)"
    r"|(?P<comment> {0,3}<!--(?!-?>)(?:(?!-->).)*-->)"
    rf"|(?P<other>{_CONTAINERS}(?:`{{3}}|~{{3}}|\#{{1,6}}(?:[ \t]|$)|(?:=+|-+)[ \t]*$|<(?!https?://)[A-Za-z/!?])))",
    re.MULTILINE,
)
_MARKUP: Final = re.compile(r"[\\`*_~\[\]<>&!{}]")
_CUSTOM_ANCHOR: Final = re.compile(r"\s*\{#([\w.:-]+)\}\s*$")
_MARKDOC: Final = re.compile(r"\{%.*?%\}")


def markdown_headings(text: str, *, first_line: int = 1, jsx: bool = False) -> list[Heading]:
    """Headings in order; `first_line` is the number of the text's first line in its document. With `jsx` there is no
    HTML: what stands in tags is read as Markdown. Raises UnreadableSourceError beyond 200,000 headings."""
    found = None if jsx else _scanned(text)
    if found is None:
        found = _parsed(text, jsx=jsx)
    if len(found) > MAX_HEADINGS:
        raise UnreadableSourceError(f"more than {MAX_HEADINGS} headings")
    return [_heading(line + first_line, level, raw) for line, level, raw in found]


def _heading(line: int, level: int, raw: str) -> Heading:
    anchor = None
    raw = raw[:_LONGEST]
    if "{" in raw:
        custom = _CUSTOM_ANCHOR.search(raw)
        if custom:
            anchor, raw = custom.group(1), raw[: custom.start()]
        raw = _MARKDOC.sub("", raw)
    return Heading(line, level, plain_inline(raw), anchor=anchor)


def plain_inline(raw: str) -> str:
    """Inline Markdown as the words a reader sees."""
    if not _MARKUP.search(raw):
        return " ".join(raw.split())
    (inline,) = _inline_parser().parseInline(raw)
    return " ".join("".join(_words(inline.children or [])).split())


def _words(tokens: list[Token]) -> list[str]:
    words: list[str] = []
    for token in tokens:
        if token.type in ("softbreak", "hardbreak"):
            words.append(" ")
        elif token.type == "image":
            words.extend(_words(token.children or []))
        elif token.type != "html_inline":
            words.append(token.content)
    return words


_Found = list[tuple[int, int, str]]  # line from 0, level, raw text


def _scanned(text: str) -> _Found | None:
    """None when some line needs the parser."""
    found: _Found = []
    at, counted, line = 0, 0, 0
    while (mark := _MARK.search(text, at)) is not None:
        start, at = mark.span()
        kind = mark.lastgroup
        if mark["atx"] is not None:
            line += text.count("\n", counted, start)
            counted = start
            found.append((line, len(mark["level"]), _without_closing(mark["name"])))
        elif mark["rule"] is not None:
            if start and text[start - 2 : start] not in ("\n\n", "\n"):
                return None  # it may underline a heading
        elif mark["fence"] is not None:
            fence = mark["fence"]
            if fence[0] == "`" and "`" in mark["info"]:
                return None
            end = _closing(fence[0], len(fence)).search(text, at)
            if end is None:
                return found
            at = end.end()
        elif mark["other"] is not None:
            return None
        else:
            assert kind is not None  # a comment on one line
    return found


def _without_closing(rest: str) -> str:
    rest = rest.rstrip(" \t")
    bare = rest.rstrip("#")
    if bare and bare[-1] in " \t":
        rest = bare
    return rest.strip()


@cache
def _closing(sign: str, length: int) -> re.Pattern[str]:
    return re.compile(rf"^ {{0,3}}{sign}{{{length},}}[ \t]*$", re.MULTILINE)


def _parsed(text: str, *, jsx: bool) -> _Found:
    tokens = _block_parser(jsx=jsx).parse(text)
    found: _Found = []
    for number, token in enumerate(tokens):
        if token.type == "heading_open" and token.map is not None:
            found.append((token.map[0], int(token.tag[1]), tokens[number + 1].content))
    return found


@cache
def _block_parser(*, jsx: bool) -> MarkdownIt:
    from markdown_it import MarkdownIt  # late: 60 ms that many workers never need

    parser = MarkdownIt("commonmark")
    parser.core.ruler.enableOnly(["normalize", "block"])
    if jsx:
        parser.disable(["html_block", "code"])
    return parser


@cache
def _inline_parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")
