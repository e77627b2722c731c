"""The job ledger."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from typing_extensions import override

from armillary_core.adapters.catalogue.sqlite.codec import clean, clean_or_none, pack_json
from armillary_core.adapters.catalogue.sqlite.connection import Database
from armillary_core.domain.job import Job, JobKind, JobState, ReindexMode
from armillary_core.domain.project import ProjectName
from armillary_core.ports.catalogue.jobs import JobLedger

_JOBS = (
    "SELECT id, kind, project, mode, state, done, total, attempts, error, created_at, started_at, finished_at, "
    "result, asked_by FROM job"
)
_LEASE_SECONDS = 30.0
_KEPT = 2000  # older finished jobs are forgotten
# A job whose lease ran out comes before a waiting one, so that a project never has two that run. A lease that ends
# later than any could is from a clock that was set back since.
_CLAIMABLE = (
    "SELECT id FROM job j WHERE (state = 'running' AND (lease_until < ? OR lease_until > ?)) OR "
    "(state = 'waiting' AND NOT EXISTS "
    "(SELECT 1 FROM job other WHERE other.state = 'running' AND other.project = j.project)) "
    "ORDER BY state = 'waiting', id LIMIT 1"
)


class SqliteJobs(JobLedger):
    def __init__(self, database: Database) -> None:
        self._database = database

    @override
    def add(
        self,
        kind: JobKind,
        project: ProjectName,
        mode: ReindexMode = ReindexMode.UPDATE,
        *,
        at: float,
        by: str = "",
    ) -> Job:
        with self._database.write() as connection:
            row = connection.execute(
                f"{_JOBS} WHERE state = 'waiting' AND kind = ? AND project = ? AND mode = ? ORDER BY id LIMIT 1",
                (kind.value, project, mode.value),
            ).fetchone()
            if row is None:
                number = connection.execute(
                    "INSERT INTO job (kind, project, mode, state, created_at, asked_by) "
                    "VALUES (?, ?, ?, 'waiting', ?, ?)",
                    (kind.value, project, mode.value, at, clean(by)),
                ).lastrowid
                connection.execute(
                    "DELETE FROM job WHERE id <= ? - ? AND state NOT IN ('waiting', 'running')", (number, _KEPT)
                )
                row = connection.execute(f"{_JOBS} WHERE id = ?", (number,)).fetchone()
            return _job_of(row)

    @override
    def claim(self, *, worker: str, at: float, lease_seconds: float = _LEASE_SECONDS) -> Job | None:
        bounds = (at, at + 2 * max(lease_seconds, _LEASE_SECONDS))
        with self._database.read() as connection:  # asked every second: no write lock for a no
            if connection.execute(_CLAIMABLE, bounds).fetchone() is None:
                return None
        with self._database.write() as connection:
            row = connection.execute(_CLAIMABLE, bounds).fetchone()
            if row is None:
                return None
            connection.execute(
                "UPDATE job SET state = 'running', worker = ?, lease_until = ?, attempts = attempts + 1, "
                "started_at = coalesce(started_at, ?) WHERE id = ?",
                (worker, at + lease_seconds, at, row[0]),
            )
            return _job_of(connection.execute(f"{_JOBS} WHERE id = ?", row).fetchone())

    @override
    def heartbeat(
        self, job_id: int, *, worker: str, at: float, done: int, total: int, lease_seconds: float = _LEASE_SECONDS
    ) -> bool:
        with self._database.write() as connection:
            return (
                connection.execute(
                    "UPDATE job SET lease_until = ?, done = ?, total = ? "
                    "WHERE id = ? AND worker = ? AND state = 'running'",
                    (at + lease_seconds, done, total, job_id, worker),
                ).rowcount
                == 1
            )

    @override
    def hand_back(self, job_id: int, *, worker: str) -> None:
        with self._database.write() as connection:
            connection.execute(
                "UPDATE job SET lease_until = 0, attempts = attempts - 1, done = 0, total = 0 "
                "WHERE id = ? AND worker = ? AND state = 'running'",
                (job_id, worker),
            )

    @override
    def finish(
        self, job_id: int, *, at: float, error: str | None = None, result: Mapping[str, object] | None = None
    ) -> None:
        state = JobState.DONE if error is None else JobState.FAILED
        with self._database.write() as connection:
            connection.execute(
                "UPDATE job SET state = ?, finished_at = ?, error = ?, result = ?, worker = NULL, lease_until = NULL "
                "WHERE id = ? AND state IN ('waiting', 'running')",
                (
                    state.value,
                    at,
                    clean_or_none(error),
                    pack_json(dict(result)) if result is not None else None,
                    job_id,
                ),
            )

    @override
    def cancel(self, job_id: int, *, at: float) -> bool:
        with self._database.write() as connection:
            return (
                connection.execute(
                    "UPDATE job SET state = 'cancelled', finished_at = ?, worker = NULL, lease_until = NULL "
                    "WHERE id = ? AND state IN ('waiting', 'running')",
                    (at, job_id),
                ).rowcount
                == 1
            )

    @override
    def get(self, job_id: int) -> Job | None:
        found = self._select("WHERE id = ?", job_id)
        return found[0] if found else None

    @override
    def recent(self, *, limit: int = 20) -> list[Job]:
        return self._select("ORDER BY id DESC LIMIT ?", limit)

    @override
    def active(self) -> list[Job]:
        return self._select("WHERE state IN ('waiting', 'running') ORDER BY id")

    def _select(self, rest: str, *parameters: int) -> list[Job]:
        with self._database.read() as connection:
            return [_job_of(row) for row in connection.execute(f"{_JOBS} {rest}", parameters)]


def _job_of(row: tuple[Any, ...]) -> Job:
    return Job(
        id=row[0],
        kind=JobKind(row[1]),
        project=ProjectName(row[2]),
        mode=ReindexMode(row[3]),
        state=JobState(row[4]),
        done=row[5],
        total=row[6],
        attempts=row[7],
        error=row[8],
        created_at=row[9],
        started_at=row[10],
        finished_at=row[11],
        result=json.loads(row[12]) if row[12] is not None else None,
        asked_by=row[13],
    )
