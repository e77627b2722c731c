"""Reading one file of a project: never through a link, never a pipe, never half of a change."""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass

from armillary_core.domain.document import FileStamp

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | getattr(os, "O_NOCTTY", 0)


@dataclass(frozen=True, slots=True)
class FileContent:
    content: bytes
    stamp: FileStamp


class CannotReadError(Exception):
    """This file is not read, for a reason in plain words."""

    def __init__(self, reason: str, *, stamp: FileStamp | None = None, retryable: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.stamp = stamp
        self.retryable = retryable


def read_file(root: str, path: bytes, max_bytes: int) -> FileContent:
    """The bytes of a regular file below `root` and its stamp. Raises CannotReadError.

    Every folder on the way is opened without following links, so a folder that was swapped for a link since the scan
    leads nowhere.
    """
    try:
        descriptor = _open_below(root, path)
    except OSError as exc:
        raise _refused(exc) from exc
    try:
        return _read_open(descriptor, max_bytes)
    except OSError as exc:
        raise _refused(exc) from exc
    finally:
        os.close(descriptor)


def _open_below(root: str, path: bytes) -> int:
    *folders, name = path.split(b"/")
    if name in (b"", b".", b"..") or any(folder in (b"", b".", b"..") for folder in folders):
        raise CannotReadError("the path leads out of the project")
    at = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)  # the root itself may be a link: its owner chose it
    try:
        for folder in folders:
            inner = os.open(folder, _FOLDER, dir_fd=at)
            os.close(at)
            at = inner
        return os.open(name, _FILE, dir_fd=at)
    finally:
        os.close(at)


def _read_open(descriptor: int, max_bytes: int) -> FileContent:
    before = os.fstat(descriptor)
    stamp = _stamp(before)
    if not stat.S_ISREG(before.st_mode):
        raise CannotReadError("not a regular file")
    if before.st_size > max_bytes:
        raise CannotReadError(f"larger than {max_bytes // (1 << 20)} MiB", stamp=stamp)
    parts: list[bytes] = []
    left = before.st_size + 1  # one more than there is: growth is noticed
    while left > 0 and (part := os.read(descriptor, min(left, 1 << 24))):
        parts.append(part)
        left -= len(part)
    content = parts[0] if len(parts) == 1 else b"".join(parts)
    after = os.fstat(descriptor)
    if _stamp(after) != stamp or after.st_ctime_ns != before.st_ctime_ns or len(content) != before.st_size:
        raise CannotReadError("changed while it was read", stamp=_stamp(after), retryable=True)
    return FileContent(content, stamp)


def _stamp(status: os.stat_result) -> FileStamp:
    return FileStamp(status.st_size, status.st_mtime_ns, status.st_ino)


def _refused(exc: OSError) -> CannotReadError:
    if exc.errno in (errno.ELOOP, errno.EMLINK):
        return CannotReadError("a symbolic link is not followed")
    if exc.errno in (errno.ENOENT, errno.ENOTDIR):
        return CannotReadError("vanished before it was read", retryable=True)
    if exc.errno in (errno.EACCES, errno.EPERM):
        return CannotReadError("permission denied", retryable=True)
    if exc.errno in (errno.ENXIO, errno.EOPNOTSUPP):
        return CannotReadError("not a regular file")
    return CannotReadError(f"could not be read: {exc.strerror or exc}", retryable=True)
