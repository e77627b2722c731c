"""Change events on Linux: folders are watched one by one, and only those that are worth it."""

from __future__ import annotations

import errno
import os
import select
import time
from dataclasses import dataclass
from pathlib import Path

from typing_extensions import override

from armillary_core.adapters.source import inotify
from armillary_core.adapters.source.change_events import ChangeEvents
from armillary_core.adapters.source.inotify import Inotify, Notice
from armillary_core.adapters.source.watchable import IGNORE_FILES, WatchRules, root_rules, walk_watchable
from armillary_core.domain.project import ProjectName

_BATCH_SECONDS = 0.05  # a hot folder wakes us at most twenty times a second


@dataclass(frozen=True, slots=True)
class _Watched:
    project: ProjectName
    folder: bytes
    rules: WatchRules


class InotifyEvents(ChangeEvents):
    """One watch for each folder that is worth it: never one behind a link, in a junk folder or an ignored one."""

    def __init__(self, most_watches: int | None = None) -> None:
        """Raises OSError where there is no inotify."""
        self._notices = Inotify()
        self._awake, self._alarm = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._most_watches = most_watches if most_watches is not None else _fair_share()
        self._watches: dict[int, list[_Watched]] = {}
        self._roots: dict[ProjectName, bytes] = {}

    @override
    def begin(self, project: ProjectName, root: bytes) -> None:
        self._roots[project] = root
        try:
            self._watch(project, b"", root_rules(root))
        except OSError:
            self.end(project)
            raise

    @override
    def end(self, project: ProjectName) -> None:
        if self._roots.pop(project, None) is not None:
            self._forget(project, b"")

    @override
    def wait(self, seconds: float) -> set[ProjectName]:
        ready, _, _ = select.select([self._notices.descriptor, self._awake], [], [], seconds)
        if self._awake in ready:
            os.read(self._awake, 4096)
        changed: set[ProjectName] = set()
        if self._notices.descriptor in ready:
            time.sleep(_BATCH_SECONDS)
            for notice in self._notices.read():
                self._take(notice, changed)
        return changed

    @override
    def wake(self) -> None:
        try:
            os.write(self._alarm, b"!")
        except OSError as exc:
            if exc.errno not in (errno.EAGAIN, errno.EBADF):
                raise

    @override
    def close(self) -> None:
        self._notices.close()
        os.close(self._awake)
        os.close(self._alarm)

    # -- watching --------------------------------------------------------------------------------------------------

    def _watch(self, project: ProjectName, start: bytes, rules: WatchRules) -> None:
        root = self._roots[project]

        def enter(folder: bytes, inside: WatchRules) -> None:
            if len(self._watches) >= self._most_watches:
                raise OSError(errno.ENOSPC, "more folders than may be watched")
            try:
                watch = self._notices.add(root + folder)
            except OSError as exc:
                if not folder or exc.errno in (errno.ENOSPC, errno.ENOMEM):
                    raise
                return  # gone, or not readable
            others = [one for one in self._watches.get(watch, ()) if one.project != project]
            self._watches[watch] = [*others, _Watched(project, folder, inside)]

        for _ in walk_watchable(root, start, rules, enter):
            pass

    def _forget(self, project: ProjectName, folder: bytes) -> None:
        for watch, watched in list(self._watches.items()):
            kept = [one for one in watched if one.project != project or not one.folder.startswith(folder)]
            if len(kept) == len(watched):
                continue
            self._watches[watch] = kept
            if not kept:
                del self._watches[watch]
                self._notices.remove(watch)

    # -- notices ---------------------------------------------------------------------------------------------------

    def _take(self, notice: Notice, changed: set[ProjectName]) -> None:
        if notice.mask & inotify.OVERFLOWED:
            changed.update(self._roots)
            for project, root in list(self._roots.items()):
                self._begin_again(project, root)
            return
        for watched in self._watches.get(notice.watch, ()):
            self._take_one(watched, notice, changed)
        if notice.mask & inotify.WATCH_ENDED:
            self._watches.pop(notice.watch, None)

    def _take_one(self, watched: _Watched, notice: Notice, changed: set[ProjectName]) -> None:
        project, name = watched.project, notice.name
        root = self._roots.get(project)
        if root is None:
            return
        if not name:  # the folder itself; its parent tells the rest, unless it is the root
            if not watched.folder:
                changed.add(project)
            return
        is_folder = bool(notice.mask & inotify.IS_FOLDER)
        path = watched.folder + name
        if watched.rules.leave_out(path, name, is_folder=is_folder):
            return
        changed.add(project)
        if name in IGNORE_FILES:
            self._begin_again(project, root)
        elif is_folder and notice.mask & (inotify.MOVED_FROM | inotify.DELETED):
            self._forget(project, path + b"/")
        elif is_folder and notice.mask & (inotify.CREATED | inotify.MOVED_TO):
            try:
                self._watch(project, path + b"/", watched.rules)
            except OSError:
                return  # no more watches: the next rescan sees what happens there

    def _begin_again(self, project: ProjectName, root: bytes) -> None:
        try:
            self.end(project)
            self.begin(project, root)
        except OSError:
            return  # the root is gone: whoever checks the roots notices


def _fair_share() -> int:
    """Half of what the system grants this user: editors and builds watch as well."""
    try:
        return int(Path("/proc/sys/fs/inotify/max_user_watches").read_text(encoding="ascii")) // 2
    except (OSError, ValueError):
        return 4096
