"""The walker's answer is git's own answer, whatever the ignore files say."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest

from armillary_core.adapters.source.folder import FolderSource
from armillary_core.domain.ingest import SkipRule
from armillary_core.domain.project import ListingWay
from trees import found, git, left_out, look, make_project, random_tree, write


def git_says(root: Path) -> set[bytes]:
    listed = git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split(b"\0")
    return {path for path in listed if path and not path.endswith(b"/")}


@pytest.mark.parametrize("batch", range(8))
def test_walking_finds_what_git_finds_in_random_trees(
    batch: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    roots = []
    for seed in range(batch * 8, batch * 8 + 8):
        root = tmp_path / str(seed)
        root.mkdir()
        random_tree(root, random.Random(seed))
        roots.append((seed, root, git_says(root)))
    for seed, root, wanted in roots:
        listing = look(root, include_hidden=True, include_secrets=True)
        assert (listing.way, found(listing)) == (ListingWay.GIT, wanted), f"seed {seed}"
    monkeypatch.setenv("PATH", "/nonexistent")
    for seed, root, wanted in roots:
        listing = look(root, include_hidden=True, include_secrets=True)
        assert (listing.way, listing.way_reason) == (ListingWay.WALK, "git is not installed")
        assert found(listing) == wanted, f"seed {seed}"


def test_nested_files_reinclude_anchor_and_prune(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            ".gitignore": "*.log\r\n/only-here.md\r\ndrafts/\r\n!keep.log  \r\n\\#odd.md\r\n",
            "a.log": "",
            "keep.log": "",
            "#odd.md": "",
            "only-here.md": "",
            "sub/only-here.md": "",
            "sub/.gitignore": "!a.log\n",
            "sub/a.log": "",
            "drafts/.gitignore": "!*\n",
            "drafts/a.md": "",
            "sub/drafts": "a file, not a folder",
        },
    )
    listing = look(tmp_path)
    assert found(listing) == {b"keep.log", b"sub/only-here.md", b"sub/a.log", b"sub/drafts"}
    ignored = {row.path: row.detail for row in listing.skipped if row.rule is SkipRule.GITIGNORE}
    assert ignored == {
        b"a.log": ".gitignore line 1: *.log",
        b"only-here.md": ".gitignore line 2: /only-here.md",
        b"drafts/": ".gitignore line 3: drafts/",
        b"#odd.md": ".gitignore line 5: \\#odd.md",
    }


def test_rules_above_a_project_inside_a_work_tree_count_when_walking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path, {".gitignore": "*.log\n/docs/secret.md\n", "docs/.gitignore": "x.md\n"})
    write(tmp_path, {".git/info/exclude": "local.md\n"})
    write(tmp_path, {f"docs/{name}": "" for name in ("a.md", "a.log", "secret.md", "x.md", "local.md")})
    by_git = look(tmp_path / "docs")
    monkeypatch.setenv("PATH", "/nonexistent")
    walked = look(tmp_path / "docs")
    assert (by_git.way, walked.way) == (ListingWay.GIT, ListingWay.WALK)
    assert found(by_git) == found(walked) == {b"a.md"}


def test_a_project_that_the_repository_around_it_ignores_is_walked(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path, {".gitignore": "*\n", "notes/a.md": "", "notes/.gitignore": "b.md\n", "notes/b.md": ""})
    listing = look(tmp_path / "notes")
    assert found(listing) == {b"a.md"}
    assert (listing.way, listing.way_reason) == (ListingWay.WALK, "the repository around this folder ignores it")


@pytest.mark.parametrize("in_git", [False, True], ids=["plain folder", "git tree"])
def test_our_own_ignore_file_counts_everywhere_and_cannot_bring_back_what_git_ignores(
    in_git: bool, tmp_path: Path
) -> None:
    if in_git:
        git(tmp_path, "init", "-q")
    write(
        tmp_path,
        {
            ".gitignore": "*.log\n",
            ".armillaryignore": "private/\n*.tmp.md\n!a.log\n",
            "sub/.armillaryignore": "!keep.tmp.md\n",
            **dict.fromkeys(("a.md", "a.log", "x.tmp.md", "private/a.md", "sub/keep.tmp.md", "sub/x.tmp.md"), ""),
        },
    )
    listing = look(tmp_path)
    assert found(listing) == {b"a.md", b"sub/keep.tmp.md"}
    assert left_out(listing)[b"private/"] is SkipRule.GITIGNORE
    details = {row.path: row.detail for row in listing.skipped}
    assert details[b"sub/x.tmp.md"] == ".armillaryignore line 2: *.tmp.md"


def test_without_gitignore_everything_but_our_own_ignore_file_is_off(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path, {".gitignore": "*.md\n", ".armillaryignore": "b.md\n", "a.md": "", "b.md": ""})
    listing = look(tmp_path, use_gitignore=False)
    assert found(listing) == {b"a.md"}
    assert (listing.way, listing.way_reason) == (ListingWay.WALK, "use_gitignore is off")


@pytest.mark.parametrize("pattern", [b"*a" * 30 + b"b", b"**/a/" * 12 + b"b", b"[ab]*" * 30 + b"c"], ids=repr)
def test_a_hostile_pattern_takes_no_time(pattern: bytes, tmp_path: Path) -> None:
    deep = b"/".join([b"a" * 20] * 10) + b"/" + b"a" * 250
    write(tmp_path, {b".gitignore": pattern + b"\n" + pattern.replace(b"/", b"") + b"\n", deep: b""})
    started = time.process_time()
    assert len(found(look(tmp_path))) == 1
    assert time.process_time() - started < 1.0


def test_an_ignore_file_that_is_a_link_or_a_pipe_is_not_read(tmp_path: Path) -> None:
    write(tmp_path, {"rules": "*.md\n", "a.md": "", "sub/b.md": ""})
    os.symlink("rules", tmp_path / ".gitignore")
    os.mkfifo(tmp_path / "sub" / ".gitignore")
    os.mkfifo(tmp_path / "sub" / ".armillaryignore")
    assert found(look(tmp_path)) == {b"rules", b"a.md", b"sub/b.md"}


def test_explaining_names_the_deciding_file_line_and_pattern(tmp_path: Path) -> None:
    write(tmp_path, {".gitignore": "*.log\n", "sub/.gitignore": "# words\n!a.log\nbuild/\n"})
    project = make_project(tmp_path)
    source = FolderSource()
    for _ in range(2):  # walked, then by git
        assert source.explain(project, b"x.log")[-1].detail == ".gitignore line 1: *.log"
        assert source.explain(project, b"sub/build/x")[-1].detail == "sub/build/: sub/.gitignore line 3: build/"
        assert source.explain(project, b"sub/a.log")[-1].rule == SkipRule.VANISHED
        git(tmp_path, "init", "-q")
