"""One process owns a data folder, and others find it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from armillary_cli.owner import Owner, find_owner, is_owned, own
from armillary_core.domain.errors import SettingsError

OWNER = Owner(pid=1234, url="http://127.0.0.1:8420", version="0.1.0", started_at=1.0)


def test_nobody_owns_a_new_folder(tmp_path: Path) -> None:
    assert not is_owned(tmp_path)
    assert find_owner(tmp_path) is None


def test_an_owner_is_found_from_the_moment_it_says_where_it_listens(tmp_path: Path) -> None:
    with own(tmp_path) as note:
        assert is_owned(tmp_path)
        assert find_owner(tmp_path) is None
        note.write(OWNER)
        assert find_owner(tmp_path) == OWNER
    assert not is_owned(tmp_path)
    assert find_owner(tmp_path) is None


def test_a_second_owner_is_told_where_the_first_one_listens(tmp_path: Path) -> None:
    with own(tmp_path) as note:
        note.write(OWNER)
        with pytest.raises(SettingsError) as refused, own(tmp_path):
            pass
    assert "http://127.0.0.1:8420" in str(refused.value)
    assert "1234" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_note_without_its_process_means_nothing(tmp_path: Path) -> None:
    with own(tmp_path) as note:
        note.write(OWNER)
        saved = (tmp_path / "owner.json").read_bytes()
    (tmp_path / "owner.json").write_bytes(saved)
    assert find_owner(tmp_path) is None


def test_the_lock_dies_with_its_process(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys; from pathlib import Path; from armillary_cli.owner import own\n"
        "with own(Path(sys.argv[1])): os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False, timeout=60)
    with own(tmp_path):
        assert is_owned(tmp_path)


def test_looking_does_not_keep_an_owner_from_starting(tmp_path: Path) -> None:
    for _ in range(50):
        is_owned(tmp_path)
        with own(tmp_path):
            pass


def test_the_note_is_for_this_user_alone(tmp_path: Path) -> None:
    with own(tmp_path) as note:
        note.write(OWNER)
        assert os.stat(tmp_path / "owner.json").st_mode & 0o077 == 0
