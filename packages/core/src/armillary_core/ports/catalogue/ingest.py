"""What a scan writes. Batches keep each write transaction under 50 ms so that update_card never waits long."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from armillary_core.domain.document import Document, FileStamp
from armillary_core.domain.ingest import ExtractionOutcome, Skipped
from armillary_core.domain.project import ProjectName


@dataclass(frozen=True, slots=True)
class Known:
    """What the scan compares a found file with."""

    pk: int
    path: bytes
    stamp: FileStamp
    content_hash: str | None
    present: bool
    enriched: bool
    pending: bool  # extraction must run again (never ran, retryable failure, extractor changed)
    verified_at: float = 0.0  # when its bytes were last hashed
    first_seen: float = 0.0  # when the document was first stored; later than the last good scan = new
    hash_before: str | None = None  # its content hash at the last conclusion, when another was stored since


class IngestStore(Protocol):
    def known(self, project: ProjectName) -> list[Known]:
        """Every document of a project, by path; one query, light rows (100,000 of them in about a second)."""

    def store(self, project: ProjectName, outcomes: Sequence[tuple[bytes, FileStamp, ExtractionOutcome]]) -> list[int]:
        """Write extraction results, replacing what was there: document, base card, chapters, chunks, text, term
        counts and outbox rows (every engine) in as many short transactions as needed; a document is whole or not
        there. Returns pks in order. Enrichment is never touched. A document whose hash did not change keeps its
        `content_revision` unless the extraction itself differs. A desync document found again becomes present."""

    def touch(self, project: ProjectName, stamps: Iterable[tuple[int, FileStamp]], *, verified_at: float) -> None:
        """Same content, new time or inode: only stamp and verified_at are written; nothing is told to the engines."""

    def vanish(self, project: ProjectName, pks: Iterable[int]) -> None:
        """Documents gone in a good scan: enriched ones become desync (no chunks, no text, no answers), others are
        removed; engines hear of both."""

    def drop_desync(self, project: ProjectName) -> int:
        """Remove all desync documents for good; returns how many."""

    def move_enrichment(self, source: int, target: int) -> None:
        """Give the enrichment and history of a desync document to a new one and remove the old document."""

    def set_divergence(self, changes: Mapping[int, tuple[int, ...]]) -> None:
        """`diverged_from` by pk (empty clears); tells the engines of changed card states."""

    def diverged(self, project: ProjectName | None = None) -> dict[int, tuple[int, ...]]:
        """Every document with a divergence flag and the pks it diverged from."""

    def forget_hashes_before(self, pks: Iterable[int]) -> None:
        """The change of content of these documents was concluded."""

    def reset_enrichment(self, project: ProjectName) -> int:
        """Drop all enrichment of a project (rebuild); its history keeps a line that says so. Returns how many."""

    def replace_skipped(self, project: ProjectName, skipped: Iterable[Skipped]) -> None: ...

    def mark_pending(self, project: ProjectName) -> int:
        """Ask for every document to be extracted again; returns how many."""

    def extraction_changed(self, fingerprint: str) -> bool:
        """Remember how documents are extracted; when it differs from what was remembered, every document is marked
        pending. Returns whether it differed; False on the first call of a new catalogue."""

    def settle_average(self, project: ProjectName) -> bool:
        """Rewrite the project's indexed average chunk length when it drifted by more than a fifth from the true one,
        and tell the chunk index about all its documents; returns whether it did."""

    def hashes(self, pks: Iterable[int]) -> dict[int, str | None]: ...

    def same_hash(self, content_hashes: Iterable[str]) -> dict[str, list[Document]]:
        """Present documents of all projects by content hash."""
