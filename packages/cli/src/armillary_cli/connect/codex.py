"""Codex: `~/.codex/config.toml`."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

from typing_extensions import override

from armillary_cli.connect.client import SERVER, TOKEN_VARIABLE, Client, Endpoint
from armillary_cli.connect.json_file import replace
from armillary_core.domain.errors import SettingsError

_TABLE = re.compile(r"^\s*\[")


class Codex(Client):
    name = "codex"
    title = "Codex"

    @override
    def file(self) -> Path:
        return Path.home() / ".codex" / "config.toml"

    @override
    def snippet(self, endpoint: Endpoint) -> str:
        lines = [f"[mcp_servers.{SERVER}]", f"url = {json.dumps(endpoint.url)}"]
        if endpoint.needs_token:
            lines.append(f'bearer_token_env_var = "{TOKEN_VARIABLE}"')
        return "\n".join([*lines, "startup_timeout_sec = 20", "tool_timeout_sec = 120"])

    @override
    def notes(self, endpoint: Endpoint) -> tuple[str, ...]:
        option = f" --bearer-token-env-var {TOKEN_VARIABLE}" if endpoint.needs_token else ""
        return (f"Or let it write this itself: codex mcp add {SERVER} --url {endpoint.url}{option}",)

    @override
    def write(self, endpoint: Endpoint) -> Path | None:
        before = self.file().read_text(encoding="utf-8") if self.file().exists() else ""
        way_out = "so it is left as it is. Paste what `armillary connect codex` prints."
        try:
            known = tomllib.loads(before)
        except tomllib.TOMLDecodeError as failed:
            raise SettingsError(f"{self.file()} is not valid TOML ({failed}), {way_out}") from None
        after = _without(before, f"mcp_servers.{SERVER}").rstrip("\n")
        after = f"{after}\n\n{self.snippet(endpoint)}\n" if after else f"{self.snippet(endpoint)}\n"
        known.setdefault("mcp_servers", {})[SERVER] = tomllib.loads(self.snippet(endpoint))["mcp_servers"][SERVER]
        try:
            is_safe = tomllib.loads(after) == known
        except tomllib.TOMLDecodeError:
            is_safe = False
        if not is_safe:
            raise SettingsError(f"{self.file()} names this server in a way that cannot be changed safely, {way_out}")
        return replace(self.file(), after)


def _without(text: str, table: str) -> str:
    """The text without one table and its sub-tables."""
    kept: list[str] = []
    inside = False
    for line in text.splitlines(keepends=True):
        if _TABLE.match(line):
            name = line.strip().strip("[]").split("]")[0].replace('"', "").replace(" ", "")
            inside = name == table or name.startswith(f"{table}.")
        if not inside:
            kept.append(line)
    return "".join(kept)
