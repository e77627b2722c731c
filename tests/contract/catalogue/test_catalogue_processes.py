"""Several processes at once, and processes that are killed: nothing accepted is lost, no document is half there."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time as clock
from collections.abc import Callable
from pathlib import Path

import pytest

from armillary_core.domain.project import ProjectName
from armillary_core.ports.catalogue import Catalogue
from armillary_core.ports.catalogue.outbox import Engine
from factories import make_indexed, token

NOTES = ProjectName("notes")
WRITER = Path(__file__).with_name("writer.py")


def text_of(number: int, version: int) -> str:
    return "".join(f"# Chapter {part} of {number}\nversion {version} word{version}\n" for part in range(4))


def version_of(text: str) -> int:
    return int(text.split("version ", 1)[1].split()[0])


def start_writer(task: str, folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(WRITER), task, str(folder), *arguments], stdout=subprocess.PIPE, text=True
    )


def kill_soon(writer: subprocess.Popen[str], lines: int, delay: float) -> list[str]:
    """Kill the writer a moment after its so-manieth line; everything it said until it died."""
    assert writer.stdout is not None
    said = [writer.stdout.readline() for _ in range(lines)]
    deadline = clock.monotonic() + delay
    while clock.monotonic() < deadline:  # nothing is waited for: a random moment is the point
        pass
    writer.send_signal(signal.SIGKILL)
    said += writer.stdout.readlines()
    writer.wait(10)
    writer.stdout.close()
    return [line for line in said if line.endswith("\n")]


def check_whole(catalogue: Catalogue, project: ProjectName) -> list[int]:
    """Every document is one version of its text with its own chapters, chunks and terms, and the sums are right.
    Returns the versions found."""
    documents = {document.pk: document for document in catalogue.documents.in_project(project)}
    texts, chunks = catalogue.documents.texts(documents), catalogue.documents.chunks(documents)
    assert set(texts) == set(chunks) == set(documents)
    terms: dict[int, int] = {}
    for pk, document in documents.items():
        version = version_of(texts[pk])
        assert texts[pk] == text_of(int(document.path), version)
        assert chunks[pk] == list(make_indexed(texts[pk]).chunks)
        assert len(catalogue.documents.chapters(pk)) == 4
        terms[token(f"word{version}")] = terms.get(token(f"word{version}"), 0) + 4
    assert catalogue.terms.frequencies([project], list(terms)) == terms
    assert catalogue.terms.counts([project]).chunks == 5 * len(documents)
    assert {row.pk for row in catalogue.outbox.pending(Engine.CHUNKS, limit=100_000)} >= set(documents)
    return sorted(version_of(text) for text in texts.values())


def test_three_processes_make_the_catalogue_and_write_at_once(
    open_catalogue: Callable[[], Catalogue], tmp_path: Path
) -> None:
    names = ("one", "two", "three")
    writers = [start_writer("all", tmp_path / "catalogue", name, "12") for name in names]
    outputs = [writer.communicate(timeout=60)[0] for writer in writers]

    assert [writer.returncode for writer in writers] == [0, 0, 0]
    catalogue = open_catalogue()
    revisions = [row.revision for row in catalogue.outbox.pending(Engine.CHUNKS, limit=10_000)]
    assert len(revisions) == len(set(revisions)) == 60
    for name, output in zip(names, outputs, strict=True):
        accepted = [line.split()[1] for line in output.splitlines() if line.startswith("card")]
        assert len(accepted) == 12
        assert check_whole(catalogue, ProjectName(name)) == [11] * 20
        document = catalogue.documents.find(ProjectName(name), b"0")
        assert document is not None
        history = catalogue.cards.history(document.pk)
        assert [str(event.change["summary"]) for event in history] == accepted[::-1]


@pytest.mark.parametrize("seed", range(5))
def test_a_killed_writer_of_cards_loses_nothing_that_was_accepted(
    open_catalogue: Callable[[], Catalogue], tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    writer = start_writer("cards", tmp_path / "catalogue", "notes", "100000")

    said = kill_soon(writer, chance.randint(1, 30), chance.random() * 0.01)

    catalogue = open_catalogue()
    accepted = [line.split()[1] for line in said]
    (document,) = catalogue.documents.in_project(NOTES)
    card = catalogue.cards.get(document.pk)
    assert card is not None
    history = catalogue.cards.history(document.pk, limit=100_000)
    summaries = [str(event.change["summary"]) for event in reversed(history)]
    assert summaries[: len(accepted)] == accepted
    assert len(summaries) <= len(accepted) + 1  # the one that was written and not yet said
    assert card.summary == summaries[-1]
    assert [row.pk for row in catalogue.outbox.pending(Engine.CARDS)] == [document.pk]


@pytest.mark.parametrize("seed", range(5))
def test_a_killed_scan_never_leaves_half_a_document(
    open_catalogue: Callable[[], Catalogue], tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    writer = start_writer("documents", tmp_path / "catalogue", "notes", "100000")

    said = kill_soon(writer, chance.randint(1, 8), chance.random() * 0.04)

    versions = check_whole(open_catalogue(), NOTES)
    stored = int(said[-1].split()[1])
    assert len(versions) == 120
    assert stored <= versions[0] <= versions[-1] <= stored + 1
