"""One owner of a data folder: a lock that dies with its process, and a note that says where it listens."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from armillary_cli.console import data_option
from armillary_core.domain.errors import SettingsError

LOCK = "owner.lock"
NOTE = "owner.json"
LOG = "server.log"


@dataclass(frozen=True, slots=True)
class Owner:
    pid: int
    url: str  # without a path
    version: str
    started_at: float


class OwnerNote:
    """Held by the process that owns the data folder."""

    def __init__(self, data: Path) -> None:
        self._file = data / NOTE

    def write(self, owner: Owner) -> None:
        """Say where the owner listens, in one step."""
        draft = self._file.with_suffix(".tmp")
        draft.write_text(json.dumps(asdict(owner)), encoding="utf-8")
        draft.chmod(0o600)
        draft.replace(self._file)


@contextmanager
def own(data: Path) -> Iterator[OwnerNote]:
    """Own the data folder while inside. Raises SettingsError that names the owner there is."""
    lock = os.open(data / LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        if not _locked(lock, fcntl.LOCK_EX, patience_seconds=1.0):
            raise SettingsError(_taken(data))
        try:
            yield OwnerNote(data)
        finally:
            (data / NOTE).unlink(missing_ok=True)
    finally:
        os.close(lock)


def find_owner(data: Path) -> Owner | None:
    """The running owner that already says where it listens; None when there is none (yet)."""
    if not is_owned(data):
        return None
    try:
        note = json.loads((data / NOTE).read_text(encoding="utf-8"))
        return Owner(**note)
    except (OSError, ValueError, TypeError):
        return None


def is_owned(data: Path) -> bool:
    """Whether a process owns the data folder at this moment."""
    try:
        lock = os.open(data / LOCK, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not _locked(lock, fcntl.LOCK_SH)
    finally:
        os.close(lock)


def _locked(lock: int, kind: int, *, patience_seconds: float = 0.0) -> bool:
    """Take the lock; somebody who only looks holds it for an instant, hence the patience."""
    until = time.monotonic() + patience_seconds
    while True:
        try:
            fcntl.flock(lock, kind | fcntl.LOCK_NB)
            return True
        except OSError:
            if time.monotonic() >= until:
                return False
            time.sleep(0.05)


def _taken(data: Path) -> str:
    owner = find_owner(data)
    if owner is None:
        return f"Another armillary process is starting or stopping with the data folder {data}. Try again in a moment."
    return (
        f"Armillary already runs with this data folder and listens on {owner.url} (process {owner.pid}). "
        f"Add folders to it with `armillary projects add DIR{data_option(data)}`, or stop it first."
    )
