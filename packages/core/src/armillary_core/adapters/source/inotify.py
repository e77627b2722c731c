"""Linux's own change notices, by the system's C library: names as bytes, one watch a folder, no wake-ups when idle."""

from __future__ import annotations

import ctypes
import os
import struct
from dataclasses import dataclass

ATTRIBUTES = 0x4
CLOSED_AFTER_WRITING = 0x8
MOVED_FROM = 0x40
MOVED_TO = 0x80
CREATED = 0x100
DELETED = 0x200
DELETED_SELF = 0x400
MOVED_SELF = 0x800
UNMOUNTED = 0x2000
OVERFLOWED = 0x4000
WATCH_ENDED = 0x8000
IS_FOLDER = 0x40000000

_ONLY_FOLDERS = 0x01000000
_NOT_AFTER_UNLINK = 0x04000000
_MASK = (
    ATTRIBUTES
    | CLOSED_AFTER_WRITING
    | MOVED_FROM
    | MOVED_TO
    | CREATED
    | DELETED
    | DELETED_SELF
    | MOVED_SELF
    | _ONLY_FOLDERS
    | _NOT_AFTER_UNLINK
)
_HEADER = struct.Struct("iIII")


@dataclass(frozen=True, slots=True)
class Notice:
    watch: int
    mask: int
    name: bytes


class Inotify:
    """One queue of notices. Raises OSError when the system has no such thing or gives no more."""

    def __init__(self) -> None:
        try:
            self._library = ctypes.CDLL(None, use_errno=True)
            start = self._library.inotify_init1
            self._add = self._library.inotify_add_watch
            self._remove = self._library.inotify_rm_watch
        except (OSError, AttributeError, TypeError) as exc:
            raise OSError("this system has no inotify") from exc
        self._add.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_uint32)
        self.descriptor: int = self._checked(start(os.O_NONBLOCK | os.O_CLOEXEC))

    def add(self, folder: bytes) -> int:
        """The watch's number, equal for equal folders. Raises OSError: no such folder, no more watches."""
        return self._checked(self._add(self.descriptor, folder, _MASK))

    def remove(self, watch: int) -> None:
        """An unknown watch is a no-op."""
        self._remove(self.descriptor, watch)

    def read(self) -> list[Notice]:
        """What has happened; empty when nothing has."""
        try:
            block = os.read(self.descriptor, 1 << 18)
        except BlockingIOError:
            return []
        notices: list[Notice] = []
        position = 0
        while position < len(block):
            watch, mask, _, length = _HEADER.unpack_from(block, position)
            position += _HEADER.size
            notices.append(Notice(watch, mask, block[position : position + length].rstrip(b"\0")))
            position += length
        return notices

    def close(self) -> None:
        os.close(self.descriptor)

    @staticmethod
    def _checked(result: int) -> int:
        if result < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        return result
