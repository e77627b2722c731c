"""Change events where the system watches whole trees by itself (macOS)."""

from __future__ import annotations

import errno
import os
import select
from pathlib import Path

from typing_extensions import override

from armillary_core.adapters.source.change_events import ChangeEvents
from armillary_core.adapters.source.watchable import root_rules
from armillary_core.domain.project import ProjectName


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
