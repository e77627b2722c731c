"""What each agent program reads to find this server, written out by hand."""

from __future__ import annotations

from armillary_cli.connect.claude_code import ClaudeCode
from armillary_cli.connect.claude_desktop import ClaudeDesktop
from armillary_cli.connect.client import Client, Endpoint
from armillary_cli.connect.codex import Codex
from armillary_cli.connect.cursor import Cursor
from armillary_cli.connect.gemini import Gemini
from armillary_cli.connect.vscode import VSCode

CLIENTS: dict[str, Client] = {
    client.name: client for client in (ClaudeCode(), Codex(), Cursor(), VSCode(), Gemini(), ClaudeDesktop())
}

__all__ = ["CLIENTS", "Client", "Endpoint"]
