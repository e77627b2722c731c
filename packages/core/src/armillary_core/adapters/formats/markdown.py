"""Markdown and MDX."""

from __future__ import annotations

from typing import ClassVar, Final

from typing_extensions import override

from armillary_core.adapters.formats.decoding import decode
from armillary_core.adapters.formats.front_matter import FrontMatter, read_front_matter
from armillary_core.adapters.formats.markdown_outline import markdown_headings
from armillary_core.adapters.formats.plain_words import first_paragraph, shortened
from armillary_core.domain.card import BaseLayer
from armillary_core.domain.ingest import ExtractedText
from armillary_core.ports.extractor import Extractor, SourceFile
from armillary_core.text.noise import blanked_jsx
from armillary_core.text.outline import Heading, chapters_from_headings

_MOST_HEADINGS: Final = 200  # kept on the card; the outline keeps all


class MarkdownExtractor(Extractor):
    """Headings become the outline; front matter becomes title and base layer and stays in the text."""

    media_types: ClassVar[frozenset[str]] = frozenset({"text/markdown", "text/mdx"})
    version: ClassVar[int] = 1
    requires: ClassVar[tuple[str, ...]] = ("markdown_it", "yaml")

    @override
    def extract(self, source: SourceFile) -> ExtractedText:
        """Raises UnreadableSourceError beyond 200,000 headings."""
        decoded = decode(source.content)
        jsx = source.name.lower().endswith(".mdx")
        return from_markdown(decoded.text, charset=decoded.charset, note=decoded.note, jsx=jsx)


def from_markdown(text: str, *, charset: str | None, note: str | None = None, jsx: bool = False) -> ExtractedText:
    """The outline and base layer of a Markdown text."""
    front = read_front_matter(text)
    body = text[front.end :] if front.end else text
    if jsx:
        body = blanked_jsx(body)
    headings = markdown_headings(body, first_line=front.lines + 1, jsx=jsx)
    notes = [each for each in (note, front.note) if each]
    locale = front.locale
    return ExtractedText(
        text=text,
        chapters=chapters_from_headings(text, headings),
        title=front.text("title") or _first_title(headings),
        charset=charset,
        language=locale.lower().replace("_", "-").partition("-")[0] if locale else None,
        base=base_layer(front, headings, body),
        locale=locale,
        version=front.text("version"),
        note="; ".join(notes) or None,
    )


def _first_title(headings: list[Heading]) -> str | None:
    return next((heading.name for heading in headings if heading.level == 1 and heading.name), None)


def base_layer(front: FrontMatter, headings: list[Heading], body: str) -> BaseLayer:
    """What a card holds for free: front matter first, then headings and the first paragraph."""
    summary = front.text("description", "summary", "abstract", "excerpt")
    return BaseLayer(
        headings=tuple([heading.name for heading in headings[:_MOST_HEADINGS] if heading.name]),
        summary=shortened(summary) if summary else first_paragraph(body),
        keywords=front.words("keywords", "tags"),
        date=front.date("date", "updated", "lastmod", "last_modified", "modified", "published", "created"),
        type=front.text("type", "category", "content_type"),
    )
