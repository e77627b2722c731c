"""What a scan concludes from two looks at a project: pure rules on known documents and found files."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from armillary_core.domain.ingest import FoundFile, Listing, Skipped, SkipRule
from armillary_core.domain.project import Project
from armillary_core.ports.catalogue.ingest import Known

HOLD_SHARE = 0.30
HOLD_COUNT = 20

NOTHING = hashlib.sha256(b"").hexdigest()  # empty files are no copies of one another

_LEFT_OUT = frozenset(  # by whom it was decided: the owner
    {
        SkipRule.GITIGNORE,
        SkipRule.JUNK_DIR,
        SkipRule.IGNORE_DIRS,
        SkipRule.IGNORE_FILES,
        SkipRule.NOT_INCLUDED,
        SkipRule.HIDDEN,
        SkipRule.SECRET,
        SkipRule.TOO_LARGE,
        SkipRule.LINKED_WORKTREE,
    }
)


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


@dataclass(frozen=True, slots=True)
class Absent:
    """Documents that a scan did not find, by what that means."""

    gone: tuple[Known, ...] = ()  # to be taken away unless the project is held
    lost: int = 0  # of these, how many nobody left out and whose content is nowhere else
    unreadable: int = 0  # of these, how many lie in folders that could not be read


def sort_absent(absent: Iterable[Known], skipped: Iterable[Skipped], still_there: Collection[str]) -> Absent:
    """A file that may not be read just now is not gone. What the owner's rules leave out, or what is still there under
    another name (`still_there`: content hashes), is gone and no loss."""
    rows = tuple(absent)
    if not rows:
        return Absent()
    rules = {row.path: row.rule for row in skipped}
    gone: list[Known] = []
    lost = unreadable = 0
    for row in rows:
        if rules.get(row.path) is SkipRule.UNREADABLE:
            continue
        gone.append(row)
        rule = rules.get(row.path) or next((rules[above] for above in _folders(row.path) if above in rules), None)
        if rule is SkipRule.UNREADABLE:
            unreadable += 1
        elif rule not in _LEFT_OUT and row.content_hash not in still_there:
            lost += 1
    return Absent(tuple(gone), lost, unreadable)


def _folders(path: bytes) -> Iterator[bytes]:
    """Every folder above, as rows of skipped folders are written."""
    while (cut := path.rstrip(b"/").rfind(b"/")) >= 0:
        path = path[: cut + 1]
        yield path


def hold_reason(
    project: Project, listing: Listing, *, present_before: int, lost: int, unreadable: int = 0
) -> str | None:
    """Why a scan must not delete, or None; `lost` and `unreadable` as in Absent."""
    if unreadable:
        return f"{len(listing.errors)} folder(s) could not be read ({', '.join(listing.errors[:1])})"
    if lost == 0:
        return None
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
        if before in (now, NOTHING):
            continue
        former = sorted(other for other in kept.get(before, ()) if other != pk)
        if not former:
            continue
        already = flags.get(pk, flagged.get(pk, ()))
        flags[pk] = tuple(dict.fromkeys((*already, *former)))
        if not flagged.get(pk):
            new.append(pk)
    return Divergence({pk: names for pk, names in flags.items() if names != flagged.get(pk, ())}, tuple(new))
