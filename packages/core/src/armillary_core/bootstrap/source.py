"""Where files come from, who notices their changes and who reads them."""

from __future__ import annotations

import os

from armillary_core.ports.extraction import Extraction
from armillary_core.ports.source import Source
from armillary_core.ports.watcher import Watcher
from armillary_core.settings.model import Limits


def open_source() -> Source:
    from armillary_core.adapters.source.folder import FolderSource

    return FolderSource()


def open_watcher() -> Watcher:
    from armillary_core.adapters.source.watch import FolderWatcher

    return FolderWatcher()


def open_extraction(limits: Limits) -> Extraction:
    """Worker processes start with the first task."""
    from armillary_core.adapters.extraction.pool import ExtractionLimits, WorkerPool

    return WorkerPool(
        limits.extraction_workers or min(4, _cores()),
        ExtractionLimits(seconds=limits.extraction_seconds, memory_bytes=limits.extraction_memory_bytes),
        "armillary_core.bootstrap.formats:EXTRACTORS",
    )


def _cores() -> int:
    """What this process may use, which in a container is less than the machine has."""
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed is not None else os.cpu_count() or 1
