"""What happens when things break: engines, disks, and data of another version."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from armillary_core.domain.errors import ConflictError, SettingsError
from armillary_core.domain.query import Mode
from armillary_core.domain.token import Caller
from armillary_core.usecases.enrich import CardChange, CardWrite
from fakes import FakeEmbedder
from product import Product, open_product
from trees import write

pytestmark = pytest.mark.anyio

FILES: dict[str | bytes, str | bytes] = {
    "tides.md": "# Tides\n\nThe spring tide comes with the full moon.\n",
    "keys.md": "# Keys\n\nRotate the backup keys every month.\n",
}


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return write(tmp_path / "notes", FILES)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A data folder and its project, to be copied."""
    folder = tmp_path_factory.mktemp("filled")
    notes = write(folder / "notes", FILES)
    asyncio.run(fill(folder / "data", notes, FakeEmbedder()))
    return folder / "data", notes


@pytest.fixture
def data(filled: tuple[Path, Path], tmp_path: Path) -> Path:
    return Path(shutil.copytree(filled[0], tmp_path / "data"))


async def fill(data: Path, notes: Path, embedder: FakeEmbedder) -> None:
    async with open_product(data, embedder=embedder) as product:
        product.add("notes", notes)
        await product.scan("notes")
        product.enrich("notes::tides.md", summary="About sizygy")
        await product.embed()


async def check(product: Product) -> None:
    """Everything answers, in every way, with enrichment intact."""
    await product.dispatcher_idle()
    assert await product.core.completeness.repair() == []
    assert await product.found("sizygy") == ["notes::tides.md"]
    assert (await product.search("tides.md")).passages[0].document == "notes::tides.md"
    meaning = await product.search("the backup keys", mode=Mode.SEMANTIC)
    assert meaning.passages[0].document == "notes::keys.md"
    assert product.card("notes::tides.md").card.summary == "About sizygy"


def lose_cards(engines: Path) -> None:
    for folder in engines.glob("cards-*"):
        shutil.rmtree(folder)


def lose_chunks(engines: Path) -> None:
    for folder in engines.glob("chunks-*"):
        shutil.rmtree(folder)


def files_of(engines: Path) -> list[Path]:
    return sorted(path for path in engines.rglob("*") if path.is_file() and path.stat().st_size)


def overwrite(engines: Path) -> None:
    for path in files_of(engines):
        path.write_bytes(b"\xde\xad\xbe\xef" * 64)


def cut(engines: Path) -> None:
    for path in files_of(engines):
        os.truncate(path, path.stat().st_size // 3)


@pytest.mark.parametrize("harm", [lose_cards, lose_chunks, overwrite, cut])
async def test_engines_that_are_gone_or_broken_are_made_again_with_enrichment_intact(harm: object, data: Path) -> None:
    embedder = FakeEmbedder()
    harm(data / "engines")  # type: ignore[operator]
    async with open_product(data, embedder=embedder) as product:
        await check(product)
        assert await product.embed() == 0
    assert embedder.calls == [], "vectors are kept in the catalogue"


async def test_another_model_is_another_index_and_going_back_is_free(data: Path) -> None:
    first, second = FakeEmbedder(), FakeEmbedder(dimensions=32)
    async with open_product(data, embedder=second) as product:
        await product.dispatcher_idle()
        assert await product.found("sizygy") == ["notes::tides.md"]
        await product.embed()
        await check(product)
    async with open_product(data, embedder=first) as product:
        await check(product)
    assert first.calls == []


async def test_data_of_a_newer_armillary_is_refused_in_one_line_and_left_alone(data: Path) -> None:
    file = data / "catalogue.sqlite3"
    with closing(sqlite3.connect(file)) as connection:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        connection.execute("PRAGMA user_version=999")
    with pytest.raises(SettingsError, match=r"^[^\n]*newer[^\n]*$"):
        async with open_product(data):
            pass
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone()[0] == 999
        connection.execute(f"PRAGMA user_version={version}")
    async with open_product(data, embedder=FakeEmbedder()) as product:
        await check(product)


async def test_data_of_the_first_schema_is_migrated(data: Path) -> None:
    with closing(sqlite3.connect(data / "catalogue.sqlite3")) as connection:
        connection.execute("ALTER TABLE document DROP COLUMN hash_before")
        connection.execute("PRAGMA user_version=1")
    async with open_product(data, embedder=FakeEmbedder()) as product:
        await check(product)
        assert (await product.scan("notes")).unchanged == 2


async def test_two_agents_that_write_one_card_both_keep_theirs(tmp_path: Path, notes: Path) -> None:
    async with open_product(tmp_path / "data") as product:
        product.add("notes", notes)
        await product.scan("notes")
        one, other = Caller(name="one"), Caller(name="other")
        seen = product.card("notes::tides.md").card.document.content_hash
        product.enrich("notes::tides.md", one, summary="Of one")
        product.enrich("notes::tides.md", other, keywords=("sizygy",))
        card = product.card("notes::tides.md").card
        assert (card.summary, card.keywords) == ("Of one", ("sizygy",))
        product.enrich("notes::tides.md", other, summary="Of other")
        history = product.card("notes::tides.md").history
        assert [(event.by, *event.change) for event in history] == [
            ("other", "summary"),
            ("other", "keywords"),
            ("one", "summary"),
        ]
        write(notes, {"tides.md": "# Tides\n\nNeap tides.\n"})
        await product.scan("notes")
        write_late = CardWrite("notes::tides.md", CardChange(summary="Too late"), if_hash=seen)
        with pytest.raises(ConflictError, match="changed since it was read"):
            product.core.cards_use.update(write_late, one)
        assert product.card("notes::tides.md").card.summary == "Of other"


FULL_DISK = """
import asyncio, random, resource, signal, sys
sys.path[:0] = [{tests!r}]
from pathlib import Path
from armillary_core.domain.errors import AppError, BackendUnavailableError
from product import open_product
from trees import write

def limit(number):
    resource.setrlimit(resource.RLIMIT_FSIZE, (number, resource.RLIM_INFINITY))

async def main():
    notes = Path({notes!r})
    async with open_product(Path({data!r})) as product:
        product.add("notes", notes)
        await product.scan("notes")
        words = random.Random(1)
        page = lambda: "# Big\\n\\n" + " ".join(f"w{{words.randrange(10**9)}}" for _ in range(6000)) + "\\n"
        write(notes, {{f"big{{n}}.md": page() for n in range(12)}})
        limit(250_000)
        try:
            await product.core.scan("notes", "update", progress=lambda d, t: asyncio.sleep(0, True))
        except BackendUnavailableError as full:
            print("full" if "disk" in full.message or "written" in full.message else full.message)
        print(await product.found("spring tide"), len(product.documents("notes")) < 14)
        limit(resource.RLIM_INFINITY)
        print((await product.scan("notes")).state, len(product.documents("notes")))
        print(await product.core.completeness.repair())

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
asyncio.run(main())
"""


def test_a_disk_that_fills_while_indexing_leaves_nothing_half_written_and_search_goes_on(
    tmp_path: Path, notes: Path
) -> None:
    tests = str(Path(__file__).resolve().parents[1])
    script = FULL_DISK.format(tests=tests, notes=str(notes), data=str(tmp_path / "data"))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["full", "['notes::tides.md'] True", "ok 14", "[]"]
