"""One look at a project: collects what is found, by the same rules whichever way the files were listed."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass

from armillary_core.adapters.source.filters import Filters
from armillary_core.adapters.source.ignore_rules import IgnoreStack
from armillary_core.adapters.source.links import classify_link
from armillary_core.domain.document import FileStamp
from armillary_core.domain.ingest import FoundFile, Skipped, SkipRule
from armillary_core.domain.project import ProjectSettings

OWN_IGNORE_FILE = b".armillaryignore"
MOST_IGNORED_ROWS = 20_000  # of files and folders that ignore files leave out

_ALL_MAY_READ = 0o444
_ALL_MAY_ENTER = 0o555


@dataclass(frozen=True, slots=True)
class OpenFolder:
    """A folder that is looked into, and the project's own ignore rules there."""

    rules: IgnoreStack


class Look:
    """Paths are relative to `root`, which ends in a slash; a folder is "" or ends in a slash."""

    def __init__(self, root: bytes, settings: ProjectSettings, *, git_seconds: float = 60.0) -> None:
        self.root = root
        self.settings = settings
        self.git_seconds = git_seconds
        self.filters = Filters(settings)
        self.files: list[FoundFile] = []
        self.skipped: list[Skipped] = []
        self.errors: list[str] = []
        self.nested: list[bytes] = []  # folders that are repositories of their own
        self._ignored = 0
        self._pruned: set[bytes] = set()
        self._folders: dict[bytes, OpenFolder | None] = {
            b"": OpenFolder(IgnoreStack().entering(root, b"", OWN_IGNORE_FILE))
        }

    # -- folders ---------------------------------------------------------------------------------------------------

    def folder(self, folder: bytes) -> OpenFolder | None:
        """The folder, or None when it or a folder above is left out; the row is written at the first asking."""
        if folder in self._folders:
            return self._folders[folder]
        path = folder[:-1]
        parent, _, name = path.rpartition(b"/")
        above = self.folder(parent + b"/" if parent else b"")
        opened = None if above is None else self._open(above, folder, path, name)
        self._folders[folder] = opened
        return opened

    def prune(self, folder: bytes, rule: SkipRule, detail: str) -> None:
        """Leave a folder out: one row, whatever it holds."""
        if folder in self._pruned:
            return
        self._pruned.add(folder)
        self._folders[folder] = None
        if rule is SkipRule.GITIGNORE:
            self.ignore(folder, detail)
        else:
            self.skipped.append(Skipped(folder, rule, detail))

    def unreadable(self, folder: bytes, error: OSError) -> None:
        """A folder whose content is unknown: the listing is incomplete."""
        words = error.strerror or str(error)
        if folder not in self._pruned:
            self.errors.append(f"{os.fsdecode(folder) or './'}: {words}")
        self.prune(folder, SkipRule.UNREADABLE, words)

    def _open(self, above: OpenFolder, folder: bytes, path: bytes, name: bytes) -> OpenFolder | None:
        verdict = self.filters.folder(path, name)
        if verdict is None:
            decision = above.rules.decide(path, name, is_folder=True)
            if decision is not None and decision.is_ignored:
                verdict = (SkipRule.GITIGNORE, decision.detail)
        if verdict is not None:
            self.prune(folder, *verdict)
            return None
        try:
            found = os.lstat(self.root + path)
        except (FileNotFoundError, NotADirectoryError):
            self.prune(folder, SkipRule.VANISHED, "listed, but not on disk")
            return None
        except OSError as exc:
            self.unreadable(folder, exc)
            return None
        if stat.S_ISLNK(found.st_mode):
            self.skip(path, *classify_link(self.root, path))
            return None
        if not stat.S_ISDIR(found.st_mode):
            self.prune(folder, SkipRule.VANISHED, "listed as a folder, but it is none")
            return None
        if found.st_mode & _ALL_MAY_ENTER != _ALL_MAY_ENTER and not os.access(self.root + path, os.R_OK | os.X_OK):
            self.unreadable(folder, PermissionError(13, "Permission denied"))
            return None
        return OpenFolder(above.rules.entering(self.root, folder, OWN_IGNORE_FILE))

    # -- files -----------------------------------------------------------------------------------------------------

    def file(
        self, path: bytes, name: bytes, rules: IgnoreStack, lstat: Callable[[], os.stat_result] | None = None
    ) -> None:
        """Take a path that no ignore file of git leaves out: it becomes a document or a row that says why not."""
        verdict = self.filters.file(path, name)
        if verdict is not None:
            self.skipped.append(Skipped(path, *verdict))
            return
        if rules:
            decision = rules.decide(path, name, is_folder=False)
            if decision is not None and decision.is_ignored:
                self.ignore(path, decision.detail)
                return
        try:
            found = os.lstat(self.root + path) if lstat is None else lstat()
        except (FileNotFoundError, NotADirectoryError):
            self.skipped.append(Skipped(path, SkipRule.VANISHED, "listed, but not on disk"))
            return
        except OSError as exc:
            self.skipped.append(Skipped(path, SkipRule.UNREADABLE, exc.strerror or str(exc)))
            return
        refusal = refuse_file(self.root, path, found, self.filters)
        if refusal is None:
            self.files.append(FoundFile(path, FileStamp(found.st_size, found.st_mtime_ns, found.st_ino)))
        else:
            self.skipped.append(Skipped(path, *refusal))

    def skip(self, path: bytes, rule: SkipRule, detail: str) -> None:
        self.skipped.append(Skipped(path, rule, detail))

    def ignore(self, path: bytes, detail: str) -> None:
        """A row for what an ignore file leaves out; only so many are kept."""
        self._ignored += 1
        if self._ignored <= MOST_IGNORED_ROWS:
            self.skipped.append(Skipped(path, SkipRule.GITIGNORE, detail))

    def rows(self) -> tuple[Skipped, ...]:
        """Every skipped path once, by path."""
        rows = sorted({row.path: row for row in self.skipped}.values(), key=lambda row: row.path)
        if self._ignored > MOST_IGNORED_ROWS and rows:
            last = max(number for number, row in enumerate(rows) if row.rule is SkipRule.GITIGNORE)
            more = f"{rows[last].detail}; {self._ignored - MOST_IGNORED_ROWS:,} more ignored paths are not listed"
            rows[last] = Skipped(rows[last].path, SkipRule.GITIGNORE, more)
        return tuple(rows)


def refuse_file(root: bytes, path: bytes, found: os.stat_result, filters: Filters) -> tuple[SkipRule, str] | None:
    """Why what lies at a path is no readable file of a sensible size."""
    mode = found.st_mode
    if not stat.S_ISREG(mode):
        if stat.S_ISLNK(mode):
            return classify_link(root, path)
        if stat.S_ISDIR(mode):
            return SkipRule.NOT_A_FILE, "a folder"
        return SkipRule.NOT_A_FILE, _kind(mode)
    too_large = filters.size(found.st_size)
    if too_large is not None:
        return SkipRule.TOO_LARGE, too_large
    if mode & _ALL_MAY_READ != _ALL_MAY_READ and not os.access(root + path, os.R_OK):
        return SkipRule.UNREADABLE, "Permission denied"
    return None


def _kind(mode: int) -> str:
    if stat.S_ISFIFO(mode):
        return "a named pipe"
    if stat.S_ISSOCK(mode):
        return "a socket"
    return "a device" if stat.S_ISCHR(mode) or stat.S_ISBLK(mode) else "not a file"
