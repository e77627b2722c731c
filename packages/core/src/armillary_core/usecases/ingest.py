"""One scan of one project: look, read what changed, store it, then conclude what is gone, moved or diverged."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from armillary_core.domain.document import FileStamp
from armillary_core.domain.errors import ProjectNotFoundError
from armillary_core.domain.ingest import (
    ExtractionOutcome,
    Failed,
    FoundFile,
    Listing,
    RootUnavailable,
    Skipped,
    SkipRule,
)
from armillary_core.domain.job import ReindexMode
from armillary_core.domain.project import Project, ProjectName, ProjectState
from armillary_core.ports.catalogue import Catalogue
from armillary_core.ports.catalogue.ingest import Known
from armillary_core.ports.clock import Clock
from armillary_core.ports.extraction import Extracted, Extraction, ExtractionTask, Unchanged
from armillary_core.ports.source import Source
from armillary_core.usecases import lifecycle
from armillary_core.usecases.conclude import Conclude
from armillary_core.usecases.scan_result import Reading, ScanResult

__all__ = ["Progress", "ScanPolicy", "ScanProject", "ScanResult"]

Progress = Callable[[int, int], Awaitable[bool]]  # done, total → False when the job was cancelled


@dataclass(frozen=True, slots=True)
class ScanPolicy:
    verify_seconds: float = 24 * 3600.0  # bytes of a file are hashed at least this often whatever its stamp says
    backup_folder: str | None = None  # where `rebuild` puts its copy of the catalogue


class ScanProject:
    """Scan one project. Never deletes after a failed or suspiciously empty look."""

    def __init__(
        self,
        catalogue: Catalogue,
        source: Source,
        extraction: Extraction,
        clock: Clock,
        policy: ScanPolicy | None = None,
    ) -> None:
        self._catalogue = catalogue
        self._source = source
        self._extraction = extraction
        self._clock = clock
        self._policy = policy or ScanPolicy()
        self._conclude = Conclude(catalogue, clock)

    async def __call__(self, name: ProjectName, mode: ReindexMode, *, progress: Progress) -> ScanResult:
        """Raises ProjectNotFoundError when the project was removed meanwhile."""
        started = self._clock.monotonic()
        result = ScanResult(project=name, mode=mode)
        project = await asyncio.to_thread(self._catalogue.projects.get, name)
        if project is None:
            raise ProjectNotFoundError(f"No project {name!r}.")
        listing = await asyncio.to_thread(self._source.list, project)
        if isinstance(listing, RootUnavailable):
            await asyncio.to_thread(
                self._catalogue.projects.set_state, name, ProjectState.UNREACHABLE, reason=listing.reason
            )
            result.state, result.reason = ProjectState.UNREACHABLE, listing.reason
        else:
            await self._scan(project, listing, mode, progress, result)
        result.duration_ms = round((self._clock.monotonic() - started) * 1000)
        return result

    async def _scan(
        self, project: Project, listing: Listing, mode: ReindexMode, progress: Progress, result: ScanResult
    ) -> None:
        ingest = self._catalogue.ingest
        if mode is ReindexMode.REBUILD:
            await asyncio.to_thread(self._begin_rebuild, project, result)
        known = await asyncio.to_thread(ingest.known, project.name)
        verify_before = self._clock.now() - self._policy.verify_seconds
        difference = await asyncio.to_thread(lifecycle.compare, known, listing.files, verify_before=verify_before)
        result.listing = listing.way
        result.scanned, result.unchanged = len(listing.files), difference.unchanged
        reading = await self._read(project, difference, progress, result)
        if result.cancelled:
            result.state = project.state
            await asyncio.to_thread(
                self._catalogue.projects.set_state, project.name, project.state, reason=project.state_reason
            )
            return
        await asyncio.to_thread(self._conclude, project, listing, mode, known, difference, reading, result)

    def _begin_rebuild(self, project: Project, result: ScanResult) -> None:
        if self._policy.backup_folder is not None:
            target = _free_name(
                Path(self._policy.backup_folder), f"before-rebuild-{project.name}-{int(self._clock.now())}"
            )
            self._catalogue.backup(str(target))
            result.backup = str(target)
        result.reset_enrichment = self._catalogue.ingest.reset_enrichment(project.name)
        self._catalogue.ingest.mark_pending(project.name)

    # -- reading ---------------------------------------------------------------------------------------------------

    async def _read(
        self, project: Project, difference: lifecycle.Difference, progress: Progress, result: ScanResult
    ) -> Reading:
        reading = Reading()
        rows = {row.path: row for row, _ in difference.changed}
        files: list[FoundFile] = [*difference.new, *(file for _, file in difference.changed)]
        if not files:
            return reading
        if project.state is ProjectState.NEW:
            await asyncio.to_thread(self._catalogue.projects.set_state, project.name, ProjectState.SCANNING)
        stamps = {file.path: file.stamp for file in files}
        files.sort(key=lambda file: (file.stamp.size > 1_000_000, file.path))  # the big ones last
        tasks = [ExtractionTask(project.root, file.path, self._known_hash(rows.get(file.path))) for file in files]
        done, total = 0, len(tasks)
        await progress(done, total)
        async with aclosing(self._extraction.run(tasks)) as batches:
            async for batch in batches:
                await asyncio.to_thread(self._store, project, batch, rows, stamps, reading, result)
                done += len(batch)
                if not await progress(done, total):
                    result.cancelled = True
                    break
        return reading

    @staticmethod
    def _known_hash(row: Known | None) -> str | None:
        return row.content_hash if row is not None and row.present and not row.pending else None

    def _store(
        self,
        project: Project,
        batch: Sequence[Extracted],
        rows: dict[bytes, Known],
        stamps: dict[bytes, FileStamp],
        reading: Reading,
        result: ScanResult,
    ) -> None:
        touched: list[tuple[int, FileStamp]] = []
        stored: list[tuple[bytes, FileStamp, ExtractionOutcome]] = []
        for item in batch:
            path = item.task.path
            if isinstance(item.outcome, Unchanged):
                touched.append((rows[path].pk, item.outcome.stamp))
                result.touched += 1
                continue
            if item.stamp is None and path not in rows and isinstance(item.outcome, Failed) and item.outcome.retryable:
                reading.vanished.append(Skipped(path, SkipRule.VANISHED, item.outcome.reason))
                continue
            stored.append((path, item.stamp or stamps[path], item.outcome))
        if touched:
            self._catalogue.ingest.touch(project.name, touched, verified_at=self._clock.now())
        if not stored:
            return
        pks = self._catalogue.ingest.store(project.name, stored)
        for pk, (path, _, outcome) in zip(pks, stored, strict=True):
            if isinstance(outcome, Failed):
                result.failed += 1
            row = rows.get(path)
            if row is None:
                result.new += 1
                reading.appeared[pk] = outcome.content_hash
            else:
                result.changed += 1
                before = row.hash_before or row.content_hash
                if row.present and before and outcome.content_hash:
                    reading.altered[pk] = (before, outcome.content_hash)


def _free_name(folder: Path, stem: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    names = (f"{stem}.sqlite3" if number == 1 else f"{stem}-{number}.sqlite3" for number in count(1))
    return next(path for name in names if not (path := folder / name).exists())
