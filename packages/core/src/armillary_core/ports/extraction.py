"""Reading, extracting, chunking and tokenising files in worker processes with limits."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Protocol

from armillary_core.domain.document import FileStamp
from armillary_core.domain.ingest import ExtractionOutcome


@dataclass(frozen=True, slots=True)
class ExtractionTask:
    root: str  # project root, surrogate-escaped
    path: bytes  # relative
    known_hash: str | None = None  # when the content still has this hash, `Unchanged` comes back


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The bytes still have the known hash; only the stamp moved."""

    stamp: FileStamp
    content_hash: str


@dataclass(frozen=True, slots=True)
class Extracted:
    task: ExtractionTask
    stamp: FileStamp | None  # as read, from the open file; None when it could not be opened
    outcome: ExtractionOutcome | Unchanged


class Extraction(Protocol):
    fingerprint: str  # versions of extractors, chunking and tokenizer

    def run(self, tasks: Sequence[ExtractionTask]) -> AsyncGenerator[list[Extracted], None]:
        """Results in batches, in any order, every task exactly once. A crash, deadline or memory limit fails that
        document alone after one more try by itself."""

    async def check(self) -> tuple[str, ...]:
        """Media types whose library cannot be loaded, each with the reason; files of these would fail."""

    async def close(self) -> None: ...
