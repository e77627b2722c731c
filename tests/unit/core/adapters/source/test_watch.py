"""The watcher notices what matters, survives what goes wrong, and is silent about the rest."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from armillary_core.adapters.source.change_events import ChangeEvents
from armillary_core.adapters.source.inotify_events import InotifyEvents
from armillary_core.adapters.source.mounts import event_gap
from armillary_core.adapters.source.recursive_events import RecursiveEvents
from armillary_core.adapters.source.watch import FolderWatcher, WatchPace
from armillary_core.domain.project import ProjectName
from trees import git, write

pytestmark = pytest.mark.anyio

LAB = ProjectName("lab")
OTHER = ProjectName("other")
QUICK = WatchPace(settle=0.05, longest_settle=0.5, notice=0.05, check=0.1)


def no_events() -> ChangeEvents:
    raise OSError("this system has no inotify")


@dataclass
class Watched:
    watcher: FolderWatcher
    roots: dict[ProjectName, str]
    stop: asyncio.Event
    seen: asyncio.Queue[set[ProjectName]] = field(default_factory=asyncio.Queue)

    async def next(self) -> set[ProjectName]:
        async with asyncio.timeout(10):
            return await self.seen.get()

    async def mode(self, wanted: Mapping[ProjectName, str]) -> None:
        async with asyncio.timeout(10):
            while self.watcher.modes() != wanted:
                await asyncio.sleep(0.01)

    async def quiet(self) -> None:
        """Nothing more is on its way: a change made now is the next thing that is heard of."""
        while True:
            try:
                async with asyncio.timeout(0.2):
                    await self.seen.get()
            except TimeoutError:
                return


@asynccontextmanager
async def watching(
    roots: dict[ProjectName, str], events: Callable[[], ChangeEvents] | None = None
) -> AsyncIterator[Watched]:
    watcher = FolderWatcher(QUICK) if events is None else FolderWatcher(QUICK, events=events)
    watched = Watched(watcher, roots, asyncio.Event())

    async def listen() -> None:
        async for changed in watcher.changes(lambda: watched.roots, stop=watched.stop):
            watched.seen.put_nowait(changed)

    listening = asyncio.create_task(listen())
    try:
        yield watched
    finally:
        watched.stop.set()
        async with asyncio.timeout(10):
            await listening


needs_inotify = pytest.mark.skipif(sys.platform != "linux", reason="SKIPPED: inotify is Linux's")
EVERY_WAY = [
    pytest.param(InotifyEvents, "events", id="inotify", marks=needs_inotify),
    pytest.param(lambda: RecursiveEvents(step_seconds=0.05), "events", id="watchfiles"),
    pytest.param(no_events, "polling", id="polling"),
]


@pytest.mark.parametrize(("events", "mode"), EVERY_WAY)
async def test_every_kind_of_change_is_noticed(events: Callable[[], ChangeEvents], mode: str, tmp_path: Path) -> None:
    root = write(tmp_path / "root", {"a.md": "1", "sub/deep/b.md": "1"})
    await notices(
        root,
        events,
        mode,
        [
            lambda: write(root, {"new.md": "1"}),
            lambda: write(root, {"sub/deep/b.md": "22"}),
            lambda: (root / "new.md").rename(root / "renamed.md"),
            lambda: write(root, {b"bad\xff.md": "1"}),
            lambda: (root / "a.md").unlink(),
            lambda: shutil.rmtree(root / "sub"),
        ],
    )


@needs_inotify
async def test_folders_that_appear_and_move_are_watched_where_they_are(tmp_path: Path) -> None:
    root = write(tmp_path / "root", {"sub/a.md": "1", "moved/deep/c.md": "1"})
    write(tmp_path, {"outside/d.md": "1"})
    await notices(
        root,
        InotifyEvents,
        "events",
        [
            lambda: write(root, {"made/at/once/x.md": "1"}),
            lambda: write(root, {"made/at/once/y.md": "1"}),
            lambda: (root / "made").rename(root / "sub" / "made"),
            lambda: write(root, {"sub/made/at/once/z.md": "1"}),
            lambda: (tmp_path / "outside").rename(root / "inside"),
            lambda: write(root, {"inside/e.md": "1"}),
            lambda: (root / "moved").rename(tmp_path / "gone"),
            lambda: write(root, {"tab\tnew\nline имя.md": "1"}),
        ],
    )


async def notices(root: Path, events: Callable[[], ChangeEvents], mode: str, steps: list[Callable[[], object]]) -> None:
    async with watching({LAB: str(root)}, events) as watched:
        await watched.mode({LAB: mode})
        for number, step in enumerate(steps):
            await watched.quiet()
            step()
            try:
                assert await watched.next() == {LAB}
            except TimeoutError:
                pytest.fail(f"step {number} was not noticed")


@needs_inotify
async def test_junk_hidden_ignored_and_linked_folders_are_silent(tmp_path: Path) -> None:
    root = write(
        tmp_path / "root",
        {".gitignore": "*.log\n/out/\n", ".armillaryignore": "private/\n", "a.md": "", "a.log": "", "out/x.md": ""},
    )
    write(root, {"node_modules/x.md": "", ".git/x": "", ".obsidian/x": "", "private/x.md": "", "sub/a.md": ""})
    write(tmp_path, {"outside/x.md": ""})
    (root / "link").symlink_to(tmp_path / "outside")
    async with watching({LAB: str(root)}) as watched:
        await watched.mode({LAB: "events"})
        await watched.quiet()
        silent = [
            "a.log", "out/x.md", "node_modules/x.md", "node_modules/new/y.md", ".git/x", ".git/index.lock",
            ".obsidian/x", "private/x.md", "sub/new.log", ".hidden.md", "link/x.md",
        ]  # fmt: skip
        write(root, dict.fromkeys(silent, "changed"))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await watched.seen.get()
        write(root, {"sub/a.md": "changed"})
        assert await watched.next() == {LAB}


@needs_inotify
async def test_a_changed_ignore_file_is_a_change_and_counts_at_once(tmp_path: Path) -> None:
    root = write(tmp_path / "root", {".gitignore": "out/\n", "out/x.md": "", "sub/a.log": ""})
    async with watching({LAB: str(root)}) as watched:
        await watched.mode({LAB: "events"})
        await watched.quiet()
        write(root, {".gitignore": "*.log\n"})
        assert await watched.next() == {LAB}
        await watched.quiet()
        write(root, {"sub/a.log": "changed"})
        write(root, {"out/x.md": "changed"})
        assert await watched.next() == {LAB}


async def test_projects_come_and_go_while_watching(tmp_path: Path) -> None:
    first, second = write(tmp_path / "first", {"a.md": ""}), write(tmp_path / "second", {"a.md": ""})
    async with watching({}) as watched:
        assert watched.watcher.modes() == {}
        watched.roots = {LAB: str(first), OTHER: str(second)}
        await watched.mode({LAB: "events", OTHER: "events"})
        await watched.quiet()
        write(second, {"b.md": ""})
        assert await watched.next() == {OTHER}
        watched.roots = {LAB: str(first)}
        await watched.mode({LAB: "events"})
        await watched.quiet()
        write(second, {"c.md": ""})
        write(first, {"b.md": ""})
        assert await watched.next() == {LAB}
    assert watched.watcher.modes() == {}


async def test_a_project_inside_another_is_heard_for_both(tmp_path: Path) -> None:
    write(tmp_path, {"outer/inner/a.md": ""})
    roots = {LAB: str(tmp_path / "outer"), OTHER: str(tmp_path / "outer" / "inner")}
    async with watching(roots) as watched:
        await watched.mode({LAB: "events", OTHER: "events"})
        await watched.quiet()
        write(tmp_path, {"outer/inner/a.md": "changed"})
        assert await watched.next() == {LAB, OTHER}
        watched.roots = {LAB: str(tmp_path / "outer")}
        await watched.mode({LAB: "events"})
        await watched.quiet()
        write(tmp_path, {"outer/inner/a.md": "again"})
        assert await watched.next() == {LAB}


async def test_a_root_that_vanishes_and_returns_is_told_and_watched_again(tmp_path: Path) -> None:
    root = write(tmp_path / "root", {"a.md": ""})
    other = write(tmp_path / "other", {"a.md": ""})
    async with watching({LAB: str(root), OTHER: str(other)}) as watched:
        await watched.mode({LAB: "events", OTHER: "events"})
        await watched.quiet()
        root.rename(tmp_path / "away")
        assert await watched.next() == {LAB}
        await watched.mode({LAB: "rescans only", OTHER: "events"})
        await watched.quiet()
        write(root, {"a.md": "back"})
        assert await watched.next() == {LAB}
        await watched.mode({LAB: "events", OTHER: "events"})
        await watched.quiet()
        write(root, {"b.md": "new"})
        assert await watched.next() == {LAB}


async def test_a_missing_root_harms_no_other(tmp_path: Path) -> None:
    root = write(tmp_path / "root", {"a.md": ""})
    async with watching({OTHER: str(tmp_path / "gone"), LAB: str(root)}) as watched:
        await watched.mode({OTHER: "rescans only", LAB: "events"})
        await watched.quiet()
        write(root, {"b.md": ""})
        assert await watched.next() == {LAB}


@needs_inotify
async def test_a_tree_with_more_folders_than_watches_is_polled(tmp_path: Path) -> None:
    large = write(tmp_path / "large", {f"{number}/a.md": "" for number in range(80)})
    small = write(tmp_path / "small", {"sub/a.md": ""})
    async with watching({LAB: str(large), OTHER: str(small)}, lambda: InotifyEvents(64)) as watched:
        await watched.mode({LAB: "polling", OTHER: "events"})
        await watched.quiet()
        write(large, {"79/a.md": "changed"})
        assert await watched.next() == {LAB}
        write(small, {"sub/a.md": "changed"})
        assert await watched.next() == {OTHER}


async def test_network_and_user_space_file_systems_are_known_to_send_no_events(tmp_path: Path) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
        "30 22 0:40 / /projects/share rw master:1 - nfs4 nas:/share rw\n"
        "31 22 0:41 / /projects/with\\040space rw - cifs //nas/x rw\n"
        "32 30 8:2 / /projects/share/local rw - ext4 /dev/sdb1 rw\n"
        "33 22 0:42 / /projects/desktop rw - fuse.grpcfuse grpcfuse rw\n"
        "34 22 8:3 / /projects/desktop rw - xfs /dev/sdc1 rw\n",
        encoding="ascii",
    )
    kinds = {
        root: event_gap(root, mounts)
        for root in (
            b"/projects/plain/", b"/projects/share/", b"/projects/share/docs", b"/projects/sharex",
            b"/projects/with space/", b"/projects/share/local/", b"/projects/desktop",
        )
    }  # fmt: skip
    assert kinds == {
        b"/projects/plain/": None,
        b"/projects/share/": "nfs4",
        b"/projects/share/docs": "nfs4",
        b"/projects/sharex": None,
        b"/projects/with space/": "cifs",
        b"/projects/share/local/": None,
        b"/projects/desktop": None,
    }
    assert event_gap(b"/", tmp_path / "missing") is None


async def test_a_file_saved_just_before_the_watch_began_is_told(tmp_path: Path) -> None:
    root = write(tmp_path / "root", {"a.md": ""})
    async with watching({LAB: str(root)}) as watched:
        assert await watched.next() == {LAB}


async def test_watching_goes_on_when_the_projects_cannot_be_asked(tmp_path: Path) -> None:
    root = write(tmp_path / "root", {"a.md": ""})
    asked = 0

    def roots() -> Mapping[ProjectName, str]:
        nonlocal asked
        asked += 1
        if asked == 1:
            raise RuntimeError("busy")
        return {LAB: str(root)}

    watcher, stop = FolderWatcher(QUICK), asyncio.Event()
    async with asyncio.timeout(10):
        async for changed in watcher.changes(roots, stop=stop):
            assert changed == {LAB}
            stop.set()


async def test_stopping_ends_at_once_and_leaves_nothing_open(tmp_path: Path) -> None:
    root = write(tmp_path / "root", {"a.md": ""})
    before = len(os.listdir("/proc/self/fd")) if sys.platform == "linux" else 0
    watcher, stop = FolderWatcher(), asyncio.Event()
    listening = asyncio.create_task(anext(watcher.changes(lambda: {LAB: str(root)}, stop=stop), None))
    async with asyncio.timeout(10):
        while watcher.modes() != {LAB: "events"}:
            await asyncio.sleep(0.01)
        started = time.monotonic()
        stop.set()
        await listening
    assert time.monotonic() - started < 5.0
    if sys.platform == "linux":
        async with asyncio.timeout(10):
            while len(os.listdir("/proc/self/fd")) > before:
                await asyncio.sleep(0.01)


@needs_inotify
async def test_idle_costs_nothing(tmp_path: Path) -> None:
    root = write(tmp_path / "root", {f"{number}/a.md": "" for number in range(200)})
    git(root, "init", "-q")
    watcher, stop = FolderWatcher(), asyncio.Event()

    async def listen() -> None:
        async for _ in watcher.changes(lambda: {LAB: str(root)}, stop=stop):
            pass

    listening = asyncio.create_task(listen())
    async with asyncio.timeout(10):
        while watcher.modes() != {LAB: "events"}:
            await asyncio.sleep(0.01)
    await asyncio.sleep(1.0)  # settled: what follows is idling
    used = time.process_time()
    await asyncio.sleep(1.5)
    used = time.process_time() - used
    stop.set()
    await listening
    assert used < 0.02
