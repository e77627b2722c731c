"""Reading small files that others wrote: never a pipe, a device, a link or more than asked for."""

from __future__ import annotations

import os
import stat


def read_regular(path: bytes, most: int) -> bytes | None:
    """The whole content; None when it is no regular file, larger than `most` or cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > most:
            return None
        with os.fdopen(os.dup(descriptor), "rb") as file:
            return file.read(most)
    except OSError:
        return None
    finally:
        os.close(descriptor)
