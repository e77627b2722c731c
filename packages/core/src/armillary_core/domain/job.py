"""A job: long work with a state that survives a restart."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from armillary_core.domain.project import ProjectName


class JobKind(StrEnum):
    SCAN = "scan"


class ReindexMode(StrEnum):
    UPDATE = "update"
    CLEAN = "clean"
    REBUILD = "rebuild"


class JobState(StrEnum):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Job:
    id: int
    kind: JobKind
    project: ProjectName
    mode: ReindexMode
    state: JobState
    done: int
    total: int
    attempts: int
    error: str | None
    created_at: float
    started_at: float | None
    finished_at: float | None
    result: dict[str, object] | None = None  # the counters of a scan
    asked_by: str = ""
