"""`explain` tells of every path what the listing did with it."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from armillary_core.adapters.source.folder import FolderSource
from armillary_core.domain.ingest import SkipRule, Step
from trees import git, look, make_project, make_repository, random_tree, write

SETTINGS = {"include": ("*.md", "sub/**"), "ignore_dirs": ("drafts",), "ignore_files": ("x*",), "max_file_bytes": 10}


def last(root: Path, path: bytes, **settings: object) -> Step:
    return FolderSource().explain(make_project(root, **settings), path)[-1]


def disagreements(root: Path, **settings: object) -> list[object]:
    listing = look(root, **settings)
    wrong: list[object] = [file for file in listing.files if last(root, file.path, **settings).verdict != "pass"]
    for row in listing.skipped:
        if row.detail == "everything in it is ignored":  # a folder that no rule names
            continue
        step = last(root, row.path, **settings)
        if (step.verdict, step.rule) != ("skip", row.rule) or row.detail not in step.detail:
            wrong.append((row, step))
    return wrong


@pytest.mark.parametrize("in_git", [False, True], ids=["plain folder", "git tree"])
def test_explaining_agrees_with_the_listing(in_git: bool, tmp_path: Path) -> None:
    root = write(
        tmp_path / "root",
        {
            ".gitignore": "*.log\n/out/\n",
            ".armillaryignore": "private/\nown.md\n",
            **dict.fromkeys(
                (
                    "a.md", "a.log", "out/a.md", "private/a.md", "own.md", "a.txt", "drafts/a.md", "xa.md", "id_rsa",
                    ".hid/a.md", ".hid.md", "sub/a.txt", "sub/x.png", "node_modules/a.md", "sub/deep/credentials.md",
                    "a\nb.md", "plain/build/a.md", "plain/package.json", "plain/b.md",
                ),
                "1",
            ),
            "large.md": "x" * 11,
        },
    )  # fmt: skip
    os.mkfifo(root / "pipe.md")
    os.symlink("a.md", root / "in.md")
    os.symlink("/etc/hostname", root / "out.md")
    os.symlink("sub", root / "folder.md")
    make_repository(root / "nested", {"a.md": "", ".gitignore": "b.md\n"})
    write(root, {"nested/b.md": "", "nested/private/a.md": ""})
    if in_git:
        git(root, "init", "-q")
        git(root, "add", "a.md", "xa.md", "-f", "a.log")
    git(root / "nested", "worktree", "add", "-q", "-b", "other", str(root / "worktree"))
    for settings in ({}, SETTINGS, {"include_hidden": True, "include_secrets": True}, {"use_gitignore": False}):
        assert disagreements(root, **settings) == []


def test_explaining_agrees_with_the_listing_in_random_trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    roots = [tmp_path / str(seed) for seed in range(4)]
    for seed, root in enumerate(roots):
        root.mkdir()
        random_tree(root, random.Random(1000 + seed))
        assert disagreements(root, include_hidden=True, include_secrets=True) == []
    monkeypatch.setenv("PATH", "/nonexistent")
    for root in roots:
        assert disagreements(root, include_hidden=True, include_secrets=True) == []


@pytest.mark.parametrize("path", [b"../x.md", b"/etc/passwd", b"sub/../../x.md"], ids=repr)
def test_a_path_outside_the_root(path: bytes, tmp_path: Path) -> None:
    assert last(tmp_path, path).rule == "outside_root"


def test_a_path_may_be_absolute_or_winding(tmp_path: Path) -> None:
    write(tmp_path, {"sub/a.md": ""})
    assert last(tmp_path, os.fsencode(tmp_path / "sub" / "a.md")).verdict == "pass"
    assert last(tmp_path, b"./sub/../sub//a.md").verdict == "pass"
    assert last(tmp_path, os.fsencode(f"{tmp_path}x/a.md")).rule == "outside_root"


def test_a_path_that_does_not_exist_gets_the_rule_that_would_decide(tmp_path: Path) -> None:
    assert last(tmp_path, b"no/where.md") == Step(
        "vanished", "skip", "nothing lies at this path; no rule would leave it out"
    )
    assert last(tmp_path, b"no/.env").rule == SkipRule.SECRET
    assert last(tmp_path, b"no/node_modules/a.md").rule == SkipRule.JUNK_DIR


def test_folders_and_the_root_are_explained(tmp_path: Path) -> None:
    write(tmp_path, {"sub/a.md": "", ".hid/a.md": ""})
    assert last(tmp_path, b"sub/").verdict == last(tmp_path, b"").verdict == "pass"
    assert last(tmp_path, b".hid").rule == SkipRule.HIDDEN


def test_every_step_up_to_the_last_is_told(tmp_path: Path) -> None:
    make_repository(tmp_path, {"docs/a.md": "12", ".gitignore": "*.md\n"}, ignored_too=True)
    steps = FolderSource().explain(make_project(tmp_path, include=("docs/**",)), b"docs/a.md")
    assert [(step.rule, step.verdict) for step in steps] == [
        ("listing", "pass"),
        ("folders", "pass"),
        ("gitignore", "pass"),
        ("secret", "pass"),
        ("hidden", "pass"),
        ("not_included", "pass"),
        ("not_a_file", "pass"),
        ("too_large", "pass"),
    ]
    assert steps[2].detail == "git tracks it, so its ignore rules do not count"
    assert steps[-1].detail == "2 bytes of at most 67,108,864"


def test_a_missing_root_is_told(tmp_path: Path) -> None:
    assert last(tmp_path / "gone", b"a.md").rule == "root"
