"""What of a folder becomes a document, and what is told about the rest."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from armillary_core.adapters.source.folder import FolderSource
from armillary_core.domain.ingest import Listing, RootUnavailable, SkipRule, Step
from armillary_core.domain.project import ListingWay
from trees import as_nobody, found, git, left_out, look, make_project, public_folder, write


@pytest.fixture(params=[False, True], ids=["plain folder", "git tree"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    if request.param:
        git(folder, "init", "-q")
    return folder


def details(listing: Listing) -> dict[bytes, str]:
    return {row.path: row.detail for row in listing.skipped}


# -- the root ----------------------------------------------------------------------------------------------------------


def test_a_missing_root_concludes_nothing(tmp_path: Path) -> None:
    outcome = FolderSource().list(make_project(tmp_path / "gone"))
    assert outcome == RootUnavailable(f"{tmp_path / 'gone'} does not exist. Is it mounted?")


def test_a_root_that_is_a_file_concludes_nothing(tmp_path: Path) -> None:
    write(tmp_path, {"file": ""})
    outcome = FolderSource().list(make_project(tmp_path / "file"))
    assert isinstance(outcome, RootUnavailable)
    assert "not a folder" in outcome.reason


def test_an_empty_root_is_a_listing_without_files(root: Path) -> None:
    assert look(root).files == ()


def test_a_root_may_be_a_link_and_may_be_spelled_with_a_slash(root: Path, tmp_path: Path) -> None:
    write(root, {"sub/a.md": ""})
    os.symlink(root, tmp_path / "link")
    for spelling in (root, tmp_path / "link"):
        for project in (make_project(spelling), make_project(Path(f"{spelling}/"))):
            listing = FolderSource().list(project)
            assert isinstance(listing, Listing)
            assert found(listing) == {b"sub/a.md"}


def test_a_plain_folder_surprises_nobody_by_being_walked(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": ""})
    listing = look(tmp_path)
    assert (listing.way, listing.way_reason) == (ListingWay.WALK, "")


# -- folders -----------------------------------------------------------------------------------------------------------


def test_junk_and_hidden_folders_are_one_row_each(root: Path) -> None:
    write(
        root,
        {
            "a.md": "",
            "node_modules/x/y.md": "",
            "sub/__pycache__/x.md": "",
            ".hidden/x/y.md": "",
            ".hidden.md": "",
            "sub/.github/a.md": "",
            ".venv/x.md": "",
            "bare.git/description": "",
        },
    )
    listing = look(root)
    assert found(listing) == {b"a.md"}
    assert left_out(listing) == {
        b"node_modules/": SkipRule.JUNK_DIR,
        b"sub/__pycache__/": SkipRule.JUNK_DIR,
        b".venv/": SkipRule.JUNK_DIR,
        b"bare.git/": SkipRule.JUNK_DIR,
        b".hidden/": SkipRule.HIDDEN,
        b".hidden.md": SkipRule.HIDDEN,
        b"sub/.github/": SkipRule.HIDDEN,
    }
    shown = look(root, include_hidden=True)
    assert found(shown) == {b"a.md", b".hidden/x/y.md", b".hidden.md", b"sub/.github/a.md"}


def test_build_output_is_junk_only_beside_what_builds_it_and_never_where_git_decides(tmp_path: Path) -> None:
    files: dict[str | bytes, str | bytes] = dict.fromkeys(
        ("build/a.md", "app/build/a.md", "app/package.json", "cache/CACHEDIR.TAG", "cache/a.md", "env2/pyvenv.cfg"), ""
    )
    walked = look(write(tmp_path / "plain", files))
    assert found(walked) == {b"build/a.md", b"app/package.json"}
    told = details(walked)
    assert told[b"app/build/"] == "build output beside package.json"
    assert set(told) == {b"app/build/", b"cache/", b"env2/"}
    tracked = write(tmp_path / "tracked", files)
    git(tracked, "init", "-q")
    assert found(look(tracked)) == {os.fsencode(name) if isinstance(name, str) else name for name in files}


def test_a_folder_with_the_name_of_a_document_is_a_folder(root: Path) -> None:
    write(root, {"folder.md/inside.md": ""})
    assert found(look(root)) == {b"folder.md/inside.md"}


# -- settings ----------------------------------------------------------------------------------------------------------

TREE = [
    "a.md",
    "UPPER.MD",
    "a.txt",
    "docs/a.md",
    "docs/deep/er/b.md",
    "docs/c.txt",
    "docs2/d.md",
    "README",
    "x.md/p.png",
]


@pytest.mark.parametrize(
    ("patterns", "wanted"),
    [
        ((), set(TREE)),
        (("docs/**/*.md",), {"docs/a.md", "docs/deep/er/b.md"}),
        (("*.md",), {"a.md", "UPPER.MD", "docs/a.md", "docs/deep/er/b.md", "docs2/d.md"}),
        (("/*.md",), {"a.md", "UPPER.MD"}),
        (("docs",), {"docs/a.md", "docs/deep/er/b.md", "docs/c.txt"}),
        (("docs/",), {"docs/a.md", "docs/deep/er/b.md", "docs/c.txt"}),
        (("docs/**",), {"docs/a.md", "docs/deep/er/b.md", "docs/c.txt"}),
        (("docs/*",), {"docs/a.md", "docs/c.txt"}),
        (("docs?/*.md", "README"), {"docs2/d.md", "README"}),
        (("*.[tm]*",), {"a.md", "a.txt", "docs/a.md", "docs/deep/er/b.md", "docs/c.txt", "docs2/d.md"}),
    ],
    ids=lambda value: str(sorted(value) if isinstance(value, set) else value),  # one order in every worker
)
def test_include_patterns(root: Path, patterns: tuple[str, ...], wanted: set[str]) -> None:
    write(root, dict.fromkeys(TREE, ""))
    listing = look(root, include=patterns)
    assert {os.fsdecode(path) for path in found(listing)} == wanted
    assert set(left_out(listing).values()) <= {SkipRule.NOT_INCLUDED}
    assert len(listing.files) + len(listing.skipped) == len(TREE)


@pytest.mark.parametrize("patterns", [("docs",), ("docs/",), ("/docs",), ("do?s",)], ids=str)
def test_ignored_folders(root: Path, patterns: tuple[str, ...]) -> None:
    write(root, dict.fromkeys(TREE, ""))
    listing = look(root, ignore_dirs=patterns)
    assert {os.fsdecode(path) for path in found(listing)} == {name for name in TREE if not name.startswith("docs/")}
    assert left_out(listing) == {b"docs/": SkipRule.IGNORE_DIRS}
    assert details(listing)[b"docs/"] == patterns[0]


def test_an_ignored_folder_may_be_named_by_its_path(root: Path) -> None:
    write(root, {"a/drafts/x.md": "", "b/drafts/x.md": ""})
    assert found(look(root, ignore_dirs=("a/drafts",))) == {b"b/drafts/x.md"}


def test_ignored_files_compare_suffixes_without_case(root: Path) -> None:
    write(root, dict.fromkeys(TREE, ""))
    listing = look(root, ignore_files=("*.md", "docs/c.*"))
    assert found(listing) == {b"a.txt", b"README", b"x.md/p.png"}
    assert left_out(listing)[b"UPPER.MD"] is SkipRule.IGNORE_FILES


def test_size_limit(root: Path) -> None:
    write(root, {"at.md": "x" * 100, "over.md": "x" * 101})
    listing = look(root, max_file_bytes=100)
    assert (found(listing), left_out(listing)) == ({b"at.md"}, {b"over.md": SkipRule.TOO_LARGE})


SECRETS = [
    ".env", ".env.local", "prod.pem", "SERVER.KEY", "id_rsa", "id_ed25519", "id_rsa.pub", "id_ecdsa_sk.old", "id_work",
    "credentials", "credentials.json", "Credentials.md", ".netrc", "_netrc", ".npmrc", "vault.kdbx", "a.p12", "a.pfx",
    ".git-credentials", "a.ppk", "a.jks",
]  # fmt: skip
HARMLESS = [
    "env.md",
    ".env.example",
    "id_generation.md",
    "identity",
    "keys.md",
    "monkey",
    "my-credentials.md",
    "a.keys",
]


def test_secrets_by_name_are_left_out_unless_switched_on(root: Path) -> None:
    write(root, dict.fromkeys((*SECRETS, *HARMLESS), "x"))
    listing = look(root, include_hidden=True)
    assert left_out(listing) == {name.encode(): SkipRule.SECRET for name in SECRETS}
    assert details(listing)[b"Credentials.md"] == "a secret by its name (credentials*); include_secrets lets it in"
    assert len(look(root, include_hidden=True, include_secrets=True).files) == len(SECRETS) + len(HARMLESS)


# -- links and what is no file -----------------------------------------------------------------------------------------


def test_links_are_named_and_never_followed(root: Path, tmp_path: Path) -> None:
    write(tmp_path, {"outside/secret.md": "never shown", "rootlike/secret.md": "never shown"})
    write(root, {"a.md": "", "sub/b.md": ""})
    for name, target in {
        "out.md": "../outside/secret.md",
        "out-absolute.md": str(tmp_path / "outside" / "secret.md"),
        "out-folder": "../outside",
        "out-prefix": "../root" + "like",
        "out-nowhere": "../outside/nothing",
        "in.md": "sub/b.md",
        "in-absolute.md": str(root / "a.md"),
        "in-folder": "sub",
        "broken.md": "nowhere.md",
        "self": "self",
        "ring-a": "ring-b",
        "ring-b": "ring-a",
        "sub/up": "..",
        "here": ".",
    }.items():
        os.symlink(target, root / name)
    listing = look(root)
    assert found(listing) == {b"a.md", b"sub/b.md"}
    assert left_out(listing) == {
        b"out.md": SkipRule.SYMLINK_OUTSIDE,
        b"out-absolute.md": SkipRule.SYMLINK_OUTSIDE,
        b"out-folder": SkipRule.SYMLINK_OUTSIDE,
        b"out-prefix": SkipRule.SYMLINK_OUTSIDE,
        b"out-nowhere": SkipRule.SYMLINK_OUTSIDE,
        b"in.md": SkipRule.SYMLINK_INSIDE,
        b"in-absolute.md": SkipRule.SYMLINK_INSIDE,
        b"in-folder": SkipRule.SYMLINK_INSIDE,
        b"broken.md": SkipRule.SYMLINK_BROKEN,
        b"self": SkipRule.SYMLINK_LOOP,
        b"ring-a": SkipRule.SYMLINK_LOOP,
        b"ring-b": SkipRule.SYMLINK_LOOP,
        b"sub/up": SkipRule.SYMLINK_LOOP,
        b"here": SkipRule.SYMLINK_LOOP,
    }
    assert details(listing)[b"in.md"] == "links to sub/b.md"


def test_pipes_and_sockets_are_told_and_not_opened(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root, {"a.md": "", "sub/b.md": ""})
    os.mkfifo(root / "pipe.md")
    os.mkfifo(root / "sub" / ".hidden")
    monkeypatch.chdir(root)  # a socket's name may not be long
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket.md")
    listing = look(root)
    assert found(listing) == {b"a.md", b"sub/b.md"}
    assert left_out(listing) == {
        b"pipe.md": SkipRule.NOT_A_FILE,
        b"socket.md": SkipRule.NOT_A_FILE,
        b"sub/.hidden": SkipRule.HIDDEN,
    }
    assert details(listing)[b"pipe.md"] == "a named pipe"


# -- rights, as a user who has none ------------------------------------------------------------------------------------


@pytest.fixture(params=[False, True], ids=["plain folder", "git tree"])
def closed(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A folder in which one file, one folder with a listed file and one without may not be read."""
    folder = public_folder()
    write(folder, {"open.md": "", "closed.md": "", "tracked/a.md": "", ".gitignore": "x\n"})
    if request.param:
        git(folder, "init", "-q")
        git(folder, "add", "-A")
    write(folder, {"untracked/b.md": ""})
    for name in ("closed.md", "tracked", "untracked"):
        (folder / name).chmod(0)
    yield folder
    for name in ("tracked", "untracked"):
        (folder / name).chmod(0o700)
    shutil.rmtree(folder)


def test_what_may_not_be_read_is_told_and_the_listing_is_incomplete(closed: Path) -> None:
    listing = as_nobody(lambda: look(closed))
    assert found(listing) == {b"open.md"}
    rows = left_out(listing)
    assert rows.pop(b".gitignore") is SkipRule.HIDDEN
    assert rows == dict.fromkeys((b"closed.md", b"tracked/", b"untracked/"), SkipRule.UNREADABLE)
    assert listing.errors == ("tracked/: Permission denied", "untracked/: Permission denied")


def test_explaining_what_may_not_be_read(closed: Path) -> None:
    def last_steps() -> list[Step]:
        source, project = FolderSource(), make_project(closed)
        return [source.explain(project, path)[-1] for path in (b"closed.md", b"tracked/a.md", b"untracked/b.md")]

    assert [step.rule for step in as_nobody(last_steps)] == [SkipRule.UNREADABLE] * 3


def test_a_root_without_rights_concludes_nothing() -> None:
    folder = public_folder()
    write(folder, {"a.md": ""})
    folder.chmod(0)
    try:
        outcome = as_nobody(lambda: FolderSource().list(make_project(folder)))
        beneath = as_nobody(lambda: FolderSource().list(make_project(folder / "sub")))
    finally:
        folder.chmod(0o700)
        shutil.rmtree(folder)
    assert isinstance(outcome, RootUnavailable)
    assert isinstance(beneath, RootUnavailable)
    assert "may not be read" in outcome.reason
