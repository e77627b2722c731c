"""What a scan concludes from two looks at a project: pure rules on known documents and found files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from armillary_core.domain.ingest import FoundFile, Listing
from armillary_core.domain.project import Project
from armillary_core.ports.catalogue.ingest import Known

HOLD_SHARE = 0.30
HOLD_COUNT = 20


@dataclass(frozen=True, slots=True)
class Difference:
    """What has to be read, and what is not there any more."""

    new: tuple[FoundFile, ...]
    changed: tuple[tuple[Known, FoundFile], ...]  # another stamp, asked for again, found again or due for a check
    unchanged: int
    gone: tuple[Known, ...]


def compare(known: Iterable[Known], found: Iterable[FoundFile], *, verify_before: float = 0.0) -> Difference:
    """Unchanged means an equal stamp and nothing that asks for another look (`verify_before`: bytes hashed earlier
    than this are hashed again)."""
    by_path = {row.path: row for row in known}
    new: list[FoundFile] = []
    changed: list[tuple[Known, FoundFile]] = []
    unchanged = 0
    for file in found:
        row = by_path.pop(file.path, None)
        if row is None:
            new.append(file)
        elif row.stamp == file.stamp and row.present and not row.pending and row.verified_at >= verify_before:
            unchanged += 1
        else:
            changed.append((row, file))
    return Difference(tuple(new), tuple(changed), unchanged, tuple(row for row in by_path.values() if row.present))


def hold_reason(project: Project, listing: Listing, *, present_before: int, lost: int) -> str | None:
    """Why a scan must not delete, or None. `lost` leaves out documents whose content is still there elsewhere."""
    if lost == 0:
        return None
    if listing.errors:
        return f"{len(listing.errors)} folder(s) could not be read ({listing.errors[0]})"
    if not listing.files:
        return f"the folder holds no document any more ({present_before} before)"
    if project.device is not None and listing.device != project.device and lost * 2 > present_before:
        return f"the folder is on another device than before and {lost} of {present_before} documents are gone"
    if lost > HOLD_COUNT and lost > present_before * HOLD_SHARE:
        return f"{lost} of {present_before} documents are gone at once"
    return None


@dataclass(frozen=True, slots=True)
class Moves:
    certain: tuple[tuple[int, int], ...]  # (vanished pk, new pk)
    ambiguous: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]


def find_moves(vanished: Mapping[int, str | None], appeared: Mapping[int, str | None]) -> Moves:
    """Pair vanished enriched documents with new unenriched ones by content hash; several on a side are ambiguous."""
    sources: dict[str, list[int]] = defaultdict(list)
    targets: dict[str, list[int]] = defaultdict(list)
    for pk, content in vanished.items():
        if content:
            sources[content].append(pk)
    for pk, content in appeared.items():
        if content:
            targets[content].append(pk)
    certain: list[tuple[int, int]] = []
    ambiguous: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    for content in sorted(sources.keys() & targets.keys()):
        here, there = sources[content], targets[content]
        if len(here) == len(there) == 1:
            certain.append((here[0], there[0]))
        else:
            ambiguous.append((tuple(sorted(here)), tuple(sorted(there))))
    return Moves(tuple(certain), tuple(ambiguous))


@dataclass(frozen=True, slots=True)
class Divergence:
    flags: dict[int, tuple[int, ...]] = field(default_factory=dict)  # to write; () clears
    new: tuple[int, ...] = ()  # flagged for the first time


def find_divergence(
    changed: Mapping[int, tuple[str, str]],
    kept: Mapping[str, Collection[int]],
    flagged: Mapping[int, tuple[int, ...]],
    current: Mapping[int, str | None],
) -> Divergence:
    """Who diverged from whom.

    `changed` pk → (hash before, hash now); `kept` hash → present documents that have it now; `flagged` the flags as
    they stand; `current` the hashes now of every flagged document and every document a flag names (absent = gone).
    A changed document is flagged with the former copies that kept their content; a flag loses names that are gone or
    equal again.
    """
    flags: dict[int, tuple[int, ...]] = {}
    for pk, others in flagged.items():
        mine = current.get(pk)
        left = tuple(other for other in others if current.get(other) is not None and current[other] != mine)
        if left != others or mine is None:
            flags[pk] = left if mine is not None else ()
    new: list[int] = []
    for pk, (before, now) in changed.items():
        if before == now:
            continue
        former = sorted(other for other in kept.get(before, ()) if other != pk)
        if not former:
            continue
        already = flags.get(pk, flagged.get(pk, ()))
        flags[pk] = tuple(dict.fromkeys((*already, *former)))
        if not flagged.get(pk):
            new.append(pk)
    return Divergence({pk: names for pk, names in flags.items() if names != flagged.get(pk, ())}, tuple(new))
