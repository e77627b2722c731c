"""Several threads at once on one catalogue."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from armillary_core.domain.card import CardChange
from armillary_core.domain.job import JobKind
from armillary_core.domain.project import ProjectName
from armillary_core.ports.catalogue import Catalogue
from armillary_core.ports.catalogue.outbox import Engine
from factories import make_indexed, make_stamp

NOTES = ProjectName("notes")


def text_of(number: int, version: int) -> str:
    return f"# Page {number}\nversion {version}\n# Second\nversion {version}\n"


def test_threads_that_write_and_read_see_whole_documents_and_lose_nothing(catalogue: Catalogue) -> None:
    def store(version: int, numbers: range) -> list[int]:
        rows = [(b"%d" % number, make_stamp(), make_indexed(text_of(number, version))) for number in numbers]
        return catalogue.ingest.store(NOTES, rows)

    pks = store(0, range(20))
    stop = threading.Event()
    torn: list[str] = []

    def read() -> None:
        while not stop.is_set():
            torn.extend(
                text
                for text in catalogue.documents.texts(pks).values()
                if len({line for line in text.splitlines() if line.startswith("version")}) != 1
            )
            states = catalogue.outbox.chunk_states(catalogue.outbox.pending(Engine.CHUNKS))
            torn.extend(repr(state) for state in states if len(state.chunks) != 2)

    def write(worker: int) -> None:
        for version in range(1, 8):
            store(version, range(worker, 20, 4))
            catalogue.cards.update(pks[0], CardChange(summary=f"{worker}-{version}"), by="w", at=float(version))

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    try:
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(write, range(4)))
    finally:
        stop.set()
        for reader in readers:
            reader.join()

    assert torn == []
    summaries = {str(event.change["summary"]) for event in catalogue.cards.history(pks[0])}
    assert summaries == {f"{worker}-{version}" for worker in range(4) for version in range(1, 8)}
    assert set(catalogue.documents.texts(pks).values()) == {text_of(number, 7) for number in range(20)}
    assert catalogue.terms.counts([NOTES]).chunks == 60


def test_a_job_is_claimed_by_one_of_many_workers(catalogue: Catalogue) -> None:
    for number in range(10):
        catalogue.jobs.add(JobKind.SCAN, ProjectName(f"p{number}"), at=1.0)

    def claim(worker: int) -> list[int]:
        claimed = []
        while (job := catalogue.jobs.claim(worker=f"w{worker}", at=2.0)) is not None:
            claimed.append(job.id)
        return claimed

    with ThreadPoolExecutor(4) as threads:
        claimed = [job for jobs in threads.map(claim, range(4)) for job in jobs]

    assert sorted(claimed) == sorted(set(claimed)) == sorted(job.id for job in catalogue.jobs.active())
