"""Noticing that files of a project changed. A hint that brings the next rescan forward, never the truth."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass

import structlog
from typing_extensions import override

from armillary_core.adapters.source.change_events import ChangeEvents
from armillary_core.adapters.source.fingerprint import changed_since, fingerprint
from armillary_core.adapters.source.inotify_events import InotifyEvents
from armillary_core.adapters.source.mounts import event_gap
from armillary_core.adapters.source.recursive_events import RecursiveEvents
from armillary_core.domain.project import ProjectName
from armillary_core.ports.watcher import Watcher

log = structlog.get_logger(__name__)

EVENTS, POLLING, RESCANS_ONLY = "events", "polling", "rescans only"

_POLL_SHARE = 200  # a look that takes a second is not repeated for 200
_SLOWEST_POLL_SECONDS = 600.0
_GAP_SECONDS = 10.0  # between the scan of a new project and its watch


@dataclass(frozen=True, slots=True)
class WatchPace:
    """All in seconds."""

    settle: float = 0.5  # quiet time after a change
    longest_settle: float = 3.0  # when it never gets quiet
    notice: float = 1.0  # until a project that was added is watched
    check: float = 5.0  # how often roots are looked at, and the fastest polling


def open_change_events() -> ChangeEvents:
    """The best that this system has. Raises OSError when it has none."""
    return InotifyEvents() if sys.platform == "linux" else RecursiveEvents()


class FolderWatcher(Watcher):
    """One thread for all projects; asleep in the kernel while nothing changes."""

    def __init__(
        self, pace: WatchPace | None = None, *, events: Callable[[], ChangeEvents] = open_change_events
    ) -> None:
        self._pace = pace or WatchPace()
        self._open_events = events
        self._modes: dict[ProjectName, str] = {}

    @override
    async def changes(
        self, roots: Callable[[], Mapping[ProjectName, str]], *, stop: asyncio.Event
    ) -> AsyncGenerator[set[ProjectName], None]:
        """`roots` is called in the watching thread."""
        loop = asyncio.get_running_loop()
        changed: set[ProjectName] = set()
        news = asyncio.Event()

        def report(names: set[ProjectName]) -> None:
            changed.update(names)
            news.set()

        def tell(names: set[ProjectName]) -> None:
            try:
                loop.call_soon_threadsafe(report, names)
            except RuntimeError:  # the loop is closed: nobody listens any more
                watching.stop()

        watching = _Watching(roots, self._open_events, self._pace, self._modes, tell)
        thread = threading.Thread(target=watching.run, name="armillary-watch", daemon=True)
        thread.start()
        stopping = asyncio.ensure_future(stop.wait())
        try:
            while not stop.is_set():
                waiting = asyncio.ensure_future(news.wait())
                try:
                    await asyncio.wait((waiting, stopping), return_when=asyncio.FIRST_COMPLETED)
                finally:
                    waiting.cancel()
                if changed and not stop.is_set():
                    names = set(changed)
                    changed.clear()
                    news.clear()
                    yield names
        finally:
            stopping.cancel()
            watching.stop()
            await asyncio.to_thread(thread.join, 10.0)
            self._modes.clear()

    @override
    def modes(self) -> dict[ProjectName, str]:
        return dict(self._modes)


@dataclass(slots=True)
class _Root:
    path: bytes
    identity: tuple[int, int] | None  # device and inode; None while it is missing
    seen: int = 0  # the last fingerprint, when polling
    poll_at: float = 0.0


class _Watching:
    """What the thread does: keeps up with the roots, waits, lets changes settle, tells."""

    def __init__(
        self,
        roots: Callable[[], Mapping[ProjectName, str]],
        open_events: Callable[[], ChangeEvents],
        pace: WatchPace,
        modes: dict[ProjectName, str],
        tell: Callable[[set[ProjectName]], None],
    ) -> None:
        self._wanted = roots
        self._pace = pace
        self._modes = modes
        self._tell = tell
        self._stopped = threading.Event()
        self._closing = threading.Lock()
        self._roots: dict[ProjectName, _Root] = {}
        self._last_wanted: dict[ProjectName, str] = {}
        self._next_check = 0.0
        self._events: ChangeEvents | None = None
        try:
            self._events = open_events()
        except OSError as exc:
            log.warning("watch.no_events", reason=exc.strerror or str(exc))

    def stop(self) -> None:
        """From any thread."""
        self._stopped.set()
        with self._closing:
            if self._events is not None:
                self._events.wake()

    def run(self) -> None:
        try:
            while not self._stopped.is_set():
                try:
                    self._watch_once()
                except Exception:  # rescans go on whatever happens here, and so does watching
                    log.exception("watch.failed")
                    self._stopped.wait(self._pace.check)
        finally:
            with self._closing:
                if self._events is not None:
                    self._events.close()
                    self._events = None

    def _watch_once(self) -> None:
        wanted = dict(self._wanted())
        changed: set[ProjectName] = set()
        if wanted != self._last_wanted or time.monotonic() >= self._next_check:
            changed |= self._keep_up(wanted)
            changed |= self._poll()
            self._last_wanted = wanted
            self._next_check = time.monotonic() + self._pace.check
        if not changed:
            changed |= self._wait(self._pace.notice)
        if changed:
            self._tell(self._settled(changed))

    def _wait(self, seconds: float) -> set[ProjectName]:
        if self._events is None:
            self._stopped.wait(max(0.0, seconds))
            return set()
        return self._events.wait(max(0.0, seconds))

    def _settled(self, changed: set[ProjectName]) -> set[ProjectName]:
        now = time.monotonic()
        latest, quiet = now + self._pace.longest_settle, now + self._pace.settle
        while not self._stopped.is_set() and now < min(quiet, latest):
            more = self._wait(min(quiet, latest) - now)
            now = time.monotonic()
            if more:
                changed |= more
                quiet = now + self._pace.settle
        return changed

    # -- roots -----------------------------------------------------------------------------------------------------

    def _keep_up(self, wanted: Mapping[ProjectName, str]) -> set[ProjectName]:
        """Take up new roots, drop old ones, notice roots that went or came back."""
        for name in self._roots.keys() - wanted.keys():
            self._drop(name)
        changed: set[ProjectName] = set()
        for name, written in wanted.items():
            path = os.fsencode(written).rstrip(b"/") + b"/"
            identity = _identity(path)
            known = self._roots.get(name)
            if known is not None and (known.path, known.identity) == (path, identity):
                continue
            if known is not None:
                self._drop(name)
                changed.add(name)
            self._take_up(name, _Root(path, identity))
            if identity is not None and changed_since(path, time.time() - _GAP_SECONDS):
                changed.add(name)  # perhaps after the scan that came before the watch
        return changed

    def _drop(self, name: ProjectName) -> None:
        self._roots.pop(name, None)
        self._modes.pop(name, None)
        if self._events is not None:
            self._events.end(name)

    def _take_up(self, name: ProjectName, root: _Root) -> None:
        self._roots[name] = root
        if root.identity is None:
            self._modes[name] = RESCANS_ONLY
            return
        reason = event_gap(root.path)
        if reason is None and self._events is not None:
            try:
                self._events.begin(name, root.path)
            except OSError as exc:
                reason = exc.strerror or str(exc)
            else:
                self._modes[name] = EVENTS
                return
        log.warning("watch.without_events", project=name, reason=reason or "no events on this system")
        self._modes[name] = POLLING
        self._look(root, name)

    # -- polling ---------------------------------------------------------------------------------------------------

    def _poll(self) -> set[ProjectName]:
        now = time.monotonic()
        changed: set[ProjectName] = set()
        for name, root in self._roots.items():
            if self._modes.get(name) == POLLING and now >= root.poll_at:
                before = root.seen
                self._look(root, name)
                if root.seen != before:
                    changed.add(name)
        return changed

    def _look(self, root: _Root, name: ProjectName) -> None:
        started = time.monotonic()
        root.seen = fingerprint(root.path)
        taken = time.monotonic() - started
        pause = max(self._pace.check, taken * _POLL_SHARE)
        root.poll_at = started + pause
        if pause > _SLOWEST_POLL_SECONDS:
            self._modes[name] = RESCANS_ONLY


def _identity(path: bytes) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
