"""Awkward folders as an ordinary user meets them: what may not be read is named, and nothing else is affected."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from trees import make_repository, write

Edge: TypeAlias = tuple[Path, Path, dict[str, Any]]  # project, data folder, what the scans said

_DAC_OVERRIDE, _DAC_READ_SEARCH = 1, 2
_DROP_FROM_BOUNDING_SET = 24

SCAN = """
import asyncio, json, sys
sys.path[:0] = [{tests!r}]
from pathlib import Path
from product import open_product

async def main():
    async with open_product(Path({data!r})) as product:
        product.add("edge", Path({docs!r}))
        first = await product.scan("edge")
        (Path({docs!r}) / "gone.md").unlink()
        second = await product.scan("edge")
        print(json.dumps({{
            "state": [first.state, second.state], "reason": second.reason, "failed": second.failed,
            "found": await product.found("heron"), "removed": second.removed,
            "documents": [path.decode() for path in product.documents("edge")],
        }}))

asyncio.run(main())
"""

WHY = """
import json, sys
from typer.testing import CliRunner
from armillary_cli.main import app

for path in sys.argv[2:]:
    done = CliRunner().invoke(app, ["why", path, "--json", "--data", sys.argv[1]])
    print(json.dumps([done.exit_code, json.loads(done.stdout)]))
"""

FILES: dict[str | bytes, str | bytes] = {
    "ok.md": "# Fine\n\nThe heron.\n",
    "gone.md": "# Gone\n\nSoon.\n",
    "unreadable.md": "# Unreadable\n\nThe heron, too.\n",
    "lockeddir/inner.md": "# Locked\n\nThe heron as well.\n",
    ".hidden.md": "hidden",
    "id_rsa": "a key",
    "node_modules/x/readme.md": "junk",
    ".gitignore": "ignored/\n",
    "ignored/x.md": "ignored",
}
LEFT_OUT = {
    "unreadable.md": ("unreadable", "Permission denied"),
    "lockeddir/inner.md": ("unreadable", "Permission denied"),
    ".hidden.md": ("hidden", ""),
    "id_rsa": ("secret", ""),
    "node_modules/x/readme.md": ("junk_dir", ""),
    "ignored/x.md": ("gitignore", ".gitignore"),
    "pipe.md": ("not_a_file", "pipe"),
    "out.md": ("symlink_outside", ""),
    "in.md": ("symlink_inside", ""),
    "dangling.md": ("symlink_broken", ""),
}


def give_rights_up() -> None:
    """Of an administrator, what follows is an ordinary owner of the files; an ordinary user is one already."""
    if os.geteuid() == 0:
        prctl = ctypes.CDLL(None, use_errno=True).prctl
        for right in (_DAC_OVERRIDE, _DAC_READ_SEARCH):
            if prctl(_DROP_FROM_BOUNDING_SET, right, 0, 0, 0):
                raise OSError(ctypes.get_errno(), "rights cannot be given up here")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(arguments, capture_output=True, text=True, timeout=60, check=False, preexec_fn=give_rights_up)


@pytest.fixture(scope="module", params=["plain folder", "git tree"])
def edge(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Edge]:
    if sys.platform != "linux":
        pytest.skip("SKIPPED: rights are given up with Linux's own calls")
    folder = tmp_path_factory.mktemp("edge")
    docs = folder / "docs"
    make: Callable[..., Path] = write if request.param == "plain folder" else make_repository
    make(docs, FILES)
    write(folder, {"outside.md": "outside"})
    os.mkfifo(docs / "pipe.md")
    (docs / "out.md").symlink_to("../outside.md")
    (docs / "in.md").symlink_to("ok.md")
    (docs / "dangling.md").symlink_to("nowhere.md")
    (docs / "unreadable.md").chmod(0)
    (docs / "lockeddir").chmod(0)
    try:
        probe = run("cat", str(docs / "unreadable.md"))
        if probe.returncode == 0:
            pytest.skip("SKIPPED: this user reads everything and cannot give that up")
        tests = str(Path(__file__).resolve().parents[1])
        done = run(sys.executable, "-c", SCAN.format(tests=tests, data=str(folder / "data"), docs=str(docs)))
        assert (done.returncode, done.stderr) == (0, "")
        yield docs, folder / "data", json.loads(done.stdout)
    finally:
        (docs / "lockeddir").chmod(0o700)


def test_what_may_not_be_read_holds_nothing_and_harms_nothing(edge: Edge) -> None:
    _, _, result = edge
    assert result["state"] == ["ok", "ok"]
    assert result["reason"] == "1 folder(s) could not be read"
    assert result["documents"] == ["ok.md"]
    assert result["found"] == ["edge::ok.md"]
    assert (result["removed"], result["failed"]) == (1, 0)


def test_every_path_that_is_left_out_says_why(edge: Edge) -> None:
    docs, data, _ = edge
    paths = [*LEFT_OUT, "ok.md"]
    done = run(sys.executable, "-c", WHY, str(data), *[str(docs / path) for path in paths])
    assert (done.returncode, done.stderr) == (0, "")
    answers = dict(zip(paths, map(json.loads, done.stdout.splitlines()), strict=True))
    for path, (rule, words) in LEFT_OUT.items():
        code, answer = answers[path]
        assert (code, answer["indexed"]) == (1, False), path
        last = answer["steps"][-1]
        assert (last["rule"], last["verdict"]) == (rule, "skip"), path
        assert words in last["detail"], path
    code, answer = answers["ok.md"]
    assert (code, answer["indexed"], answer["state"]) == (0, True, "ok")


def test_status_counts_every_rule_that_left_something_out(edge: Edge) -> None:
    _, data, _ = edge
    armillary = str(Path(sys.executable).with_name("armillary"))
    done = run(armillary, "status", "--json", "--data", str(data))
    assert done.returncode == 0, done.stderr
    (project,) = json.loads(done.stdout)["projects"]
    assert project["reason"] == "1 folder(s) could not be read"
    assert project["skipped"]["unreadable"] == 2
    assert set(project["skipped"]) >= {rule for rule, _ in LEFT_OUT.values()}
    said = run(armillary, "status", "--data", str(data)).stdout
    assert "2 unreadable" in said
    assert "could not be read" in said
