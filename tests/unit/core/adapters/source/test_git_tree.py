"""Git work trees: byte-exact, each repository by its own rules, nothing of them executed."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from armillary_core.adapters.source.folder import FolderSource
from armillary_core.domain.ingest import Listing, SkipRule
from armillary_core.domain.project import ListingWay
from trees import found, git, left_out, look, make_project, make_repository, write

AWKWARD_NAMES = [
    b"name with spaces.md", b'quote"name.md', b"it's.md", b"tab\tname.md", b"new\nline.md", "emoji-🚀.md".encode(),
    "имя-файла.md".encode(), "日本語.md".encode(), b"bad\xffname.md", b"-dash.md", b"#hash.md", b":colon.md",
    b":(glob)magic.md", b"per%20cent.md", b"back\\slash.md", b"a::b.md", b"star*.md", b"[x].md", "e\u0301.md".encode(),
    "\u00e9.md".encode(), b"x" * 240 + b".md", b"-", b" lead", b"trail ", b"README", b"UPPER.MD",
]  # fmt: skip
TWINS = [b"README.md", b"readme.md", b"a b.md", b"a_b.md", b"a-b.md", b"a%20b.md", b"a+b.md", b"a.md", b"a.md.md"]


@pytest.mark.parametrize("names", [AWKWARD_NAMES, TWINS], ids=["awkward names", "twins"])
@pytest.mark.parametrize("shape", ["plain", "tracked", "untracked"])
def test_every_name_is_found_byte_for_byte(names: list[bytes], shape: str, tmp_path: Path) -> None:
    files: dict[str | bytes, str | bytes] = {b"d\xff/" + name: name for name in names} | {n: n for n in names}
    write(tmp_path, files)
    if shape != "plain":
        git(tmp_path, "init", "-q")
    if shape == "tracked":
        git(tmp_path, "add", "-A")
    listing = look(tmp_path)
    assert found(listing) == set(files)
    assert listing.way is (ListingWay.WALK if shape == "plain" else ListingWay.GIT)
    for file in listing.files:
        status = os.lstat(os.fsencode(tmp_path) + b"/" + file.path)
        assert (file.stamp.size, file.stamp.mtime_ns, file.stamp.inode) == (
            status.st_size,
            status.st_mtime_ns,
            status.st_ino,
        )
    assert listing.device == os.stat(tmp_path).st_dev


def test_tracked_although_ignored_is_found_and_untracked_too(tmp_path: Path) -> None:
    write(tmp_path, {".gitignore": "ignored/\ntracked.md\n"})
    make_repository(tmp_path, {"tracked.md": "", "ignored/tracked.md": ""}, ignored_too=True)
    write(tmp_path, {"ignored/new.md": "", "new.md": "", "only/ignored/x": ""})
    listing = look(tmp_path)
    assert found(listing) == {b"tracked.md", b"ignored/tracked.md", b"new.md"}
    rows = left_out(listing)
    assert rows[b"ignored/new.md"] is rows[b"only/"] is SkipRule.GITIGNORE


def test_a_project_may_be_a_folder_of_a_work_tree(tmp_path: Path) -> None:
    make_repository(tmp_path, {"a.md": "", "docs/b.md": "", "docs/sub/c.md": "", "other/d.md": ""})
    write(tmp_path, {"docs/new.md": ""})
    listing = look(tmp_path / "docs")
    assert (found(listing), listing.way) == ({b"b.md", b"sub/c.md", b"new.md"}, ListingWay.GIT)


def test_tracked_files_that_are_not_on_disk_are_told_and_normal(tmp_path: Path) -> None:
    make_repository(tmp_path, {"a.md": "", "b.md": "", "gone/c.md": "", "gone/d.md": ""})
    (tmp_path / "b.md").unlink()
    shutil.rmtree(tmp_path / "gone")
    listing = look(tmp_path)
    assert found(listing) == {b"a.md"}
    assert left_out(listing) == {b"b.md": SkipRule.VANISHED, b"gone/": SkipRule.VANISHED}
    assert listing.errors == ()


def test_a_sparse_checkout_lists_what_is_there(tmp_path: Path) -> None:
    make_repository(tmp_path, {"a.md": "", "in/b.md": "", "out/c.md": ""})
    git(tmp_path, "sparse-checkout", "set", "in")
    assert found(look(tmp_path)) == {b"a.md", b"in/b.md"}


def test_a_conflicted_file_is_found_once(tmp_path: Path) -> None:
    make_repository(tmp_path, {"a.md": "1"})
    git(tmp_path, "checkout", "-qb", "side")
    write(tmp_path, {"a.md": "2"})
    git(tmp_path, "commit", "-qam", "two")
    git(tmp_path, "checkout", "-q", "main")
    write(tmp_path, {"a.md": "3"})
    git(tmp_path, "commit", "-qam", "three")
    with pytest.raises(subprocess.CalledProcessError):
        git(tmp_path, "merge", "side")
    assert [file.path for file in look(tmp_path).files] == [b"a.md"]


# -- repositories inside -----------------------------------------------------------------------------------------------


def test_submodules_and_nested_repositories_follow_their_own_rules(tmp_path: Path) -> None:
    inner = make_repository(tmp_path / "inner-source", {"deep.md": "", ".gitignore": "*.log\n"})
    source = make_repository(tmp_path / "source", {"sub.md": "", ".gitignore": "a.md\n"})
    git(source, "submodule", "--quiet", "add", str(inner), "inner")
    git(source, "commit", "-qm", "inner")
    root = make_repository(tmp_path / "root", {"a.md": "", ".gitignore": "*.txt\n"})
    git(root, "submodule", "--quiet", "add", str(source), "sub module")
    git(root, "submodule", "--quiet", "update", "--init", "--recursive")
    write(root, {"sub module/a.md": "", "sub module/x.txt": "", "sub module/inner/x.log": "", "x.txt": ""})
    make_repository(root / "nested", {"n.md": "", "n.txt": ""})
    make_repository(root / "in" / "folder", {"f.md": ""})
    listing = look(root)
    assert found(listing) == {
        b"a.md", b"sub module/sub.md", b"sub module/x.txt", b"sub module/inner/deep.md", b"nested/n.md",
        b"nested/n.txt", b"in/folder/f.md",
    }  # fmt: skip
    rows = left_out(listing)
    assert rows[b"sub module/a.md"] is rows[b"sub module/inner/x.log"] is rows[b"x.txt"] is SkipRule.GITIGNORE


def test_a_submodule_that_is_not_checked_out_is_told(tmp_path: Path) -> None:
    source = make_repository(tmp_path / "source", {"sub.md": ""})
    made = make_repository(tmp_path / "made", {"a.md": ""})
    git(made, "submodule", "--quiet", "add", str(source), "sub")
    git(made, "commit", "-qm", "sub")
    git(tmp_path, "clone", "-q", str(made), "root")
    listing = look(tmp_path / "root")
    assert found(listing) == {b"a.md"}
    assert left_out(listing)[b"sub/"] is SkipRule.VANISHED


def test_nested_repositories_in_a_plain_folder_are_listed_by_git(tmp_path: Path) -> None:
    write(tmp_path, {".gitignore": "*.md\n", "plain.txt": "", "plain.md": ""})
    make_repository(tmp_path / "nested", {"tracked.log": "", ".gitignore": "*.log\n", "n.md": ""}, ignored_too=True)
    write(tmp_path, {"nested/new.log": ""})
    listing = look(tmp_path)
    assert (found(listing), listing.way) == ({b"plain.txt", b"nested/tracked.log", b"nested/n.md"}, ListingWay.WALK)


def test_our_own_ignore_file_reaches_into_nested_repositories(tmp_path: Path) -> None:
    write(tmp_path, {".armillaryignore": "drafts/\n/nested/b.md\n"})
    make_repository(tmp_path / "nested", {"a.md": "", "b.md": "", "drafts/c.md": ""})
    assert found(look(tmp_path)) == {b"nested/a.md"}


def test_ten_linked_worktrees_do_not_multiply_the_documents(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "root", {f"docs/{number}.md": str(number) for number in range(60)})
    write(root, {".git/info/exclude": "/tool/\n"})
    for number in range(10):
        folder = root / (".worktrees" if number < 4 else "trees" if number < 7 else "tool") / str(number)
        git(root, "worktree", "add", "-q", "-b", f"b{number}", str(folder))
    write(root, {"trees/4/docs/0.md": "changed"})
    make_repository(root / "independent", {"own.md": ""})
    listing = look(root)
    assert len(listing.files) == 61
    rows = left_out(listing)
    assert rows[b".worktrees/"] is SkipRule.HIDDEN
    assert rows[b"tool/"] is SkipRule.GITIGNORE
    named = {row.path: row.detail for row in listing.skipped if row.rule is SkipRule.LINKED_WORKTREE}
    assert set(named) == {b"trees/4/", b"trees/5/", b"trees/6/"}
    assert str(root) in named[b"trees/4/"]
    shown = look(root, include_hidden=True)
    assert left_out(shown)[b".worktrees/0/"] is SkipRule.LINKED_WORKTREE
    asked_for = look(root / "trees" / "4")
    assert (len(asked_for.files), asked_for.way) == (60, ListingWay.GIT)


def test_of_several_worktrees_in_a_plain_folder_the_repository_itself_is_listed(tmp_path: Path) -> None:
    main = make_repository(tmp_path / "lab" / "z-main", {"a.md": ""})
    git(main, "worktree", "add", "-q", "-b", "one", str(tmp_path / "lab" / "a-tree"))
    listing = look(tmp_path / "lab")
    assert found(listing) == {b"z-main/a.md"}
    assert left_out(listing)[b"a-tree/"] is SkipRule.LINKED_WORKTREE


def test_of_worktrees_whose_repository_is_elsewhere_one_is_listed(tmp_path: Path) -> None:
    main = make_repository(tmp_path / "main", {"a.md": ""})
    for name in ("one", "two"):
        git(main, "worktree", "add", "-q", "-b", name, str(tmp_path / "lab" / name))
    listing = look(tmp_path / "lab")
    assert found(listing) == {b"one/a.md"}
    assert left_out(listing)[b"two/"] is SkipRule.LINKED_WORKTREE


# -- hostile and broken repositories -----------------------------------------------------------------------------------


def test_nothing_that_a_repository_configures_is_executed(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "root", {"a.md": ""})
    trap, sprung = tmp_path / "trap.sh", tmp_path / "sprung"
    trap.write_text(f"#!/bin/sh\ntouch {sprung}\n")
    trap.chmod(0o755)
    for hook in ("post-index-change", "fsmonitor-watchman", "post-checkout"):
        shutil.copy(trap, root / ".git" / "hooks" / hook)
    git(root, "config", "core.fsmonitor", str(trap))
    git(root, "config", "core.hooksPath", str(root / ".git" / "hooks"))
    git(root, "ls-files", "--others")
    assert sprung.exists()  # the trap works
    sprung.unlink()
    write(root, {"new.md": "", ".gitignore": "x\n", "x": ""})
    assert found(look(root)) == {b"a.md", b"new.md"}
    assert not sprung.exists()


def test_a_partial_clone_fetches_nothing_by_its_own_command(tmp_path: Path) -> None:
    source = make_repository(tmp_path / "source", {"a/b.md": "1", "c/d.md": "2", "z.md": "3"})
    git(source, "config", "uploadpack.allowFilter", "true")
    root = tmp_path / "root"
    git(tmp_path, "clone", "-q", "--filter=tree:0", "--no-checkout", f"file://{source}", str(root))
    git(root, "sparse-checkout", "init", "--cone", "--sparse-index")
    git(root, "sparse-checkout", "set", "nothing")
    git(root, "checkout", "-q", "main")
    sprung = tmp_path / "sprung"
    git(root, "config", "remote.origin.url", f"ext::sh -c touch% {sprung}")
    git(root, "config", "protocol.ext.allow", "always")
    for pack in (root / ".git" / "objects" / "pack").iterdir():
        pack.unlink()
    subprocess.run(["git", "ls-files"], cwd=root, capture_output=True)
    assert sprung.exists()  # the trap works
    sprung.unlink()
    assert b"z.md" in found(look(root))
    assert not sprung.exists()


def test_variables_of_a_surrounding_git_are_not_inherited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = make_repository(tmp_path / "other", {"other.md": ""})
    root = make_repository(tmp_path / "root", {"a.md": ""})
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "none"))
    assert found(look(root)) == {b"a.md"}


def test_the_users_own_ignore_file_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(
        tmp_path, {"home/.config/git/ignore": "*.md\n", "home/.gitconfig": "[core]\nexcludesFile=~/.config/git/ignore"}
    )
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    root = make_repository(tmp_path / "root", {})
    write(root, {"a.md": ""})
    assert found(look(root)) == {b"a.md"}


@pytest.mark.skipif(os.geteuid() != 0, reason="SKIPPED: only root may give folders away")
@pytest.mark.parametrize("inside", ["", "docs"], ids=["the work tree", "a folder in it"])
def test_a_tree_of_another_user_is_listed_by_git(inside: str, tmp_path: Path) -> None:
    root = make_repository(tmp_path / "root", {"docs/a.md": "", ".gitignore": "*.log\n"})
    write(root, {"docs/x.log": ""})
    for folder, _, files in os.walk(root):
        for path in (folder, *(f"{folder}/{file}" for file in files)):
            os.chown(path, 12345, 12345)
    with pytest.raises(subprocess.CalledProcessError, match="128"):
        git(root, "ls-files")
    listing = look(root / inside)
    assert (len(listing.files), listing.way) == (1, ListingWay.GIT)


@pytest.mark.parametrize(
    "damage",
    [
        {".git/HEAD": "nonsense"},
        {".git/config": "[core\n"},
        {".git/index": "DIRC nonsense"},
        {".git/config": "[core]\n\trepositoryformatversion = 9\n"},
    ],
    ids=["head", "config", "index", "from the future"],
)
def test_a_broken_repository_is_walked_and_says_why(damage: dict[str | bytes, str | bytes], tmp_path: Path) -> None:
    make_repository(tmp_path, {"a.md": "", ".gitignore": "*.log\n", "sub/b.md": ""})
    write(tmp_path, {"x.log": "", **damage})
    listing = look(tmp_path)
    assert found(listing) == {b"a.md", b"sub/b.md"}
    assert listing.way is ListingWay.WALK
    assert listing.way_reason


def test_a_worktree_mounted_without_its_repository_is_walked(tmp_path: Path) -> None:
    write(tmp_path, {".git": "gitdir: /host/path/.git/worktrees/x\n", "a.md": "", ".gitignore": "*.log\n", "x.log": ""})
    listing = look(tmp_path)
    assert (found(listing), listing.way) == ({b"a.md"}, ListingWay.WALK)
    assert "not a git repository" in listing.way_reason


def test_a_git_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_repository(tmp_path / "root", {"a.md": ""})
    write(tmp_path, {"bin/git": "#!/bin/sh\nexec /bin/sleep 60\n"})
    (tmp_path / "bin" / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    listing = FolderSource(git_seconds=0.2).list(make_project(tmp_path / "root"))
    assert isinstance(listing, Listing)
    assert (found(listing), listing.way) == ({b"a.md"}, ListingWay.WALK)
    assert "did not answer" in listing.way_reason


def test_a_tracked_folder_that_became_a_link_is_not_followed(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "root", {"docs/secret.md": "", "a.md": ""})
    write(tmp_path, {"outside/secret.md": "never shown"})
    shutil.rmtree(root / "docs")
    os.symlink(tmp_path / "outside", root / "docs")
    listing = look(root)
    assert found(listing) == {b"a.md"}
    assert left_out(listing)[b"docs"] is SkipRule.SYMLINK_OUTSIDE


def test_a_work_tree_that_points_elsewhere_leads_nowhere(tmp_path: Path) -> None:
    write(tmp_path, {"outside/secret.md": "never shown"})
    root = make_repository(tmp_path / "root", {"a.md": ""})
    git(root, "config", "core.worktree", str(tmp_path / "outside"))
    assert found(look(root)) == {b"a.md"}


def test_many_ignored_paths_are_a_bounded_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from armillary_core.adapters.source import look as looking

    monkeypatch.setattr(looking, "MOST_IGNORED_ROWS", 10)
    git(tmp_path, "init", "-q")
    write(tmp_path, {".gitignore": "*.log\n", "a.md": "", **{f"{number:03}.log": "" for number in range(50)}})
    ignored = [row for row in look(tmp_path).skipped if row.rule is SkipRule.GITIGNORE]
    assert len(ignored) == 10
    assert "40 more" in ignored[-1].detail
