"""Projects, and what their documents add up to."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from armillary_core.domain.card import BaseLayer, CardChange
from armillary_core.domain.errors import ProjectNotFoundError
from armillary_core.domain.job import JobKind, JobState
from armillary_core.domain.project import ListingWay, ProjectCounts, ProjectName, ProjectSettings, ProjectState
from armillary_core.ports.catalogue import Catalogue
from factories import make_indexed, make_name_only, make_stamp

NOTES = ProjectName("notes")
PRIVATE = ProjectName("a-private")


def test_a_project_keeps_its_settings_until_others_are_given(catalogue: Catalogue) -> None:
    wanted = ProjectSettings(include=("*.md",), ignore_dirs=("x",), max_file_bytes=5, include_hidden=True)
    made = catalogue.projects.put(PRIVATE, root="/caf\udce9", private=True, settings=wanted)

    assert made == catalogue.projects.get(PRIVATE)
    assert (made.root, made.private, made.settings, made.state) == ("/caf\udce9", True, wanted, ProjectState.NEW)

    again = catalogue.projects.put(PRIVATE, root="/moved")
    assert (again.id, again.root, again.private, again.settings) == (made.id, "/moved", False, wanted)
    assert [project.name for project in catalogue.projects.all()] == [PRIVATE, NOTES]
    assert catalogue.projects.get(ProjectName("nobody")) is None


def test_state_and_reason_are_always_written_and_the_rest_when_given(catalogue: Catalogue) -> None:
    device = (1 << 64) - 7
    catalogue.projects.set_state(
        NOTES, ProjectState.OK, reason="r", listing=ListingWay.GIT, device=device, good_scan_at=9.0
    )
    catalogue.projects.set_state(NOTES, ProjectState.HELD)

    project = catalogue.projects.get(NOTES)
    assert project is not None
    assert (project.state, project.state_reason) == (ProjectState.HELD, None)
    assert (project.listing, project.device, project.last_good_scan) == (ListingWay.GIT, device, 9.0)
    with pytest.raises(ProjectNotFoundError):
        catalogue.projects.set_state(ProjectName("nobody"), ProjectState.OK)


def test_a_removed_project_leaves_nothing(catalogue: Catalogue) -> None:
    (pk,) = catalogue.ingest.store(NOTES, [(b"a", make_stamp(), make_indexed("# A\nword\n"))])
    catalogue.cards.update(pk, CardChange(summary="s"), by="a", at=1.0)
    job = catalogue.jobs.add(JobKind.SCAN, NOTES, at=1.0)

    catalogue.projects.remove(NOTES)
    catalogue.projects.remove(NOTES)

    assert catalogue.projects.all() == []
    assert catalogue.documents.by_pk([pk]) == {}
    assert catalogue.cards.history(pk) == []
    assert catalogue.ingest.known(NOTES) == []
    assert catalogue.projects.languages([NOTES]) == {}
    cancelled = catalogue.jobs.get(job.id)
    assert cancelled is not None
    assert cancelled.state is JobState.CANCELLED


def test_a_project_made_again_under_its_name_begins_anew(catalogue: Catalogue) -> None:
    catalogue.ingest.store(NOTES, [(b"a", make_stamp(), make_indexed("# A\nword\n", version="1"))])
    assert catalogue.projects.facets([NOTES])["version"] == {"1": 1}
    before = catalogue.projects.get(NOTES)
    catalogue.projects.remove(NOTES)

    made = catalogue.projects.put(NOTES, root="/projects/notes")

    assert before is not None
    assert made.id != before.id
    assert catalogue.projects.counts([NOTES]) == {NOTES: ProjectCounts()}
    assert catalogue.projects.facets([NOTES])["version"] == {}


def test_projects_without_documents_are_counted_with_zeros(catalogue: Catalogue) -> None:
    catalogue.projects.put(PRIVATE, root="/p")
    catalogue.ingest.store(NOTES, [(b"a", make_stamp(), make_indexed("# A\n# B\n"))])

    assert catalogue.projects.counts([NOTES, PRIVATE, ProjectName("nobody")]) == {
        PRIVATE: ProjectCounts(),
        NOTES: ProjectCounts(documents=1, empty=1, chapters=2, chunks=2),
    }
    assert catalogue.projects.counts([]) == {}


def test_facets_count_present_documents_of_these_projects(
    catalogue: Catalogue, open_catalogue: Callable[[], Catalogue]
) -> None:
    catalogue.projects.put(PRIVATE, root="/p", private=True)

    def doc(text: str, **fields: str) -> tuple[bytes, object, object]:
        return (text.encode(), make_stamp(), make_indexed(text, **fields))  # type: ignore[arg-type]

    pks = catalogue.ingest.store(
        NOTES,
        [
            doc("a", language="en", locale="en", version="1"),
            doc("b", language="ru", locale="ru", version="1"),
            doc("c", language="en"),
            (b"p.png", make_stamp(), make_name_only()),
        ],  # type: ignore[list-item]
    )
    catalogue.ingest.store(PRIVATE, [doc("d", language="de", locale="de")])  # type: ignore[list-item]

    assert catalogue.projects.facets([NOTES]) == {
        "locale": {"en": 1, "ru": 1},
        "version": {"1": 2},
        "media_type": {"text/markdown": 3, "image/png": 1},
        "language": {"en": 2, "ru": 1},
    }
    assert catalogue.projects.languages([NOTES]) == {"en": 2, "ru": 1}
    assert catalogue.projects.languages([NOTES, PRIVATE]) == {"en": 2, "de": 1, "ru": 1}
    assert catalogue.projects.languages([]) == {}

    open_catalogue().ingest.vanish(NOTES, pks[1:2])  # another process
    assert catalogue.projects.languages([NOTES]) == {"en": 2}
    assert catalogue.projects.facets([NOTES])["locale"] == {"en": 1}

    catalogue.ingest.store(NOTES, [(b"a", make_stamp(), make_indexed("a", language="fr"))])
    assert catalogue.projects.languages([NOTES]) == {"en": 1, "fr": 1}


def test_types_count_enrichment_before_the_base_layer(catalogue: Catalogue) -> None:
    rows = [
        (b"%d" % number, make_stamp(), make_indexed(f"{number}", base=BaseLayer(type="note"))) for number in range(3)
    ]
    pks = catalogue.ingest.store(NOTES, rows)
    assert catalogue.projects.types([NOTES]) == {"note": 3}

    catalogue.cards.update(pks[0], CardChange(type="guide"), by="a", at=1.0)
    assert catalogue.projects.types([NOTES]) == {"note": 2, "guide": 1}

    catalogue.ingest.store(NOTES, [(b"0", make_stamp(), make_indexed("changed", base=BaseLayer(type="other")))])
    assert catalogue.projects.types([NOTES]) == {"note": 2, "guide": 1}

    catalogue.cards.update(pks[0], CardChange(type=""), by="a", at=2.0)
    assert catalogue.projects.types([NOTES]) == {"note": 2, "other": 1}
