"""`armillary up`: everything in one process."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from armillary_cli.options import ConfigOption, DataOption, read_settings

if TYPE_CHECKING:
    from socket import socket

    from armillary_cli.owner import OwnerNote
    from armillary_cli.preflight import Prepared
    from armillary_core.settings.model import Settings

FolderArguments = Annotated[
    list[Path] | None, typer.Argument(metavar="[DIR]...", help="Folders to index; those of earlier starts stay.")
]
PortOption = Annotated[int | None, typer.Option("--port", help="Port to listen on [default: 8420]; 0 = any free one.")]
BindOption = Annotated[str | None, typer.Option("--bind", help="Address to listen on [default: 127.0.0.1].")]
BackgroundOption = Annotated[bool, typer.Option("--background", hidden=True)]


def up(
    folders: FolderArguments = None,
    port: PortOption = None,
    data: DataOption = None,
    bind: BindOption = None,
    config: ConfigOption = None,
    background: BackgroundOption = False,
) -> None:
    """Index folders and serve agents (MCP) and people, in one process. Ctrl-C stops it and loses nothing."""
    from armillary_cli.console import say
    from armillary_cli.listen import listen
    from armillary_cli.owner import own
    from armillary_cli.preflight import prepare, resolve_folders
    from armillary_core.bootstrap.catalogue import prepare_data_folder
    from armillary_core.domain.errors import AppError, SettingsError
    from armillary_core.observability.logging import configure_logging

    settings = read_settings(data, config, bind=bind, port=port)
    level = settings.logging.level if background or "level" in settings.logging.model_fields_set else "warning"
    configure_logging(level=level, style=settings.logging.format)
    try:
        roots = resolve_folders(folders or [], settings.data)
        prepare_data_folder(settings)
        with own(settings.data) as note, listen(settings.bind, settings.port, any_port=background) as bound:
            prepared = prepare(settings, roots, may_be_empty=background)
            _run(settings, prepared, bound, note)
    except SettingsError:
        raise
    except AppError as refused:  # a start that cannot be: wrong folders, a damaged catalogue
        raise SettingsError(refused.message) from refused
    say("Stopped. Nothing is lost; the next start goes on from here.")


def _run(settings: Settings, prepared: Prepared, bound: socket, note: OwnerNote) -> None:
    import asyncio

    from armillary_cli.one_process import run_one_process

    asyncio.run(run_one_process(settings, prepared, bound, note))
