"""What one scan found out."""

from __future__ import annotations

from dataclasses import dataclass, field

from armillary_core.domain.ingest import Skipped
from armillary_core.domain.project import ProjectState


@dataclass(slots=True)
class ScanResult:
    """The counters of one scan, as shown by `reindex` and the jobs list."""

    project: str
    mode: str
    state: str = ProjectState.OK
    reason: str | None = None
    listing: str | None = None
    scanned: int = 0
    new: int = 0
    changed: int = 0
    touched: int = 0
    unchanged: int = 0
    removed: int = 0
    failed: int = 0
    skipped: int = 0
    dropped_desync: int = 0
    reset_enrichment: int = 0
    moved: list[dict[str, str]] = field(default_factory=list)
    ambiguous_moves: list[dict[str, list[str]]] = field(default_factory=list)
    new_divergences: list[str] = field(default_factory=list)
    backup: str | None = None
    cancelled: bool = False
    duration_ms: int = 0

    def counters(self) -> dict[str, object]:
        """Everything that is not zero, empty or None."""
        return {
            name: value
            for name in self.__dataclass_fields__
            if (value := getattr(self, name)) or name in ("scanned", "unchanged")
        }


@dataclass(slots=True)
class Reading:
    """What reading the changed files of one scan found out."""

    appeared: dict[int, str | None] = field(default_factory=dict)  # new pk → content hash
    altered: dict[int, tuple[str, str]] = field(default_factory=dict)  # pk → (hash at the last conclusion, hash now)
    vanished: list[Skipped] = field(default_factory=list)
