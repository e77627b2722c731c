"""`armillary stdio`: MCP over standard input and output, for clients that start a program."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from armillary_cli.options import ConfigOption, DataOption, read_settings


def stdio(
    url: Annotated[str | None, typer.Option("--url", help="A server elsewhere, with /mcp.")] = None,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Bridge MCP over standard input and output to the server; starts it when none runs."""
    import asyncio

    from armillary_cli.server_process import running_server
    from armillary_cli.stdio import run_bridge
    from armillary_core.observability.logging import configure_logging

    configure_logging(level="warning", stream=sys.stderr)  # standard output belongs to the protocol
    if url is None:
        url = f"{running_server(read_settings(data, config), config=config).url}/mcp"
    asyncio.run(run_bridge(url, os.environ.get("ARMILLARY_TOKEN")))
