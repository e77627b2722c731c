"""Which extractor reads which media type. What is not listed but is text is read as plain text; the rest is known by
name only."""

from __future__ import annotations

from typing import Final

from armillary_core.adapters.formats.config_keys import ConfigKeysExtractor
from armillary_core.adapters.formats.docx import DocxExtractor
from armillary_core.adapters.formats.html import HtmlExtractor
from armillary_core.adapters.formats.markdown import MarkdownExtractor
from armillary_core.adapters.formats.outline_markup import OutlineMarkupExtractor
from armillary_core.adapters.formats.pdf import PdfExtractor
from armillary_core.adapters.formats.plain_text import PlainTextExtractor
from armillary_core.adapters.formats.python import PythonExtractor
from armillary_core.ports.extractor import Extractor

_LISTED: Final[tuple[Extractor, ...]] = (
    MarkdownExtractor(),
    OutlineMarkupExtractor(),
    PlainTextExtractor(),
    PythonExtractor(),
    ConfigKeysExtractor(),
    HtmlExtractor(),
    PdfExtractor(),
    DocxExtractor(),
)

EXTRACTORS: Final[dict[str, Extractor]] = {
    media_type: extractor for extractor in _LISTED for media_type in sorted(extractor.media_types)
}
