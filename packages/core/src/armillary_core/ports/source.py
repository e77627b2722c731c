"""Where a project's files come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from armillary_core.domain.ingest import ListingOutcome, Step
from armillary_core.domain.project import Project


class Source(Protocol):
    def list(self, project: Project) -> ListingOutcome:
        """Every file that is a document and every path that is not, with the rule. Blocks. Never writes into the
        project, never follows a link out of its root, never opens a pipe, socket or device."""

    def explain(self, project: Project, path: bytes) -> Sequence[Step]:
        """The filter chain for one path, step by step up to the one that decides."""
