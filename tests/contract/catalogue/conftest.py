"""Every implementation of the catalogue; another one is one line here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from armillary_core.adapters.catalogue.sqlite import SqliteCatalogue
from armillary_core.domain.project import ProjectName
from armillary_core.ports.catalogue import Catalogue

IMPLEMENTATIONS: dict[str, Callable[[Path, Callable[[], float]], Catalogue]] = {
    "sqlite": lambda folder, now: SqliteCatalogue.open(folder / "catalogue.sqlite3", now=now),
}
NOTES = ProjectName("notes")


class Time:
    """The catalogue's idea of now; a test sets it."""

    def __init__(self) -> None:
        self.now = 1_000.0


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture(params=IMPLEMENTATIONS)
def open_catalogue(request: pytest.FixtureRequest, tmp_path: Path, time: Time) -> Iterator[Callable[[], Catalogue]]:
    """Opens the same catalogue, as often as asked, as another process would."""
    opened: list[Catalogue] = []

    def open_one() -> Catalogue:
        catalogue = IMPLEMENTATIONS[request.param](tmp_path / "catalogue", lambda: time.now)
        opened.append(catalogue)
        return catalogue

    yield open_one
    for catalogue in opened:
        catalogue.close()


@pytest.fixture
def catalogue(open_catalogue: Callable[[], Catalogue]) -> Catalogue:
    """A catalogue with one project, `notes`."""
    catalogue = open_catalogue()
    catalogue.projects.put(NOTES, root="/projects/notes")
    return catalogue
