"""Why one path is a document or not: the listing's own checks, told step by step."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from armillary_core.adapters.source.filters import Verdict
from armillary_core.adapters.source.git import GitError
from armillary_core.adapters.source.git_tree import deciding_rules, is_ignored, is_tracked
from armillary_core.adapters.source.ignore_rules import IgnoreStack
from armillary_core.adapters.source.junk import build_folder, marked_folder
from armillary_core.adapters.source.look import OWN_IGNORE_FILE, Look, refuse_file
from armillary_core.adapters.source.repository import Repository, repository_at, rules_around, surrounding_top
from armillary_core.adapters.source.walk import GIT_IGNORE_FILE
from armillary_core.domain.ingest import Skipped, SkipRule, Step
from armillary_core.domain.project import Project

_PASSED: dict[SkipRule, str] = {
    SkipRule.HIDDEN: "the name does not begin with a dot",
    SkipRule.SECRET: "the name is not one of a secret",
    SkipRule.IGNORE_FILES: "no pattern of ignore_files matches",
    SkipRule.NOT_INCLUDED: "an include pattern matches",
}


def explain_path(project: Project, path: bytes, skipped: Callable[[], Iterable[Skipped]]) -> list[Step]:
    """The chain up to the step that decides; the last one is a "pass" when the path is a document. `skipped` lists
    the project: only that tells which of several worktrees of one repository is the one that counts."""
    root = os.fsencode(project.root).rstrip(b"/") + b"/"
    relative = _relative(root, path)
    if relative is None:
        return [Step("outside_root", "skip", f"{os.fsdecode(path)} is not inside {os.fsdecode(root)}")]
    return _Explanation(root, project, skipped).of(relative)


def _relative(root: bytes, path: bytes) -> bytes | None:
    """The path seen from the root, by its spelling alone; None when it leads out."""
    normal = posixpath.normpath(os.path.join(root, path))
    home = posixpath.normpath(root)
    if normal == home:
        return b""
    start = home.rstrip(b"/") + b"/"
    return normal[len(start) :] if normal.startswith(start) else None


@dataclass(slots=True)
class _Tree:
    """The work tree or plain folder that the current component lies in."""

    top: bytes | None
    start: bytes
    by_git: bool
    stack: IgnoreStack


class _Explanation:
    def __init__(self, root: bytes, project: Project, skipped: Callable[[], Iterable[Skipped]]) -> None:
        self._skipped = skipped
        self._look = Look(root, project.settings)
        self._root = root
        self._steps: list[Step] = []
        self._seen: set[bytes] = set()  # common directories of the repositories on the way

    def of(self, path: bytes) -> list[Step]:
        try:
            os.stat(self._root)
        except OSError as exc:
            return [Step("root", "skip", f"{os.fsdecode(self._root)} cannot be read: {exc.strerror}")]
        tree = self._enter(b"", surrounding_top(self._root))
        own_rules = IgnoreStack().entering(self._root, b"", OWN_IGNORE_FILE)
        names = path.split(b"/") if path else []
        is_folder = not path or (os.path.isdir(self._root + path) and not os.path.islink(self._root + path))
        folders = names if is_folder else names[:-1]
        tracked = self._is_tracked(tree, path) if path and not is_folder else False
        folder = b""
        for name in folders:
            inner = folder + name
            verdict = self._folder_verdict(inner, name, tree, own_rules, tracked)
            if verdict is not None:
                return self._decided(verdict, f"{os.fsdecode(inner)}/: ")
            if os.path.lexists(self._root + inner + b"/.git") and (found := repository_at(self._root + inner)):
                refusal = self._worktree(inner + b"/", found)
                if refusal is not None:
                    return self._decided(refusal, f"{os.fsdecode(inner)}/: ")
                tree = self._enter(inner + b"/", found.top)
                tracked = self._is_tracked(tree, path) if not is_folder else False
            elif not tree.by_git and self._look.settings.use_gitignore:
                tree.stack = tree.stack.entering(self._root, inner + b"/", GIT_IGNORE_FILE)
            own_rules = own_rules.entering(self._root, inner + b"/", OWN_IGNORE_FILE)
            folder = inner + b"/"
        if folders:
            self._pass("folders", f"nothing leaves out {os.fsdecode(folder)} or a folder above it")
        if is_folder:
            self._pass("folder", "a folder: what it holds is looked at")
            return self._steps
        return self._file(path, names[-1], tree, own_rules, tracked)

    # -- trees -----------------------------------------------------------------------------------------------------

    def _enter(self, start: bytes, top: bytes | None) -> _Tree:
        where = self._root + start
        named = os.fsdecode(start) or "the project"
        if top is not None and (repository := repository_at(top)) is not None:
            self._seen.add(repository.common_dir)
        if self._look.settings.use_gitignore and top is not None:
            try:
                if os.path.realpath(where) == top or not is_ignored(top, where):
                    is_tracked(top, where, b".git")
                    self._pass("listing", f"{named} is listed by git")
                    return _Tree(top, start, True, IgnoreStack())
                reason = "the repository around this folder ignores it"
            except GitError as exc:
                reason = str(exc)
        elif top is not None:
            reason = "use_gitignore is off"
        else:
            reason = "not a git work tree"
        self._pass("listing", f"{named} is walked: {reason}")
        stack = rules_around(top, where) if self._look.settings.use_gitignore else IgnoreStack()
        if self._look.settings.use_gitignore:
            stack = stack.entering(self._root, start, GIT_IGNORE_FILE)
        return _Tree(top, start, False, stack)

    def _worktree(self, folder: bytes, repository: Repository) -> Verdict | None:
        if not repository.is_linked:
            return None
        if repository.common_dir in self._seen or any(
            row.rule is SkipRule.LINKED_WORKTREE and row.path == folder for row in self._skipped()
        ):
            return SkipRule.LINKED_WORKTREE, repository.as_worktree
        return None

    def _is_tracked(self, tree: _Tree, path: bytes) -> bool:
        if not tree.by_git or tree.top is None or not path.startswith(tree.start):
            return False
        try:
            return is_tracked(tree.top, self._root + tree.start, path[len(tree.start) :])
        except GitError:
            return False

    def _ignored_by(self, tree: _Tree, path: bytes, name: bytes, *, is_folder: bool) -> tuple[bool, str]:
        """Whether an ignore file of git decides against a path whose parents are not ignored, and the words."""
        if not tree.by_git or tree.top is None:
            decision = tree.stack.decide(path, name, is_folder=is_folder)
            return (decision.is_ignored, decision.detail) if decision is not None else (False, "no rule matches")
        asked = path[len(tree.start) :]
        if is_folder and not os.path.isdir(self._root + path):
            asked += b"/"  # else git sees by itself that it is one
        try:
            detail = deciding_rules(tree.top, self._root + tree.start, [asked]).get(asked)
        except GitError as exc:
            return False, str(exc)
        return (False, "no rule matches") if detail is None else (True, detail)

    # -- folders ---------------------------------------------------------------------------------------------------

    def _folder_verdict(
        self, path: bytes, name: bytes, tree: _Tree, own_rules: IgnoreStack, tracked: bool
    ) -> Verdict | None:
        verdict = self._look.filters.folder(path, name)
        if verdict is not None:
            return verdict
        if not tracked:
            ignored, detail = self._ignored_by(tree, path, name, is_folder=True)
            if ignored:
                return SkipRule.GITIGNORE, detail
        own = own_rules.decide(path, name, is_folder=True)
        if own is not None and own.is_ignored:
            return SkipRule.GITIGNORE, own.detail
        where = self._root + path
        if os.path.islink(where):
            return refuse_file(self._root, path, os.lstat(where), self._look.filters)
        if not tree.by_git:
            built = build_folder(name, lambda other: os.path.lexists(os.path.join(os.path.dirname(where), other)))
            if built is None and repository_at(where) is None:
                built = marked_folder(lambda child: os.path.lexists(os.path.join(where, child)))
            if built is not None:
                return SkipRule.JUNK_DIR, built
        if os.path.isdir(where) and not os.access(where, os.R_OK | os.X_OK):
            return SkipRule.UNREADABLE, "Permission denied"
        return None

    # -- the file --------------------------------------------------------------------------------------------------

    def _file(self, path: bytes, name: bytes, tree: _Tree, own_rules: IgnoreStack, tracked: bool) -> list[Step]:
        if tracked:
            self._pass(SkipRule.GITIGNORE, "git tracks it, so its ignore rules do not count")
        else:
            ignored, detail = self._ignored_by(tree, path, name, is_folder=False)
            if ignored:
                return self._decided((SkipRule.GITIGNORE, detail))
            self._pass(SkipRule.GITIGNORE, detail)
        for rule, check in self._look.filters.file_checks:
            found = check(path, name)
            if found is not None:
                return self._decided((rule, found))
            self._pass(rule, _PASSED[rule])
        own = own_rules.decide(path, name, is_folder=False)
        if own is not None and own.is_ignored:
            return self._decided((SkipRule.GITIGNORE, own.detail))
        if own is not None:
            self._pass(SkipRule.GITIGNORE, own.detail)
        try:
            stat = os.lstat(self._root + path)
        except (FileNotFoundError, NotADirectoryError):
            return self._decided((SkipRule.VANISHED, "nothing lies at this path; no rule would leave it out"))
        except OSError as exc:
            return self._decided((SkipRule.UNREADABLE, exc.strerror or str(exc)))
        refusal = refuse_file(self._root, path, stat, self._look.filters)
        if refusal is not None:
            return self._decided(refusal)
        self._pass(SkipRule.NOT_A_FILE, "an ordinary file that may be read")
        self._pass(SkipRule.TOO_LARGE, f"{stat.st_size:,} bytes of at most {self._look.settings.max_file_bytes:,}")
        return self._steps

    def _pass(self, rule: str, detail: str) -> None:
        self._steps.append(Step(str(rule), "pass", detail))

    def _decided(self, verdict: Verdict, where: str = "") -> list[Step]:
        self._steps.append(Step(str(verdict[0]), "skip", where + verdict[1]))
        return self._steps
