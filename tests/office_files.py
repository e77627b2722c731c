"""Small PDF and Word files, made by hand so that each awkward kind can be had."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from xml.sax.saxutils import escape

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def make_pdf(
    pages: Sequence[Sequence[str]],
    *,
    title: str = "",
    bookmarks: Sequence[tuple[str, int]] = (),
    locked: bool = False,
) -> bytes:
    """One text line each; `bookmarks` are names and page numbers from 1; `locked` asks for a password."""
    objects: dict[int, str] = {}
    font = 3
    first = 4
    kids = []
    for number, lines in enumerate(pages):
        page, content = first + 2 * number, first + 2 * number + 1
        kids.append(f"{page} 0 R")
        shown = " ".join(f"({_pdf_text(line)}) Tj T*" for line in lines)
        body = f"BT /F1 12 Tf 72 740 Td 14 TL {shown} ET"
        objects[page] = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {content} 0 R "
            f"/Resources << /Font << /F1 {font} 0 R >> >> >>"
        )
        objects[content] = f"<< /Length {len(body)} >>\nstream\n{body}\nendstream"
    after = first + 2 * len(pages)
    root = "/Type /Catalog /Pages 2 0 R"
    if bookmarks:
        items = [after + 1 + number for number in range(len(bookmarks))]
        root += f" /Outlines {after} 0 R"
        objects[after] = f"<< /Type /Outlines /First {items[0]} 0 R /Last {items[-1]} 0 R /Count {len(items)} >>"
        for number, (name, page) in enumerate(bookmarks):
            links = f" /Next {items[number + 1]} 0 R" if number + 1 < len(items) else ""
            links += f" /Prev {items[number - 1]} 0 R" if number else ""
            target = first + 2 * (page - 1)
            objects[items[number]] = (
                f"<< /Title ({_pdf_text(name)}) /Parent {after} 0 R /Dest [{target} 0 R /Fit]{links} >>"
            )
    objects[1] = f"<< {root} >>"
    objects[2] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(pages)} >>"
    objects[font] = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    trailer = "/Root 1 0 R"
    number = max(objects) + 1
    objects[number] = f"<< /Title ({_pdf_text(title)}) /CreationDate (D:20260304120000Z) /Keywords (tide, wind) >>"
    trailer += f" /Info {number} 0 R"
    if locked:
        objects[number + 1] = f"<< /Filter /Standard /V 1 /R 2 /O <{'41' * 32}> /U <{'42' * 32}> /P -4 >>"
        trailer += f" /Encrypt {number + 1} 0 R /ID [<{'43' * 16}> <{'43' * 16}>]"
    out, offsets = b"%PDF-1.4\n", {}
    for each, body in sorted(objects.items()):
        offsets[each] = len(out)
        out += f"{each} 0 obj\n{body}\nendobj\n".encode("latin-1")
    count = max(offsets) + 1
    table = "".join(f"{offsets[each]:010d} 00000 n \n" for each in range(1, count))
    xref = f"xref\n0 {count}\n0000000000 65535 f \n{table}trailer << {trailer} /Size {count} >>\n"
    return out + f"{xref}startxref\n{len(out)}\n%%EOF\n".encode()


def _pdf_text(text: str) -> str:
    return text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


STYLES = f"""<?xml version="1.0"?><w:styles {W}>
<w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/></w:style>
<w:style w:type="paragraph" w:styleId="Heading2"><w:name w:val="heading 2"/></w:style>
<w:style w:type="paragraph" w:styleId="Mine"><w:name w:val="My chapter"/><w:basedOn w:val="Heading2"/></w:style>
</w:styles>"""
CORE = """<?xml version="1.0"?><cp:coreProperties
 xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"
 xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/">
<dc:title>{title}</dc:title><cp:keywords>harbour, tide</cp:keywords>
<dcterms:modified>2026-05-06T10:00:00Z</dcterms:modified>
</cp:coreProperties>"""


def paragraph(text: str, style: str = "", *, item: bool = False) -> str:
    properties = f'<w:pStyle w:val="{style}"/>' if style else ""
    properties += '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>' if item else ""
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t xml:space='preserve'>{escape(text)}</w:t></w:r></w:p>"


def table(rows: Sequence[Sequence[str]]) -> str:
    cells = ("".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) for row in rows)
    return "<w:tbl>" + "".join(f"<w:tr>{row}</w:tr>" for row in cells) + "</w:tbl>"


def make_docx(body: str, *, title: str = "", extra: dict[str, str] | None = None, prolog: str = "") -> bytes:
    """A Word file with this body; `extra` are further parts."""
    document = f'<?xml version="1.0"?>{prolog}<w:document {W}><w:body>{body}</w:body></w:document>'
    parts = {"word/document.xml": document, "word/styles.xml": STYLES, "docProps/core.xml": CORE.format(title=title)}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (parts | (extra or {})).items():
            archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
