"""`armillary stop`: end the server of a data folder."""

from __future__ import annotations

import os
import signal
import time

import typer

from armillary_cli.options import ConfigOption, DataOption, read_settings

PATIENCE_SECONDS = 20.0


def stop(data: DataOption = None, config: ConfigOption = None) -> None:
    """End the server that runs with this data folder; exit code 1 when none runs."""
    from armillary_cli.console import complain, say
    from armillary_cli.exit_codes import ExitCode
    from armillary_cli.owner import find_owner, is_owned

    folder = read_settings(data, config).data
    owner = find_owner(folder)
    if owner is None:
        complain(f"no server runs with the data folder {folder}.")
        raise typer.Exit(ExitCode.FAILED)
    os.kill(owner.pid, signal.SIGTERM)
    until = time.monotonic() + PATIENCE_SECONDS
    while is_owned(folder):
        if time.monotonic() > until:
            complain(f"process {owner.pid} is still ending.")
            raise typer.Exit(ExitCode.FAILED)
        time.sleep(0.05)
    say("Stopped.")
