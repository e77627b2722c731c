"""What a symbolic link in a project is; links are named, never followed out of the root."""

from __future__ import annotations

import errno
import os

from armillary_core.domain.ingest import SkipRule


def classify_link(root: bytes, path: bytes) -> tuple[SkipRule, str]:
    """The rule and the words for a link at `path` below `root` (which ends in a slash)."""
    link = root + path
    real_root = os.path.realpath(root)
    try:
        target = os.path.realpath(link)
        written = os.fsdecode(os.readlink(link))
    except OSError as exc:
        return SkipRule.SYMLINK_BROKEN, exc.strerror or str(exc)
    if target != real_root and not target.startswith(real_root.rstrip(b"/") + b"/"):
        return SkipRule.SYMLINK_OUTSIDE, f"links to {written}, outside the project"
    inside = os.fsdecode(target[len(real_root) :].lstrip(b"/")) or "the project's own folder"
    try:
        is_folder = os.path.isdir(target) if os.stat(link) else False
    except OSError as exc:
        if exc.errno == errno.ELOOP:
            return SkipRule.SYMLINK_LOOP, f"links to {written}, which leads back to itself"
        if exc.errno in (errno.ENOENT, errno.ENOTDIR):
            return SkipRule.SYMLINK_BROKEN, f"links to {written}, which does not exist"
        return SkipRule.SYMLINK_BROKEN, f"links to {written}: {exc.strerror}"
    if not is_folder:
        return SkipRule.SYMLINK_INSIDE, f"links to {inside}"
    above = os.path.realpath(os.path.dirname(link))
    if above == target or above.startswith(target.rstrip(b"/") + b"/"):
        return SkipRule.SYMLINK_LOOP, f"links to a folder it lies in: {inside}"
    return SkipRule.SYMLINK_INSIDE, f"links to the folder {inside}"
