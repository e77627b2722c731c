"""Asking for a project to be indexed again."""

from __future__ import annotations

from collections.abc import Callable

from armillary_core.domain.errors import (
    AccessDeniedError,
    InvalidRequestError,
    NotFoundError,
    ProjectNotFoundError,
    ReindexRunningError,
)
from armillary_core.domain.job import Job, JobKind, JobState, ReindexMode
from armillary_core.domain.project import ProjectName
from armillary_core.domain.token import Caller, Right
from armillary_core.ports.catalogue import Catalogue
from armillary_core.ports.clock import Clock
from armillary_core.usecases.resolve import Resolve


class Reindex:
    """`update` looks for changes; `clean` also drops cards of vanished files and confirms a held project; `rebuild`
    also resets enrichment, for one project whose name is repeated."""

    def __init__(self, catalogue: Catalogue, clock: Clock, *, added: Callable[[], None] | None = None) -> None:
        """`added` is told of every new job, so that a worker need not wait for its next look."""
        self._catalogue = catalogue
        self._clock = clock
        self._added = added or (lambda: None)
        self._resolve = Resolve(catalogue)

    def request(
        self,
        caller: Caller,
        *,
        project: str | None = None,
        mode: ReindexMode = ReindexMode.UPDATE,
        confirm: str | None = None,
    ) -> list[Job]:
        """One job a project, in the ledger when this returns. Raises InvalidRequestError when a rebuild is not
        confirmed, ProjectNotFoundError, ReindexRunningError, AccessDeniedError."""
        _require_manage(caller)
        if mode is ReindexMode.REBUILD:
            if project is None:
                raise InvalidRequestError("rebuild works on one project at a time: name it in project and in confirm.")
            name = self._resolve.project(project, caller).name
            if confirm != name:
                raise InvalidRequestError(
                    f'rebuild drops all enrichment of "{name}" (a backup is written first). '
                    f'Call again with confirm="{name}" to do it.'
                )
        names = self._resolve.names(caller, project)
        if not names:
            raise ProjectNotFoundError("There is no project yet.")
        if mode is not ReindexMode.UPDATE:
            self._refuse_second(names, mode)
        at = self._clock.now()
        jobs = [self._catalogue.jobs.add(JobKind.SCAN, name, mode, at=at, by=caller.name) for name in names]
        self._added()
        return jobs

    def job(self, job_id: int, caller: Caller) -> Job:
        """One job as it is now. Raises NotFoundError."""
        job = self._catalogue.jobs.get(job_id)
        if job is None or job.project not in self._resolve.names(caller):
            raise NotFoundError(f"No job {job_id}.")
        return job

    def _refuse_second(self, names: tuple[ProjectName, ...], mode: ReindexMode) -> None:
        for job in self._catalogue.jobs.active():
            if job.project in names and job.mode is mode and job.state is JobState.RUNNING:
                raise ReindexRunningError(
                    f'A {mode} of "{job.project}" is running (job {job.id}, {job.done} of {job.total}). '
                    "Wait for it to end."
                )


def _require_manage(caller: Caller) -> None:
    if not caller.may(Right.MANAGE):
        raise AccessDeniedError("Reindexing needs the right to manage, which this token does not have.")
