"""An extractor that does what hostile files make libraries do; the first word of a file says what."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path
from typing import ClassVar

from typing_extensions import override

from armillary_core.adapters.formats.plain_text import PlainTextExtractor
from armillary_core.domain.errors import UnreadableSourceError
from armillary_core.domain.ingest import ExtractedText
from armillary_core.ports.extractor import Extractor, SourceFile


class HostileExtractor(Extractor):
    media_types: ClassVar[frozenset[str]] = frozenset({"text/plain"})
    version: ClassVar[int] = 1

    @override
    def extract(self, source: SourceFile) -> ExtractedText:
        word, _, rest = source.content.decode().partition(" ")
        match word:
            case "crash":
                ctypes.string_at(0)
            case "exit":
                os._exit(3)
            case "hang":
                while True:
                    pass
            case "bomb":
                return ExtractedText("x" * (1 << 40), ())
            case "flood":
                return ExtractedText("word " * (1 << 20), ())
            case "refuse":
                raise UnreadableSourceError("not to my taste")
            case "error":
                raise KeyError(rest)
            case "missing":
                import no_such_library  # type: ignore[import-not-found] # noqa: F401
            case "print":
                print("noise " * 1000)
                os.write(1, b"more noise")
                sys.stderr.write("and this")
            case "once":
                mark = Path(rest.strip())
                if not mark.exists():
                    mark.touch()
                    os._exit(4)
            case "deep":
                return self.extract(source)
        return PlainTextExtractor().extract(source)


class UnloadableExtractor(HostileExtractor):
    media_types: ClassVar[frozenset[str]] = frozenset({"application/pdf"})
    requires: ClassVar[tuple[str, ...]] = ("no_such_library",)

    @override
    def extract(self, source: SourceFile) -> ExtractedText:
        import no_such_library  # noqa: F401

        raise AssertionError


EXTRACTORS = {"text/plain": HostileExtractor(), "application/pdf": UnloadableExtractor()}
