"""Gemini CLI: `~/.gemini/settings.json`; `httpUrl` means streamable HTTP there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from typing_extensions import override

from armillary_cli.connect.client import SERVER, TOKEN_VARIABLE, Client, Endpoint
from armillary_cli.connect.json_file import entry_text, set_entry


class Gemini(Client):
    name = "gemini"
    title = "Gemini CLI"

    @override
    def file(self) -> Path:
        return Path.home() / ".gemini" / "settings.json"

    @override
    def snippet(self, endpoint: Endpoint) -> str:
        return entry_text("mcpServers", SERVER, _entry(endpoint))

    @override
    def notes(self, endpoint: Endpoint) -> tuple[str, ...]:
        return ("It uses servers only in folders that you trust.",)

    @override
    def write(self, endpoint: Endpoint) -> Path | None:
        return set_entry(self.file(), "mcpServers", SERVER, _entry(endpoint))


def _entry(endpoint: Endpoint) -> dict[str, Any]:
    entry: dict[str, Any] = {"httpUrl": endpoint.url}
    if endpoint.needs_token:
        entry["headers"] = {"Authorization": f"Bearer ${TOKEN_VARIABLE}"}
    return {**entry, "timeout": 120_000}
