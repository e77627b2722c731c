"""Plain text of any charset, and source code that has no extractor of its own."""

from __future__ import annotations

from typing import ClassVar

from typing_extensions import override

from armillary_core.adapters.formats.decoding import Decoded, decode
from armillary_core.adapters.formats.plain_words import first_paragraph
from armillary_core.domain.card import BaseLayer
from armillary_core.domain.ingest import ExtractedText
from armillary_core.ports.extractor import Extractor, SourceFile
from armillary_core.text.outline import chapters_from_paragraphs


class PlainTextExtractor(Extractor):
    """Paragraphs are the chapters."""

    media_types: ClassVar[frozenset[str]] = frozenset({"text/plain"})
    version: ClassVar[int] = 1
    requires: ClassVar[tuple[str, ...]] = ("charset_normalizer",)

    @override
    def extract(self, source: SourceFile) -> ExtractedText:
        """Never refuses: bytes that fit no charset are replaced and noted."""
        return from_paragraphs(decode(source.content))


def from_paragraphs(decoded: Decoded, note: str | None = None) -> ExtractedText:
    """A text without an outline of its own."""
    notes = [each for each in (decoded.note, note) if each]
    return ExtractedText(
        text=decoded.text,
        chapters=chapters_from_paragraphs(decoded.text),
        charset=decoded.charset,
        base=BaseLayer(summary=first_paragraph(decoded.text)),
        note="; ".join(notes) or None,
    )
