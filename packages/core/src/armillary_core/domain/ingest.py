"""What the scan sees and what extraction makes of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from armillary_core.domain.card import BaseLayer
from armillary_core.domain.chapter import Chapter
from armillary_core.domain.chunk import Chunk, TermCounts
from armillary_core.domain.document import FileStamp
from armillary_core.domain.project import ListingWay


class SkipRule(StrEnum):
    """Why a path is not a document; the words of `armillary why`."""

    GITIGNORE = "gitignore"  # an ignore file said so
    JUNK_DIR = "junk_dir"  # built-in list of well-known junk folders
    IGNORE_DIRS = "ignore_dirs"  # project setting
    IGNORE_FILES = "ignore_files"  # project setting
    NOT_INCLUDED = "not_included"  # no include pattern matches
    HIDDEN = "hidden"
    SECRET = "secret"  # noqa: S105 - the name of a rule
    TOO_LARGE = "too_large"
    SYMLINK_OUTSIDE = "symlink_outside"
    SYMLINK_INSIDE = "symlink_inside"  # its target is a document itself
    SYMLINK_BROKEN = "symlink_broken"
    SYMLINK_LOOP = "symlink_loop"
    NOT_A_FILE = "not_a_file"  # pipe, socket, device
    LINKED_WORKTREE = "linked_worktree"
    UNREADABLE = "unreadable"
    VANISHED = "vanished"  # listed, but not on disk


@dataclass(frozen=True, slots=True)
class Skipped:
    """A path that is not a document; a pruned folder is one row whose path ends in '/'."""

    path: bytes
    rule: SkipRule
    detail: str = ""  # e.g. the ignore file and pattern, or the operating system's words


@dataclass(frozen=True, slots=True)
class FoundFile:
    path: bytes
    stamp: FileStamp


@dataclass(frozen=True, slots=True)
class Listing:
    """One complete look at a project's source."""

    files: tuple[FoundFile, ...]
    skipped: tuple[Skipped, ...]
    way: ListingWay
    way_reason: str = ""  # why walking and not git, when that surprises
    device: int | None = None
    errors: tuple[str, ...] = ()  # folders that could not be read: the listing is incomplete


@dataclass(frozen=True, slots=True)
class RootUnavailable:
    """The root is missing, not a folder or unreadable: nothing may be concluded about its documents."""

    reason: str


ListingOutcome: TypeAlias = Listing | RootUnavailable


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the explained filter chain."""

    rule: str
    verdict: str  # "pass" or "skip"
    detail: str


@dataclass(frozen=True, slots=True)
class ExtractedText:
    """What an extractor returns: text with LF line ends and its outline."""

    text: str
    chapters: tuple[Chapter, ...]
    title: str | None = None
    charset: str | None = None
    language: str | None = None  # when the format states it
    base: BaseLayer = field(default_factory=BaseLayer)
    locale: str | None = None
    version: str | None = None
    note: str | None = None  # e.g. "3 bytes were not UTF-8 and were replaced", "front matter is broken"
    pages: int | None = None


@dataclass(frozen=True, slots=True)
class Indexed:
    """Everything the catalogue stores of one extracted document."""

    content_hash: str
    stamp: FileStamp
    media_type: str
    text: ExtractedText
    language: str | None
    lines: int
    chunks: tuple[Chunk, ...]
    card_terms: TermCounts  # of text.cards.card_text over the base layer
    card_hash: str | None  # SHA-256 hex of that text when the card chunk deserves a vector (not exactly one chunk)
    words: dict[int, str]  # token id → a surface form seen in this document


@dataclass(frozen=True, slots=True)
class NameOnly:
    """Known by name, size and hash only."""

    content_hash: str
    stamp: FileStamp
    media_type: str
    reason: str
    card_terms: TermCounts = field(default_factory=TermCounts)
    words: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Failed:
    """This document could not be extracted; nothing else is affected."""

    reason: str
    media_type: str = "application/octet-stream"
    content_hash: str | None = None
    stamp: FileStamp | None = None
    retryable: bool = False
    card_terms: TermCounts = field(default_factory=TermCounts)
    words: dict[int, str] = field(default_factory=dict)


ExtractionOutcome: TypeAlias = Indexed | NameOnly | Failed
