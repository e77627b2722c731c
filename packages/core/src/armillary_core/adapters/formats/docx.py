"""Word documents: headings by style, lists and tables; comments and deleted text are left out."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final

from typing_extensions import override

from armillary_core.adapters.formats.plain_words import first_paragraph, shortened
from armillary_core.domain.card import BaseLayer
from armillary_core.domain.errors import UnreadableSourceError
from armillary_core.domain.ingest import ExtractedText
from armillary_core.ports.extractor import Extractor, SourceFile
from armillary_core.text.outline import Heading, chapters_from_headings

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_STRICT_W: Final = "{http://purl.oclc.org/ooxml/wordprocessingml/main}"
_FALLBACK: Final = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_DC: Final = "{http://purl.org/dc/elements/1.1/}"
_TERMS: Final = "{http://purl.org/dc/terms/}"
_CORE: Final = "{http://schemas.openxmlformats.org/package/2006/metadata/core-properties}"

_MOST_UNPACKED: Final = 256 << 20
_MOST_RATIO: Final = 400  # unpacked ÷ packed; real text stays under 50
_MOST_HEADINGS: Final = 200
_HEADING_STYLE: Final = re.compile(r"(?:heading|überschrift|titre|título|titolo|заголовок|kop|rubrik)\s*([1-9])", re.I)
_SPLIT: Final = re.compile(r"\s*[,;]\s*")


class DocxExtractor(Extractor):
    """Headings become the outline, shown with `#` signs; a table's rows are lines with ` | ` between cells."""

    media_types: ClassVar[frozenset[str]] = frozenset(
        {"application/vnd.openxmlformats-officedocument.wordprocessingml.document"}
    )
    version: ClassVar[int] = 1
    requires: ClassVar[tuple[str, ...]] = ("lxml.etree",)

    @override
    def extract(self, source: SourceFile) -> ExtractedText:
        """Raises UnreadableSourceError for what is no Word document, is encrypted, damaged or a bomb."""
        content = source.content
        if not content:
            raise UnreadableSourceError("empty file")
        if content.startswith(b"\xd0\xcf\x11\xe0"):
            raise UnreadableSourceError("encrypted, or an old Word file: save it as .docx without a password")
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                return _extracted(archive)
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, RuntimeError) as exc:
            raise UnreadableSourceError("damaged or cut off: not a readable Word document") from exc


@dataclass(slots=True)
class _Writer:
    """Lines of the text and the headings among them."""

    lines: list[str] = field(default_factory=list)
    headings: list[Heading] = field(default_factory=list)

    def block(self, lines: list[str], *, tight: bool = False) -> None:
        if self.lines and not tight:
            self.lines.append("")
        self.lines.extend(lines)

    def heading(self, level: int, words: str) -> None:
        self.block([f"{'#' * min(level, 6)} {words}"])
        self.headings.append(Heading(len(self.lines), level, words))


def _extracted(archive: zipfile.ZipFile) -> ExtractedText:
    names = set(archive.namelist())
    if "word/document.xml" not in names:
        raise UnreadableSourceError("not a Word document")
    unpacked = sum(entry.file_size for entry in archive.infolist() if entry.filename.endswith((".xml", ".rels")))
    if unpacked > _MOST_UNPACKED:
        raise UnreadableSourceError(f"unpacks to more than {_MOST_UNPACKED >> 20} MiB")
    root = _part(archive, "word/document.xml")
    styles = _styles(_part(archive, "word/styles.xml")) if "word/styles.xml" in names else {}
    core = _core(_part(archive, "docProps/core.xml")) if "docProps/core.xml" in names else {}
    writer = _Writer()
    body = next((child for child in root if _tag(child) == "body"), None)
    if body is not None:
        _write_blocks(body, styles, writer)
    text = "\n".join(writer.lines).strip("\n")
    if not text.strip():
        raise UnreadableSourceError("no text in this document")
    text += "\n"
    headings = writer.headings
    return ExtractedText(
        text=text,
        chapters=chapters_from_headings(text, headings),
        title=core.get("title") or next((each.name for each in headings if each.level == 1), None),
        language=core["language"][:2].lower() if core.get("language") else None,
        base=BaseLayer(
            headings=tuple([heading.name for heading in headings[:_MOST_HEADINGS]]),
            summary=shortened(core["description"]) if core.get("description") else first_paragraph(text),
            keywords=tuple([word for word in _SPLIT.split(core.get("keywords", "")) if word][:100]),
            date=core["modified"][:10] if re.match(r"\d{4}-\d{2}-\d{2}", core.get("modified", "")) else None,
        ),
        locale=core.get("language"),
        version=core.get("version"),
    )


def _part(archive: zipfile.ZipFile, name: str) -> Element:
    from lxml import etree

    entry = archive.getinfo(name)
    if entry.file_size > max(entry.compress_size, 1) * _MOST_RATIO and entry.file_size > 1 << 20:
        raise UnreadableSourceError("packed beyond belief: not unpacked")
    with archive.open(entry) as stream:
        raw = stream.read(entry.file_size + 1)
    if len(raw) > entry.file_size:
        raise UnreadableSourceError("damaged: a part is longer than the file says")
    if b"<!DOCTYPE" in raw[:4096]:
        raise UnreadableSourceError("a document type inside: not opened")
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False, remove_comments=True)
    try:
        return etree.fromstring(raw, parser)
    except etree.XMLSyntaxError as exc:
        raise UnreadableSourceError(f"damaged: {name} is not valid XML") from exc


def _tag(element: Element) -> str:
    """The local name of a Word element, whichever of the two namespaces; else empty."""
    name = element.tag
    if not isinstance(name, str):
        return ""
    if name.startswith(_W):
        return name[len(_W) :]
    return name[len(_STRICT_W) :] if name.startswith(_STRICT_W) else ""


def _value(element: Element | None, name: str = "val") -> str | None:
    if element is None:
        return None
    found: Any = element.get(_W + name) or element.get(_STRICT_W + name)
    return found if isinstance(found, str) else None


def _child(element: Element | None, *names: str) -> Element | None:
    for name in names:
        if element is None:
            return None
        element = next((each for each in element if _tag(each) == name), None)
    return element


def _styles(root: Element) -> dict[str, int]:
    """Style id → heading level, through the styles they are based on."""
    own: dict[str, int] = {}
    based: dict[str, str] = {}
    for style in root:
        identity = _value(style, "styleId")
        if _tag(style) != "style" or identity is None:
            continue
        name = _value(_child(style, "name")) or ""
        match = _HEADING_STYLE.fullmatch(name.strip()) or _HEADING_STYLE.fullmatch(identity)
        outline = _value(_child(style, "pPr", "outlineLvl"))
        if match:
            own[identity] = int(match.group(1))
        elif name.lower() == "title":
            own[identity] = 1
        elif outline and outline.isdigit() and int(outline) < 9:
            own[identity] = int(outline) + 1
        parent = _value(_child(style, "basedOn"))
        if parent:
            based[identity] = parent
    for identity in based:
        at, seen = identity, set()
        while at not in own and at in based and at not in seen:
            seen.add(at)
            at = based[at]
        if at in own:
            own.setdefault(identity, own[at])
    return own


def _core(root: Element) -> dict[str, str]:
    names = {
        f"{_DC}title": "title",
        f"{_DC}description": "description",
        f"{_DC}language": "language",
        f"{_CORE}keywords": "keywords",
        f"{_CORE}version": "version",
        f"{_TERMS}modified": "modified",
    }
    return {
        names[child.tag]: " ".join(child.text.split())
        for child in root
        if isinstance(child.tag, str) and child.tag in names and child.text and child.text.strip()
    }


def _write_blocks(parent: Element, styles: dict[str, int], writer: _Writer) -> None:
    listing = False
    for child in parent:
        name = _tag(child)
        if name == "p":
            listing = _write_paragraph(child, styles, writer, after_item=listing)
        elif name == "tbl":
            rows = [" | ".join(cells) for cells in _rows(child) if any(cells)]
            if rows:
                writer.block(rows)
            listing = False
        elif name in ("sdt", "sdtContent", "ins", "customXml", "smartTag", "moveTo"):
            _write_blocks(child, styles, writer)
            listing = False


def _write_paragraph(paragraph: Element, styles: dict[str, int], writer: _Writer, *, after_item: bool) -> bool:
    """Whether it was an item of a list."""
    text = "".join(_texts(paragraph))
    lines = [" ".join(line.split()) for line in text.split("\n")]
    if not any(lines):
        return after_item
    properties = _child(paragraph, "pPr")
    outline = _value(_child(properties, "outlineLvl"))
    level = styles.get(_value(_child(properties, "pStyle")) or "")
    if level is None and outline and outline.isdigit() and int(outline) < 9:
        level = int(outline) + 1
    if level is not None:
        writer.heading(level, " ".join(filter(None, lines)))
        return False
    number = _child(properties, "numPr")
    if number is None or _value(_child(number, "numId")) == "0":
        writer.block(lines)
        return False
    depth = _value(_child(number, "ilvl")) or "0"
    indent = "  " * (min(int(depth), 8) if depth.isdigit() else 0)
    writer.block([f"{indent}- {lines[0]}", *(f"{indent}  {line}" for line in lines[1:])], tight=after_item)
    return True


def _rows(table: Element) -> Iterator[list[str]]:
    for row in table:
        if _tag(row) != "tr":
            continue
        cells = []
        for cell in row:
            content = _child(cell, "sdtContent", "tc") if _tag(cell) == "sdt" else cell
            if content is not None and _tag(content) == "tc":
                cells.append(" ".join("".join(_texts(content, between="\n")).split()))
        yield cells


def _texts(element: Element, between: str = "") -> Iterator[str]:
    """The visible text below an element: no deletions, no fields' instructions, no second copy of a text box."""
    for child in element:
        if child.tag == _FALLBACK:
            continue
        name = _tag(child)
        if name == "t":
            yield child.text or ""
        elif name in ("tab", "ptab"):
            yield "\t"
        elif name in ("br", "cr"):
            yield "\n"
        elif name == "noBreakHyphen":
            yield "-"
        elif name not in ("del", "moveFrom", "delText", "instrText", "pPr", "rPr", "comment"):
            yield from _texts(child, between)
            if name in ("p", "tr", "tbl"):
                yield between or " "
