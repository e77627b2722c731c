"""Claude Code: `~/.claude.json`, where its own `claude mcp add --scope user` writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from typing_extensions import override

from armillary_cli.connect.client import SERVER, TOKEN_VARIABLE, Client, Endpoint
from armillary_cli.connect.json_file import entry_text, set_entry


class ClaudeCode(Client):
    name = "claude-code"
    title = "Claude Code"

    @override
    def file(self) -> Path:
        return Path.home() / ".claude.json"

    @override
    def snippet(self, endpoint: Endpoint) -> str:
        return entry_text("mcpServers", SERVER, _entry(endpoint))

    @override
    def notes(self, endpoint: Endpoint) -> tuple[str, ...]:
        header = f' --header "Authorization: Bearer ${TOKEN_VARIABLE}"' if endpoint.needs_token else ""
        command = f"claude mcp add --transport http --scope user {SERVER} {endpoint.url}{header}"
        return (f"Or let it write this itself: {command}",)

    @override
    def write(self, endpoint: Endpoint) -> Path | None:
        return set_entry(self.file(), "mcpServers", SERVER, _entry(endpoint))


def _entry(endpoint: Endpoint) -> dict[str, Any]:
    entry: dict[str, Any] = {"type": "http", "url": endpoint.url}
    if endpoint.needs_token:
        entry["headers"] = {"Authorization": f"Bearer ${{{TOKEN_VARIABLE}}}"}
    return entry
