"""One format's bytes into text and an outline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

from armillary_core.domain.ingest import ExtractedText


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file as an extractor sees it."""

    name: str  # file name, surrogate-escaped
    content: bytes


class Extractor(Protocol):
    """Runs inside a worker process with limits; pure: bytes in, text out."""

    media_types: ClassVar[frozenset[str]]
    version: ClassVar[int]  # a higher one extracts known documents again
    requires: ClassVar[tuple[str, ...]] = ()  # library modules that are imported when the first such file comes

    def extract(self, source: SourceFile) -> ExtractedText:
        """Raises UnreadableSourceError with a plain reason when the bytes are not this format."""
