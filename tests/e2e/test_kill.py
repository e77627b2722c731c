"""`kill -9` at random moments: after a restart the catalogue and the engines agree and no accepted word is missing."""

from __future__ import annotations

import asyncio
import contextlib
import random
import threading
from pathlib import Path
from typing import Any

import pytest

from armillary_core.domain.card import CardEvent
from armillary_core.domain.errors import AppError
from armillary_core.domain.project import ProjectName
from product import open_product
from server import Server, wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(600), pytest.mark.enable_socket]

MOMENTS = 20
FIRST_INDEX_FILES = 1500
ENRICHED_FILES = 30


def make_files(folder: Path, count: int) -> None:
    folder.mkdir(parents=True)
    for number in range(count):
        words = " ".join(f"word{(number * 7 + k) % 613}" for k in range(60))
        (folder / f"note{number:04d}.md").write_text(
            f"# Note {number}\n\nneedle{number} {words}\n\n## Part\n\n{words}\n", encoding="utf-8"
        )


def is_settled(server: Server) -> bool:
    status = server.status()
    return (
        not status["active_jobs"]
        and all(project["state"] == "ok" for project in status["projects"])
        and all(engine["waiting"] == 0 for engine in status["engines"])
    )


async def check_agreement(data: Path, files: int) -> dict[str, tuple[str | None, list[CardEvent]]]:
    """Counts of both engines equal the catalogue's, and a sample is found. Returns summary and history by path."""
    async with open_product(data) as product:
        await product.dispatcher_idle()
        assert await product.core.completeness.repair() == []
        documents = product.documents("notes")
        assert len(documents) == files
        for number in range(0, files, max(1, files // 25)):
            assert (await product.found(f"needle{number}"))[:1] == [f"notes::note{number:04d}.md"]
        cards = product.core.catalogue.cards
        found = {}
        for path, document in documents.items():
            card = cards.get(document.pk)
            assert card is not None
            summary = card.enrichment.summary if card.enrichment else None
            found[path.decode()] = (summary, list(cards.history(document.pk, limit=10_000)))
        assert product.core.catalogue.projects.get(ProjectName("notes")) is not None
        return found


def test_a_first_index_killed_twenty_times_ends_complete(tmp_path: Path) -> None:
    seed = random.randrange(10**6)
    chance = random.Random(seed)
    print(f"seed {seed}")
    notes, data = tmp_path / "notes", tmp_path / "data"
    make_files(notes, FIRST_INDEX_FILES)
    for _ in range(MOMENTS):
        server = Server(data, [notes])
        with contextlib.suppress(Exception):
            server.process.wait(timeout=chance.uniform(0.1, 2.5))
        server.kill()
    server = Server(data, [notes])
    server.wait_alive()
    wait_until(lambda: is_settled(server), seconds=120, every=0.5)
    server.stop()
    asyncio.run(check_agreement(data, FIRST_INDEX_FILES))


def test_no_accepted_enrichment_is_missing_after_twenty_kills(tmp_path: Path) -> None:
    seed = random.randrange(10**6)
    chance = random.Random(seed)
    print(f"seed {seed}")
    notes, data = tmp_path / "notes", tmp_path / "data"
    make_files(notes, ENRICHED_FILES)
    accepted: dict[str, list[str]] = {f"note{number:04d}.md": [] for number in range(ENRICHED_FILES)}
    serial = 0

    def enrich(server: Server, stop: threading.Event) -> None:
        nonlocal serial
        while not stop.is_set():
            path = chance.choice(sorted(accepted))
            serial += 1
            summary = f"summary number s{serial}"
            try:
                answer: dict[str, Any] = server.call("update_card", doc=f"notes::{path}", summary=summary).structured
            except AppError:
                return
            if answer["written"] == 1:
                accepted[path].append(summary)

    server = Server(data, [notes])
    server.wait_alive()
    wait_until(lambda: is_settled(server), seconds=60, every=0.5)
    server.stop()
    for _ in range(MOMENTS):
        server = Server(data, [notes])
        server.wait_alive()
        stop = threading.Event()
        writer = threading.Thread(target=enrich, args=(server, stop))
        writer.start()
        stop.wait(chance.uniform(0.02, 0.6))
        server.kill()
        stop.set()
        writer.join(timeout=30)
    assert sum(map(len, accepted.values())) > MOMENTS
    server = Server(data, [notes])
    server.wait_alive()
    wait_until(lambda: is_settled(server), seconds=60, every=0.5)
    server.stop()
    cards = asyncio.run(check_agreement(data, ENRICHED_FILES))
    for path, summaries in accepted.items():
        summary, history = cards[path]
        kept = {event.change.get("summary") for event in history}
        assert kept.issuperset(summaries)
        if summaries:
            assert int(str(summary).rpartition("s")[2]) >= int(summaries[-1].rpartition("s")[2])
