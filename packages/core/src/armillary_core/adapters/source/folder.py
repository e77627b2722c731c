"""A project in a folder: listed by git where git can, by walking elsewhere."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence

from typing_extensions import override

from armillary_core.adapters.source.explanation import explain_path
from armillary_core.adapters.source.git import GitError
from armillary_core.adapters.source.git_tree import list_git_tree
from armillary_core.adapters.source.look import Look
from armillary_core.adapters.source.repository import (
    Repository,
    repository_at,
    rules_around,
    surrounding_top,
)
from armillary_core.adapters.source.walk import walk_folder
from armillary_core.domain.ingest import Listing, ListingOutcome, RootUnavailable, Skipped, SkipRule, Step
from armillary_core.domain.project import ListingWay, Project
from armillary_core.ports.source import Source


class FolderSource(Source):
    def __init__(self, *, git_seconds: float = 60.0) -> None:
        """A git that takes longer is given up, and the folder walked."""
        self._git_seconds = git_seconds

    @override
    def list(self, project: Project) -> ListingOutcome:
        root = os.fsencode(project.root).rstrip(b"/") + b"/"
        device = _root_device(root)
        if isinstance(device, RootUnavailable):
            return device
        look = Look(root, project.settings, git_seconds=self._git_seconds)
        top = surrounding_top(root)
        way, reason = _list_tree(look, b"", top)
        reasons = [reason] if reason else []
        reasons += _list_nested(look, None if top is None else repository_at(top), reason)
        look.files.sort(key=lambda file: file.path)
        return Listing(
            tuple(look.files), look.rows(), way, "; ".join(reasons[:5]), device, tuple(sorted(set(look.errors)))
        )

    @override
    def explain(self, project: Project, path: bytes) -> Sequence[Step]:
        def skipped() -> Sequence[Skipped]:
            listing = self.list(project)
            return listing.skipped if isinstance(listing, Listing) else ()

        return explain_path(project, path, skipped)


def _root_device(root: bytes) -> int | RootUnavailable:
    shown = os.fsdecode(root.rstrip(b"/") or b"/")
    try:
        found = os.stat(root.rstrip(b"/") or b"/")
        if not stat.S_ISDIR(found.st_mode):
            return RootUnavailable(f"{shown} is not a folder.")
        with os.scandir(root):
            return found.st_dev
    except FileNotFoundError:
        return RootUnavailable(f"{shown} does not exist. Is it mounted?")
    except PermissionError:
        return RootUnavailable(f"{shown} may not be read by this user.")
    except OSError as exc:
        return RootUnavailable(f"{shown} cannot be read: {exc.strerror or exc}.")


def _list_tree(look: Look, folder: bytes, top: bytes | None) -> tuple[ListingWay, str]:
    """List the tree that begins at a folder; the words say why git did not do it."""
    where = look.root + folder
    if not look.settings.use_gitignore:
        reason = "use_gitignore is off" if top is not None else ""
    elif top is None:
        reason = ""
    else:
        try:
            list_git_tree(look, top, folder)
        except GitError as exc:
            reason = str(exc)
        else:
            return ListingWay.GIT, ""
    walk_folder(look, folder, rules_around(top, where))
    return ListingWay.WALK, reason


def _list_nested(look: Look, own: Repository | None, known_reason: str) -> list[str]:
    """List the repositories inside, each by its own rules; a linked worktree of one that is listed is left out."""
    seen = {own.common_dir} if own is not None else set()
    linked: dict[bytes, Repository] = {}
    reasons: list[str] = []
    while look.nested or linked:
        if look.nested:
            folder = look.nested.pop()
            repository = repository_at(look.root + folder)
            if repository is not None and repository.is_linked:
                linked[folder] = repository
                continue
        else:  # the worktrees last: their repository may have been found meanwhile
            folder = min(linked)
            repository = linked.pop(folder)
            if repository.common_dir in seen:
                if look.folder(folder) is not None:
                    look.prune(folder, SkipRule.LINKED_WORKTREE, repository.as_worktree)
                continue
        if look.folder(folder) is None:
            continue
        if repository is not None:
            seen.add(repository.common_dir)
        _, reason = _list_tree(look, folder, None if repository is None else repository.top)
        if reason and reason != known_reason and look.settings.use_gitignore:
            reasons.append(f"{os.fsdecode(folder)}: {reason}")
    return reasons
