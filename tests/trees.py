"""Folders and git repositories for tests of scanning."""

from __future__ import annotations

import os
import pickle
import random
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from armillary_core.adapters.source.folder import FolderSource
from armillary_core.domain.ingest import Listing, SkipRule
from armillary_core.domain.project import Project, ProjectName, ProjectSettings


def write(root: Path, files: Mapping[str | bytes, str | bytes]) -> Path:
    """Make files below a folder; a name that ends in a slash is an empty folder."""
    root.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = os.fsencode(root) + b"/" + (name if isinstance(name, bytes) else os.fsencode(name))
        if path.endswith(b"/"):
            os.makedirs(path, exist_ok=True)
            continue
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
    return root


def git(folder: Path, *arguments: str) -> bytes:
    """Run git as an ordinary user would, without anyone's configuration."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "HOME": "/nonexistent",
        "XDG_CONFIG_HOME": "/nonexistent",
    }
    settings = ["user.name=t", "user.email=t@example.org", "protocol.file.allow=always", "init.defaultBranch=main"]
    options = [part for setting in settings for part in ("-c", setting)]
    done = subprocess.run(["git", *options, *arguments], cwd=folder, env=environment, check=True, capture_output=True)
    return done.stdout


def make_repository(folder: Path, files: Mapping[str | bytes, str | bytes], *, ignored_too: bool = False) -> Path:
    """A repository in which all of the files are committed."""
    write(folder, files)
    git(folder, "init", "-q")
    git(folder, "add", "-A", *(["-f"] if ignored_too else []))
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder


def make_project(root: Path, **settings: object) -> Project:
    return Project(1, ProjectName("lab"), str(root), settings=ProjectSettings(**settings))  # type: ignore[arg-type]


def look(root: Path, **settings: object) -> Listing:
    """List a folder that is there."""
    listing = FolderSource().list(make_project(root, **settings))
    assert isinstance(listing, Listing), listing
    return listing


def found(listing: Listing) -> set[bytes]:
    return {file.path for file in listing.files}


def left_out(listing: Listing) -> dict[bytes, SkipRule]:
    return {row.path: row.rule for row in listing.skipped}


# -- random trees with ignore files ------------------------------------------------------------------------------------

_NAMES = [
    b"a", b"b", b"c", b"ab", b"abc", b"a.md", b"b.md", b"c.txt", b"x.log", b"foo", b"bar", b"***", b"[a]", b"a!", b"!a",
    b"#a", b" a", b"a ", b"a b", b"a\\b", "ä".encode(), b"\xff", b"A", b".h", b"-", b"a-b", b"]", b"^a", b"foo.bar",
]  # fmt: skip
_PIECES = [
    b"a", b"b", b"c", b"abc", b"foo", b"bar", b"*", b"**", b"***", b"?", b"*.md", b"*.txt", b"a*", b"*a", b"*b*",
    b"[a]", b"[!a]", b"[^a]", b"[a-c]", b"[]a]", b"[a-]", b"[[:alpha:]]", b"[[:alnum:]b]", b"[[:nope:]]",
    b"[a", b"\\a", b"\\*",
    b"\\[a]", b"a\\", b"a b", b"a\\ ", b"\\#a", b"\\!a", b"#a", b"a!", b"f**r", b"**a", b"a**", "ä".encode(), b"\xff",
    b"?[a-c]*", b"*.*", b"a?c", b"[\\]a]", b"[c-a]", b"x.log", b".h", b"A", b"a\\\\b", b"[a\\-c]", b"*[!.]*",
    b"fo?**/b*",
]  # fmt: skip


def random_pattern(chance: random.Random) -> bytes:
    pieces = [chance.choice(_PIECES) for _ in range(chance.choice([1, 1, 1, 2, 2, 3]))]
    pattern = b"/".join(pieces)
    if chance.random() < 0.2:
        pattern = b"/" + pattern
    if chance.random() < 0.2:
        pattern += b"/"
    if chance.random() < 0.25:
        pattern = b"!" + pattern
    if chance.random() < 0.1:
        pattern += chance.choice([b" ", b"  ", b"\t", b"\\ ", b" \\ "])
    return pattern


def random_ignore_file(chance: random.Random) -> bytes:
    lines = [random_pattern(chance) for _ in range(chance.randint(1, 6))]
    if chance.random() < 0.3:
        lines.insert(0, chance.choice([b"# words", b"", b"   "]))
    end = chance.choice([b"\n", b"\n", b"\r\n"])
    content = end.join(lines) + chance.choice([end, b""])
    return (b"\xef\xbb\xbf" if chance.random() < 0.1 else b"") + content


def random_tree(root: Path, chance: random.Random) -> None:
    """A repository with nested ignore files, a local exclude file and names that look like patterns."""
    git(root, "init", "-q")
    folders = [b""]
    for _ in range(chance.randint(2, 10)):
        folders.append(chance.choice(folders) + chance.choice(_NAMES) + b"/")
    files: dict[str | bytes, str | bytes] = {}
    for _ in range(chance.randint(10, 40)):
        path = chance.choice(folders) + chance.choice(_NAMES)
        if path + b"/" not in folders:
            files[path] = b"x"
    for folder in folders:
        if chance.random() < 0.4 or not folder:
            files[folder + b".gitignore"] = random_ignore_file(chance)
    taken = {path: content for path, content in files.items() if not any(f.startswith(path + b"/") for f in files)}  # type: ignore[operator,arg-type]
    write(root, taken)
    if chance.random() < 0.5:
        write(root, {".git/info/exclude": random_ignore_file(chance)})


# -- rights ------------------------------------------------------------------------------------------------------------

_NOBODY = 65534
_Answer = TypeVar("_Answer")


def public_folder() -> Path:
    """A temporary folder that every user may enter; the caller removes it."""
    folder = Path(tempfile.mkdtemp(prefix="armillary-test-"))
    folder.chmod(0o755)
    return folder


def as_nobody(work: Callable[[], _Answer]) -> _Answer:
    """The answer of a forked process that gave its rights up; an ordinary user has none to give."""
    if os.geteuid() != 0:
        return work()
    look(Path(__file__).parent / "corpus")  # imports now what nobody may not read later
    receiving, sending = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # no other thread does anything here
        child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(_NOBODY)
            os.setuid(_NOBODY)
            with os.fdopen(sending, "wb") as file:
                pickle.dump(work(), file)
        finally:
            os._exit(0)
    os.close(sending)
    with os.fdopen(receiving, "rb") as file:
        content = file.read()
    os.waitpid(child, 0)
    answer: _Answer = pickle.loads(content)
    return answer
