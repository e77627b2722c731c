"""The status page: projects, engines, the model, jobs, what failed and what was skipped."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from armillary_core.domain.job import Job
from armillary_core.usecases.health import EngineHealth, HealthReport, ProjectHealth
from armillary_web.dependencies import CurrentCaller, HealthUse, Refusals, RefusalsUse, Render

router = APIRouter()

_SKIP_WORDS = {
    "gitignore": "left out by an ignore file",
    "junk_dir": "in a well-known junk folder",
    "ignore_dirs": "in a folder the settings leave out",
    "ignore_files": "named as the settings leave out",
    "not_included": "matched by no include pattern",
    "hidden": "hidden",
    "secret": "a secret by its name",
    "too_large": "too large",
    "symlink_outside": "a link out of the project",
    "symlink_inside": "a link to another document",
    "symlink_broken": "a broken link",
    "symlink_loop": "a link in a loop",
    "not_a_file": "no ordinary file",
    "linked_worktree": "a linked worktree",
    "unreadable": "unreadable",
    "vanished": "listed, but gone",
}
_LEGS = {"cards": "names", "chunks": "words"}
_UNITS = ((1024**3, "GB"), (1024**2, "MB"), (1024, "kB"))


@dataclass(frozen=True, slots=True)
class ProjectRow:
    name: str
    state: str
    is_well: bool
    reason: str
    documents: int
    cards: str
    waiting: int
    last_scan: str
    listing: str
    skipped: tuple[tuple[str, int], ...]
    skipped_total: int
    failed: tuple[tuple[str, str], ...]
    failed_total: int


@dataclass(frozen=True, slots=True)
class LegRow:
    name: str
    state: str
    is_well: bool
    present: int | None
    expected: int | None
    detail: str


@dataclass(frozen=True, slots=True)
class JobRow:
    id: int
    project: str
    what: str
    state: str
    done: int
    total: int
    error: str


@dataclass(frozen=True, slots=True)
class RefusalRow:
    at: str
    header: str
    value: str


@dataclass(frozen=True, slots=True)
class StatusView:
    title: str
    at: str
    problems: tuple[str, ...]
    projects: tuple[ProjectRow, ...]
    legs: tuple[LegRow, ...]
    jobs: tuple[JobRow, ...]
    versions: tuple[tuple[str, str], ...]
    disk: tuple[tuple[str, str], ...]
    refused_count: int
    refused: tuple[RefusalRow, ...]
    caller: str
    rights: str


@router.get("/")
@router.get("/status")
def status_page(caller: CurrentCaller, health: HealthUse, refusals: RefusalsUse, render: Render) -> HTMLResponse:
    report = health.report(caller)
    view = _view(report, refusals, caller=caller.name, rights=", ".join(sorted(caller.rights)))
    return render("status/page.html", view)


def _view(report: HealthReport, refusals: Refusals, *, caller: str, rights: str) -> StatusView:
    jobs = {job.id: job for job in (*report.active_jobs, *report.recent_jobs)}
    model = report.model
    meaning = LegRow(
        name="meaning",
        state=model.state,
        is_well=model.state == "ready" and not model.missing,
        present=model.present,
        expected=model.expected,
        detail=model.reason or model.name,
    )
    return StatusView(
        title="Status",
        at=_moment(report.at),
        problems=report.problems,
        projects=tuple(map(_project, report.projects)),
        legs=(*map(_leg, report.engines), meaning),
        jobs=tuple(_job(jobs[number]) for number in sorted(jobs, reverse=True)[:20]),
        versions=tuple(report.versions.items()),
        disk=_disk(report),
        refused_count=refusals.count,
        refused=tuple(
            RefusalRow(_moment(name.at), name.header, name.value or "(empty)") for name in refusals.recent()[:10]
        ),
        caller=caller,
        rights=rights,
    )


def _project(project: ProjectHealth) -> ProjectRow:
    counts = project.counts
    cards = {"enriched": counts.enriched, "stale": counts.stale, "empty": counts.empty, "diverged": counts.diverged}
    cards["desync"] = counts.desync
    skipped = sorted(project.skipped.items(), key=lambda item: (-item[1], item[0]))
    return ProjectRow(
        name=project.name + (" (private)" if project.private else ""),
        state=str(project.state),
        is_well=project.state in ("ok", "scanning", "new"),
        reason=project.reason or "",
        documents=counts.documents,
        cards=", ".join(f"{count} {name}" for name, count in cards.items() if count),
        waiting=project.waiting,
        last_scan=_moment(project.last_good_scan) if project.last_good_scan else "never",
        listing=" · ".join(part for part in (str(project.listing or ""), project.watch) if part),
        skipped=tuple((_SKIP_WORDS.get(rule, rule), count) for rule, count in skipped),
        skipped_total=sum(project.skipped.values()),
        failed=tuple((document.id, document.reason) for document in project.failed),
        failed_total=counts.failed,
    )


def _leg(engine: EngineHealth) -> LegRow:
    details = [f"{engine.waiting} documents waiting" if engine.waiting else ""]
    details += [f"{document.id} refused: {document.reason}" for document in engine.given_up[:5]]
    return LegRow(
        name=_LEGS.get(engine.engine, str(engine.engine)),
        state=engine.state,
        is_well=engine.state == "ok",
        present=engine.present,
        expected=engine.expected,
        detail="; ".join(detail for detail in details if detail),
    )


def _job(job: Job) -> JobRow:
    return JobRow(
        id=job.id,
        project=job.project,
        what=f"{job.kind} ({job.mode})",
        state=str(job.state),
        done=job.done,
        total=job.total,
        error=job.error or "",
    )


def _disk(report: HealthReport) -> tuple[tuple[str, str], ...]:
    disk = report.disk
    if disk is None:
        return ()
    rows = [
        ("catalogue", _bytes(disk.catalogue_bytes)),
        ("engines", _bytes(disk.engines_bytes)),
        ("models", _bytes(disk.models_bytes)),
    ]
    if disk.free_bytes is not None:
        rows.append(("free", _bytes(disk.free_bytes)))
    return tuple(rows)


def _moment(at: float) -> str:
    return datetime.datetime.fromtimestamp(at, datetime.UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _bytes(count: int) -> str:
    for size, unit in _UNITS:
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} B"
