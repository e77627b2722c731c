from __future__ import annotations

import os
from pathlib import Path

import pytest

from armillary_core.adapters.extraction import reading
from armillary_core.adapters.extraction.reading import CannotReadError, read_file

MIB = 1 << 20


def refused(root: Path, path: bytes, most: int = MIB) -> CannotReadError:
    with pytest.raises(CannotReadError) as caught:
        read_file(str(root), path, most)
    return caught.value


def test_a_file_is_read_with_its_stamp(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    file = tmp_path / "a" / "b.md"
    file.write_bytes(b"words")
    read = read_file(str(tmp_path), b"a/b.md", MIB)
    status = file.stat()
    assert read.content == b"words"
    assert (read.stamp.size, read.stamp.mtime_ns, read.stamp.inode) == (5, status.st_mtime_ns, status.st_ino)


def test_names_are_bytes(tmp_path: Path) -> None:
    name = b"bad\xff\nname %20.md"
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_bytes(b"x")
    assert read_file(str(tmp_path), name, MIB).content == b"x"


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_bytes(b"secret")
    root = tmp_path / "root"
    root.mkdir()
    (root / "file.md").symlink_to(outside / "secret.md")
    (root / "folder").symlink_to(outside)
    assert "link" in refused(root, b"file.md").reason
    assert refused(root, b"folder/secret.md").reason


def test_a_folder_swapped_for_a_link_after_the_scan_leads_nowhere(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "docs").mkdir(parents=True)
    outside.mkdir()
    for folder in (root / "docs", outside):
        (folder / "a.md").write_bytes(folder.name.encode())
    assert read_file(str(root), b"docs/a.md", MIB).content == b"docs"
    (root / "docs").rename(root / "was")
    (root / "docs").symlink_to(outside)
    assert refused(root, b"docs/a.md").reason


@pytest.mark.parametrize("path", [b"../secret.md", b"a/../../secret.md", b"/etc/hostname", b"", b".", b"a//b"])
def test_paths_that_lead_out_are_refused(tmp_path: Path, path: bytes) -> None:
    (tmp_path / "secret.md").write_bytes(b"secret")
    root = tmp_path / "root"
    root.mkdir()
    assert "out of the project" in refused(root, path).reason


def test_a_root_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.md").write_bytes(b"x")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert read_file(str(tmp_path / "link"), b"a.md", MIB).content == b"x"


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    assert refused(tmp_path, b"pipe.md").reason == "not a regular file"


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "folder.md").mkdir()
    assert refused(tmp_path, b"folder.md").reason == "not a regular file"


def test_a_vanished_file_is_tried_again_later(tmp_path: Path) -> None:
    gone = refused(tmp_path, b"gone.md")
    assert gone.retryable
    assert "vanished" in gone.reason


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"x")
    (tmp_path / "a.md").chmod(0)
    assert refused(tmp_path, b"a.md").reason == "permission denied"


def test_a_file_over_the_limit_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "big.md").write_bytes(b"x" * (MIB + 1))
    large = refused(tmp_path, b"big.md")
    assert large.reason == "larger than 1 MiB"
    assert large.stamp is not None
    assert large.stamp.size == MIB + 1


@pytest.mark.parametrize("change", ["grow", "shrink", "touch"])
def test_a_file_that_changes_while_it_is_read_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    file = tmp_path / "a.md"
    file.write_bytes(b"before")
    real = os.read

    def read_and_change(descriptor: int, count: int) -> bytes:
        part = real(descriptor, count)
        if change == "grow":
            file.write_bytes(b"before and after")
        elif change == "shrink":
            file.write_bytes(b"be")
        else:
            os.utime(file, ns=(1, 1))
        return part

    monkeypatch.setattr(reading.os, "read", read_and_change)
    changed = refused(tmp_path, b"a.md")
    assert changed.retryable
    assert "changed" in changed.reason


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.md").write_bytes(b"x")
    os.mkfifo(tmp_path / "a" / "pipe")
    fds = Path("/proc/self/fd")
    if not fds.is_dir():
        pytest.skip("needs /proc")
    before = len(list(fds.iterdir()))
    for path in (b"a/b.md", b"a/pipe", b"a/none", b"none/x", b"a/b.md/x"):
        try:
            read_file(str(tmp_path), path, MIB)
        except CannotReadError:
            continue
    assert len(list(fds.iterdir())) == before
