"""Projects in the catalogue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from armillary_core.domain.project import (
    ListingWay,
    Project,
    ProjectCounts,
    ProjectName,
    ProjectSettings,
    ProjectState,
)


class ProjectStore(Protocol):
    def all(self) -> list[Project]:
        """Every project by name."""

    def get(self, name: ProjectName) -> Project | None: ...

    def put(
        self, name: ProjectName, *, root: str, private: bool = False, settings: ProjectSettings | None = None
    ) -> Project:
        """Create a project or change root, privacy and settings of the one with this name."""

    def set_state(
        self,
        name: ProjectName,
        state: ProjectState,
        *,
        reason: str | None = None,
        listing: ListingWay | None = None,
        device: int | None = None,
        good_scan_at: float | None = None,
    ) -> None:
        """State and reason are always written; the others only when given."""

    def remove(self, name: ProjectName) -> None:
        """Remove a project, its documents, cards and enrichment; engines hear of it through the outbox."""

    def counts(self, names: Sequence[ProjectName]) -> dict[ProjectName, ProjectCounts]:
        """Counts per project (one pass); projects without documents are there with zeros. `diverged` counts only what
        diverged from documents of these projects."""

    def types(self, names: Sequence[ProjectName]) -> dict[str, int]:
        """Document types in use (enrichment first, base layer else) with their counts."""

    def facets(self, names: Sequence[ProjectName]) -> dict[str, dict[str, int]]:
        """Values with counts of `locale`, `version`, `media_type` and `language`."""

    def languages(self, names: Sequence[ProjectName]) -> dict[str, int]:
        """ISO 639-1 languages of the documents with counts; cached cheaply, called with every search."""
