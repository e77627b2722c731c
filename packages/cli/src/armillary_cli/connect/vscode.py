"""VS Code: `mcp.json` of the user's profile; its key is `servers`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from typing_extensions import override

from armillary_cli.connect.client import SERVER, Client, Endpoint, applications_folder
from armillary_cli.connect.json_file import set_entry
from armillary_core.domain.errors import SettingsError

_INPUT = {
    "type": "promptString",
    "id": "armillary-token",
    "description": "Armillary token",
    "password": True,
}


class VSCode(Client):
    name = "vscode"
    title = "VS Code"

    @override
    def file(self) -> Path:
        return applications_folder() / "Code" / "User" / "mcp.json"

    @override
    def snippet(self, endpoint: Endpoint) -> str:
        values: dict[str, Any] = {"inputs": [_INPUT]} if endpoint.needs_token else {}
        return json.dumps({**values, "servers": {SERVER: _entry(endpoint)}}, indent=2)

    @override
    def notes(self, endpoint: Endpoint) -> tuple[str, ...]:
        asks = ("It asks for the token once and keeps it.",) if endpoint.needs_token else ()
        return ("For one project only, put it into .vscode/mcp.json there.", *asks)

    @override
    def write(self, endpoint: Endpoint) -> Path | None:
        backup = set_entry(self.file(), "servers", SERVER, _entry(endpoint))
        if endpoint.needs_token:
            self._add_input()
        return backup

    def _add_input(self) -> None:
        values = json.loads(self.file().read_text(encoding="utf-8"))
        inputs = values.setdefault("inputs", [])
        if not isinstance(inputs, list):
            raise SettingsError(f"{self.file()}: `inputs` is not a list. Paste what `armillary connect` prints.")
        if all(known.get("id") != _INPUT["id"] for known in inputs if isinstance(known, dict)):
            inputs.append(_INPUT)
            draft = json.dumps(values, indent=2, ensure_ascii=False) + "\n"
            self.file().write_text(draft, encoding="utf-8")


def _entry(endpoint: Endpoint) -> dict[str, Any]:
    entry: dict[str, Any] = {"type": "http", "url": endpoint.url}
    if endpoint.needs_token:
        entry["headers"] = {"Authorization": "Bearer ${input:armillary-token}"}
    return entry
