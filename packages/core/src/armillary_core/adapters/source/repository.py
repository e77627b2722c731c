"""Git repositories as files on disk: which one a folder belongs to, without running anything from it."""

from __future__ import annotations

import os
from dataclasses import dataclass

from armillary_core.adapters.source.ignore_rules import IgnoreStack, Layer, read_ignore_file
from armillary_core.adapters.source.small_files import read_regular

_LONGEST_GITFILE = 8192


@dataclass(frozen=True, slots=True)
class Repository:
    top: bytes  # the work tree's real path, without a slash at the end
    git_dir: bytes
    common_dir: bytes  # equal for a repository and its linked worktrees
    is_linked: bool  # a linked worktree

    @property
    def as_worktree(self) -> str:
        """The words for a linked worktree that is left out."""
        main = os.path.dirname(self.common_dir) if self.common_dir.endswith(b"/.git") else self.common_dir
        return f"a linked worktree of {os.fsdecode(main)}, which is listed already"


def repository_at(folder: bytes) -> Repository | None:
    """The repository whose work tree begins exactly here."""
    marker = os.path.join(folder, b".git")
    if os.path.isdir(marker):
        git_dir = os.path.realpath(marker)
    else:
        content = read_regular(marker, _LONGEST_GITFILE)
        if content is None or not content.startswith(b"gitdir: "):
            return None
        git_dir = os.path.realpath(os.path.join(folder, content[8:].rstrip(b"\r\n")))
    if not os.path.lexists(os.path.join(git_dir, b"HEAD")):
        return None
    common = read_regular(os.path.join(git_dir, b"commondir"), _LONGEST_GITFILE)
    common_dir = git_dir if common is None else os.path.realpath(os.path.join(git_dir, common.rstrip(b"\r\n")))
    return Repository(os.path.realpath(folder), git_dir, common_dir, common is not None)


def has_git_entry(folder: bytes) -> bool:
    return os.path.lexists(os.path.join(folder, b".git"))


def surrounding_top(folder: bytes) -> bytes | None:
    """The nearest folder at or above this one, on the same device, that has a `.git`; it may be broken."""
    current = os.path.realpath(folder)
    try:
        device = os.stat(current).st_dev
        while True:
            if has_git_entry(current):
                return current
            parent = os.path.dirname(current)
            if parent == current or os.stat(parent).st_dev != device:
                return None
            current = parent
    except OSError:
        return None


def rules_around(top: bytes | None, root: bytes) -> IgnoreStack:
    """Git's rules that lie above `root`, as git would apply them to what is below it. When they leave `root` itself
    out there are none: someone asked for this folder."""
    if top is None:
        return IgnoreStack()
    inner = os.path.realpath(root)[len(top.rstrip(b"/")) :].strip(b"/")
    names = inner.split(b"/") if inner else []
    layers: list[Layer] = []
    repository = repository_at(top)
    if repository is not None:
        rules = read_ignore_file(os.path.join(repository.common_dir, b"info", b"exclude"))
        if rules is not None:
            layers.append(Layer(b".git/info/exclude", rules))
    for depth, name in enumerate(names):
        folder = b"".join(name + b"/" for name in names[:depth])
        rules = read_ignore_file(top + b"/" + folder + b".gitignore")
        if rules is not None:
            layers.append(Layer(b"../" * (len(names) - depth) + b".gitignore", rules, folder))
        decision = IgnoreStack(layers).decide(folder + name, name, is_folder=True)
        if decision is not None and decision.is_ignored:
            return IgnoreStack()
    below = inner + b"/" if inner else b""
    return IgnoreStack([Layer(layer.shown, layer.rules, above=below[len(layer.folder) :]) for layer in layers])
