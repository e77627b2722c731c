"""Listing a folder without git: ignore files stacked as git stacks them, junk folders by name, nothing followed."""

from __future__ import annotations

import os

from armillary_core.adapters.source.ignore_rules import IgnoreStack
from armillary_core.adapters.source.junk import MARKERS, build_folder, marked_folder
from armillary_core.adapters.source.look import Look
from armillary_core.adapters.source.repository import repository_at
from armillary_core.domain.ingest import SkipRule

GIT_IGNORE_FILE = b".gitignore"


def walk_folder(look: Look, start: bytes, around: IgnoreStack) -> None:
    """Add everything below a folder of the project; `around` are git's rules that lie above it."""
    reads_gitignore = look.settings.use_gitignore
    pending: list[tuple[bytes, IgnoreStack]] = [(start, around if reads_gitignore else IgnoreStack())]
    while pending:
        folder, stack = pending.pop()
        opened = look.folder(folder)
        if opened is None:
            continue
        try:
            with os.scandir(look.root + folder) as found:
                entries = sorted(found, key=_name)
        except FileNotFoundError:
            look.prune(folder, SkipRule.VANISHED, "gone while the folder was read")
            continue
        except OSError as exc:
            look.unreadable(folder, exc)
            continue
        names = {entry.name for entry in entries}
        if folder != start:
            if b".git" in names and repository_at(look.root + folder) is not None:
                look.nested.append(folder)
                continue
            marked = marked_folder(names.__contains__) if not MARKERS.keys().isdisjoint(names) else None
            if marked is not None:
                look.prune(folder, SkipRule.JUNK_DIR, marked)
                continue
        if reads_gitignore and GIT_IGNORE_FILE in names:
            stack = stack.entering(look.root, folder, GIT_IGNORE_FILE)
        pending.extend(_take_entries(look, folder, entries, names, stack, opened.rules))


def _take_entries(
    look: Look,
    folder: bytes,
    entries: list[os.DirEntry[bytes]],
    names: set[bytes],
    stack: IgnoreStack,
    own_rules: IgnoreStack,
) -> list[tuple[bytes, IgnoreStack]]:
    """Take the files; answer with the folders to enter."""
    inner: list[tuple[bytes, IgnoreStack]] = []
    for entry in entries:
        name = entry.name
        if name == b".git":
            continue
        path = folder + name
        is_folder = entry.is_dir(follow_symlinks=False)
        if is_folder:
            verdict = look.filters.folder(path, name)
            if verdict is not None:
                look.prune(path + b"/", *verdict)
                continue
        if stack:
            decision = stack.decide(path, name, is_folder=is_folder)
            if decision is not None and decision.is_ignored:
                if is_folder:
                    look.prune(path + b"/", SkipRule.GITIGNORE, decision.detail)
                else:
                    look.ignore(path, decision.detail)
                continue
        if not is_folder:
            look.file(path, name, own_rules, lambda entry=entry: entry.stat(follow_symlinks=False))  # type: ignore[misc]
            continue
        built = build_folder(name, names.__contains__)
        if built is not None:
            look.prune(path + b"/", SkipRule.JUNK_DIR, built)
        else:
            inner.append((path + b"/", stack))
    return inner


def _name(entry: os.DirEntry[bytes]) -> bytes:
    return entry.name
