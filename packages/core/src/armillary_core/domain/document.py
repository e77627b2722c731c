"""A document: one thing a person would open. Its path is bytes inside and percent-encoded UTF-8 outside."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import NewType

from armillary_core.domain.project import ProjectName

DocumentId = NewType("DocumentId", str)  # `project::path`, path encoded by encode_path
ChapterId = NewType("ChapterId", str)  # `project::path#anchor`

_ESCAPE = re.compile(r"[%#\x00-\x1f\x7f\x80-\x9f\u2028\u2029\ud800-\udfff]")
_ESCAPED = re.compile(rb"%([0-9A-Fa-f]{2})")


def encode_path(path: bytes) -> str:
    """Relative path bytes as shown outside: UTF-8 with '%', '#', control and undecodable bytes percent-encoded."""

    def escape(match: re.Match[str]) -> str:
        raw = match.group().encode("utf-8", "surrogateescape")
        return "".join(f"%{byte:02X}" for byte in raw)

    return _ESCAPE.sub(escape, path.decode("utf-8", "surrogateescape"))


def decode_path(text: str) -> bytes:
    """The inverse of encode_path."""
    raw = text.encode("utf-8", "surrogateescape")
    return _ESCAPED.sub(lambda match: bytes([int(match.group(1), 16)]), raw)


def document_id(project: str, path: bytes) -> DocumentId:
    return DocumentId(f"{project}::{encode_path(path)}")


def chapter_id(document: str, anchor: str) -> ChapterId:
    return ChapterId(f"{document}#{anchor}")


def split_id(text: str) -> tuple[ProjectName, str, str | None] | None:
    """(project, encoded path, anchor or None) of a document or chapter id; None when it has no '::'.

    Split at the first '::' and the last '#', since a path may hold '::' and an encoded path never holds '#'.
    """
    project, separator, rest = text.partition("::")
    if not separator or not project or not rest:
        return None
    path, hash_sign, anchor = rest.rpartition("#")
    if not hash_sign:
        return ProjectName(project), rest, None
    return ProjectName(project), path, anchor


def folder_hashes(path: bytes) -> list[str]:
    """Hashes of every ancestor folder and of the path itself; a path filter is equality with one of them."""
    parts = path.split(b"/")
    return [path_hash(b"/".join(parts[: depth + 1])) for depth in range(len(parts))]


def path_hash(path: bytes) -> str:
    """16 hex digits for one folder or document path, without a trailing slash."""
    return hashlib.sha256(path.strip(b"/")).hexdigest()[:16]


class ExtractionState(StrEnum):
    PENDING = "pending"
    OK = "ok"
    NAME_ONLY = "name_only"  # known by name and size only: images, archives, binaries
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class FileStamp:
    """What tells an unchanged file without reading it."""

    size: int
    mtime_ns: int
    inode: int


@dataclass(frozen=True, slots=True)
class Document:
    """One row of the catalogue's `document` table."""

    pk: int
    project: ProjectName
    path: bytes  # exact relative path
    stamp: FileStamp
    content_hash: str | None  # SHA-256 hex; text after CRLF→LF, everything else raw
    media_type: str
    charset: str | None
    language: str | None  # ISO 639-1
    title: str | None
    locale: str | None
    version: str | None
    lines: int
    state: ExtractionState
    reason: str | None  # why it failed, or a note (e.g. "bytes replaced")
    content_revision: int
    card_revision: int
    present: bool  # False = desync: not found by the last good scan, kept for its enrichment

    @property
    def id(self) -> DocumentId:
        return document_id(self.project, self.path)
