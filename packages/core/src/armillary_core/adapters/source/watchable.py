"""Which folders of a project are worth watching: no junk, nothing hidden or ignored, no link."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from armillary_core.adapters.source.ignore_rules import IgnoreStack
from armillary_core.adapters.source.junk import build_folder, junk_folder
from armillary_core.adapters.source.look import OWN_IGNORE_FILE
from armillary_core.adapters.source.repository import repository_at, rules_around, surrounding_top
from armillary_core.adapters.source.walk import GIT_IGNORE_FILE

IGNORE_FILES = frozenset({GIT_IGNORE_FILE, OWN_IGNORE_FILE})


@dataclass(frozen=True, slots=True)
class WatchRules:
    """What is left out of one folder."""

    git: IgnoreStack
    own: IgnoreStack
    in_git: bool

    def leave_out(self, path: bytes, name: bytes, *, is_folder: bool) -> bool:
        """A change there cannot concern a document, or is rare enough to wait for the next rescan."""
        if name.startswith(b".") or (is_folder and junk_folder(name)):
            return name not in IGNORE_FILES
        for stack in (self.git, self.own):
            decision = stack.decide(path, name, is_folder=is_folder) if stack else None
            if decision is not None and decision.is_ignored:
                return True
        return False


def root_rules(root: bytes) -> WatchRules:
    """The rules in force at the root, without those that the root itself holds."""
    top = surrounding_top(root)
    return WatchRules(rules_around(top, root), IgnoreStack(), top is not None)


def walk_watchable(
    root: bytes, start: bytes, rules: WatchRules, enter: Callable[[bytes, WatchRules], None]
) -> Iterator[tuple[bytes, os.DirEntry[bytes]]]:
    """Every file that is not left out. `enter` is called for each folder before it is read, so that what appears
    between the two is not missed; folders that cannot be read are passed over."""
    pending = [(start, rules)]
    while pending:
        folder, around = pending.pop()
        if folder and around.git and os.path.lexists(root + folder + b".git") and repository_at(root + folder):
            around = WatchRules(rules_around(root + folder[:-1], root + folder), around.own, True)
        inside = WatchRules(
            around.git.entering(root, folder, GIT_IGNORE_FILE),
            around.own.entering(root, folder, OWN_IGNORE_FILE),
            around.in_git,
        )
        enter(folder, inside)
        try:
            with os.scandir(root + folder) as found:
                entries = list(found)
        except OSError:
            continue
        names = {entry.name for entry in entries}
        for entry in entries:
            path = folder + entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if inside.leave_out(path, entry.name, is_folder=is_folder):
                continue
            if not is_folder:
                yield path, entry
            elif inside.in_git or build_folder(entry.name, names.__contains__) is None:
                pending.append((path + b"/", inside))
