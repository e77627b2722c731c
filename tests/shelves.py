"""A shelf: a real catalogue in a folder, with a clock of its own, filled by a line of code."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from armillary_core.adapters.catalogue.sqlite import SqliteCatalogue
from armillary_core.domain.document import Document
from armillary_core.domain.ingest import ExtractionOutcome
from armillary_core.domain.project import ProjectName, ProjectState
from factories import make_indexed
from fakes import FakeClock


@dataclass
class Shelf:
    catalogue: SqliteCatalogue
    clock: FakeClock
    made: int = field(default=0)

    def project(self, name: str, *, private: bool = False, reason: str | None = None) -> ProjectName:
        self.catalogue.projects.put(ProjectName(name), root=f"/projects/{name}", private=private)
        self.catalogue.projects.set_state(ProjectName(name), ProjectState.OK, reason=reason)
        return ProjectName(name)

    def add(self, project: str, documents: dict[str, str | ExtractionOutcome]) -> list[int]:
        """Documents by path; text is read as Markdown. A known path is replaced."""
        outcomes = []
        for path, content in documents.items():
            outcome = make_indexed(content) if isinstance(content, str) else content
            assert outcome.stamp is not None
            self.made += 1
            stamp = replace(outcome.stamp, inode=self.made)
            outcomes.append((path.encode("utf-8", "surrogateescape"), stamp, replace(outcome, stamp=stamp)))
        return self.catalogue.ingest.store(ProjectName(project), outcomes)

    def find(self, project: str, path: str) -> Document:
        document = self.catalogue.documents.find(ProjectName(project), path.encode("utf-8", "surrogateescape"))
        assert document is not None
        return document

    def vanish(self, project: str, *paths: str) -> None:
        self.catalogue.ingest.vanish(ProjectName(project), [self.find(project, path).pk for path in paths])


def open_shelf(folder: Path) -> Shelf:
    """An empty shelf; close its catalogue."""
    clock = FakeClock()
    return Shelf(SqliteCatalogue.open(folder / "catalogue.sqlite3", now=clock.now), clock)
