"""reindex: look at a project's files again."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Literal, NotRequired

import anyio
from anyio.to_thread import run_sync
from mcp.server.mcpserver import Context
from mcp.types import CallToolResult
from pydantic import Field
from typing_extensions import TypedDict

from armillary_core.domain.job import Job, JobState, ReindexMode
from armillary_core.domain.token import Caller, Right
from armillary_gateway.answers import answer, filled
from armillary_gateway.arguments import BLANK_IS_NONE, Project
from armillary_gateway.auth import current_caller
from armillary_gateway.gateway import Gateway, gateway_of
from armillary_gateway.tool import CLEARS, Tool

_LOOK_SECONDS = 0.2
_LISTED = 40
_ENDED = (JobState.DONE, JobState.FAILED, JobState.CANCELLED)


class JobAnswer(TypedDict):
    id: int
    project: str
    mode: str
    state: str
    done: int
    total: int
    error: NotRequired[str]
    result: NotRequired[dict[str, Any]]


class Jobs(TypedDict):
    jobs: list[JobAnswer]
    note: NotRequired[str]


async def reindex(
    ctx: Context[Gateway],
    project: Project = None,
    mode: Annotated[
        Literal["update", "clean", "rebuild"],
        Field(description="clean also drops cards of vanished files and confirms a held project; rebuild drops cards"),
    ] = "update",
    confirm: Annotated[
        str | None, BLANK_IS_NONE, Field(max_length=100, description="The project's name, for rebuild.")
    ] = None,
) -> Annotated[CallToolResult, Jobs]:
    """Index a project again, or all. Waits a little and reports progress; the job goes on by itself."""
    gateway, caller = gateway_of(ctx), current_caller()
    jobs = await run_sync(
        partial(gateway.reindex.request, caller, project=project, mode=ReindexMode(mode), confirm=confirm)
    )
    jobs = await _watch(ctx, gateway, caller, jobs)
    return _rendered(jobs)


async def _watch(ctx: Context[Gateway], gateway: Gateway, caller: Caller, jobs: list[Job]) -> list[Job]:
    """The jobs as they are when all have ended or patience has."""
    with anyio.move_on_after(gateway.policy.reindex_wait_seconds):
        reported = -1
        while not all(job.state in _ENDED for job in jobs):
            await anyio.sleep(_LOOK_SECONDS)
            jobs = await run_sync(_look, gateway, caller, jobs)
            done, total = sum(job.done for job in jobs), sum(job.total for job in jobs)
            if done > reported:
                reported = done
                await ctx.report_progress(done, total or None, f"{done} of {total or '?'} files")
    return jobs


def _look(gateway: Gateway, caller: Caller, jobs: list[Job]) -> list[Job]:
    return [gateway.reindex.job(job.id, caller) for job in jobs]


def _rendered(jobs: list[Job]) -> CallToolResult:
    jobs = sorted(jobs, key=lambda job: job.state in _ENDED)
    listed = [
        {
            "id": job.id,
            "project": str(job.project),
            "mode": str(job.mode),
            "state": str(job.state),
            "done": job.done,
            "total": job.total,
            **filled(error=(job.error or "")[:300], result=job.result),
        }
        for job in jobs[:_LISTED]
    ]
    rest = len(jobs) - len(listed)
    note = f"{rest} further jobs are not listed; get_cosmos shows every project's state." if rest else ""
    lines = [_line(job) for job in jobs[:_LISTED]] + ([note] if note else [])
    return answer("\n".join(lines), {"jobs": listed, **filled(note=note)})


def _line(job: Job) -> str:
    line = f"job {job.id}: {job.mode} of {job.project} is {job.state}, {job.done} of {job.total} files"
    if job.error:
        line += f"; {job.error[:300]}"
    if job.result:
        line += "; " + ", ".join(f"{name} {count}" for name, count in job.result.items())
    return line


TOOL = Tool(reindex, Right.MANAGE, "Reindex", CLEARS)
