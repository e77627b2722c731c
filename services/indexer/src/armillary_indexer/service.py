"""The indexer's loops. Each survives its own failures; stopping is setting one event."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

import structlog

from armillary_core.bootstrap.container import Core
from armillary_core.domain.errors import AppError, BackendError, ProjectNotFoundError
from armillary_core.domain.job import Job, JobKind, ReindexMode
from armillary_core.domain.project import ProjectName, ProjectSettings, ProjectState
from armillary_core.ports.catalogue.outbox import Engine
from armillary_indexer.errors import is_worth_retrying, retry_delay
from armillary_indexer.jobs import JOBS

log = structlog.get_logger(__name__)

PULSE_SECONDS = 0.25  # how often one cheap look asks whether anything was written at all
IDLE_SECONDS = 30.0  # a loop looks by itself at least this often
LEASE_SECONDS = 10.0  # a job whose process died goes on this much later
MODEL_SECONDS = 5.0  # a model that was just fetched is noticed within this time
HEARTBEAT_SECONDS = 1.0
RESCAN_SECONDS = 600.0
COUNT_SECONDS = 60.0
FIRST_COUNT_SECONDS = 1.0  # until everything is told for the first time
TIDY_SECONDS = 900.0
ROOM_SECONDS = 5.0  # how soon room on a full disk is noticed
MAX_ATTEMPTS = 5  # a job that took its process down this often is given up


@dataclass(slots=True)
class _Doorbell:
    """Rings for whoever waits, or after a while by itself."""

    event: asyncio.Event

    def ring(self) -> None:
        self.event.set()

    async def wait(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self.event.wait(), seconds)
        except TimeoutError:
            return
        finally:
            self.event.clear()


class Indexer:
    """Scans, dispatches, embeds and counts for one catalogue."""

    def __init__(self, core: Core, stop: asyncio.Event) -> None:
        self._core = core
        self._stop = stop
        self._worker = f"{socket.gethostname()}:{os.getpid()}"
        self._bells = {name: _Doorbell(asyncio.Event()) for name in ("schedule", "work", "embed", *Engine)}
        self._next_scan: dict[ProjectName, float] = {}
        self._roots: dict[ProjectName, str] = {}
        self._is_full = False
        self._scanned_as: dict[ProjectName, tuple[int, str, ProjectSettings]] = {}

    async def run(self) -> None:
        """Until stopped; what runs then is finished or handed back to the ledger."""
        await asyncio.to_thread(self._core.catalogue.ingest.extraction_changed, self._core.extraction.fingerprint)
        loops: list[Callable[[], Awaitable[None]]] = [
            self._pulse,
            self._schedule,
            self._work,
            lambda: self._dispatch(Engine.CHUNKS),
            lambda: self._dispatch(Engine.CARDS),
            self._embed,
            self._count,
            self._watch,
        ]
        tasks = [asyncio.create_task(self._guard(loop)) for loop in loops]
        try:
            await self._stop.wait()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _guard(self, loop: Callable[[], Awaitable[None]]) -> None:
        """Run a loop for ever: a failure is logged once a row and the loop starts again after a pause."""
        attempt = 0
        while not self._stop.is_set():
            try:
                await loop()
                return
            except AppError as failed:
                if attempt == 0 or not is_worth_retrying(failed):
                    log.warning("indexer.loop_failed", loop=getattr(loop, "__name__", "dispatch"), error=failed.message)
            except Exception:
                log.exception("indexer.loop_crashed", loop=getattr(loop, "__name__", "dispatch"))
            await self._pause(retry_delay(attempt))
            attempt += 1

    async def _pulse(self) -> None:
        """Wake every loop when anybody, this process or another one, wrote to the catalogue."""
        last = -1
        while not self._stop.is_set():
            now = self._core.catalogue.changes()
            if now != last:
                last = now
                for bell in self._bells.values():
                    bell.ring()
            await self._pause(PULSE_SECONDS)

    async def _pause(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._stop.wait(), seconds)
        except TimeoutError:
            return

    # -- scanning --------------------------------------------------------------------------------------------------

    async def _schedule(self) -> None:
        """A scan at start, every ten minutes, and at once for a project that was just added or set otherwise."""
        catalogue = self._core.catalogue
        while not self._stop.is_set():
            projects = await asyncio.to_thread(catalogue.projects.all)
            self._roots = {project.name: project.root for project in projects}
            now = self._core.clock.monotonic()
            for project in projects:
                wanted = (project.id, project.root, project.settings)
                if now >= self._next_scan.get(project.name, 0.0) or self._scanned_as.get(project.name) != wanted:
                    self._scanned_as[project.name] = wanted
                    await self._ask_scan(project.name, "schedule")
            for name in self._next_scan.keys() - self._roots.keys():
                del self._next_scan[name]
            due = min(self._next_scan.values(), default=now + IDLE_SECONDS) - now
            await self._bells["schedule"].wait(min(max(due, 0.0), IDLE_SECONDS))

    async def _ask_scan(self, name: ProjectName, by: str) -> None:
        self._next_scan[name] = self._core.clock.monotonic() + RESCAN_SECONDS
        await asyncio.to_thread(
            self._core.catalogue.jobs.add, JobKind.SCAN, name, ReindexMode.UPDATE, at=self._core.clock.now(), by=by
        )

    async def _watch(self) -> None:
        async for names in self._core.watcher.changes(lambda: self._roots, stop=self._stop):
            for name in names:
                if name in self._roots:
                    await self._ask_scan(name, "watch")

    async def _work(self) -> None:
        """Claim and run one job at a time."""
        jobs = self._core.catalogue.jobs
        while not self._stop.is_set():
            if not await self._has_room():
                continue
            job = await asyncio.to_thread(
                jobs.claim, worker=self._worker, at=self._core.clock.now(), lease_seconds=LEASE_SECONDS
            )
            if job is None:
                await self._bells["work"].wait(LEASE_SECONDS / 2)
                continue
            if job.attempts > MAX_ATTEMPTS:
                words = f"given up: its process died {job.attempts - 1} times while it ran"
                await asyncio.to_thread(jobs.finish, job.id, at=self._core.clock.now(), error=words)
                continue
            await self._run_job(job)

    async def _has_room(self) -> bool:
        """Whether the disk has room; a while later when it has none, so that what is left stays for cards."""
        is_room = await asyncio.to_thread(self._core.has_room)
        if is_room == self._is_full:
            self._is_full = not is_room
            log.warning("disk.full" if self._is_full else "disk.has_room", data=str(self._core.settings.data))
        if not is_room:
            await self._pause(ROOM_SECONDS)
        return is_room

    async def _run_job(self, job: Job) -> None:
        jobs, clock = self._core.catalogue.jobs, self._core.clock
        counts = [0, 0]
        alive = True

        async def beat() -> None:
            nonlocal alive
            while alive:
                with suppress(BackendError):  # the job itself meets it as well
                    alive = await asyncio.to_thread(
                        jobs.heartbeat,
                        job.id,
                        worker=self._worker,
                        at=clock.now(),
                        done=counts[0],
                        total=counts[1],
                        lease_seconds=LEASE_SECONDS,
                    )
                await asyncio.sleep(HEARTBEAT_SECONDS)

        async def progress(done: int, total: int) -> bool:
            counts[:] = done, total
            return alive and not self._stop.is_set()

        heart = asyncio.create_task(beat())
        error: str | None = None
        result = None
        try:
            result = await JOBS[job.kind](self._core, job, progress)
        except ProjectNotFoundError:
            result = {"note": "the project was removed"}
        except AppError as failed:
            error = failed.message
            log.warning("job.failed", job_id=job.id, project=job.project, error=error)
        except Exception as crashed:
            error = f"unexpected {type(crashed).__name__}; the log has the details"
            log.exception("job.crashed", job_id=job.id, project=job.project)
        except asyncio.CancelledError:
            await self._hand_back(job)
            raise
        finally:
            heart.cancel()
        if self._stop.is_set() and result and result.get("cancelled"):
            await self._hand_back(job)
            return
        await asyncio.to_thread(jobs.finish, job.id, at=clock.now(), error=error, result=result)
        if error is not None:
            await asyncio.to_thread(
                self._core.catalogue.projects.set_state, job.project, ProjectState.UNREACHABLE, reason=error
            )
        elif result and any(result.get(key) for key in ("new", "changed", "removed", "failed", "moved")):
            log.info("project.scanned", job_id=job.id, **{key: result[key] for key in sorted(result)})

    async def _hand_back(self, job: Job) -> None:
        """Whoever works next need not wait for the lease to run out."""
        await asyncio.to_thread(self._core.catalogue.jobs.hand_back, job.id, worker=self._worker)

    # -- engines ---------------------------------------------------------------------------------------------------

    async def _dispatch(self, engine: Engine) -> None:
        """Keep one engine up to date; bigger pauses only while it is down."""
        attempt = 0
        while not self._stop.is_set():
            try:
                sent = await self._core.dispatcher.run_once(engine)
                if attempt:
                    log.info("engine.recovered", engine=engine)
                attempt = 0
            except AppError as failed:
                if attempt == 0:
                    log.warning("engine.unavailable", engine=engine, error=failed.message)
                await self._pause(retry_delay(attempt))
                attempt += 1
                continue
            if sent == 0:
                await self._bells[engine].wait(IDLE_SECONDS)

    async def _embed(self) -> None:
        """Vectors for whatever lacks them, whenever there is a model; words come first."""
        outbox = self._core.catalogue.outbox
        while not self._stop.is_set():
            if not await self._has_room():
                continue
            if await asyncio.to_thread(outbox.count, Engine.CHUNKS) == 0 and await self._core.embed_missing.run_once():
                continue
            await self._bells["embed"].wait(MODEL_SECONDS)

    async def _count(self) -> None:
        """When all is told, then every minute: is everything in the engines that the catalogue expects? What is short
        is sent again."""
        tidied = self._core.clock.monotonic()
        pause = FIRST_COUNT_SECONDS
        while not self._stop.is_set():
            await self._pause(pause)
            if self._stop.is_set():
                return
            if pause < COUNT_SECONDS and not await asyncio.to_thread(self._is_all_told):
                continue
            pause = COUNT_SECONDS
            for engine in await self._core.completeness.repair():
                log.warning("engine.resent", engine=engine)
            if self._core.clock.monotonic() - tidied > TIDY_SECONDS:
                await self._core.chunks.tidy()
                tidied = self._core.clock.monotonic()

    def _is_all_told(self) -> bool:
        catalogue = self._core.catalogue
        return not catalogue.jobs.active() and not any(catalogue.outbox.count(engine) for engine in Engine)


async def run_indexer(core: Core, *, stop: asyncio.Event) -> None:
    """Scan, dispatch, embed and count until `stop` is set."""
    await Indexer(core, stop).run()
