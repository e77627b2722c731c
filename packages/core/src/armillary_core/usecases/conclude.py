"""The end of a scan: what is gone, what moved, what diverged, and whether any of that may be believed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from armillary_core.domain.document import DocumentId, document_id
from armillary_core.domain.errors import ConflictError, DocumentNotFoundError
from armillary_core.domain.ingest import Listing, Skipped
from armillary_core.domain.job import ReindexMode
from armillary_core.domain.project import Project, ProjectState
from armillary_core.ports.catalogue import Catalogue
from armillary_core.ports.catalogue.ingest import Known
from armillary_core.ports.clock import Clock
from armillary_core.usecases import lifecycle
from armillary_core.usecases.scan_result import Reading, ScanResult


class Conclude:
    """Everything it needs is in the catalogue or in this scan, so that a scan that died is made good by the next."""

    def __init__(self, catalogue: Catalogue, clock: Clock) -> None:
        self._catalogue = catalogue
        self._clock = clock
        self._last_skipped: dict[int, int] = {}  # project id → hash of what was written, to spare equal writes

    def __call__(
        self,
        project: Project,
        listing: Listing,
        mode: ReindexMode,
        known: Sequence[Known],
        difference: lifecycle.Difference,
        reading: Reading,
        result: ScanResult,
    ) -> None:
        name, ingest = project.name, self._catalogue.ingest
        self._write_skipped(project, (*listing.skipped, *reading.vanished))
        result.skipped = len(listing.skipped) + len(reading.vanished)
        gone = difference.gone
        absent = lifecycle.sort_absent(gone, listing.skipped, _still_there(known, gone, reading) if gone else set())
        altered = _altered(known, absent.gone, reading)
        present_before = sum(1 for row in known if row.present)
        reason = lifecycle.hold_reason(
            project, listing, present_before=present_before, lost=absent.lost, unreadable=absent.unreadable
        )
        if reason is not None and mode is ReindexMode.UPDATE:
            self._settle_divergence(project, altered, result)
            self._catalogue.projects.set_state(name, ProjectState.HELD, reason=reason, listing=listing.way)
            result.state, result.reason = ProjectState.HELD, reason
            return
        if absent.gone:
            ingest.vanish(name, [row.pk for row in absent.gone])
            result.removed = len(absent.gone)
        if mode is ReindexMode.UPDATE or (mode is ReindexMode.CLEAN and project.state is ProjectState.HELD):
            self._follow_moves(project, known, absent.gone, reading, result)
        if mode is ReindexMode.UPDATE:
            self._settle_divergence(project, altered, result)
        else:
            ingest.forget_hashes_before(altered)
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

    def _write_skipped(self, project: Project, skipped: tuple[Skipped, ...]) -> None:
        digest = hash(skipped)
        if self._last_skipped.get(project.id) != digest:
            self._catalogue.ingest.replace_skipped(project.name, skipped)
            self._last_skipped[project.id] = digest

    def _follow_moves(
        self,
        project: Project,
        known: Sequence[Known],
        gone: Sequence[Known],
        reading: Reading,
        result: ScanResult,
    ) -> None:
        lost = {row.pk for row in gone}
        since = project.last_good_scan or 0.0
        # A scan that died after storing leaves documents that no good scan has seen: they are new as well.
        appeared = reading.appeared | {
            row.pk: row.content_hash
            for row in known
            if row.present and not row.enriched and row.first_seen > since and row.pk not in lost
        }
        if not appeared:
            return
        vanished = {row.pk: row.content_hash for row in known if row.enriched and (not row.present or row.pk in lost)}
        if not vanished:
            return
        moves = lifecycle.find_moves(vanished, appeared)
        names = self._ids((*(pk for pair in moves.certain for pk in pair), *_flat(moves.ambiguous)))
        for source, target in moves.certain:
            try:
                self._catalogue.ingest.move_enrichment(source, target)
            except (ConflictError, DocumentNotFoundError):  # written or gone meanwhile: both cards stay as they are
                continue
            result.moved.append({"from": names[source], "to": names[target]})
        for sources, targets in moves.ambiguous:
            result.ambiguous_moves.append(
                {"from": sorted(names[pk] for pk in sources), "to": sorted(names[pk] for pk in targets)}
            )

    def _settle_divergence(self, project: Project, altered: Mapping[int, tuple[str, str]], result: ScanResult) -> None:
        ingest = self._catalogue.ingest
        # A private project is compared with itself only: a flag elsewhere would tell of it.
        compared = {
            other.name
            for other in self._catalogue.projects.all()
            if other.name == project.name or not (other.private or project.private)
        }
        flagged = ingest.diverged()
        if not flagged and not altered:
            return
        kept = {
            content: [document.pk for document in documents if document.project in compared]
            for content, documents in ingest.same_hash({before for before, _ in altered.values()}).items()
        }
        named = {*flagged, *(pk for others in flagged.values() for pk in others)}
        found = lifecycle.find_divergence(altered, kept, flagged, ingest.hashes(named))
        if found.flags:
            ingest.set_divergence(found.flags)
        ingest.forget_hashes_before(altered)
        names = self._ids(found.new)
        result.new_divergences.extend(names[pk] for pk in found.new)

    def _ids(self, pks: Iterable[int]) -> dict[int, DocumentId]:
        documents = self._catalogue.documents.by_pk(pks)
        return {pk: document_id(document.project, document.path) for pk, document in documents.items()}


def _altered(known: Iterable[Known], gone: Iterable[Known], reading: Reading) -> dict[int, tuple[str, str]]:
    """Documents whose content changed since the last conclusion, whichever scan read them: hash then, hash now."""
    lost = {row.pk for row in gone}
    since = {row.pk: (row.hash_before, row.content_hash) for row in known if row.hash_before and row.present}
    return {
        pk: (before, now)
        for pk, (before, now) in (since | reading.altered).items()
        if before and now and before != now and pk not in lost
    }


def _still_there(known: Iterable[Known], gone: Iterable[Known], reading: Reading) -> set[str]:
    """Content hashes of everything this scan found."""
    elsewhere = {row.pk for row in gone} | reading.altered.keys()
    hashes = [row.content_hash for row in known if row.present and row.pk not in elsewhere]
    hashes += [now for _, now in reading.altered.values()]
    return {content for content in (*hashes, *reading.appeared.values()) if content}


def _flat(groups: Iterable[tuple[tuple[int, ...], tuple[int, ...]]]) -> Iterable[int]:
    for sources, targets in groups:
        yield from sources
        yield from targets
