"""What each kind of job does, written out by hand."""

from __future__ import annotations

from armillary_core.domain.job import JobKind
from armillary_indexer.jobs import scan

JOBS = {JobKind.SCAN: scan.run}

__all__ = ["JOBS"]
