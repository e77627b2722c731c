"""The job ledger: leases, heartbeats, and never two running jobs of one project."""

from __future__ import annotations

from armillary_core.domain.job import JobKind, JobState, ReindexMode
from armillary_core.domain.project import ProjectName
from armillary_core.ports.catalogue import Catalogue

NOTES = ProjectName("notes")
OTHER = ProjectName("other")


def test_a_waiting_job_is_not_added_twice(catalogue: Catalogue) -> None:
    first = catalogue.jobs.add(JobKind.SCAN, NOTES, at=1.0, by="agent")

    assert catalogue.jobs.add(JobKind.SCAN, NOTES, at=2.0) == first
    assert (first.state, first.mode, first.asked_by, first.created_at) == (
        JobState.WAITING,
        ReindexMode.UPDATE,
        "agent",
        1.0,
    )
    assert catalogue.jobs.add(JobKind.SCAN, NOTES, ReindexMode.CLEAN, at=2.0).id != first.id
    assert catalogue.jobs.add(JobKind.SCAN, OTHER, at=2.0).id != first.id
    catalogue.jobs.claim(worker="w", at=3.0)
    assert catalogue.jobs.add(JobKind.SCAN, NOTES, at=4.0).id != first.id


def test_the_oldest_waiting_job_is_claimed_and_one_of_a_project_at_a_time(catalogue: Catalogue) -> None:
    first = catalogue.jobs.add(JobKind.SCAN, NOTES, at=1.0)
    second = catalogue.jobs.add(JobKind.SCAN, NOTES, ReindexMode.CLEAN, at=2.0)
    third = catalogue.jobs.add(JobKind.SCAN, OTHER, at=3.0)

    claimed = catalogue.jobs.claim(worker="a", at=4.0)
    assert claimed is not None
    assert (claimed.id, claimed.state, claimed.attempts, claimed.started_at) == (first.id, JobState.RUNNING, 1, 4.0)
    other = catalogue.jobs.claim(worker="b", at=4.0)
    assert other is not None
    assert other.id == third.id
    assert catalogue.jobs.claim(worker="c", at=5.0) is None
    assert [job.id for job in catalogue.jobs.active()] == [first.id, second.id, third.id]

    catalogue.jobs.finish(first.id, at=6.0, result={"scanned": 3})
    following = catalogue.jobs.claim(worker="c", at=7.0)
    assert following is not None
    assert following.id == second.id
    done = catalogue.jobs.get(first.id)
    assert done is not None
    assert (done.state, done.finished_at, done.result, done.error) == (JobState.DONE, 6.0, {"scanned": 3}, None)


def test_a_job_whose_worker_died_is_claimed_again_before_any_other(catalogue: Catalogue) -> None:
    first = catalogue.jobs.add(JobKind.SCAN, NOTES, at=1.0)
    catalogue.jobs.claim(worker="dead", at=10.0, lease_seconds=30)
    catalogue.jobs.add(JobKind.SCAN, NOTES, ReindexMode.CLEAN, at=11.0)

    assert catalogue.jobs.claim(worker="b", at=39.0) is None
    again = catalogue.jobs.claim(worker="b", at=41.0)
    assert again is not None
    assert (again.id, again.attempts, again.started_at) == (first.id, 2, 10.0)
    assert not catalogue.jobs.heartbeat(first.id, worker="dead", at=42.0, done=1, total=2)
    assert catalogue.jobs.claim(worker="c", at=43.0) is None
    running = [job for job in catalogue.jobs.active() if job.state is JobState.RUNNING]
    assert len(running) == 1


def test_a_heartbeat_renews_the_lease_and_writes_progress(catalogue: Catalogue) -> None:
    job = catalogue.jobs.add(JobKind.SCAN, NOTES, at=1.0)
    catalogue.jobs.claim(worker="a", at=10.0, lease_seconds=30)

    assert catalogue.jobs.heartbeat(job.id, worker="a", at=35.0, done=5, total=9, lease_seconds=30)

    assert catalogue.jobs.claim(worker="b", at=60.0) is None
    now = catalogue.jobs.get(job.id)
    assert now is not None
    assert (now.done, now.total) == (5, 9)


def test_a_cancelled_job_hears_of_it_at_its_next_heartbeat(catalogue: Catalogue) -> None:
    running = catalogue.jobs.add(JobKind.SCAN, NOTES, at=1.0)
    catalogue.jobs.claim(worker="a", at=2.0)
    waiting = catalogue.jobs.add(JobKind.SCAN, OTHER, at=3.0)

    assert catalogue.jobs.cancel(running.id, at=4.0)
    assert catalogue.jobs.cancel(waiting.id, at=4.0)

    assert not catalogue.jobs.heartbeat(running.id, worker="a", at=5.0, done=1, total=2)
    assert not catalogue.jobs.cancel(running.id, at=6.0)
    assert not catalogue.jobs.cancel(999, at=6.0)
    catalogue.jobs.finish(running.id, at=7.0)
    ended = catalogue.jobs.get(running.id)
    assert ended is not None
    assert (ended.state, ended.finished_at) == (JobState.CANCELLED, 4.0)
    assert catalogue.jobs.active() == []
    assert catalogue.jobs.claim(worker="b", at=99.0) is None


def test_a_failed_job_keeps_the_reason_and_recent_ones_come_first(catalogue: Catalogue) -> None:
    first = catalogue.jobs.add(JobKind.SCAN, NOTES, at=1.0)
    catalogue.jobs.claim(worker="a", at=2.0)
    catalogue.jobs.finish(first.id, at=3.0, error="the disk is full")
    second = catalogue.jobs.add(JobKind.SCAN, NOTES, at=4.0)

    failed = catalogue.jobs.get(first.id)
    assert failed is not None
    assert (failed.state, failed.error) == (JobState.FAILED, "the disk is full")
    assert [job.id for job in catalogue.jobs.recent()] == [second.id, first.id]
    assert [job.id for job in catalogue.jobs.recent(limit=1)] == [second.id]
    assert catalogue.jobs.get(999) is None


def test_a_clock_set_back_leaves_no_job_stuck(catalogue: Catalogue) -> None:
    hour = 3600.0
    job = catalogue.jobs.add(JobKind.SCAN, NOTES, at=2 * hour)
    catalogue.jobs.claim(worker="dead", at=2 * hour, lease_seconds=10)

    again = catalogue.jobs.claim(worker="b", at=hour, lease_seconds=10)

    assert again is not None
    assert (again.id, again.attempts) == (job.id, 2)
    assert catalogue.jobs.claim(worker="c", at=hour + 1, lease_seconds=10) is None


def test_a_job_handed_back_is_claimed_at_once_and_has_not_been_tried(catalogue: Catalogue) -> None:
    catalogue.jobs.add(JobKind.SCAN, NOTES, at=1.0)
    for _ in range(7):
        claimed = catalogue.jobs.claim(worker="a", at=2.0)
        assert claimed is not None
        assert claimed.attempts == 1
        catalogue.jobs.hand_back(claimed.id, worker="b")  # not b's to give
        assert catalogue.jobs.claim(worker="b", at=2.0) is None
        catalogue.jobs.hand_back(claimed.id, worker="a")
