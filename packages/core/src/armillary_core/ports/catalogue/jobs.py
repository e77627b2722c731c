"""The job ledger. A job is claimed under a lease that its worker renews; a job whose lease ran out is claimed again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from armillary_core.domain.job import Job, JobKind, ReindexMode
from armillary_core.domain.project import ProjectName


class JobLedger(Protocol):
    def add(
        self,
        kind: JobKind,
        project: ProjectName,
        mode: ReindexMode = ReindexMode.UPDATE,
        *,
        at: float,
        by: str = "",
    ) -> Job:
        """Add a job, or return the waiting one of the same kind, project and mode (a running one does not count)."""

    def claim(self, *, worker: str, at: float, lease_seconds: float = 30) -> Job | None:
        """The oldest waiting job, or a running one whose lease ran out, now running; never two of one project."""

    def heartbeat(
        self, job_id: int, *, worker: str, at: float, done: int, total: int, lease_seconds: float = 30
    ) -> bool:
        """Renew the lease and write progress; False when the job was cancelled or taken by another worker."""

    def hand_back(self, job_id: int, *, worker: str) -> None:
        """A worker that stops in good order gives its job back: the next `claim` may have it at once, and it does
        not count as an attempt."""

    def finish(
        self, job_id: int, *, at: float, error: str | None = None, result: Mapping[str, object] | None = None
    ) -> None: ...

    def cancel(self, job_id: int, *, at: float) -> bool: ...

    def get(self, job_id: int) -> Job | None: ...

    def recent(self, *, limit: int = 20) -> list[Job]:
        """Newest first."""

    def active(self) -> list[Job]:
        """Waiting and running."""
