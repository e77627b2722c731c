"""Change events of whole project folders, from the operating system."""

from __future__ import annotations

import errno
import os
import select
import sys
import time
from abc import abstractmethod
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from typing_extensions import override

from armillary_core.adapters.source import inotify
from armillary_core.adapters.source.inotify import Inotify, Notice
from armillary_core.adapters.source.watchable import IGNORE_FILES, WatchRules, root_rules, walk_watchable
from armillary_core.domain.project import ProjectName


class ChangeEvents(Protocol):
    """Used by one thread, but for `wake`."""

    @abstractmethod
    def begin(self, project: ProjectName, root: bytes) -> None:
        """Watch a folder (ending in a slash). Raises OSError when the system cannot; nothing is watched then."""

    @abstractmethod
    def end(self, project: ProjectName) -> None:
        """Watch it no more; an unknown project is a no-op."""

    @abstractmethod
    def wait(self, seconds: float) -> set[ProjectName]:
        """Projects in which something changed, as soon as something does; empty after that time or a `wake`."""

    @abstractmethod
    def wake(self) -> None:
        """Let `wait` return; from any thread."""

    @abstractmethod
    def close(self) -> None: ...


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


class RecursiveEvents(ChangeEvents):
    """The watchfiles library, for systems that watch whole trees by themselves (macOS)."""

    def __init__(self, step_seconds: float = 0.4) -> None:
        self._step = step_seconds
        self._feeds: dict[ProjectName, tuple[bytes, _Feed]] = {}
        self._woken = False

    @override
    def begin(self, project: ProjectName, root: bytes) -> None:
        self.end(project)
        self._feeds[project] = (root, _Feed(root))

    @override
    def end(self, project: ProjectName) -> None:
        known = self._feeds.pop(project, None)
        if known is not None:
            known[1].close()

    @override
    def wait(self, seconds: float) -> set[ProjectName]:
        changed: set[ProjectName] = set()
        for _ in range(max(1, round(seconds / self._step))):
            if self._woken:
                break
            select.select([], [], [], self._step)
            changed = {project for project, (_, feed) in self._feeds.items() if feed.has_news()}
            if changed:
                break
        self._woken = False
        return changed

    @override
    def wake(self) -> None:
        self._woken = True

    @override
    def close(self) -> None:
        for project in list(self._feeds):
            self.end(project)


class _Feed:
    """One tree's events, without those in junk and hidden folders."""

    def __init__(self, root: bytes) -> None:
        from watchfiles._rust_notify import RustNotify, WatchfilesRustInternalError

        self._root = os.fsdecode(os.path.realpath(root))
        self._failure = WatchfilesRustInternalError
        self._rules = root_rules(root)
        try:
            self._notify = RustNotify([self._root], False, False, 0, True, True)
        except (RuntimeError, UnicodeEncodeError) as exc:
            raise OSError(errno.ENOSPC, str(exc)) from exc

    def has_news(self) -> bool:
        try:
            found = self._notify.watch(1, 1, 1, None)
        except self._failure:  # a name that is not UTF-8
            return True
        return isinstance(found, set) and any(self._concerns(path) for _, path in found)

    def _concerns(self, path: str) -> bool:
        names = [os.fsencode(name) for name in Path(path).relative_to(self._root).parts]
        return not any(
            self._rules.leave_out(b"/".join(names[: depth + 1]), name, is_folder=depth < len(names) - 1)
            for depth, name in enumerate(names)
        )

    def close(self) -> None:
        self._notify.close()


def open_change_events(most_watches: int | None = None) -> ChangeEvents:
    """The best that this system has. Raises OSError when it has none."""
    if sys.platform == "linux":
        return InotifyEvents(most_watches)
    return RecursiveEvents()


def event_gap(root: bytes) -> str | None:
    """The kind of file system when changes on it may come from elsewhere, and so without events."""
    try:
        with open("/proc/self/mountinfo", "rb") as file:
            lines = file.read().splitlines()
    except OSError:
        return None
    where = os.path.realpath(root)
    kinds: dict[int, bytes] = defaultdict(bytes)
    for line in lines:
        before, _, after = line.partition(b" - ")
        point = before.split(b" ")[4].decode("unicode_escape").encode("latin-1")
        if where == point or where.startswith(point.rstrip(b"/") + b"/"):
            kinds[len(point)] = after.split(b" ")[0]  # a later mount covers an earlier one
    kind = kinds[max(kinds)].decode("ascii", "replace") if kinds else ""
    return kind if kind.startswith(_WITHOUT_EVENTS) else None


_WITHOUT_EVENTS = (
    "nfs", "cifs", "smb", "9p", "fuse", "fakeowner", "grpcfuse", "osxfs", "vboxsf", "virtiofs", "drvfs", "afs",
    "ceph", "glusterfs", "lustre", "davfs", "sshfs", "prl_fs", "vmhgfs",
)  # fmt: skip


def _fair_share() -> int:
    """Half of what the system grants this user: editors and builds watch as well."""
    try:
        return int(Path("/proc/sys/fs/inotify/max_user_watches").read_text(encoding="ascii")) // 2
    except (OSError, ValueError):
        return 4096
