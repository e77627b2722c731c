"""Cost of an unchanged rescan: 10,000 and 100,000 files, in a git tree and in a plain folder.

python tests/bench/scan.py PAGES WORK
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path

from armillary_core.bootstrap.container import open_core
from armillary_core.domain.job import ReindexMode
from armillary_core.domain.project import ProjectName
from armillary_core.settings.model import NoEmbedding, Settings


async def go_on(_done: int, _total: int) -> bool:
    return True


def make_files(folder: Path, count: int, git: bool) -> Path:
    if not folder.exists():
        for number in range(count):
            target = folder / f"d{number // 200:03d}" / f"note{number:06d}.txt"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(f"note {number}\n", encoding="utf-8")
        if git:
            subprocess.run(["git", "init", "-q", folder], check=True)
            subprocess.run(["git", "-C", folder, "add", "-A"], check=True)
    return folder


async def main() -> None:
    work = Path(sys.argv[2])
    for count in (10_000, 100_000):
        for git in (False, True):
            kind = "git" if git else "plain"
            root = make_files(work / f"scan-{kind}-{count}", count, git)
            async with open_core(Settings(data=work / f"scan-data-{kind}-{count}", embedding=NoEmbedding())) as core:
                name = ProjectName("files")
                core.catalogue.projects.put(name, root=str(root))
                started = time.perf_counter()
                await core.scan(name, ReindexMode.UPDATE, progress=go_on)
                first = time.perf_counter() - started
                await core.scan(name, ReindexMode.UPDATE, progress=go_on)  # warm
                started, used = time.perf_counter(), time.process_time()
                result = await core.scan(name, ReindexMode.UPDATE, progress=go_on)
                print(
                    f"{count:7} files, {kind:5}: unchanged rescan {time.perf_counter() - started:5.2f} s"
                    f" (CPU of this process {time.process_time() - used:5.2f} s); the scan before: {first:5.1f} s;"
                    f" {result.unchanged} unchanged",
                    flush=True,
                )


asyncio.run(main())
