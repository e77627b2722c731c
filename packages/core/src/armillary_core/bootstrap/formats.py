"""Which extractor reads which media type. What is not listed but is text is read as plain text; the rest is known by
name only."""

from __future__ import annotations

from typing import Final

from armillary_core.adapters.formats.markdown import MarkdownExtractor
from armillary_core.adapters.formats.plain_text import PlainTextExtractor
from armillary_core.ports.extractor import Extractor

_LISTED: Final[tuple[Extractor, ...]] = (
    MarkdownExtractor(),
    PlainTextExtractor(),
)

EXTRACTORS: Final[dict[str, Extractor]] = {
    media_type: extractor for extractor in _LISTED for media_type in sorted(extractor.media_types)
}
