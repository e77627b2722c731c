"""Whether anything in a folder changed, where the system sends no events: one number from names, times and sizes."""

from __future__ import annotations

import os
from collections.abc import Iterator

from armillary_core.adapters.source.watchable import root_rules, walk_watchable

_WORD = (1 << 64) - 1


def fingerprint(root: bytes) -> int:
    """Equal for an unchanged folder; links are not followed, nothing is opened."""
    total = 0
    for path, found in _files(root):
        total += hash((path, found.st_mtime_ns, found.st_size, found.st_ino))
    return total & _WORD


def changed_since(root: bytes, moment: float) -> bool:
    """Whether a file was written, renamed or given other rights since then."""
    return any(found.st_ctime >= moment for _, found in _files(root))


def _files(root: bytes) -> Iterator[tuple[bytes, os.stat_result]]:
    for path, entry in walk_watchable(root, b"", root_rules(root), lambda folder, rules: None):
        try:
            yield path, entry.stat(follow_symlinks=False)
        except OSError:
            continue
