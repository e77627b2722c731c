"""The embedded engines as processes and files: killed, opened twice, broken, outdated."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from armillary_core.adapters.cards.tantivy import TantivyCardIndex
from armillary_core.adapters.chunks.edge import EdgeChunkIndex
from armillary_core.domain.errors import BackendRejectedError, BackendUnavailableError, IndexOutdatedError
from armillary_core.domain.query import Eq, Field, Hits, NameHits, SparseVector
from armillary_core.ports.catalogue.outbox import CardIndexState
from armillary_core.ports.chunk_index import Point
from factories import make_card, make_chapter, make_document

pytestmark = pytest.mark.anyio

CHUNK_WRITER = """
import asyncio, os, signal, sys
from pathlib import Path
from armillary_core.adapters.chunks.edge import EdgeChunkIndex
from armillary_core.domain.query import SparseVector
from armillary_core.ports.chunk_index import Point

async def main():
    index = EdgeChunkIndex.open(Path(sys.argv[1]), dimensions=None)
    for document in range(1, int(sys.argv[2]) + 1):
        meaning = None if document < 20 else [1.0, document / 1000]
        await index.upsert([
            Point(document << 20 | n, document, document, SparseVector((7,), (1.0,)), meaning, {"project": "notes"})
            for n in range(5)
        ])
        print(document, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""

CARD_WRITER = """
import asyncio, os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from armillary_core.adapters.cards.tantivy import TantivyCardIndex
from armillary_core.ports.catalogue.outbox import CardIndexState
from factories import make_card, make_chapter, make_document

async def main():
    index = TantivyCardIndex.open(Path(sys.argv[1]))
    for pk in range(1, int(sys.argv[2]) + 1):
        card = make_card(make_document(pk, title=f"Page {pk}"))
        await index.upsert([CardIndexState(pk, pk, card, (make_chapter(),))])
        print(pk, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""

OPENER = """
import sys
from pathlib import Path
from armillary_core.adapters.cards.tantivy import TantivyCardIndex
from armillary_core.adapters.chunks.edge import EdgeChunkIndex
from armillary_core.domain.errors import AppError

for open_index in (lambda: TantivyCardIndex.open(Path(sys.argv[1]) / "cards"),
                   lambda: EdgeChunkIndex.open(Path(sys.argv[1]) / "chunks", dimensions=None)):
    try:
        open_index()
        print("opened")
    except AppError as refused:
        print(refused.code, refused.message)
"""


def start(script: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def run_until_killed(script: str, *arguments: object, lines: int | None = None) -> int:
    """The last number the process printed before it was killed: by itself, or by us after some lines."""
    process = start(script, *arguments)
    assert process.stdout is not None
    said = 0
    for line in process.stdout:
        said = int(line)
        if lines is not None and said >= lines:
            process.kill()
            break
    said = max([said, *(int(line) for line in process.stdout if line.endswith("\n"))])
    _, errors = process.communicate(timeout=30)
    assert process.returncode == -signal.SIGKILL, errors
    return said


@pytest.mark.parametrize("lines", [None, 25], ids=["after the last write", "between writes"])
async def test_a_killed_process_loses_no_chunk_it_was_told_is_written(tmp_path: Path, lines: int | None) -> None:
    written = run_until_killed(CHUNK_WRITER, tmp_path / "chunks", 40 if lines is None else 10_000, lines=lines)
    index = EdgeChunkIndex.open(tmp_path / "chunks", dimensions=2)
    assert await index.count() >= written * 5
    assert await index.count(with_meaning=True) >= (written - 19) * 5
    for document in (1, written):
        found = await index.by_words(SparseVector((7,), (1.0,)), filter=Eq(Field.DOCUMENT, document), limit=9)
        assert isinstance(found, Hits)
        assert len(found.hits) == 5
    await index.close()


@pytest.mark.parametrize("lines", [None, 8], ids=["after the last write", "between writes"])
async def test_a_killed_process_loses_no_card_it_was_told_is_written(tmp_path: Path, lines: int | None) -> None:
    tests = Path(__file__).parent.parent
    written = run_until_killed(CARD_WRITER, tmp_path / "cards", 12 if lines is None else 10_000, tests, lines=lines)
    index = TantivyCardIndex.open(tmp_path / "cards")
    assert await index.count() >= written
    found = await index.search(f"page {written}", filter=None, limit=1)
    assert isinstance(found, NameHits)
    assert [hit.document for hit in found.hits] == [written]
    await index.close()


async def test_a_second_process_is_told_plainly_and_can_open_when_the_first_has_closed(tmp_path: Path) -> None:
    cards = TantivyCardIndex.open(tmp_path / "cards")
    chunks = EdgeChunkIndex.open(tmp_path / "chunks", dimensions=None)
    said, _ = start(OPENER, tmp_path).communicate(timeout=30)
    assert [line.split()[0] for line in said.splitlines()] == ["backend_unavailable"] * 2
    assert said.count("in use by another process") == 2
    await cards.close()
    await chunks.close()
    said, errors = start(OPENER, tmp_path).communicate(timeout=30)
    assert said.splitlines() == ["opened", "opened"], errors


async def test_a_second_opener_in_the_same_process_is_refused(tmp_path: Path) -> None:
    cards = TantivyCardIndex.open(tmp_path / "cards")
    chunks = EdgeChunkIndex.open(tmp_path / "chunks", dimensions=None)
    with pytest.raises(BackendUnavailableError):
        TantivyCardIndex.open(tmp_path / "cards")
    with pytest.raises(BackendUnavailableError):
        EdgeChunkIndex.open(tmp_path / "chunks", dimensions=None)
    await cards.close()
    await chunks.close()


def point(document: int, meaning: list[float] | None = None) -> Point:
    return Point(document << 20, document, 1, SparseVector((7,), (1.0,)), meaning, {"project": "notes"})


async def test_chunks_and_their_vectors_are_there_after_reopening(tmp_path: Path) -> None:
    index = EdgeChunkIndex.open(tmp_path, dimensions=None)
    await index.upsert([point(1)])
    await index.ensure_meaning(2)
    await index.upsert([point(2, [1.0, 0.0])])
    await index.close()
    index = EdgeChunkIndex.open(tmp_path, dimensions=2)
    assert (await index.count(), await index.count(with_meaning=True)) == (2, 1)
    found = await index.by_meaning([1.0, 0.0], filter=Eq(Field.PROJECT, "notes"), limit=3)
    assert isinstance(found, Hits)
    assert [hit.key for hit in found.hits] == [2 << 20]
    await index.close()


async def test_a_model_with_other_vectors_needs_a_new_chunk_index(tmp_path: Path) -> None:
    index = EdgeChunkIndex.open(tmp_path, dimensions=2)
    await index.close()
    with pytest.raises(IndexOutdatedError):
        EdgeChunkIndex.open(tmp_path, dimensions=3)
    index = EdgeChunkIndex.open(tmp_path, dimensions=None)  # without a model, what is there is kept
    assert index.dimensions == 2
    with pytest.raises(IndexOutdatedError):
        await index.ensure_meaning(3)
    await index.close()


def spoil(folder: Path, pattern: str, text: str) -> None:
    files = list(folder.glob(pattern))
    assert files, pattern
    for file in files:
        file.write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        pytest.param("schema.json", "{", id="broken stamp"),
        pytest.param("schema.json", "[]", id="stamp of another shape"),
        pytest.param("schema.json", json.dumps({"schema": "edge-0", "dimensions": None}), id="another schema"),
        pytest.param("shard/edge_config.json", "{", id="broken configuration"),
        pytest.param("shard/segments/*/segment.json", "{", id="broken segment"),
    ],
)
async def test_a_chunk_index_that_cannot_be_read_is_outdated(tmp_path: Path, pattern: str, text: str) -> None:
    index = EdgeChunkIndex.open(tmp_path, dimensions=None)
    await index.upsert([point(1)])
    await index.close()
    spoil(tmp_path, pattern, text)
    with pytest.raises(IndexOutdatedError):
        EdgeChunkIndex.open(tmp_path, dimensions=None)


async def test_a_chunk_index_whose_making_was_interrupted_is_outdated(tmp_path: Path) -> None:
    await EdgeChunkIndex.open(tmp_path, dimensions=None).close()
    (tmp_path / "schema.json").unlink()
    with pytest.raises(IndexOutdatedError):
        EdgeChunkIndex.open(tmp_path, dimensions=None)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        pytest.param("fingerprint", "cards-0", id="another schema"),
        pytest.param("meta.json", "{", id="broken list of segments"),
        pytest.param("meta.json", '{"segments": [], "schema": [], "opstamp": 0}', id="other fields"),
        pytest.param("*.term", "x", id="broken words"),
    ],
)
async def test_a_card_index_that_cannot_be_read_is_outdated(tmp_path: Path, pattern: str, text: str) -> None:
    process = start(CARD_WRITER, tmp_path, 3, Path(__file__).parent.parent)
    process.communicate(timeout=30)
    spoil(tmp_path, pattern, text)
    with pytest.raises(IndexOutdatedError):
        TantivyCardIndex.open(tmp_path)


async def test_a_batch_with_a_card_that_is_refused_writes_nothing_and_the_index_goes_on(tmp_path: Path) -> None:
    good, bad = (
        CardIndexState(pk, pk, make_card(make_document(pk, title=f"Page {pk}")), (make_chapter(),)) for pk in (1, 2**70)
    )
    index = TantivyCardIndex.open(tmp_path)
    with pytest.raises(BackendRejectedError):
        await index.upsert([good, bad])
    assert await index.count() == 0
    await index.upsert([good])
    assert await index.count() == 1
    await index.close()


async def test_a_chunk_that_is_refused_is_said_and_the_index_goes_on(tmp_path: Path) -> None:
    index = EdgeChunkIndex.open(tmp_path, dimensions=None)
    with pytest.raises(BackendRejectedError):
        await index.upsert([point(-1)])
    await index.upsert([point(1)])
    assert await index.count() == 1
    await index.close()


async def test_a_folder_that_may_not_be_written_is_said_plainly(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")
    with pytest.raises(BackendUnavailableError):
        TantivyCardIndex.open(tmp_path / "file" / "cards")
    with pytest.raises(BackendUnavailableError):
        EdgeChunkIndex.open(tmp_path / "file" / "chunks", dimensions=None)
