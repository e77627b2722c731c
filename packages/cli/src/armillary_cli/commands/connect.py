"""`armillary connect`: what an agent program needs to find this server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from armillary_cli.options import ConfigOption, DataOption, JsonOption, read_settings

if TYPE_CHECKING:
    from armillary_cli.connect import Endpoint
    from armillary_core.settings.model import Settings


def connect(
    client: Annotated[
        str | None, typer.Argument(help="claude-code, codex, cursor, vscode, gemini or claude-desktop.")
    ] = None,
    write: Annotated[
        bool, typer.Option("--write", help="Write it into the client's file; other entries stay, a backup is made.")
    ] = False,
    url: Annotated[
        str | None, typer.Option("--url", help="Address of a server elsewhere, for example http://nas.lan:8420/mcp.")
    ] = None,
    as_json: JsonOption = False,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Print, or write, what makes an agent program use this server."""
    from armillary_cli.connect import CLIENTS
    from armillary_cli.console import bold, dim, say, say_json, tilde
    from armillary_core.domain.errors import InvalidRequestError

    if client is None:
        for known in CLIENTS.values():
            say(f"{known.name:<16} {known.title}: {tilde(known.file())}")
        return
    if client not in CLIENTS:
        raise InvalidRequestError(f'No client "{client}". Clients: {", ".join(CLIENTS)}.')
    chosen = CLIENTS[client]
    endpoint = _endpoint(read_settings(data, config), url, data)
    if as_json:
        say_json({"client": chosen.name, "file": str(chosen.file()), "snippet": chosen.snippet(endpoint)})
        return
    if write:
        backup = chosen.write(endpoint)
        say(f"{tilde(chosen.file())} names this server now" + (f" (before: {tilde(backup)})." if backup else "."))
    else:
        say(dim(f"{chosen.title} reads {tilde(chosen.file())}. This belongs into it; --write puts it there:"))
        say(chosen.snippet(endpoint))
        for note in chosen.notes(endpoint):
            say(dim(note))
    if endpoint.needs_token:
        say(dim("It wants a token: `armillary tokens create NAME`, then `export ARMILLARY_TOKEN=arm_…`"))
    say(f"Then ask your agent: {bold('what does Armillary know about …?')}")


def _endpoint(settings: Settings, url: str | None, data: Path | None) -> Endpoint:
    from urllib.parse import urlsplit

    from armillary_cli.connect import Endpoint
    from armillary_cli.console import command_path
    from armillary_cli.owner import find_owner

    if url is not None:
        address = url if "://" in url else f"http://{url}"
        address = address.rstrip("/") if urlsplit(address).path not in ("", "/") else f"{address.rstrip('/')}/mcp"
        is_here = (urlsplit(address).hostname or "") in ("127.0.0.1", "localhost", "::1")
        return Endpoint(address, needs_token=not is_here or not settings.is_loopback, command=command_path())
    owner = find_owner(settings.data)
    base = owner.url if owner else f"http://{settings.bind if settings.is_loopback else '127.0.0.1'}:{settings.port}"
    folder = settings.data if data is not None else None
    return Endpoint(f"{base}/mcp", needs_token=not settings.is_loopback, command=command_path(), data=folder)
