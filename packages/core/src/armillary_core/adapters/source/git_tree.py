"""Listing a git work tree: what is tracked and what is not ignored, as git says."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from armillary_core.adapters.source.git import GitError, GitRun, run_git
from armillary_core.adapters.source.ignore_rules import IgnoreStack, rule_detail
from armillary_core.adapters.source.look import MOST_IGNORED_ROWS, Look
from armillary_core.domain.ingest import SkipRule

_SUBMODULE = b"160000"
_CLOSED_FOLDER = re.compile(rb"^warning: could not open directory '(.*?)/?': (.*)$", re.MULTILINE)


def list_git_tree(look: Look, top: bytes, folder: bytes) -> None:
    """Add what git lists below a folder of the project. Raises GitError, and has added nothing then."""
    where = look.root + folder
    listing = GitRun(top, where, b"ls-files", b"-z", b"-t", b"--stage", b"--cached", b"--others", b"--exclude-standard")
    try:
        ignoring = GitRun(
            top, where, b"ls-files", b"-z", b"--others", b"--ignored", b"--exclude-standard", b"--directory"
        )
    except GitError:
        listing.stop()
        raise
    try:
        listed, complaints = listing.output(seconds=look.git_seconds)
        ignored, _ = ignoring.output(seconds=look.git_seconds)
    finally:
        listing.stop()
        ignoring.stop()
    if not listed and os.path.realpath(where) != top and is_ignored(top, where):
        raise GitError("the repository around this folder ignores it")
    folders = _take_listed(look, folder, listed)
    _take_pipes_and_the_like(look, top, folder, folders)
    _take_ignored(look, top, folder, ignored)
    for closed in _CLOSED_FOLDER.finditer(complaints):
        look.unreadable(folder + closed[1] + b"/", OSError(13, closed[2].decode("utf-8", "replace")))


def is_ignored(top: bytes, folder: bytes) -> bool:
    """Whether the repository around a folder ignores it as a whole."""
    name = os.path.relpath(os.path.realpath(folder), top)
    return bool(deciding_rules(top, top, [name]))


def deciding_rules(top: bytes, folder: bytes, paths: Sequence[bytes]) -> dict[bytes, str]:
    """The ignore file, line and pattern for each path below `folder` that git ignores. Raises GitError."""
    if not paths:
        return {}
    feed = b"".join(b"./" + path + b"\0" for path in paths)  # a name may begin with ":", which git reads as magic
    run = GitRun(top, folder, b"check-ignore", b"-z", b"-v", b"--stdin", feed=feed)
    fields = run.output(accepted=(0, 1))[0].split(b"\0")
    return {
        path.removeprefix(b"./"): rule_detail(file, line, pattern)
        for file, line, pattern, path in zip(fields[0::4], fields[1::4], fields[2::4], fields[3::4], strict=False)
        if not pattern.startswith(b"!")
    }


def is_tracked(top: bytes, folder: bytes, path: bytes) -> bool:
    """Raises GitError."""
    return bool(run_git(top, folder, b"--literal-pathspecs", b"ls-files", b"-z", b"--", path))


def _take_listed(look: Look, prefix: bytes, listed: bytes) -> dict[bytes, IgnoreStack]:
    """Answers with the folders that hold what was listed, and the project's own rules there."""
    folders: dict[bytes, IgnoreStack] = {}
    last: bytes | None = None
    last_folder: bytes | None = None
    rules: IgnoreStack | None = None
    for record in listed.split(b"\0"):
        if not record:
            continue
        if record.startswith(b"? "):
            path = prefix + record[2:]
            if path.endswith(b"/"):
                look.nested.append(path)
                continue
        else:
            tab = record.index(b"\t")
            path = prefix + record[tab + 1 :]
            if path == last:
                continue  # several stages of one file in a merge
            if path.endswith(b"/"):
                continue  # a folder outside a sparse checkout
            last = path
            if record[2:8] == _SUBMODULE:
                _take_submodule(look, path)
                continue
        cut = path.rfind(b"/") + 1
        folder = path[:cut]
        if folder != last_folder:
            last_folder = folder
            opened = look.folder(folder)
            rules = None if opened is None else opened.rules
            if rules is not None:
                folders[folder] = rules
        if rules is not None:
            look.file(path, path[cut:], rules)
    return folders


def _take_pipes_and_the_like(look: Look, top: bytes, prefix: bytes, folders: dict[bytes, IgnoreStack]) -> None:
    """Git does not speak of pipes, sockets and devices; people ask why they are not found."""
    odd: dict[bytes, IgnoreStack] = {}
    for folder, rules in folders.items():
        try:
            with os.scandir(look.root + folder) as entries:
                for entry in entries:
                    if not (
                        entry.is_file(follow_symlinks=False)
                        or entry.is_dir(follow_symlinks=False)
                        or entry.is_symlink()
                    ):
                        odd[folder + entry.name] = rules
        except OSError:
            continue
    try:
        ignored = deciding_rules(top, look.root + prefix, [path[len(prefix) :] for path in odd])
    except GitError:
        ignored = {}
    for path, rules in odd.items():
        if path[len(prefix) :] not in ignored:
            look.file(path, path.rpartition(b"/")[2], rules)


def _take_submodule(look: Look, path: bytes) -> None:
    folder = path + b"/"
    if os.path.lexists(look.root + folder + b".git"):
        look.nested.append(folder)
    else:
        look.prune(folder, SkipRule.VANISHED, "a submodule that is not checked out")


def _take_ignored(look: Look, top: bytes, prefix: bytes, ignored: bytes) -> None:
    records = [record for record in ignored.split(b"\0") if record]
    shown = records[:MOST_IGNORED_ROWS]
    try:  # without the slash, after which git would compare patterns with an empty name
        details = deciding_rules(top, look.root + prefix, [record.rstrip(b"/") for record in shown])
    except GitError:
        details = {}
    for record in records:
        path = prefix + record
        cut = path.rstrip(b"/").rfind(b"/") + 1
        if look.folder(path[:cut]) is None:
            continue
        whole = "everything in it is ignored" if record.endswith(b"/") else "ignored by git"
        detail = details.get(record.rstrip(b"/"), whole)
        if not path.endswith(b"/"):
            look.ignore(path, detail)
            continue
        verdict = look.filters.folder(path[:-1], path[cut:-1])
        look.prune(path, *(verdict or (SkipRule.GITIGNORE, detail)))
