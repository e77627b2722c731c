"""How much room the data folder takes."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from armillary_core.bootstrap.catalogue import FILE
from armillary_core.usecases.health import DiskUse


def measure_disk(data: Path) -> DiskUse:
    """Bytes of the catalogue (with its log), the engines and the models, and what is free."""
    try:
        free: int | None = shutil.disk_usage(data).free
    except OSError:
        free = None
    return DiskUse(
        catalogue_bytes=sum(_size(data / f"{FILE}{suffix}") for suffix in ("", "-wal", "-shm")),
        engines_bytes=_tree(data / "engines"),
        models_bytes=_tree(data / "models"),
        free_bytes=free,
    )


def _tree(folder: Path) -> int:
    return sum(_size(Path(where) / name) for where, _, names in os.walk(folder) for name in names)


def _size(file: Path) -> int:
    try:
        return file.stat().st_blocks * 512  # engines keep sparse files: what counts is what the disk gave
    except OSError:
        return 0
