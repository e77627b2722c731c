"""The bytes of one file into everything that the catalogue stores of it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from armillary_core.adapters.extraction.limits import ExtractionLimits
from armillary_core.adapters.extraction.reading import CannotReadError, read_file
from armillary_core.domain.card import BaseLayer
from armillary_core.domain.document import FileStamp
from armillary_core.domain.errors import IngestError
from armillary_core.domain.ingest import ExtractedText, ExtractionOutcome, Failed, Indexed, NameOnly
from armillary_core.ports.extraction import Extracted, ExtractionTask, Unchanged
from armillary_core.ports.extractor import Extractor, SourceFile
from armillary_core.text.cards import card_text, text_hash
from armillary_core.text.chunking import chunk_document
from armillary_core.text.language import detect_language
from armillary_core.text.noise import without_noise
from armillary_core.text.outline import count_lines
from armillary_core.text.sniff import PLAIN, sniff
from armillary_core.text.tokens import TokenCounts, count_tokens

_STEM: Final = re.compile(r"(?<=.)\.[^.]*\Z", re.DOTALL)


class DocumentReader:
    """Reads and extracts one task after the other; never raises for a file's sake, only for lack of memory."""

    def __init__(self, extractors: Mapping[str, Extractor], limits: ExtractionLimits) -> None:
        self._extractors = extractors
        self._limits = limits

    def read(self, task: ExtractionTask) -> Extracted:
        try:
            read = read_file(task.root, task.path, self._limits.file_bytes)
        except CannotReadError as exc:
            failed = Failed(exc.reason, stamp=exc.stamp, retryable=exc.retryable)
            return Extracted(task, exc.stamp, self._with_name(task, failed))
        name = _file_name(task.path)
        sniffed = sniff(name, read.content)
        media_type, binary = sniffed.media_type, sniffed.binary
        extractor = self._extractors.get(media_type)
        if extractor is None and binary is None:
            extractor = self._extractors.get(PLAIN)
        content_hash = _hash(read.content, text=binary is None)
        if content_hash == task.known_hash:
            return Extracted(task, read.stamp, Unchanged(read.stamp, content_hash))
        outcome: ExtractionOutcome
        if extractor is None:
            reason = binary or "no extractor for this format"
            outcome = self._with_name(task, NameOnly(content_hash, read.stamp, media_type, reason))
        else:
            outcome = self._extracted(task, extractor, media_type, content_hash, read.stamp, read.content)
        return Extracted(task, read.stamp, outcome)

    def _extracted(
        self,
        task: ExtractionTask,
        extractor: Extractor,
        media_type: str,
        content_hash: str,
        stamp: FileStamp,
        content: bytes,
    ) -> ExtractionOutcome:
        name = _file_name(task.path)
        try:
            text = extractor.extract(SourceFile(name, content))
        except IngestError as exc:
            return self._with_name(task, Failed(exc.message, media_type, content_hash, stamp))
        except ImportError as exc:
            reason = f"the library for {media_type} cannot be loaded: {exc}"
            return self._with_name(task, Failed(reason, media_type, content_hash, stamp, retryable=True))
        except MemoryError:
            raise
        except RecursionError:
            return self._with_name(task, Failed("nested too deep", media_type, content_hash, stamp))
        except Exception as exc:  # the outermost frame of one document: whatever a library does with hostile bytes
            reason = f"could not be read as {media_type}: {type(exc).__name__}: {exc}"[:300]
            return self._with_name(task, Failed(reason, media_type, content_hash, stamp))
        problem = self._too_much(text)
        if problem is not None:
            return self._with_name(task, Failed(problem, media_type, content_hash, stamp))
        if not text.title:
            text = replace(text, title=_STEM.sub("", name) or name)
        return self._indexed(task, text, media_type, content_hash, stamp)

    def _indexed(
        self, task: ExtractionTask, text: ExtractedText, media_type: str, content_hash: str, stamp: FileStamp
    ) -> ExtractionOutcome:
        language = text.language or detect_language(text.text)
        chunked = chunk_document(
            text.text,
            text.chapters,
            title=text.title,
            language=language,
            indexed=without_noise(text.text, media_type),
        )
        if len(chunked.chunks) > self._limits.chunks:
            problem = f"more than {self._limits.chunks} chunks"
            return self._with_name(task, Failed(problem, media_type, content_hash, stamp))
        card, card_hash = _card(task.path, text.title, text.base, language)
        return Indexed(
            content_hash=content_hash,
            stamp=stamp,
            media_type=media_type,
            text=text,
            language=language,
            lines=count_lines(text.text),
            chunks=chunked.chunks,
            card_terms=card.terms,
            card_hash=None if len(chunked.chunks) == 1 else card_hash,
            words={**card.words, **chunked.words},
        )

    def _too_much(self, text: ExtractedText) -> str | None:
        if len(text.text) > self._limits.text_chars:
            return f"more than {self._limits.text_chars:,} characters of text"
        if len(text.chapters) > self._limits.chapters:
            return f"more than {self._limits.chapters:,} chapters"
        return None

    def _with_name(self, task: ExtractionTask, outcome: NameOnly | Failed) -> NameOnly | Failed:
        """What has no text is found by its name all the same."""
        name = _file_name(task.path)
        card, _ = _card(task.path, _STEM.sub("", name) or name, BaseLayer(), None)
        return replace(outcome, card_terms=card.terms, words=card.words)


def failed_without_reading(task: ExtractionTask, reason: str) -> Extracted:
    """The row of a task whose worker did not come back."""
    name = _file_name(task.path)
    card, _ = _card(task.path, _STEM.sub("", name) or name, BaseLayer(), None)
    return Extracted(task, None, Failed(reason, card_terms=card.terms, words=card.words))


def _card(path: bytes, title: str | None, base: BaseLayer, language: str | None) -> tuple[TokenCounts, str]:
    text = card_text(title=title, path=path, headings=base.headings, summary=base.summary, keywords=base.keywords)
    return count_tokens(text, language), text_hash("", text)


def _hash(content: bytes, *, text: bool) -> str:
    if text and b"\r\n" in content:
        content = content.replace(b"\r\n", b"\n")
    return hashlib.sha256(content).hexdigest()


def _file_name(path: bytes) -> str:
    """The last part of a path as text that can be stored anywhere: undecodable bytes are replaced."""
    return path.rpartition(b"/")[2].decode("utf-8", "replace")
