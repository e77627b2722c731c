"""One scan of one project: look, read what changed, store it, then conclude what is gone, moved or diverged."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path

from armillary_core.domain.document import DocumentId, FileStamp, document_id
from armillary_core.domain.errors import ProjectNotFoundError
from armillary_core.domain.ingest import (
    ExtractionOutcome,
    Failed,
    FoundFile,
    Indexed,
    Listing,
    NameOnly,
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

Progress = Callable[[int, int], Awaitable[bool]]  # done, total → False when the job was cancelled


@dataclass(frozen=True, slots=True)
class ScanPolicy:
    verify_seconds: float = 24 * 3600.0  # bytes of a file are hashed at least this often whatever its stamp says
    backup_folder: str | None = None  # where `rebuild` puts its copy of the catalogue


@dataclass(slots=True)
class ScanResult:
    """The counters of one scan, as shown by `reindex` and the jobs list."""

    project: str
    mode: str
    state: str = ProjectState.OK
    reason: str | None = None
    listing: str | None = None
    scanned: int = 0
    new: int = 0
    changed: int = 0
    touched: int = 0
    unchanged: int = 0
    removed: int = 0
    failed: int = 0
    skipped: int = 0
    dropped_desync: int = 0
    reset_enrichment: int = 0
    moved: list[dict[str, str]] = field(default_factory=list)
    ambiguous_moves: list[dict[str, list[str]]] = field(default_factory=list)
    new_divergences: list[str] = field(default_factory=list)
    backup: str | None = None
    cancelled: bool = False
    duration_ms: int = 0

    def counters(self) -> dict[str, object]:
        """Everything that is not zero, empty or None."""
        return {
            name: value
            for name in self.__dataclass_fields__
            if (value := getattr(self, name)) or name in ("scanned", "unchanged")
        }


@dataclass(slots=True)
class _Reading:
    """What reading the changed files of one scan found out."""

    appeared: dict[int, str | None] = field(default_factory=dict)  # new pk → content hash
    altered: dict[int, tuple[str, str]] = field(default_factory=dict)  # pk → (hash before, hash now)
    vanished: list[Skipped] = field(default_factory=list)


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
        self._last_skipped: dict[ProjectName, int] = {}  # hash of what was written, to spare equal writes

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
            return
        await asyncio.to_thread(self._conclude, project, listing, mode, known, difference, reading, result)

    def _begin_rebuild(self, project: Project, result: ScanResult) -> None:
        if self._policy.backup_folder is not None:
            folder = Path(self._policy.backup_folder)
            folder.mkdir(parents=True, exist_ok=True)
            target = folder / f"before-rebuild-{project.name}-{int(self._clock.now())}.sqlite3"
            self._catalogue.backup(str(target))
            result.backup = str(target)
        result.reset_enrichment = self._catalogue.ingest.reset_enrichment(project.name)
        self._catalogue.ingest.mark_pending(project.name)

    # -- reading ---------------------------------------------------------------------------------------------------

    async def _read(
        self, project: Project, difference: lifecycle.Difference, progress: Progress, result: ScanResult
    ) -> _Reading:
        reading = _Reading()
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
        reading: _Reading,
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
                if (
                    row.present
                    and row.content_hash
                    and outcome.content_hash
                    and isinstance(outcome, Indexed | NameOnly)
                ):
                    reading.altered[pk] = (row.content_hash, outcome.content_hash)

    # -- concluding ------------------------------------------------------------------------------------------------

    def _conclude(
        self,
        project: Project,
        listing: Listing,
        mode: ReindexMode,
        known: Sequence[Known],
        difference: lifecycle.Difference,
        reading: _Reading,
        result: ScanResult,
    ) -> None:
        name, ingest = project.name, self._catalogue.ingest
        self._write_skipped(name, (*listing.skipped, *reading.vanished))
        result.skipped = len(listing.skipped) + len(reading.vanished)
        still_there = {content for content in reading.appeared.values() if content}
        lost = sum(1 for row in difference.gone if row.content_hash not in still_there)
        present_before = sum(1 for row in known if row.present)
        reason = lifecycle.hold_reason(project, listing, present_before=present_before, lost=lost)
        if reason is not None and mode is ReindexMode.UPDATE:
            self._catalogue.projects.set_state(name, ProjectState.HELD, reason=reason, listing=listing.way)
            result.state, result.reason = ProjectState.HELD, reason
            return
        gone = [row.pk for row in difference.gone]
        if gone:
            ingest.vanish(name, gone)
            result.removed = len(gone)
        if mode is ReindexMode.UPDATE:
            self._follow_moves(project, known, difference, reading, result)
            self._settle_divergence(project, reading, result)
        else:
            result.dropped_desync = ingest.drop_desync(name)
        ingest.settle_average(name)
        incomplete = f"{len(listing.errors)} folder(s) could not be read" if listing.errors else None
        self._catalogue.projects.set_state(
            name,
            ProjectState.OK,
            reason=incomplete,
            listing=listing.way,
            device=listing.device,
            good_scan_at=self._clock.now(),
        )
        result.reason = incomplete

    def _write_skipped(self, name: ProjectName, skipped: tuple[Skipped, ...]) -> None:
        digest = hash(skipped)
        if self._last_skipped.get(name) != digest:
            self._catalogue.ingest.replace_skipped(name, skipped)
            self._last_skipped[name] = digest

    def _follow_moves(
        self,
        project: Project,
        known: Sequence[Known],
        difference: lifecycle.Difference,
        reading: _Reading,
        result: ScanResult,
    ) -> None:
        gone = {row.pk for row in difference.gone}
        since = project.last_good_scan or 0.0
        # A scan that died after storing leaves documents that no good scan has seen: they are new as well.
        appeared = reading.appeared | {
            row.pk: row.content_hash
            for row in known
            if row.present and not row.enriched and row.first_seen > since and row.pk not in gone
        }
        if not appeared:
            return
        vanished = {row.pk: row.content_hash for row in known if row.enriched and (not row.present or row.pk in gone)}
        if not vanished:
            return
        moves = lifecycle.find_moves(vanished, appeared)
        names = self._ids((*(pk for pair in moves.certain for pk in pair), *_flat(moves.ambiguous)))
        for source, target in moves.certain:
            self._catalogue.ingest.move_enrichment(source, target)
            result.moved.append({"from": names[source], "to": names[target]})
        for sources, targets in moves.ambiguous:
            result.ambiguous_moves.append({"from": [names[pk] for pk in sources], "to": [names[pk] for pk in targets]})

    def _settle_divergence(self, project: Project, reading: _Reading, result: ScanResult) -> None:
        ingest = self._catalogue.ingest
        # A private project is compared with itself only: a flag elsewhere would tell of it.
        compared = {
            other.name
            for other in self._catalogue.projects.all()
            if other.name == project.name or not (other.private or project.private)
        }
        flagged = ingest.diverged()
        changed = {pk: pair for pk, pair in reading.altered.items() if pair[0] != pair[1]}
        if not flagged and not changed:
            return
        kept = {
            content: [document.pk for document in documents if document.project in compared]
            for content, documents in ingest.same_hash({before for before, _ in changed.values()}).items()
        }
        named = {*flagged, *(pk for others in flagged.values() for pk in others)}
        found = lifecycle.find_divergence(changed, kept, flagged, ingest.hashes(named))
        if found.flags:
            ingest.set_divergence(found.flags)
        names = self._ids(found.new)
        result.new_divergences.extend(names[pk] for pk in found.new)

    def _ids(self, pks: Iterable[int]) -> dict[int, DocumentId]:
        documents = self._catalogue.documents.by_pk(pks)
        return {pk: document_id(document.project, document.path) for pk, document in documents.items()}


def _flat(groups: Iterable[tuple[tuple[int, ...], tuple[int, ...]]]) -> Iterable[int]:
    for sources, targets in groups:
        yield from sources
        yield from targets
