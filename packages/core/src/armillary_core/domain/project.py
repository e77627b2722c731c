"""A project: a named set of documents from one source."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NewType

from armillary_core.domain.errors import InvalidRequestError

ProjectName = NewType("ProjectName", str)

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")


def project_name(text: str) -> ProjectName:
    """Check a name. Raises InvalidRequestError when it does not match `[a-z0-9][a-z0-9._-]*`."""
    if not _NAME.fullmatch(text) or len(text) > 100:
        raise InvalidRequestError(
            f"Project name {text[:100]!r} is not allowed. Use lower-case letters, digits, '.', '_' and '-', "
            "beginning with a letter or digit, at most 100 characters."
        )
    return ProjectName(text)


def name_from_folder(folder_name: str, taken: frozenset[str] | set[str] = frozenset()) -> ProjectName:
    """A project name for a folder: lower case, odd characters to '-', '-2', '-3'… when taken."""
    base = re.sub(r"[^a-z0-9._-]+", "-", folder_name.lower()).strip("-._") or "project"
    base = base[:80]
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base}-{number}"
    return ProjectName(name)


class ProjectState(StrEnum):
    NEW = "new"  # never scanned
    OK = "ok"
    SCANNING = "scanning"
    HELD = "held"  # the last scan looked wrong; nothing was deleted
    UNREACHABLE = "unreachable"  # the root is missing or unreadable


class ListingWay(StrEnum):
    """How the files of a project were listed."""

    GIT = "git"
    WALK = "walk"


@dataclass(frozen=True, slots=True)
class ProjectSettings:
    """What decides which files of a project are documents."""

    include: tuple[str, ...] = ()  # glob patterns on the relative path; empty = everything
    ignore_dirs: tuple[str, ...] = ()  # in addition to the built-in junk folders
    ignore_files: tuple[str, ...] = ()  # glob patterns on the file name
    max_file_bytes: int = 64 * 1024 * 1024
    include_hidden: bool = False
    include_secrets: bool = False
    use_gitignore: bool = True


@dataclass(frozen=True, slots=True)
class Project:
    id: int
    name: ProjectName
    root: str  # absolute path of the folder, surrogate-escaped
    private: bool = False
    state: ProjectState = ProjectState.NEW
    state_reason: str | None = None
    listing: ListingWay | None = None
    device: int | None = None  # st_dev of the root at the last good scan
    settings: ProjectSettings = field(default_factory=ProjectSettings)
    last_good_scan: float | None = None  # seconds since the epoch


@dataclass(frozen=True, slots=True)
class ProjectCounts:
    """Counts of one project, from the catalogue: `documents` = `empty` + `enriched` + `stale` + `desync`."""

    documents: int = 0
    empty: int = 0
    enriched: int = 0  # and not stale
    stale: int = 0
    desync: int = 0
    diverged: int = 0
    failed: int = 0
    skipped: int = 0
    chapters: int = 0
    chunks: int = 0
