"""File systems on which others may change files without this system noticing."""

from __future__ import annotations

import os
from pathlib import Path

_WITHOUT_EVENTS = (
    "nfs", "cifs", "smb", "9p", "fuse", "fakeowner", "grpcfuse", "osxfs", "vboxsf", "virtiofs", "drvfs", "afs",
    "ceph", "glusterfs", "lustre", "davfs", "sshfs", "prl_fs", "vmhgfs",
)  # fmt: skip


def event_gap(root: bytes, mounts: Path = Path("/proc/self/mountinfo")) -> str | None:
    """The kind of file system when changes on it may come from elsewhere, and so without events."""
    try:
        lines = mounts.read_bytes().splitlines()
    except OSError:
        return None
    where = os.path.realpath(root)
    longest, kind = 0, ""
    for line in lines:
        before, _, after = line.partition(b" - ")
        point = before.split(b" ")[4].decode("unicode_escape").encode("latin-1")
        below = where == point or where.startswith(point.rstrip(b"/") + b"/")
        if below and len(point) >= longest:  # of equal ones a later mount covers an earlier one
            longest, kind = len(point), after.split(b" ")[0].decode("ascii", "replace")
    return kind if kind.startswith(_WITHOUT_EVENTS) else None
