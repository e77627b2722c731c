"""What `armillary up` tells the person in front of it: bars at a terminal, plain lines elsewhere."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from armillary_cli.console import bold, command_name, data_option, dim, is_terminal, say, size, tilde
from armillary_core.domain.job import Job, JobState
from armillary_core.domain.project import Project, ProjectState
from armillary_core.ports.catalogue.outbox import Engine

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from armillary_core.bootstrap.container import Core

LIVELY_SECONDS = 0.2
CALM_SECONDS = 2.0
LINE_SECONDS = 5.0  # between two plain lines about one thing


@dataclass(slots=True)
class Bars:
    """Progress of several things at once."""

    _progress: Progress | None = None
    _tasks: dict[str, TaskID] = field(default_factory=dict)
    _said: dict[str, tuple[float, float]] = field(default_factory=dict)  # when, and how much was done then

    def update(self, what: str, done: int, total: int, *, unit: str = "") -> None:
        if is_terminal():
            self._draw(what, done, total)
        elif self._is_worth_a_line(what, done, total):
            figures = f"{size(done)} of {size(total)}" if unit == "bytes" else f"{done:,} of {total:,}"
            say(f"  {what}: {figures}")

    def _is_worth_a_line(self, what: str, done: int, total: int) -> bool:
        """Some seconds after it began, and after every further tenth."""
        now = time.monotonic()
        then, share = self._said.setdefault(what, (now, 0.0))
        if not 0 < done < total or now - then < LINE_SECONDS or done / total - share < 0.1:
            return False
        self._said[what] = (now, done / total)
        return True

    def finish(self, what: str) -> None:
        self._said.pop(what, None)
        task = self._tasks.pop(what, None)
        if self._progress is not None and task is not None:
            self._progress.remove_task(task)
            if not self._tasks:
                self._progress.stop()
                self._progress = None

    def close(self) -> None:
        for what in list(self._tasks):
            self.finish(what)

    def _draw(self, what: str, done: int, total: int) -> None:
        if self._progress is None:
            from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

            self._progress = Progress(
                TextColumn("  {task.description}"),
                BarColumn(),
                TaskProgressColumn(),
                TimeRemainingColumn(),
                transient=True,
                refresh_per_second=5,
            )
            self._progress.start()
        if what not in self._tasks:
            self._tasks[what] = self._progress.add_task(what, total=total)
        self._progress.update(self._tasks[what], completed=done, total=total)


class Reporter:
    """Follows the catalogue and says what happens."""

    def __init__(self, *, url: str, data: Path) -> None:
        self._url = url
        self._data = data
        self._started = time.monotonic()
        self._bars = Bars()
        self._said_jobs: set[int] = set()
        self._waiting: set[str] = set()
        self._is_ready = False
        self._meaning_total = 0
        self._said_meaning = False

    def listening(self, projects: tuple[Project, ...], added: frozenset[str]) -> None:
        from importlib.metadata import version

        self._waiting = {project.name for project in projects}
        say(
            bold(f"Armillary {version('armillary-cli')}")
            + f" is listening on {bold(self._url)}  (MCP: {self._url}/mcp)"
        )
        for project in projects:
            is_new = "  new" if project.name in added else ""
            say(f"  {project.name:<20} {tilde(project.root)}{dim(is_new)}")
        where = f"data in {tilde(self._data)}; nothing is written into your folders"
        say(dim(f"  {where}. Ctrl-C stops it, nothing is lost."))

    def model_progress(self, done: int, total: int) -> None:
        self._bars.update("fetching the embedding model", done, total, unit="bytes")

    def model_settled(self, reason: str | None, *, fetched: bool) -> None:
        self._bars.finish("fetching the embedding model")
        if reason is not None:
            say(f"Search by meaning is unavailable: {reason}")
        elif fetched:
            say(f"The embedding model is here ({self._elapsed()}). Vectors are made in the background.")

    async def follow(self, core: Core, stop: asyncio.Event) -> None:
        """Until stopped. Reads the catalogue only."""
        first = await asyncio.to_thread(core.catalogue.jobs.recent, limit=1)
        newest = first[0].id if first else 0
        self._said_jobs = {job.id for job in first if job.state not in (JobState.WAITING, JobState.RUNNING)}
        while not stop.is_set():
            active = await asyncio.to_thread(self._look, core, newest)
            if self._is_ready and not self._said_meaning:
                active = await self._meaning(core) or active
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), LIVELY_SECONDS if active else CALM_SECONDS)
        self._bars.close()

    def _look(self, core: Core, newest: int) -> bool:
        """One look; whether something is going on."""
        jobs = core.catalogue.jobs
        active = jobs.active()
        for job in active:
            if job.state is JobState.RUNNING and job.total:
                self._bars.update(f"reading {job.project}", job.done, job.total)
        for job in reversed(jobs.recent(limit=20)):
            if job.id >= newest and job.finished_at is not None and job.id not in self._said_jobs:
                self._said_jobs.add(job.id)
                self._scanned(core, job)
        waiting = sum(core.catalogue.outbox.count(engine) for engine in Engine)
        if not self._is_ready:
            if not self._waiting and not waiting:
                self._is_ready = True
                self._ready(core)
            return True
        return bool(active) or waiting > 0

    def _scanned(self, core: Core, job: Job) -> None:
        self._bars.finish(f"reading {job.project}")
        is_first = job.project in self._waiting
        self._waiting.discard(job.project)
        project = core.catalogue.projects.get(job.project)
        if project is None:
            return
        if job.error is not None:
            say(f"{job.project}: failed: {job.error}")
        elif project.state in (ProjectState.HELD, ProjectState.UNREACHABLE):
            say(f"{job.project}: {project.state}: {project.state_reason or ''}".rstrip(": "))
        elif is_first or _changes(job.result or {}):
            say(f"{job.project}: {scan_words(job.result or {})}")

    def _ready(self, core: Core) -> None:
        names = [project.name for project in core.catalogue.projects.all()]
        counts = core.catalogue.projects.counts(names).values()
        documents = sum(count.documents - count.desync for count in counts)
        say(bold(f"Ready in {self._elapsed()}: ") + f"{documents:,} documents can be searched.")
        name, option = command_name(), data_option(self._data)
        if documents == 0:
            say(f"  No document was found. Why: {name} why PATH{option}")
        say(f"  Next: {name} connect claude-code{option}     (or codex, cursor, vscode, gemini, claude-desktop)")
        say(f'        {name} search "how do we rotate the backup keys?"{option}')

    async def _meaning(self, core: Core) -> bool:
        """Whether vectors are being made."""
        missing = await core.embed_missing.remaining()
        if missing is None:
            return False
        self._meaning_total = max(self._meaning_total, missing)
        if missing:
            self._bars.update("making vectors", self._meaning_total - missing, self._meaning_total)
            return True
        self._bars.finish("making vectors")
        self._said_meaning = True
        if self._meaning_total:
            say(f"Search by meaning is complete ({self._elapsed()}).")
        return False

    def _elapsed(self) -> str:
        return f"{time.monotonic() - self._started:.1f} s"


def scan_words(result: Mapping[str, object]) -> str:
    """The counters of a scan in one line."""
    names = {
        "new": "new",
        "changed": "changed",
        "removed": "gone",
        "failed": "unreadable",
        "skipped": "left out",
    }
    parts = [
        f"{result[key]:,} {word}" for key, word in names.items() if isinstance(result.get(key), int) and result[key]
    ]
    if moved := result.get("moved"):
        parts.append(f"{len(moved)} moved" if isinstance(moved, list) else "moved")
    listed = {"git": "listed by git", "walk": "listed by walking"}.get(str(result.get("listing", "")))
    took = result.get("duration_ms")
    seconds = f" in {took / 1000:.1f} s" if isinstance(took, int) else ""
    found = result.get("scanned", 0)
    details = ", ".join([*parts, *([listed] if listed else [])])
    return f"{found:,} files{seconds}" + (f" ({details})" if details else "")


def _changes(result: Mapping[str, object]) -> bool:
    return any(result.get(key) for key in ("new", "changed", "removed", "failed", "moved", "new_divergences"))
