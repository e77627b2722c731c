from __future__ import annotations

import pytest

from armillary_core.domain.errors import (
    AccessDeniedError,
    InvalidRequestError,
    NotFoundError,
    ProjectNotFoundError,
    ReindexRunningError,
)
from armillary_core.domain.job import JobState, ReindexMode
from armillary_core.domain.token import LOCAL_OWNER, Caller, Right
from armillary_core.usecases.reindex import Reindex
from shelves import Shelf

MANAGER = Caller("manager")


@pytest.fixture
def reindex(shelf: Shelf) -> Reindex:
    shelf.project("a")
    shelf.project("b")
    shelf.project("secret", private=True)
    return Reindex(shelf.catalogue, shelf.clock)


def test_every_visible_project_gets_a_job(reindex: Reindex) -> None:
    jobs = reindex.request(MANAGER)
    assert [(job.project, job.mode, job.state, job.asked_by) for job in jobs] == [
        ("a", ReindexMode.UPDATE, JobState.WAITING, "manager"),
        ("b", ReindexMode.UPDATE, JobState.WAITING, "manager"),
    ]
    assert [job.project for job in reindex.request(LOCAL_OWNER)] == ["a", "b", "secret"]


def test_asking_twice_is_one_job(reindex: Reindex) -> None:
    assert reindex.request(MANAGER, project="a") == reindex.request(MANAGER, project="a")


@pytest.mark.parametrize("confirm", [None, "", "b", "A"])
def test_a_rebuild_wants_the_name_of_its_project(reindex: Reindex, confirm: str | None) -> None:
    with pytest.raises(InvalidRequestError, match='Call again with confirm="a"'):
        reindex.request(MANAGER, project="a", mode=ReindexMode.REBUILD, confirm=confirm)
    with pytest.raises(InvalidRequestError, match="one project at a time"):
        reindex.request(MANAGER, mode=ReindexMode.REBUILD, confirm=confirm)
    assert reindex.request(MANAGER, project="a", mode=ReindexMode.REBUILD, confirm="a")[0].mode == "rebuild"


def test_a_second_clean_waits_for_the_first(reindex: Reindex, shelf: Shelf) -> None:
    reindex.request(MANAGER, project="a", mode=ReindexMode.CLEAN)
    shelf.catalogue.jobs.claim(worker="w", at=shelf.clock.now())
    with pytest.raises(ReindexRunningError, match='A clean of "a" is running'):
        reindex.request(MANAGER, project="a", mode=ReindexMode.CLEAN)
    assert reindex.request(MANAGER, project="a")[0].state is JobState.WAITING
    assert reindex.request(MANAGER, project="b", mode=ReindexMode.CLEAN)


def test_a_job_can_be_looked_at(reindex: Reindex) -> None:
    (job,) = reindex.request(LOCAL_OWNER, project="secret")
    assert reindex.job(job.id, LOCAL_OWNER) == job
    for hidden, number in ((MANAGER, job.id), (LOCAL_OWNER, 999)):
        with pytest.raises(NotFoundError, match=f"No job {number}"):
            reindex.job(number, hidden)


def test_the_right_to_manage_is_needed(reindex: Reindex) -> None:
    with pytest.raises(AccessDeniedError):
        reindex.request(Caller("writer", frozenset({Right.READ, Right.ENRICH})))


def test_unknown_private_and_no_projects_are_not_found(reindex: Reindex, shelf: Shelf) -> None:
    for name in ("secret", "nothing"):
        with pytest.raises(ProjectNotFoundError, match=f'No project "{name}". Projects: a, b.'):
            reindex.request(MANAGER, project=name)
    with pytest.raises(ProjectNotFoundError, match="There is no project yet"):
        reindex.request(Caller("nobody", projects=()))


def test_a_worker_is_told(shelf: Shelf, reindex: Reindex) -> None:
    told: list[int] = []
    Reindex(shelf.catalogue, shelf.clock, added=lambda: told.append(1)).request(MANAGER)
    assert told == [1]
