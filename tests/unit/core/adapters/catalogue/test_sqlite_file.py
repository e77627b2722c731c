"""The catalogue's file: made private, migrated once, and never replaced when something is wrong with it."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from armillary_core.adapters.catalogue.sqlite import SqliteCatalogue
from armillary_core.domain.card import CardChange
from armillary_core.domain.errors import BackendUnavailableError, SettingsError
from armillary_core.domain.project import ProjectName
from armillary_core.ports.catalogue.outbox import Engine
from factories import make_indexed, make_stamp

NOTES = ProjectName("notes")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "deeper" / "catalogue.sqlite3"


def make(path: Path, documents: int = 1) -> None:
    with closing(SqliteCatalogue.open(path)) as catalogue:
        catalogue.projects.put(NOTES, root="/notes")
        rows = [(b"%d" % number, make_stamp(), make_indexed(f"# {number}\nwords\n")) for number in range(documents)]
        catalogue.ingest.store(NOTES, rows)


def test_folder_and_files_are_for_the_owner_only(path: Path) -> None:
    before = os.umask(0)
    try:
        with closing(SqliteCatalogue.open(path)) as catalogue:
            catalogue.projects.put(NOTES, root="/notes")
            assert path.parent.stat().st_mode & 0o777 == 0o700
            modes = {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
            catalogue.backup(str(path.parent / "backup"))
            assert (path.parent / "backup").stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(before)
    assert "catalogue.sqlite3-wal" in modes
    assert set(modes.values()) == {0o600}


def test_opening_again_changes_nothing(path: Path) -> None:
    make(path)
    with closing(sqlite3.connect(path)) as raw:
        schema = raw.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
        (version,) = raw.execute("PRAGMA user_version").fetchone()
    before = path.read_bytes()

    SqliteCatalogue.open(path).close()
    SqliteCatalogue.open(path).close()

    assert path.read_bytes() == before
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall() == schema
        assert raw.execute("PRAGMA user_version").fetchone() == (version,)
        assert raw.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_many_that_open_a_new_catalogue_at_once_all_get_it(path: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        opened = list(threads.map(lambda _: SqliteCatalogue.open(path), range(8)))
    try:
        opened[0].projects.put(NOTES, root="/notes")
        assert {catalogue.secret("cursor") for catalogue in opened} == {opened[0].secret("cursor")}
        assert [len(catalogue.projects.all()) for catalogue in opened] == [1] * 8
    finally:
        for catalogue in opened:
            catalogue.close()


def test_a_newer_schema_is_refused_in_one_line_and_left_alone(path: Path) -> None:
    make(path)
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("PRAGMA user_version=999")
    before = path.read_bytes()

    with pytest.raises(SettingsError, match=r"999.*newer") as refused:
        SqliteCatalogue.open(path)

    assert "\n" not in refused.value.message
    assert path.read_bytes() == before


def cut(raw: bytes) -> bytes:
    return raw[: len(raw) // 2]


@pytest.mark.parametrize(
    "damage",
    [
        lambda raw: b"this is no database at all, but long enough to look like one" * 100,
        lambda raw: b"x" * 4096 + raw[4096:],
        cut,
        lambda raw: raw[:4096],
        lambda raw: raw[:4096] + b"\xff" * (len(raw) - 4096),
        lambda raw: raw[:50],
    ],
    ids=["text", "header", "cut in half", "first page only", "overwritten pages", "fifty bytes"],
)
def test_a_damaged_file_is_refused_and_left_as_it_is(path: Path, damage: object) -> None:
    make(path, documents=30)
    path.write_bytes(damage(path.read_bytes()))  # type: ignore[operator] # a table of functions
    before = path.read_bytes()

    with pytest.raises(SettingsError, match="backup") as refused:
        SqliteCatalogue.open(path)

    assert "\n" not in refused.value.message
    assert path.read_bytes() == before


def test_another_programs_database_is_refused(path: Path) -> None:
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("CREATE TABLE bookmarks (url TEXT)")
    before = path.read_bytes()

    with pytest.raises(SettingsError, match="not a catalogue"):
        SqliteCatalogue.open(path)

    assert path.read_bytes() == before


def test_a_place_that_cannot_be_written_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    (tmp_path / "folder" / "catalogue.sqlite3").mkdir(parents=True)

    for path in (tmp_path / "file" / "catalogue.sqlite3", tmp_path / "folder" / "catalogue.sqlite3"):
        with pytest.raises(SettingsError, match="cannot be written") as refused:
            SqliteCatalogue.open(path)
        assert "\n" not in refused.value.message


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_refused(tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)

    with pytest.raises(SettingsError, match="Permission denied"):
        SqliteCatalogue.open(locked / "catalogue.sqlite3")


def test_a_closed_catalogue_says_so(path: Path) -> None:
    catalogue = SqliteCatalogue.open(path)
    catalogue.projects.all()
    catalogue.close()
    catalogue.close()

    with pytest.raises(BackendUnavailableError, match="closed"):
        catalogue.projects.all()
    with pytest.raises(BackendUnavailableError, match="closed"):
        catalogue.projects.put(NOTES, root="/notes")


def test_more_threads_than_connections_wait_their_turn(path: Path) -> None:
    make(path, documents=50)
    with closing(SqliteCatalogue.open(path)) as catalogue, ThreadPoolExecutor(40) as threads:
        found = list(threads.map(lambda _: len(catalogue.documents.in_project(NOTES)), range(200)))
        opened = sum(file.path == str(path) for file in psutil.Process().open_files())
    assert found == [50] * 200
    assert opened <= 9


def test_a_reader_is_not_held_up_by_a_writer(path: Path) -> None:
    writing, leave = threading.Event(), threading.Event()
    make(path)

    def slow_now() -> float:  # asked for inside the transaction
        writing.set()
        assert leave.wait(10)
        return 5.0

    with closing(SqliteCatalogue.open(path, now=slow_now)) as catalogue, closing(SqliteCatalogue.open(path)) as other:
        writer = threading.Thread(
            target=catalogue.ingest.store, args=(NOTES, [(b"new", make_stamp(), make_indexed("# New\n"))])
        )
        writer.start()
        try:
            assert writing.wait(10)
            assert len(other.ingest.known(NOTES)) == len(catalogue.ingest.known(NOTES)) == 1
        finally:
            leave.set()
            writer.join()
        assert len(other.ingest.known(NOTES)) == len(catalogue.ingest.known(NOTES)) == 2


def test_a_backup_taken_while_another_writes_is_complete(path: Path, tmp_path: Path) -> None:
    def rows(version: int) -> list[tuple[bytes, object, object]]:
        text = f"# A\nversion {version}\n"
        return [(b"%d" % number, make_stamp(), make_indexed(text)) for number in range(40)]

    stop = threading.Event()
    with closing(SqliteCatalogue.open(path)) as catalogue:
        catalogue.projects.put(NOTES, root="/notes")
        pks = catalogue.ingest.store(NOTES, rows(0))  # type: ignore[arg-type]
        catalogue.cards.update(pks[0], CardChange(summary="kept"), by="a", at=1.0)
        secret = catalogue.secret("cursor")

        def write() -> None:
            version = 0
            while not stop.is_set():
                version += 1
                catalogue.ingest.store(NOTES, rows(version))  # type: ignore[arg-type]

        writer = threading.Thread(target=write)
        writer.start()
        try:
            catalogue.backup(str(tmp_path / "copy.sqlite3"))
        finally:
            stop.set()
            writer.join()
    with closing(SqliteCatalogue.open(tmp_path / "copy.sqlite3")) as copy:
        texts = copy.documents.texts(pks)
        assert (len(texts), len(set(texts.values()))) == (40, 1)  # forty documents of one moment
        card = copy.cards.get(pks[0])
        assert card is not None
        assert card.summary == "kept"
        assert copy.secret("cursor") == secret
        assert copy.terms.counts([NOTES]).chunks == 80


def test_a_full_disk_is_said_and_what_was_accepted_stays(path: Path) -> None:
    make(path)
    script = f"""
import resource, signal, sys
sys.path.insert(0, {str(Path(__file__).resolve().parents[4])!r})
from pathlib import Path
from armillary_core.adapters.catalogue.sqlite import SqliteCatalogue
from armillary_core.domain.errors import BackendUnavailableError
from factories import make_indexed, make_stamp
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))
catalogue = SqliteCatalogue.open(Path({str(path)!r}))
store = lambda number: catalogue.ingest.store("notes", [
    (b"x%d" % number, make_stamp(), make_indexed("# X\\n" + " ".join(f"w{{number}}x{{n}}" for n in range(300))))])
number = 0
try:
    while number < 1000:
        store(number)
        number += 1
except BackendUnavailableError:
    print(number)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
store(1000)
catalogue.close()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    accepted = int(done.stdout)
    assert 0 < accepted < 1000
    with closing(SqliteCatalogue.open(path)) as catalogue:
        assert len(catalogue.documents.in_project(NOTES)) == 1 + accepted + 1
        assert catalogue.outbox.count(Engine.CARDS) == 1 + accepted + 1
