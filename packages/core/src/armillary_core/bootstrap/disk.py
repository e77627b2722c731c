"""How much room the data folder takes."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from armillary_core.bootstrap.catalogue import FILE
from armillary_core.usecases.health import LEAST_FREE_BYTES, DiskUse


def measure_disk(data: Path) -> DiskUse:
    """Bytes of the catalogue (with its log), the engines and the models, and what is free."""
    return DiskUse(
        catalogue_bytes=sum(_size(data / f"{FILE}{suffix}") for suffix in ("", "-wal", "-shm")),
        engines_bytes=_tree(data / "engines"),
        models_bytes=_tree(data / "models"),
        free_bytes=_free(data),
    )


def has_room(data: Path) -> bool:
    """Whether there is enough left for indexing to go on."""
    free = _free(data)
    return free is None or free >= LEAST_FREE_BYTES


def _free(data: Path) -> int | None:
    try:
        return shutil.disk_usage(data).free
    except OSError:
        return None


def _tree(folder: Path) -> int:
    return sum(_size(Path(where) / name) for where, _, names in os.walk(folder) for name in names)


def _size(file: Path) -> int:
    try:
        return file.stat().st_blocks * 512  # engines keep sparse files: what counts is what the disk gave
    except OSError:
        return 0
