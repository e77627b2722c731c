"""Documents, chapters and text as readers need them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from armillary_core.domain.chapter import Chapter
from armillary_core.domain.chunk import Chunk
from armillary_core.domain.document import Document
from armillary_core.domain.ingest import Skipped
from armillary_core.domain.project import ProjectName


@dataclass(frozen=True, slots=True)
class ChapterRef:
    """A chapter with the document it belongs to."""

    document: Document
    chapter: Chapter


class Label(NamedTuple):
    """What a search weighs of a document before it loads any."""

    content_hash: str | None
    title: str | None
    path: bytes
    language: str | None


class DocumentStore(Protocol):
    def find(self, project: ProjectName, path: bytes) -> Document | None:
        """One document, present or desync."""

    def by_pk(self, pks: Iterable[int]) -> dict[int, Document]: ...

    def labels(self, pks: Iterable[int]) -> dict[int, Label]: ...

    def in_project(self, project: ProjectName) -> list[Document]:
        """Every document of a project, present or desync, by path."""

    def text(self, pk: int) -> str | None:
        """Extracted text; None when there is none (name only, failed)."""

    def texts(self, pks: Iterable[int]) -> dict[int, str]: ...

    def chapters(self, pk: int) -> list[Chapter]:
        """The outline in order."""

    def outlines(self, pks: Iterable[int]) -> dict[int, list[Chapter]]:
        """Outlines of several documents; those without chapters are left out."""

    def chapters_named(
        self, projects: Sequence[ProjectName], name: str, *, limit: int, offset: int = 0
    ) -> tuple[list[ChapterRef], int]:
        """Chapters whose name contains `name` (case and accents aside), exact names first, and how many there are."""

    def chunks(self, pks: Iterable[int]) -> dict[int, list[Chunk]]:
        """Chunks of documents in order, the card chunk left out."""

    def chunk(self, pk: int, ordinal: int) -> Chunk | None: ...

    def chunks_at(self, keys: Iterable[int]) -> dict[int, Chunk]:
        """Chunks by key; card chunks and what is not there are left out."""

    def copies(self, document: Document, projects: Sequence[ProjectName]) -> list[Document]:
        """Other present documents with the same content hash, in these projects only."""

    def copies_of(self, hashes: Iterable[str], projects: Sequence[ProjectName]) -> dict[str, list[Document]]:
        """Present documents by content hash, in these projects only; hashes that occur once are left out."""

    def near_paths(self, projects: Sequence[ProjectName], path: str, *, limit: int = 5) -> list[Document]:
        """Documents whose file name or path resembles this one: for "did you mean"."""

    def skipped(self, project: ProjectName, *, limit: int = 1000) -> list[Skipped]: ...

    def skipped_counts(self, project: ProjectName) -> dict[str, int]:
        """Rows of `skipped` by rule."""

    def failed(self, project: ProjectName, *, limit: int = 1000) -> list[Document]: ...
