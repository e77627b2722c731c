"""Find the process that owns a data folder, or start one in the background."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from armillary_cli.client import is_alive
from armillary_cli.console import data_option
from armillary_cli.owner import LOG, Owner, find_owner
from armillary_core.domain.errors import BackendUnavailableError
from armillary_core.settings.model import Settings

START_SECONDS = 30.0


def running_server(settings: Settings, *, config: Path | None = None, start: bool = True) -> Owner:
    """The owner that answers. Raises BackendUnavailableError when there is none and none can be started."""
    owner = find_owner(settings.data)
    if owner is not None and is_alive(owner.url):
        return owner
    if not start:
        raise BackendUnavailableError(
            f"No armillary server runs with the data folder {settings.data}. "
            f"Start one with `armillary up DIR{data_option(settings.data)}`."
        )
    return _start(settings, config)


def _start(settings: Settings, config: Path | None) -> Owner:
    """A detached server; when its usual port is taken by another program it takes a free one."""
    from armillary_core.bootstrap.catalogue import prepare_data_folder

    prepare_data_folder(settings)
    log = settings.data / LOG
    command = [sys.executable, "-m", "armillary_cli.main", "up", "--background", "--data", str(settings.data)]
    if config is not None:
        command += ["--config", str(config)]
    with log.open("ab") as out:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            cwd=settings.data,
            start_new_session=True,
            env={**os.environ, "NO_COLOR": "1"},
        )
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        owner = find_owner(settings.data)
        if owner is not None and is_alive(owner.url):
            return owner
        if child.poll() is not None and owner is None and find_owner(settings.data) is None:
            raise BackendUnavailableError(f"The server could not start: {_last_line(log)} (log: {log})")
        time.sleep(0.05)
    raise BackendUnavailableError(f"The server did not answer in {START_SECONDS:.0f} seconds; its log is {log}.")


def _last_line(log: Path) -> str:
    lines = [line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    return lines[-1].removeprefix("armillary: ") if lines else "it said nothing"
