"""One cheap number tells whether anything was written."""

from __future__ import annotations

from pathlib import Path

from armillary_core.domain.project import ProjectName
from armillary_core.ports.catalogue import Catalogue


def test_the_number_changes_with_every_write_and_with_nothing_else(catalogue: Catalogue, tmp_path: Path) -> None:
    first = catalogue.changes()
    catalogue.projects.all()
    assert catalogue.changes() == first
    catalogue.projects.put(ProjectName("notes"), root=str(tmp_path))
    second = catalogue.changes()
    assert second != first
    assert catalogue.changes() == second
