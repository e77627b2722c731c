from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import psutil
import pytest
from anyio import fail_after, sleep

from armillary_core.adapters.extraction.pool import ExtractionLimits, WorkerPool
from armillary_core.domain.errors import BackendUnavailableError
from armillary_core.domain.ingest import Failed, Indexed, NameOnly
from armillary_core.ports.extraction import Extracted, ExtractionTask, Unchanged
from armillary_core.text.tokens import token_id

pytestmark = pytest.mark.anyio

TESTS = Path(__file__).parents[4]
LIMITS = ExtractionLimits(seconds=3.0, memory_bytes=512 << 20, text_chars=1 << 20, idle_seconds=30)


@pytest.fixture
async def pool() -> AsyncIterator[WorkerPool]:
    pool = WorkerPool(2, LIMITS)
    yield pool
    await pool.close()


@pytest.fixture
async def hostile(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[WorkerPool]:
    """Workers whose extractor does what the file says."""
    monkeypatch.setenv("PYTHONPATH", str(TESTS))
    pool = WorkerPool(2, LIMITS, "hostile_extractors:EXTRACTORS")
    yield pool
    await pool.close()


def write(root: Path, files: dict[str, bytes | str]) -> list[ExtractionTask]:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return [ExtractionTask(str(root), name.encode()) for name in files]


async def run(pool: WorkerPool, tasks: Sequence[ExtractionTask]) -> dict[str, Extracted]:
    rows = [row async for batch in pool.run(tasks) for row in batch]
    assert len(rows) == len(tasks), "every task is answered exactly once"
    return {row.task.path.decode(errors="replace"): row for row in rows}


def indexed(row: Extracted) -> Indexed:
    assert isinstance(row.outcome, Indexed), row.outcome
    return row.outcome


def failed(row: Extracted) -> Failed:
    assert isinstance(row.outcome, Failed), row.outcome
    return row.outcome


async def test_files_come_back_as_finished_rows(pool: WorkerPool, tmp_path: Path) -> None:
    text = "# Tides\n\nHigh water at noon.\n\n## Wind\n\nFresh.\n"
    rows = await run(pool, write(tmp_path, {"docs/tides.md": text}))
    row = indexed(rows["docs/tides.md"])
    status = (tmp_path / "docs/tides.md").stat()
    assert (row.media_type, row.language, row.lines, row.text.title) == ("text/markdown", None, 7, "Tides")
    assert row.stamp.mtime_ns == status.st_mtime_ns
    assert row.text.text == text
    (chunk,) = row.chunks
    assert token_id("noon") in chunk.terms.ids
    assert row.words[token_id("tide")] == "tides"
    assert token_id("doc") in row.card_terms.ids
    assert row.card_hash is None  # the only chunk says as much as the card


async def test_every_task_of_many_is_answered_once(pool: WorkerPool, tmp_path: Path) -> None:
    files: dict[str, bytes | str] = {f"{number:03}.md": f"# N{number}\n\nneedle{number}\n" for number in range(300)}
    rows = await run(pool, write(tmp_path, files))
    assert set(rows) == set(files)
    assert all(token_id(f"needle{number}") in indexed(rows[f"{number:03}.md"]).words for number in range(300))


async def test_no_tasks_start_no_process(pool: WorkerPool) -> None:
    assert await run(pool, []) == {}
    assert not psutil.Process().children()


async def test_hashes_do_not_depend_on_line_ends_of_text(pool: WorkerPool, tmp_path: Path) -> None:
    rows = await run(
        pool,
        write(
            tmp_path,
            {"lf.md": "a\nb\n", "crlf.md": "a\r\nb\r\n", "cr.md": "a\rb\r", "a.png": b"\x89\r\n", "b.png": b"\x89\n"},
        ),
    )
    hashes = {name: row.outcome.content_hash for name, row in rows.items()}
    assert hashes["lf.md"] == hashes["crlf.md"]
    assert len(set(hashes.values())) == 4


async def test_known_content_is_unchanged(pool: WorkerPool, tmp_path: Path) -> None:
    (task,) = write(tmp_path, {"a.md": "# A\n"})
    known = indexed((await run(pool, [task]))["a.md"]).content_hash
    os.utime(tmp_path / "a.md", ns=(5, 5))
    row = (await run(pool, [ExtractionTask(task.root, task.path, known)]))["a.md"]
    assert isinstance(row.outcome, Unchanged)
    assert row.outcome.stamp.mtime_ns == 5
    (tmp_path / "a.md").write_bytes(b"# B\n")
    assert indexed((await run(pool, [ExtractionTask(task.root, task.path, known)]))["a.md"]).text.title == "B"


async def test_what_is_no_text_is_known_by_name(pool: WorkerPool, tmp_path: Path) -> None:
    rows = await run(
        pool,
        write(
            tmp_path,
            {
                "harbour photo.png": b"\x89PNG\r\n\x1a\n...",
                "fake.md": b"\x89PNG\r\n\x1a\n...",
                "random.md": bytes(range(256)) * 8,
                "nul.md": b"# Nul\n\nbefore\0after\n",
                "film.mp4": b"....",
                "packed.zip": b"PK\x03\x04....",
                "deck.pptx": b"PK\x03\x04....",
            },
        ),
    )
    assert all(isinstance(row.outcome, NameOnly) for row in rows.values())
    photo = rows["harbour photo.png"].outcome
    assert isinstance(photo, NameOnly)
    assert (photo.media_type, photo.reason) == ("image/png", "an image")
    assert token_id("harbour") in photo.card_terms.ids
    assert "PNG" in rows["fake.md"].outcome.reason  # type: ignore[union-attr] # checked above


async def test_blank_files_are_documents_without_chunks(pool: WorkerPool, tmp_path: Path) -> None:
    rows = await run(pool, write(tmp_path, {"empty.md": b"", "white.md": b"  \n\n\t\n"}))
    for name, row in rows.items():
        assert indexed(row).chunks == ()
        assert indexed(row).text.title == name.removesuffix(".md")
        assert indexed(row).card_hash is not None


async def test_twenty_good_files_survive_old_encodings(pool: WorkerPool, tmp_path: Path) -> None:
    files: dict[str, bytes | str] = {f"good{number}.md": f"# Good {number}\n\nneedle{number}\n" for number in range(20)}
    files |= {
        "cp1252.md": "Grüße – needleE".encode("cp1252"),
        "cp1251.md": "– цена needleE".encode("cp1251"),
        "koi8.md": "цена needleE".encode("koi8-r"),
        "utf16le.md": "Grüße – цена needleE".encode("utf-16"),
        "utf16be.md": "Grüße – цена needleE".encode("utf-16-be"),
        "bom.md": "Grüße – цена needleE".encode("utf-8-sig"),
        "random.md": bytes((number * 7919 + number // 256 * 31) % 256 for number in range(2048)),
    }
    rows = await run(pool, write(tmp_path, files))
    assert isinstance(rows.pop("random.md").outcome, NameOnly)
    needle = token_id("needle")
    for name, row in rows.items():
        done = indexed(row)
        assert done.text.charset
        if not name.startswith("good"):
            assert needle in done.words, name
            assert token_id("цен") in done.words or token_id("grusse") in done.words or token_id("gruss") in done.words


async def test_names_of_any_bytes_are_read(pool: WorkerPool, tmp_path: Path) -> None:
    names = [b"bad\xffname.md", b"new\nline.md", "имя.md".encode(), b"a::b.md", b"-dash.md", b"%20.md"]
    root = os.fsencode(tmp_path)
    for name in names:
        Path(os.fsdecode(root + b"/" + name)).write_bytes(b"words only")
    rows = [row async for batch in pool.run([ExtractionTask(str(tmp_path), name) for name in names]) for row in batch]
    assert {row.task.path for row in rows} == set(names)
    for row in rows:
        title = indexed(row).text.title
        assert title is not None
        title.encode("utf-8")


async def test_links_pipes_and_vanished_files_fail_alone(pool: WorkerPool, tmp_path: Path) -> None:
    tasks = write(tmp_path / "root", {"good.md": "# Good\n"})
    (tmp_path / "secret.md").write_text("secretword", encoding="utf-8")
    (tmp_path / "root/link.md").symlink_to(tmp_path / "secret.md")
    os.mkfifo(tmp_path / "root/pipe.md")
    tasks += [ExtractionTask(str(tmp_path / "root"), name) for name in (b"link.md", b"pipe.md", b"gone.md")]
    rows = await run(pool, tasks)
    assert indexed(rows["good.md"])
    assert "link" in failed(rows["link.md"]).reason
    assert "regular" in failed(rows["pipe.md"]).reason
    assert failed(rows["gone.md"]).retryable
    assert rows["gone.md"].stamp is None


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("crash", "crashed (signal 11)"),
        ("exit", "crashed (exit code 3)"),
        ("hang", "took longer than 3 s"),
        ("bomb", "more memory than allowed (512 MiB)"),
        ("flood", "more than 1,048,576 characters"),
        ("refuse", "not to my taste"),
        ("error here", "KeyError: 'here'"),
        ("missing", "cannot be loaded"),
        ("deep", "nested too deep"),
    ],
)
async def test_what_harms_one_document_harms_no_other(
    hostile: WorkerPool, tmp_path: Path, content: str, reason: str
) -> None:
    files: dict[str, bytes | str] = {f"{number:02}.txt": f"good {number}" for number in range(20)}
    files["10bad.txt"] = content
    rows = await run(hostile, write(tmp_path, files))
    bad = failed(rows.pop("10bad.txt"))
    assert reason in bad.reason
    assert token_id("10bad") in bad.card_terms.ids  # it can be found by its name
    assert all(indexed(row) for row in rows.values())
    assert all(indexed(row) for row in (await run(hostile, write(tmp_path, {"later.txt": "good"}))).values())


async def test_a_document_is_tried_once_more_by_itself(hostile: WorkerPool, tmp_path: Path) -> None:
    rows = await run(hostile, write(tmp_path, {"a.txt": f"once {tmp_path / 'mark'}", "b.txt": "good"}))
    assert indexed(rows["a.txt"])
    assert (tmp_path / "mark").exists()


async def test_what_a_library_prints_is_no_answer(hostile: WorkerPool, tmp_path: Path) -> None:
    rows = await run(hostile, write(tmp_path, {"a.txt": "print", "b.txt": "good"}))
    assert all(indexed(row) for row in rows.values())


async def test_a_library_that_cannot_be_loaded_is_told_before_and_after(hostile: WorkerPool, tmp_path: Path) -> None:
    (line,) = await hostile.check()
    assert "application/pdf: no_such_library cannot be loaded" in line
    rows = await run(hostile, write(tmp_path, {"a.pdf": b"%PDF-1.4\n", "b.txt": "good"}))
    assert "cannot be loaded" in failed(rows["a.pdf"]).reason
    assert indexed(rows["b.txt"])


async def test_every_library_of_the_product_can_be_loaded(pool: WorkerPool) -> None:
    assert await pool.check() == ()


async def test_a_killed_worker_is_replaced(pool: WorkerPool, tmp_path: Path) -> None:
    tasks = write(tmp_path, {f"{number}.md": f"# {number}\n" for number in range(10)})
    await run(pool, tasks)
    for child in psutil.Process().children():
        child.kill()
        child.wait(5)
    assert all(indexed(row) for row in (await run(pool, tasks)).values())


async def test_an_abandoned_run_leaves_no_worker_behind(hostile: WorkerPool, tmp_path: Path) -> None:
    tasks = write(tmp_path, {"hang.txt": "hang", **{f"{number}.txt": "good" for number in range(100)}})
    running = hostile.run(tasks)
    async for _ in running:
        break
    await running.aclose()
    assert all(indexed(row) for row in (await run(hostile, tasks[1:])).values())


async def test_a_run_stopped_while_a_big_answer_arrives_ends_at_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tasks = write(tmp_path, {"big.txt": "\n\n".join(f"paragraph {number} " * 8 for number in range(40_000))})
    pool = WorkerPool(1, ExtractionLimits())
    arrive = asyncio.StreamReader.feed_data
    stopped = 0

    def arrive_and_stop(reader: asyncio.StreamReader, data: bytes) -> None:
        nonlocal stopped
        arrive(reader, data)
        if len(data) >= 1 << 15:  # in the middle of the answer, when its pipe is full
            stopped += 1
            if stopped == 1:
                running.cancel()
                for task in asyncio.all_tasks():  # the same iteration, as a busy loop has it
                    if task.get_coro().__qualname__ == "WorkerPool._work":
                        task.cancel()

    monkeypatch.setattr(asyncio.StreamReader, "feed_data", arrive_and_stop)
    running = asyncio.create_task(run(pool, tasks))
    with fail_after(30):
        await asyncio.wait([running])
        await pool.close()
    assert stopped
    assert running.cancelled()


async def test_idle_workers_end(tmp_path: Path) -> None:
    pool = WorkerPool(1, ExtractionLimits(idle_seconds=0.05))
    try:
        await run(pool, write(tmp_path, {"a.md": "# A\n"}))
        for _ in range(100):
            if not psutil.Process().children():
                break
            await sleep(0.05)
        assert not psutil.Process().children()
        assert indexed((await run(pool, write(tmp_path, {"b.md": "# B\n"})))["b.md"])
    finally:
        await pool.close()


async def test_a_closed_pool_starts_nothing(tmp_path: Path) -> None:
    pool = WorkerPool(1)
    await run(pool, write(tmp_path, {"a.md": "# A\n"}))
    await pool.close()
    assert not psutil.Process().children()
    with pytest.raises(BackendUnavailableError):
        await run(pool, write(tmp_path, {"a.md": "# A\n"}))


def test_the_fingerprint_is_that_of_what_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    assert WorkerPool(1).fingerprint == WorkerPool(3).fingerprint
    before = WorkerPool(1).fingerprint
    from armillary_core.adapters.formats.pdf import PdfExtractor

    monkeypatch.setattr(PdfExtractor, "version", PdfExtractor.version + 1)
    assert WorkerPool(1).fingerprint != before
