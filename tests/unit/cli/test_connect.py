"""What each agent program reads, and that nothing else in its file is touched."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from armillary_cli.connect import CLIENTS, Endpoint
from armillary_core.domain.errors import SettingsError

from .conftest import Run

URL = "http://127.0.0.1:8420/mcp"
FAR = Endpoint("http://nas.lan:8420/mcp", needs_token=True, command="/opt/armillary/bin/armillary")
NEAR = Endpoint(URL, command="/opt/armillary/bin/armillary")
JSON_CLIENTS = [name for name in CLIENTS if name != "codex"]


def entry(name: str, endpoint: Endpoint) -> object:
    values = json.loads(CLIENTS[name].snippet(endpoint))
    group = "servers" if name == "vscode" else "mcpServers"
    return values[group]["armillary"]


def test_what_each_client_reads_on_this_machine() -> None:
    assert entry("claude-code", NEAR) == {"type": "http", "url": URL}
    assert entry("cursor", NEAR) == {"url": URL}
    assert entry("vscode", NEAR) == {"type": "http", "url": URL}
    assert entry("gemini", NEAR) == {"httpUrl": URL, "timeout": 120_000}
    assert entry("claude-desktop", NEAR) == {"command": "/opt/armillary/bin/armillary", "args": ["stdio"]}
    codex = tomllib.loads(CLIENTS["codex"].snippet(NEAR))["mcp_servers"]["armillary"]
    assert codex["url"] == URL
    assert "bearer_token_env_var" not in codex


def test_a_token_is_named_and_never_written_out_where_the_client_can_look_it_up() -> None:
    assert entry("claude-code", FAR)["headers"] == {"Authorization": "Bearer ${ARMILLARY_TOKEN}"}  # type: ignore[index]
    assert entry("cursor", FAR)["headers"] == {"Authorization": "Bearer ${env:ARMILLARY_TOKEN}"}  # type: ignore[index]
    assert entry("gemini", FAR)["headers"] == {"Authorization": "Bearer $ARMILLARY_TOKEN"}  # type: ignore[index]
    vscode = json.loads(CLIENTS["vscode"].snippet(FAR))
    assert vscode["inputs"][0]["id"] == "armillary-token"
    assert vscode["servers"]["armillary"]["headers"] == {"Authorization": "Bearer ${input:armillary-token}"}
    codex = tomllib.loads(CLIENTS["codex"].snippet(FAR))["mcp_servers"]["armillary"]
    assert codex["bearer_token_env_var"] == "ARMILLARY_TOKEN"
    assert "headers" not in codex
    desktop = json.loads(CLIENTS["claude-desktop"].snippet(FAR))["mcpServers"]["armillary"]
    assert desktop["args"] == ["stdio", "--url", "http://nas.lan:8420/mcp"]
    assert "ARMILLARY_TOKEN" in desktop["env"]


@pytest.mark.parametrize("name", JSON_CLIENTS)
@pytest.mark.parametrize("endpoint", [NEAR, FAR], ids=["near", "far"])
def test_writing_leaves_every_other_entry_and_makes_a_backup(home: Path, name: str, endpoint: Endpoint) -> None:
    client = CLIENTS[name]
    group = "servers" if name == "vscode" else "mcpServers"
    before = {"theme": "тёмная", group: {"other": {"command": "x"}, "armillary": {"old": True}}, "n": [1, {"a": None}]}
    client.file().parent.mkdir(parents=True, exist_ok=True)
    client.file().write_text(json.dumps(before), encoding="utf-8")
    backup = client.write(endpoint)
    assert backup is not None
    assert json.loads(backup.read_text(encoding="utf-8")) == before
    after = json.loads(client.file().read_text(encoding="utf-8"))
    assert after[group]["other"] == {"command": "x"}
    assert after[group]["armillary"] == entry(name, endpoint)
    assert (after["theme"], after["n"]) == ("тёмная", [1, {"a": None}])


@pytest.mark.parametrize("name", list(CLIENTS))
def test_writing_twice_changes_nothing_more(home: Path, name: str) -> None:
    client = CLIENTS[name]
    assert client.write(FAR) is None
    first = client.file().read_text(encoding="utf-8")
    assert client.write(FAR) is None
    assert client.file().read_text(encoding="utf-8") == first


@pytest.mark.parametrize("name", JSON_CLIENTS)
def test_writing_twice_keeps_the_backup_of_what_was_there_first(home: Path, name: str) -> None:
    client = CLIENTS[name]
    client.file().parent.mkdir(parents=True, exist_ok=True)
    client.file().write_text('{"theme": "dark"}')
    backup = client.write(NEAR)
    client.write(NEAR)
    assert backup is not None
    assert backup.read_text() == '{"theme": "dark"}'


@pytest.mark.parametrize("name", JSON_CLIENTS)
@pytest.mark.parametrize("text", ["{ // a comment\n}", "[]", '{"mcpServers": [], "servers": []}', "{"])
def test_a_file_that_cannot_be_merged_is_left_as_it_is(home: Path, name: str, text: str) -> None:
    file = CLIENTS[name].file()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError):
        CLIENTS[name].write(NEAR)
    assert file.read_text(encoding="utf-8") == text


CODEX = """\
# my settings
model = "x"

[mcp_servers.other]
command = "y"

[mcp_servers.armillary]
url = "http://old/mcp"

[mcp_servers.armillary.env]
A = "1"

[tui]
theme = "dark" # keep this
"""


def test_codex_keeps_comments_and_other_tables(home: Path) -> None:
    file = CLIENTS["codex"].file()
    file.parent.mkdir(parents=True)
    file.write_text(CODEX, encoding="utf-8")
    CLIENTS["codex"].write(NEAR)
    text = file.read_text(encoding="utf-8")
    assert "# my settings" in text
    assert 'theme = "dark" # keep this' in text
    values = tomllib.loads(text)
    assert values["mcp_servers"]["other"] == {"command": "y"}
    assert values["mcp_servers"]["armillary"]["url"] == URL
    assert "env" not in values["mcp_servers"]["armillary"]


@pytest.mark.parametrize(
    "text",
    ["model = ", 'mcp_servers = {armillary = {url = "http://old"}}\n', 'mcp_servers.armillary.url = "http://old"\n'],
)
def test_codex_leaves_a_file_that_it_cannot_change_safely(home: Path, text: str) -> None:
    file = CLIENTS["codex"].file()
    file.parent.mkdir(parents=True)
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError):
        CLIENTS["codex"].write(NEAR)
    assert file.read_text(encoding="utf-8") == text


def test_a_link_to_the_file_stays_a_link(home: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text("{}", encoding="utf-8")
    link = CLIENTS["cursor"].file()
    link.parent.mkdir(parents=True)
    link.symlink_to(real)
    CLIENTS["cursor"].write(NEAR)
    assert link.is_symlink()
    assert "armillary" in real.read_text(encoding="utf-8")


def test_the_command_prints_what_belongs_into_the_file(run: Run, home: Path) -> None:
    said = run("connect", "claude-code")
    assert said.code == 0
    assert '"url": "http://127.0.0.1:8420/mcp"' in said.out
    assert not CLIENTS["claude-code"].file().exists()
    assert run("connect", "claude-code", "--write").code == 0
    assert CLIENTS["claude-code"].file().exists()


@pytest.mark.parametrize(
    "url", ["http://nas.lan:8420/mcp", "http://nas.lan:8420", "nas.lan:8420", "http://nas.lan:8420/"]
)
def test_an_address_elsewhere_wants_a_token_however_it_is_written(run: Run, url: str) -> None:
    said = json.loads(run("connect", "cursor", "--url", url, "--json").out)
    written = json.loads(said["snippet"])["mcpServers"]["armillary"]
    assert written["url"] == "http://nas.lan:8420/mcp"
    assert "headers" in written


def test_an_unknown_client_is_refused_with_the_names_there_are(run: Run) -> None:
    said = run("connect", "emacs")
    assert said.code == 2
    assert "claude-code, codex, cursor, vscode, gemini, claude-desktop" in said.err
