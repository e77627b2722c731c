"""Claude Desktop: it reaches no server of a home network by itself, so it starts the stdio bridge."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from typing_extensions import override

from armillary_cli.connect.client import SERVER, TOKEN_VARIABLE, Client, Endpoint, applications_folder
from armillary_cli.connect.json_file import entry_text, set_entry


class ClaudeDesktop(Client):
    name = "claude-desktop"
    title = "Claude Desktop"

    @override
    def file(self) -> Path:
        return applications_folder() / "Claude" / "claude_desktop_config.json"

    @override
    def snippet(self, endpoint: Endpoint) -> str:
        return entry_text("mcpServers", SERVER, _entry(endpoint))

    @override
    def notes(self, endpoint: Endpoint) -> tuple[str, ...]:
        token = ("Put the token in place of the dots.",) if endpoint.needs_token else ()
        return ("Quit and open Claude Desktop again. The bridge starts the server when none runs.", *token)

    @override
    def write(self, endpoint: Endpoint) -> Path | None:
        return set_entry(self.file(), "mcpServers", SERVER, _entry(endpoint))


def _entry(endpoint: Endpoint) -> dict[str, Any]:
    arguments = ["stdio"]
    if endpoint.needs_token:
        arguments += ["--url", endpoint.url]
    elif endpoint.data is not None:
        arguments += ["--data", str(endpoint.data)]
    entry: dict[str, Any] = {"command": endpoint.command, "args": arguments}
    if endpoint.needs_token:
        entry["env"] = {TOKEN_VARIABLE: os.environ.get(TOKEN_VARIABLE, "arm_...")}
    return entry
