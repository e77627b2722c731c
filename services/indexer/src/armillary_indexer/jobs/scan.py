"""Scan one project: the work behind starts, watch events, rescans and every reindex mode."""

from __future__ import annotations

from collections.abc import Mapping

from armillary_core.bootstrap.container import Core
from armillary_core.domain.job import Job
from armillary_core.usecases.ingest import Progress


async def run(core: Core, job: Job, progress: Progress) -> Mapping[str, object]:
    result = await core.scan(job.project, job.mode, progress=progress)
    return result.counters()
