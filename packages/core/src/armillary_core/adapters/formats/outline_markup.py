"""reStructuredText, AsciiDoc and Org: their section titles, and nothing else of their markup."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import ClassVar, Final

from typing_extensions import override

from armillary_core.adapters.formats.decoding import decode
from armillary_core.adapters.formats.plain_words import first_paragraph
from armillary_core.domain.card import BaseLayer
from armillary_core.domain.ingest import ExtractedText
from armillary_core.ports.extractor import Extractor, SourceFile
from armillary_core.text.outline import Heading, chapters_from_headings

_MOST_HEADINGS: Final = 200
_LONGEST: Final = 2000  # characters of a line that may be a title
_ADORNMENT: Final = re.compile(r"([!-/:-@\[-`{-~])\1*[ \t]*")
_RST_BULLET: Final = re.compile(r"[-*+•‣⁃](?:\s|$)")
_RST_ROLE: Final = re.compile(r":[\w.:+-]+:`([^`]*)`")
_RST_LINK: Final = re.compile(r"`([^`<]*?)\s*<[^`>]*>`_{1,2}|`([^`]+)`_{1,2}")
_RST_MARK: Final = re.compile(r"``|(?<!\w)[`*]+(?=\S)|(?<=\S)[`*]+(?!\w)|\\(?=\W)|\|(?=\S)|(?<=\S)\|")
_ADOC_TITLE: Final = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*?)(?:[ \t]+\1)?[ \t]*")
_ADOC_BLOCK: Final = re.compile(r"(?:([-.+=*_/])\1{3,}|`{3,}.*|[|,:!]===|--)[ \t]*")
_ADOC_MARK: Final = re.compile(r"(?<!\w)[*_`+]{1,2}(?=\S)|(?<=\S)[*_`+]{1,2}(?!\w)")
_ADOC_VALUE: Final = re.compile(r"^:(description|keywords|revdate|lang|revnumber):[ \t]+(.+)$", re.MULTILINE)
_ORG_TITLE: Final = re.compile(
    r"(\*+)[ \t]+(?:(?:TODO|DONE|NEXT|WAITING|CANCELLED)[ \t]+)?(?:\[#[A-Z0-9]\][ \t]+)?(.*?)"
    r"(?:[ \t]+:[\w@#%:]+:)?[ \t]*"
)
_ORG_VALUE: Final = re.compile(
    r"^#\+(title|description|keywords|filetags|date|language):[ \t]*(.+)$", re.MULTILINE | re.IGNORECASE
)
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


class OutlineMarkupExtractor(Extractor):
    """Section titles become the outline."""

    media_types: ClassVar[frozenset[str]] = frozenset({"text/x-rst", "text/asciidoc", "text/org"})
    version: ClassVar[int] = 1
    requires: ClassVar[tuple[str, ...]] = ()

    @override
    def extract(self, source: SourceFile) -> ExtractedText:
        """Never refuses."""
        decoded = decode(source.content)
        text = decoded.text
        suffix = source.name.lower().rpartition(".")[2]
        headings, values = _READERS.get(suffix, _asciidoc)(text.split("\n"), text)
        keywords = values.get("keywords") or values.get("filetags", "").replace(":", ",")
        date = _DATE.search(values.get("date") or values.get("revdate", ""))
        locale = values.get("language") or values.get("lang")
        return ExtractedText(
            text=text,
            chapters=chapters_from_headings(text, headings),
            title=values.get("title") or next((heading.name for heading in headings if heading.level == 1), None),
            charset=decoded.charset,
            language=locale[:2].lower() if locale else None,
            base=BaseLayer(
                headings=tuple([heading.name for heading in headings[:_MOST_HEADINGS] if heading.name]),
                summary=values.get("description") or _summary(text, headings),
                keywords=tuple([word for word in map(str.strip, keywords.split(",")) if word][:100]),
                date=date.group() if date else None,
            ),
            locale=locale,
            version=values.get("revnumber"),
            note=decoded.note,
        )


_Read = tuple[list[Heading], dict[str, str]]


def _rst(lines: list[str], text: str) -> _Read:
    headings: list[Heading] = []
    styles: list[tuple[str, bool]] = []

    def add(line: int, title: str, sign: str, *, over: bool) -> None:
        style = (sign, over)
        if style not in styles:
            styles.append(style)
        headings.append(Heading(line, styles.index(style) + 1, _rst_words(title)))

    number = 0
    while number < len(lines):
        line = lines[number]
        if number and lines[number - 1].strip():
            number += 1  # inside a paragraph or an indented block nothing begins
            continue
        over = _ADORNMENT.fullmatch(line)
        if over and number + 2 < len(lines):
            title, under = lines[number + 1], _ADORNMENT.fullmatch(lines[number + 2])
            if (
                title.strip()
                and len(title) < _LONGEST
                and under
                and under.group().rstrip() == line.rstrip()
                and _width(title) <= len(line)
            ):
                add(number + 1, title, over.group(1), over=True)
                number += 3
                continue
        under = _ADORNMENT.fullmatch(lines[number + 1]) if number + 1 < len(lines) and not over else None
        if under and 0 < len(line.strip()) < _LONGEST and not line[0].isspace() and not _is_markup(line):
            drawn = len(under.group().rstrip())
            if drawn >= _width(line) or drawn >= 4:
                add(number + 1, line, under.group(1), over=False)
                lines[number + 1] = ""  # an underline ends its title: what follows may be the next one
                number += 2
                continue
        number += 1
    return headings, {}


def _is_markup(line: str) -> bool:
    return line.startswith((".. ", "__ ", ">>> ")) or line == ".." or bool(_RST_BULLET.match(line))


def _width(title: str) -> int:
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in title.rstrip())


def _rst_words(title: str) -> str:
    title = _RST_LINK.sub(lambda match: match.group(1) or match.group(2), _RST_ROLE.sub(r"\1", title))
    return " ".join(_RST_MARK.sub("", title).split())


def _asciidoc(lines: list[str], text: str) -> _Read:
    headings: list[Heading] = []
    closing: str | None = None
    for number, line in enumerate(lines, 1):
        if closing is not None:
            if line.rstrip() == closing:
                closing = None
            continue
        if _ADOC_BLOCK.fullmatch(line):
            closing = "```" if line.startswith("```") else line.rstrip()
            continue
        title = _ADOC_TITLE.fullmatch(line) if len(line) < _LONGEST else None
        if title:
            headings.append(Heading(number, len(title.group(1)), _ADOC_MARK.sub("", title.group(2)).strip()))
    return headings, {name.lower(): value.strip() for name, value in _ADOC_VALUE.findall(text[:20_000])}


def _org(lines: list[str], text: str) -> _Read:
    headings = []
    for number, line in enumerate(lines, 1):
        title = _ORG_TITLE.fullmatch(line) if line.startswith("*") and len(line) < _LONGEST else None
        if title:
            headings.append(Heading(number, len(title.group(1)), title.group(2).strip()))
    return headings, {name.lower(): value.strip() for name, value in _ORG_VALUE.findall(text[:20_000])}


def _summary(text: str, headings: list[Heading]) -> str | None:
    """The first prose: adornments, comments, attributes and keyword lines are none."""
    kept = "\n".join(
        "" if _ADORNMENT.fullmatch(line) or line.startswith((":", "#+", "//", "= ", "== ", "* ", ".. ")) else line
        for line in text[:6000].split("\n")
    )
    names = {heading.name for heading in headings[:20]}
    at = 0
    while (words := first_paragraph(kept, at)) is not None:
        if words not in names:
            return words
        at = kept.find("\n", kept.find(words.split(" ")[0], at))
        if at < 0:
            return None
    return None


_READERS: Final[dict[str, Callable[[list[str], str], _Read]]] = {"rst": _rst, "rest": _rst, "org": _org}
